use tesela_model::json::{self, Value};

use super::*;
use crate::authorization::{self, Authorization};
use crate::link::Link;

/// Signatures computed by an official SDK, with the requests they belong to.
const VECTORS: &str = include_str!("../../testdata/auth_vectors.json");

struct Vector {
    method: String,
    resource_type: String,
    resource_link: String,
    is_name_based: bool,
    x_ms_date: Option<String>,
    date: Option<String>,
    text: String,
    header: String,
}

fn vectors() -> (AccountKey, Vec<Vector>) {
    let file = json::parse(VECTORS.as_bytes()).unwrap();
    let key = AccountKey::from_base64(file.get("key").and_then(Value::as_str).unwrap()).unwrap();
    let field = |vector: &Value, name| vector.get(name).and_then(Value::as_str).map(str::to_owned);
    let vectors = file.get("auth").and_then(Value::as_array).unwrap().iter().map(|vector| Vector {
        method: field(vector, "verb").unwrap(),
        resource_type: field(vector, "resourceType").unwrap(),
        resource_link: field(vector, "resourceLink").unwrap(),
        is_name_based: vector.get("nameBased").and_then(Value::as_bool).unwrap(),
        x_ms_date: field(vector, "x-ms-date"),
        date: field(vector, "date"),
        text: field(vector, "stringToSign").unwrap(),
        header: field(vector, "headerValue").unwrap(),
    });
    (key, vectors.collect())
}

/// The request path a vector stands for.
fn target(vector: &Vector) -> String {
    let Vector { method, resource_type, resource_link, is_name_based, .. } = vector;
    let is_feed = method == "POST" && resource_type != "sprocs" || resource_type == "pkranges";
    match (resource_type.as_str(), is_name_based) {
        ("", _) => "/".into(),
        ("colls", true) if method == "POST" && resource_link.contains("/colls/") => {
            format!("/{resource_link}/operations/partitionkeydelete")
        }
        (kind, true) if is_feed => format!("/{resource_link}/{kind}/"),
        (_, true) => format!("/{}", crate::percent::encode(resource_link, b"/")),
        (kind, false) if resource_link.is_empty() => format!("/{kind}"),
        ("offers", false) => format!("/offers/{resource_link}"),
        (kind, false) => format!("/dbs/qHVdAA==/colls/qHVdAImeKAQ=/{kind}/{resource_link}"),
    }
}

fn date(vector: &Vector) -> SignedDate<'_> {
    SignedDate::parse(vector.x_ms_date.as_deref(), vector.date.as_deref()).unwrap()
}

fn signature(header: &str) -> Signature {
    let text = authorization::decode(header).unwrap();
    let Ok(Authorization::Master { signature }) = Authorization::parse(&text) else { panic!("{text}") };
    Signature::from_base64(signature).unwrap()
}

#[test]
fn the_text_and_signature_of_every_vector_agree() {
    let (key, vectors) = vectors();
    assert_eq!(vectors.len(), 18);
    for vector in &vectors {
        let link =
            if vector.is_name_based { vector.resource_link.clone() } else { vector.resource_link.to_lowercase() };
        let text = text_to_sign(&vector.method, &vector.resource_type, &link, &date(vector));
        assert_eq!(text, vector.text);
        assert!(key.verifies(&text, &signature(&vector.header)));
        let sent = authorization::decode(&vector.header).unwrap();
        assert_eq!(format!("type=master&ver=1.0&sig={}", key.sign(&text)), sent);
    }
}

#[test]
fn the_request_of_every_vector_is_verified_from_its_path() {
    let (key, vectors) = vectors();
    for vector in &vectors {
        let target = target(vector);
        let link = Link::parse(&target, None).unwrap();
        let signature = signature(&vector.header);
        let verifies = |method: &str, key: &AccountKey| {
            let mut candidates = link.signed.candidates();
            candidates.any(|(kind, link)| key.verifies(&text_to_sign(method, kind, link, &date(vector)), &signature))
        };
        assert!(verifies(&vector.method, &key), "{target}");
        assert!(!verifies("TRACE", &key), "{target} with another verb");
        assert!(!verifies(&vector.method, &AccountKey::from_base64("b3RoZXI=").unwrap()), "{target} with another key");
    }
}

#[test]
fn one_flipped_bit_anywhere_breaks_a_signature() {
    let (key, vectors) = vectors();
    let vector = &vectors[8];
    let good = signature(&vector.header);
    for bit in 0..8 * SIGNATURE_BYTES {
        let mut forged = good;
        forged.0[bit / 8] ^= 1 << (bit % 8);
        assert!(!key.verifies(&vector.text, &forged), "bit {bit}");
    }
}

#[test]
fn only_base64_of_32_bytes_is_a_signature() {
    for length in [0, 1, 31, 33, 34, 35, 36, 48] {
        assert!(Signature::from_base64(&STANDARD.encode(vec![7; length])).is_none(), "{length} bytes");
    }
    assert!(Signature::from_base64(&STANDARD.encode([7; 32])).is_some());
    assert!(Signature::from_base64("not base64 at all, not base64 at all, not ==").is_none());
}

#[test]
fn skew_is_fifteen_minutes_either_way() {
    let date = SignedDate::parse(Some("Thu, 27 Apr 2017 00:51:12 GMT"), None).unwrap();
    for (offset, fresh) in [(0, true), (900, true), (-900, true), (901, false), (-901, false), (i64::MIN / 2, false)] {
        assert_eq!(date.is_within_skew(date.unix_seconds + offset), fresh, "{offset} s");
    }
}

#[test]
fn dates_are_required_and_read() {
    assert_eq!(SignedDate::parse(None, None), Err(DateError::Missing));
    assert_eq!(SignedDate::parse(Some("yesterday"), None), Err(DateError::Malformed));
    // A bad x-ms-date is not saved by a good date: the client signed the former.
    assert_eq!(SignedDate::parse(Some("x"), Some("Thu, 27 Apr 2017 00:51:12 GMT")), Err(DateError::Malformed));
}

#[test]
fn keys_are_base64() {
    for text in ["", "   ", "%%%", "a"] {
        assert_eq!(AccountKey::from_base64(text).err(), Some(KeyError), "{text:?}");
    }
}

#[test]
fn a_secret_knows_only_itself() {
    let secret = Secret::new("key");
    assert!(secret.matches("key"));
    for other in ["", "ke", "keyy", "Key", "key\0"] {
        assert!(!secret.matches(other), "{other:?}");
    }
}
