use super::*;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair};

/// An RSA key that exists for these tests alone (PKCS #8).
const RSA_KEY: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDQIFXnKXIJOt/4JP+fNYVvor9Mu6vYQMONvWmVzrmwp94WZb6AEqPbgC/Gwv\
     N/jeRbdc8SFLCIFnr1W7blImaUSS14ZoNathbENFPVND4a4k9S+eRUncnLlEWusXuekJbayvBX8UZ/FQ6HclIkzVrL7ZyUBj/sj4KSJsbupxzP\
     xipSQ2a8A+WYc2BL0TT+Zh7U7vW4ttS8YqsCmTYfQQHvrfqzKlBC8dj/LYeL5p6ry78pTh1qm6uuVMuHuE06+Zgicmr1vsjVVO6DmTJKWwSHC9\
     fJTN1QQUuwb+8xzxvQkOvwgdCeYlF0Lsn6dbWapa41sPYglBGwzqqWVwazDz5bAgMBAAECggEABm+BiIDZFFz8MPWf6+HhSubq6GoDMdAq29ao\
     DahTSJmgPewOfHJXG8H2eDxuABs4nPVjHkmCferICY849BPgvSQYIll1JVhtEssVbonLg9RMpKGyhEVOyJtAnlrBmlEZQRG2ZdnBlstlZB3OWX\
     H6JUUnKtKYpm13maJWU2nac7g8JII4gRyRz09yWTvSwyePwwGmQhsDrCoFpOkYEQocTggqMxQp6jGgCCPPUhXI68eXXbRgd8Gs8Y4nfcsbtSGd\
     xLOtXDain7jAuAAbzEV7yk2mcFr+8EZrIOF3p3zilbszSDfLTY1qIm1RCZYpJd039ibPxEoE1ForKUwnbR8NPQKBgQD5TQ++W+U6wEaHYivdVE\
     /v+uqZBW7KlDpCWZwrpPIcIE0KXQLcD5fK3blvL+q5EGV3b6iTrzIPl6clk+UNVLE/6AywrcpfkVVlZ7g21Hz6CYoMEvqOsg/OqyBlidmZbq+0\
     cxWKPua0G5HjdlG2Mq6GlABJdNAlIUuESE7RYk+CLwKBgQDVuAikWq2ts7KbTk5eC/LSf6RSHq/4kzHYJsd7RSpouqo97uZVZR6G7Z3Z11QCNj\
     XxJ4UM56v4Bl6wQS/5ED7Bq5eui+s1vhumkvaL3cxY9zrVP8XLlV5Yqgcl/Yo/yzMjOZN/HOGpnqq81zz7C3LJeMoDYZNmWvX6eVJ1tP3XlQKB\
     gGa49g+91cpLh8QpE2HzZ6y+ewPqVShrw0WrnsntAUXNmXD3ukHquuUAT3QdDl6K/wQjohaYTcxW9KxrMCo6B38JopD6SzTtsX5DKoiNLaHpZF\
     RtTYiWniTOJl8wWdT64rM76Fg6at0zrv1Gt4yXfYo+WY/q7gkemvs6wB9OnuxJAoGAKBkHRg7dVyHH+OuQOIT1Yhkgs2eejHzRdUSRWMd5VXzw\
     Q/52qL74I0ihvSVxVZjmNgC8LdeppDdNvLP+VDSAEcYoB0+pKcQpW+9m4ocSt/5qw2fbrH6x3ODJxo7zSVTOm2VKDydUD4b9ccDQaCmVt8c537\
     iG90VJsVzh48O5fKECgYEApR9YCbX1wupnBjcXHFKv3crrQQ2egF6KoTFmnhtggIh+h6BSfNlCZA65nBMVXEjCev7QO+yArTbbgt/4hbrhy05R\
     +o20zhhHnJ6V8cDpTMAWjDOhNM3r2gNBSe2oWRXJxFs7cig6u4u6y14RGerSEHtXi22WI94qNf4ksjoaVu8=";

const NOW: i64 = 1_767_225_600;

struct Issuer {
    rsa: RsaKeyPair,
    curve: EcdsaKeyPair,
}

impl Issuer {
    fn new() -> Self {
        let random = SystemRandom::new();
        let curve = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        Self {
            rsa: RsaKeyPair::from_pkcs8(&STANDARD.decode(RSA_KEY).unwrap()).unwrap(),
            curve: EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, curve.as_ref(), &random).unwrap(),
        }
    }

    fn jwks(&self) -> String {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let rsa = PublicKeyComponents::<Vec<u8>>::from(self.rsa.public());
        let point = self.curve.public_key().as_ref();
        format!(
            r#"{{"keys":[{{"kty":"oct","k":"AA"}},{{"kty":"RSA","kid":"r","use":"sig","n":"{}","e":"{}"}},
               {{"kty":"EC","kid":"c","crv":"P-256","x":"{}","y":"{}"}}]}}"#,
            text(&rsa.n),
            text(&rsa.e),
            text(&point[1..33]),
            text(&point[33..]),
        )
    }

    fn directory(&self) -> Directory {
        Directory::new(&self.jwks(), "https://issuer".to_owned(), "tesela".to_owned()).unwrap()
    }

    /// A token with this head and these claims, signed with the key its `alg` is for.
    fn token(&self, head: &str, claims: &str) -> String {
        let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(head), URL_SAFE_NO_PAD.encode(claims));
        let random = SystemRandom::new();
        let signature = if head.contains("ES256") {
            self.curve.sign(&random, signed.as_bytes()).unwrap().as_ref().to_vec()
        } else {
            let mut signature = vec![0; self.rsa.public().modulus_len()];
            self.rsa.sign(&RSA_PKCS1_SHA256, &random, signed.as_bytes(), &mut signature).unwrap();
            signature
        };
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

const RS256: &str = r#"{"alg":"RS256","typ":"JWT","kid":"r"}"#;
const ES256: &str = r#"{"alg":"ES256","kid":"c"}"#;

fn claims(rest: &str) -> String {
    format!(r#"{{"iss":"https://issuer","aud":"tesela","exp":{},{rest}}}"#, NOW + 600)
}

#[test]
fn both_kinds_of_signatures_are_accepted() {
    let issuer = Issuer::new();
    let directory = issuer.directory();
    for head in [RS256, ES256, r#"{"alg":"RS256"}"#, r#"{"alg":"ES256"}"#] {
        for (roles, role) in [
            (r#""roles":["read"]"#, DataRole::Read),
            (r#""roles":["other","Write"]"#, DataRole::Write),
            (r#""roles":["read","write"]"#, DataRole::Write),
            (r#""roles":"read""#, DataRole::Read),
        ] {
            assert_eq!(directory.verify(&issuer.token(head, &claims(roles)), NOW), Ok(role), "{head} {roles}");
        }
    }
}

#[test]
fn every_claim_counts() {
    let issuer = Issuer::new();
    let directory = issuer.directory();
    let (iss, roles) = (r#""iss":"https://issuer""#, r#""roles":["read"]"#);
    let (aud, exp) = (r#""aud":["x","tesela"]"#, format!(r#""exp":{}"#, NOW + 1));
    for (parts, refusal) in [
        (vec![iss, aud, &exp, roles], None),
        (vec![iss, aud, &exp, roles, r#""nbf":1767225900"#], None),
        (vec![aud, &exp, roles], Some(TokenRefusal::Stranger)),
        (vec![r#""iss":"https://other""#, aud, &exp, roles], Some(TokenRefusal::Stranger)),
        (vec![iss, &exp, roles], Some(TokenRefusal::Stranger)),
        (vec![iss, r#""aud":["x"]"#, &exp, roles], Some(TokenRefusal::Stranger)),
        (vec![iss, aud, roles], Some(TokenRefusal::Expired)),
        (vec![iss, aud, r#""exp":1767225600"#, roles], Some(TokenRefusal::Expired)),
        (vec![iss, aud, &exp, roles, r#""nbf":1767225901"#], Some(TokenRefusal::Expired)),
        (vec![iss, aud, &exp], Some(TokenRefusal::NoRole)),
        (vec![iss, aud, &exp, r#""roles":["admin"]"#], Some(TokenRefusal::NoRole)),
    ] {
        let claims = format!("{{{}}}", parts.join(","));
        let verdict = directory.verify(&issuer.token(RS256, &claims), NOW);
        assert_eq!(verdict.err(), refusal, "{claims}");
    }
}

#[test]
fn signatures_are_checked_with_keys_of_their_kind() {
    let (issuer, stranger) = (Issuer::new(), Issuer::new());
    let directory = issuer.directory();
    let claims = claims(r#""roles":["write"]"#);
    let refusal = |token: &str| directory.verify(token, NOW).unwrap_err();
    assert_eq!(refusal(&stranger.token(ES256, &claims)), TokenRefusal::Signature);
    // Another key's name, and one nobody has.
    assert_eq!(refusal(&issuer.token(r#"{"alg":"RS256","kid":"c"}"#, &claims)), TokenRefusal::Signature);
    assert_eq!(refusal(&issuer.token(r#"{"alg":"RS256","kid":"x"}"#, &claims)), TokenRefusal::Signature);
    for head in [r#"{"alg":"none"}"#, r#"{"alg":"HS256","kid":"r"}"#, r#"{"alg":"RS256","crit":["x"]}"#, "[]", "x"] {
        assert_eq!(refusal(&issuer.token(head, &claims)), TokenRefusal::Malformed, "{head}");
    }
    let good = issuer.token(RS256, &claims);
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let (head, _) = signed.split_once('.').unwrap();
    let swapped = URL_SAFE_NO_PAD.encode(claims.replace("tesela", "telesa"));
    assert_eq!(refusal(&format!("{head}.{swapped}.{signature}")), TokenRefusal::Signature);
    assert_eq!(refusal(&format!("{signed}.")), TokenRefusal::Signature);
    for text in ["", ".", "..", "a.b.c.d", "a.b.c", signed] {
        assert!(directory.verify(text, NOW).is_err(), "{text}");
    }
}

#[test]
fn a_key_file_must_have_a_key() {
    let new = |text: &str| Directory::new(text, String::new(), String::new()).err();
    assert!(matches!(new("{"), Some(DirectoryError::NotJson(_))));
    assert_eq!(new("{}"), Some(DirectoryError::NoKeys));
    for keys in [
        r#""#,
        r#"{"kty":"oct"}"#,
        r#"{"kty":"RSA","n":"!","e":"AQAB"}"#,
        r#"{"kty":"RSA","use":"enc","n":"AQAB","e":"AQAB"}"#,
        r#"{"kty":"EC","crv":"P-384","x":"AQ","y":"AQ"}"#,
    ] {
        assert_eq!(new(&format!(r#"{{"keys":[{keys}]}}"#)), Some(DirectoryError::NothingUsable), "{keys}");
    }
    assert_eq!(new(r#"{"keys":[{"kty":"EC","crv":"P-256","x":"AQ","y":"AQ"}]}"#), None);
}

#[test]
fn roles_are_of_the_data_plane() {
    use Operation as O;
    for operation in [O::ReadAccount, O::ReadContainer, O::ReadItem, O::Query, O::ReadChanges] {
        assert!(DataRole::Read.allows(operation) && DataRole::Write.allows(operation), "{operation:?}");
    }
    for operation in [O::CreateItem, O::PatchItem, O::Bulk, O::AtomicBatch, O::ExecuteScript, O::DeleteByKey] {
        assert!(!DataRole::Read.allows(operation) && DataRole::Write.allows(operation), "{operation:?}");
    }
    for operation in [O::WriteContainer, O::ReadPermissions, O::CreateScript, O::WriteOffer, O::ReadAdmin, O::Unknown] {
        assert!(!DataRole::Read.allows(operation) && !DataRole::Write.allows(operation), "{operation:?}");
    }
}
