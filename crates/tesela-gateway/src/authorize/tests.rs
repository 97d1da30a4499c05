use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, HeaderValue};
use tesela_protocol::percent;

use super::*;

const DATE: &str = "Thu, 27 Apr 2017 00:51:12 GMT";
const NOW: i64 = 1_493_254_272;

fn key(seed: u8) -> String {
    STANDARD.encode([seed; 64])
}

fn authorizer() -> Authorizer {
    let keys = KeyTexts {
        primary: key(1),
        secondary: Some(key(2)),
        primary_read_only: Some(key(3)),
        secondary_read_only: Some(key(4)),
    };
    Authorizer::new(&keys).unwrap()
}

fn emulator() -> Authorizer {
    Authorizer::new(&KeyTexts { primary: EMULATOR_KEY.into(), ..KeyTexts::default() }).unwrap()
}

fn headers(list: &[(&HeaderName, &str)]) -> HeaderMap {
    list.iter().map(|(name, value)| ((*name).clone(), HeaderValue::from_str(value).unwrap())).collect()
}

/// The headers of a request signed with a key, over exactly this text.
fn signed(seed: u8, text: &str) -> HeaderMap {
    let signature = AccountKey::from_base64(&key(seed)).unwrap().sign(text);
    let value = percent::encode(&format!("type=master&ver=1.0&sig={signature}"), b"");
    headers(&[(&header::AUTHORIZATION, &value), (&header::X_MS_DATE, DATE)])
}

fn decide(authorizer: &Authorizer, method: Method, target: &str, headers: &HeaderMap) -> Result<Principal, ApiError> {
    authorizer.authorize(&method, &Link::parse(target, None).unwrap(), headers, NOW)
}

fn refusal(result: Result<Principal, ApiError>) -> (u16, u32, String) {
    let error = result.unwrap_err();
    (error.status.number(), error.sub_status.0, error.message)
}

const READ_ITEM: &str = "get\ndocs\ndbs/d/colls/c/docs/i\nthu, 27 apr 2017 00:51:12 gmt\n\n";
const POST_ITEM: &str = "post\ndocs\ndbs/d/colls/c\nthu, 27 apr 2017 00:51:12 gmt\n\n";
const ITEM: &str = "/dbs/d/colls/c/docs/i";
const ITEMS: &str = "/dbs/d/colls/c/docs/";

#[test]
fn each_of_the_four_keys_opens_what_it_should() {
    let authorizer = authorizer();
    for (seed, principal) in
        [(1, Principal::ReadWrite), (2, Principal::ReadWrite), (3, Principal::ReadOnly), (4, Principal::ReadOnly)]
    {
        let read = decide(&authorizer, Method::GET, ITEM, &signed(seed, READ_ITEM));
        assert_eq!(read.unwrap(), principal, "key {seed}");
        let write = decide(&authorizer, Method::POST, ITEMS, &signed(seed, POST_ITEM));
        assert_eq!(write.is_ok(), principal == Principal::ReadWrite, "key {seed}");
    }
    assert_eq!(refusal(decide(&authorizer, Method::GET, ITEM, &signed(5, READ_ITEM))).0, 401);
}

#[test]
fn a_read_only_key_may_query_but_not_write() {
    let authorizer = authorizer();
    let with = |list: &[(&HeaderName, &str)]| {
        let mut all = signed(3, POST_ITEM);
        all.extend(headers(list));
        decide(&authorizer, Method::POST, ITEMS, &all)
    };
    for marker in [&header::IS_QUERY, &header::QUERY, &header::IS_QUERY_PLAN] {
        assert_eq!(with(&[(marker, "True")]).unwrap(), Principal::ReadOnly, "{marker}");
        assert_eq!(refusal(with(&[(marker, "false")])).0, 403, "{marker}");
    }
    assert_eq!(refusal(with(&[(&header::IS_QUERY, "true"), (&header::IS_BATCH, "true")])).0, 403);
    assert_eq!(refusal(with(&[(&header::IS_QUERY, "maybe")])).0, 400);
}

#[test]
fn a_wrong_signature_shows_the_text_the_server_signed() {
    let authorizer = authorizer();
    let (status, sub_status, message) = refusal(decide(&authorizer, Method::GET, "/dbs/other", &signed(1, READ_ITEM)));
    assert_eq!((status, sub_status), (401, 0));
    assert!(message.ends_with(r"'get\ndbs\ndbs/other\nthu, 27 apr 2017 00:51:12 gmt\n\n'"), "{message}");
}

#[test]
fn unusual_spellings_of_the_signed_link_are_accepted() {
    let authorizer = authorizer();
    for (target, text) in [
        ("/dbs/a%20b/", "get\ndbs\ndbs/a b\nthu, 27 apr 2017 00:51:12 gmt\n\n"),
        ("/dbs/a%20b/", "get\ndbs\ndbs/a%20b\nthu, 27 apr 2017 00:51:12 gmt\n\n"),
        ("/dbs/abcdef==/", "get\ndbs\nabcdef==\nthu, 27 apr 2017 00:51:12 gmt\n\n"),
        ("/dbs/abcdef==/", "get\ndbs\ndbs/abcdef==\nthu, 27 apr 2017 00:51:12 gmt\n\n"),
    ] {
        assert_eq!(decide(&authorizer, Method::GET, target, &signed(2, text)).unwrap(), Principal::ReadWrite, "{text}");
    }
}

#[test]
fn missing_and_malformed_headers_have_their_sub_statuses() {
    let authorizer = authorizer();
    let with = |value: &str| decide(&authorizer, Method::GET, "/", &headers(&[(&header::AUTHORIZATION, value)]));
    assert_eq!(refusal(decide(&authorizer, Method::GET, "/", &HeaderMap::new())).1, 5000);
    assert_eq!(refusal(with("")).1, 5000);
    for value in ["x", "type%3Dmaster%26ver%3D1.0", "type=other&ver=1.0&sig=x", "type=master&ver=9&sig=x", "%ff"] {
        let (status, sub_status, _) = refusal(with(value));
        assert_eq!((status, sub_status), (401, 5001), "{value}");
    }
    // Well-formed, but without a date, and with a signature no key can have made.
    assert_eq!(refusal(with("type=master&ver=1.0&sig=x")).0, 401);
    let dated = headers(&[(&header::AUTHORIZATION, "type=master&ver=1.0&sig=x"), (&header::X_MS_DATE, DATE)]);
    assert_eq!(refusal(decide(&authorizer, Method::GET, "/", &dated)).0, 401);
    let undated = headers(&[(&header::AUTHORIZATION, "type=master&ver=1.0&sig=x"), (&header::X_MS_DATE, "now")]);
    assert_eq!(refusal(decide(&authorizer, Method::GET, "/", &undated)).0, 401);
}

#[test]
fn the_clock_is_checked_after_the_signature() {
    let authorizer = authorizer();
    let link = Link::parse(ITEM, None).unwrap();
    let at = |now, headers: &HeaderMap| authorizer.authorize(&Method::GET, &link, headers, now);
    let good = signed(1, READ_ITEM);
    assert!(at(NOW + 900, &good).is_ok());
    let (status, _, message) = refusal(at(NOW + 901, &good));
    assert_eq!(status, 403);
    assert!(message.contains(DATE) && message.contains("15 minutes"), "{message}");
    assert_eq!(refusal(at(NOW + 901, &signed(9, READ_ITEM))).0, 401);
}

#[test]
fn a_date_header_serves_where_x_ms_date_is_absent() {
    let text = "get\ndocs\ndbs/d/colls/c/docs/i\n\nthu, 27 apr 2017 00:51:12 gmt\n";
    let mut sent = signed(1, text);
    let date = sent.remove(&header::X_MS_DATE).unwrap();
    sent.insert(&header::DATE, date);
    assert_eq!(decide(&authorizer(), Method::GET, ITEM, &sent).unwrap(), Principal::ReadWrite);
}

#[test]
fn resource_tokens_are_handed_on_whole() {
    let token = "type=resource&ver=1&sig=abc;def;";
    let sent = headers(&[(&header::AUTHORIZATION, &percent::encode(token, b""))]);
    assert_eq!(decide(&authorizer(), Method::GET, ITEM, &sent).unwrap(), Principal::ResourceToken(token.into()));
}

#[test]
fn own_endpoints_take_a_bearer_key_and_nothing_else() {
    let authorizer = authorizer();
    let with = |value: &str, method| {
        decide(&authorizer, method, "/_tesela/partitions", &headers(&[(&header::AUTHORIZATION, value)]))
    };
    assert_eq!(with(&format!("Bearer {}", key(1)), Method::POST).unwrap(), Principal::ReadWrite);
    assert_eq!(with(&format!("bearer  {}", key(4)), Method::GET).unwrap(), Principal::ReadOnly);
    assert_eq!(refusal(with(&format!("Bearer {}", key(3)), Method::POST)).0, 403);
    for value in [format!("Bearer {}", key(9)), "Bearer".into(), format!("Basic {}", key(1)), key(1)] {
        assert_eq!(refusal(with(&value, Method::GET)).0, 401, "{value}");
    }
    // A captured signature of the account read must not open them.
    let account = signed(1, "get\n\n\nthu, 27 apr 2017 00:51:12 gmt\n\n");
    assert!(decide(&authorizer, Method::GET, "/", &account).is_ok());
    assert_eq!(refusal(decide(&authorizer, Method::GET, "/_tesela/x", &account)).0, 401);
}

#[test]
fn the_certificate_and_the_explorer_are_open() {
    for target in ["/_explorer/emulator.pem", "/_explorer/index.html"] {
        let principal = decide(&authorizer(), Method::GET, target, &HeaderMap::new());
        assert_eq!(principal.unwrap(), Principal::Anonymous, "{target}");
    }
}

#[test]
fn made_up_directory_tokens_are_only_for_the_emulators_key() {
    let token = |kid: &str, claims: &str, signature: &str| {
        let parts = [format!(r#"{{"alg":"RS256","kid":"{kid}"}}"#), claims.to_owned(), signature.to_owned()];
        format!("type=aad&ver=1.0&sig={}", parts.map(|part| URL_SAFE_NO_PAD.encode(part)).join("."))
    };
    let with = |authorizer: &Authorizer, value: &str| {
        decide(authorizer, Method::POST, ITEMS, &headers(&[(&header::AUTHORIZATION, value)]))
    };
    let good = token(EMULATOR_TOKEN_KEY_ID, r#"{"exp":1493260000}"#, EMULATOR_KEY);
    assert_eq!(with(&emulator(), &good).unwrap(), Principal::ReadWrite);
    assert_eq!(with(&emulator(), &percent::encode(&good, b"")).unwrap(), Principal::ReadWrite);
    assert_eq!(refusal(with(&authorizer(), &good)).1, 5007);
    assert_eq!(refusal(with(&emulator(), &token(EMULATOR_TOKEN_KEY_ID, r#"{"exp":1}"#, EMULATOR_KEY))).1, 5006);
    for bad in [
        token("other", "{}", EMULATOR_KEY),
        token(EMULATOR_TOKEN_KEY_ID, "{}", "other"),
        token(EMULATOR_TOKEN_KEY_ID, "junk", EMULATOR_KEY),
        "type=aad&ver=1.0&sig=a.b".into(),
        "type=aad&ver=1.0&sig=a.b.c.d".into(),
        format!("{good}.x"),
    ] {
        assert_eq!(refusal(with(&emulator(), &bad)).0, 401, "{bad}");
    }
}

#[test]
fn a_key_that_is_no_key_is_refused_at_start() {
    assert!(Authorizer::new(&KeyTexts { primary: "???".into(), ..KeyTexts::default() }).is_err());
    assert!(
        Authorizer::new(&KeyTexts { secondary: Some(String::new()), primary: key(1), ..KeyTexts::default() }).is_err()
    );
}
