//! Signed requests, prepared ahead.
//!
//! A signature covers method, path and date, and stays good for 15 minutes. A run lasts seconds, so
//! requests are signed before the clock starts and sent as they are: the generator then measures the
//! server's hashing, not its own.

use crate::failure::{Doing, Result};
use crate::item;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Uri, header};
use std::time::{SystemTime, UNIX_EPOCH};
use tesela_protocol::http_date;
use tesela_protocol::signature::{AccountKey, SignedDate, text_to_sign};

/// The key every Cosmos DB emulator is known by.
pub const EMULATOR_KEY: &str =
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

/// A request that can be sent any number of times.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub method: Method,
    pub uri: Uri,
    pub headers: HeaderMap,
    pub body: Bytes,
}

pub struct Signer {
    key: AccountKey,
    host: HeaderValue,
    date: String,
}

impl Signer {
    pub fn new(host: &str) -> Result<Self> {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Ok(Self {
            key: AccountKey::from_base64(EMULATOR_KEY).doing("reading the emulator key")?,
            host: HeaderValue::from_str(host).doing("host header")?,
            date: http_date::format(i64::try_from(seconds).unwrap_or(0)),
        })
    }

    /// A signed request for a resource addressed by name.
    pub fn prepare(&self, method: Method, path: &str, body: Bytes) -> Result<Prepared> {
        let date = SignedDate::parse(Some(&self.date), None).doing("signing date")?;
        let (resource_type, link) = resource_of(path);
        let text = text_to_sign(method.as_str(), resource_type, &link, &date);
        let token = format!("type=master&ver=1.0&sig={}", self.key.sign(&text));
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, self.host.clone());
        headers.insert(header::AUTHORIZATION, value(&percent_encoded(&token))?);
        headers.insert("x-ms-date", value(&self.date)?);
        headers.insert("x-ms-version", HeaderValue::from_static("2020-07-15"));
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        Ok(Prepared { method, uri: path.parse().doing("request path")?, headers, body })
    }

    pub fn read_item(&self, number: u64) -> Result<Prepared> {
        let path = format!("/dbs/{}/colls/{}/docs/{}", item::DATABASE, item::CONTAINER, item::id(number));
        let mut request = self.prepare(Method::GET, &path, Bytes::new())?;
        request.headers.insert("x-ms-documentdb-partitionkey", partition_key_header(number)?);
        Ok(request)
    }

    /// The create request without its item; [`with_item`] makes one for each number.
    pub fn create_item(&self) -> Result<Prepared> {
        let path = format!("/dbs/{}/colls/{}/docs", item::DATABASE, item::CONTAINER);
        self.prepare(Method::POST, &path, Bytes::new())
    }
}

pub fn with_item(create: &Prepared, number: u64) -> Result<Prepared> {
    let mut request = create.clone();
    request.body = Bytes::from(item::body(number));
    request.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    request.headers.insert("x-ms-documentdb-partitionkey", partition_key_header(number)?);
    Ok(request)
}

fn partition_key_header(number: u64) -> Result<HeaderValue> {
    value(&format!("[\"{}\"]", item::partition_key(number)))
}

fn value(text: &str) -> Result<HeaderValue> {
    HeaderValue::from_str(text).doing("header value")
}

/// Resource type and link that a path by names is signed with.
fn resource_of(path: &str) -> (&str, String) {
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    match segments.as_slice() {
        [] => ("", String::new()),
        [owner @ .., feed] if segments.len() % 2 == 1 => (feed, owner.join("/")),
        [.., resource_type, _] => (resource_type, segments.join("/")),
        [only] => (only, String::new()),
    }
}

fn percent_encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_signed_by_owner_or_by_themselves() {
        let cases = [
            ("/", "", ""),
            ("/dbs", "dbs", ""),
            ("/dbs/d", "dbs", "dbs/d"),
            ("/dbs/d/colls", "colls", "dbs/d"),
            ("/dbs/d/colls/c/docs", "docs", "dbs/d/colls/c"),
            ("/dbs/d/colls/c/docs/1", "docs", "dbs/d/colls/c/docs/1"),
        ];
        for (path, resource_type, link) in cases {
            assert_eq!(resource_of(path), (resource_type, link.to_owned()), "{path}");
        }
    }

    #[test]
    fn tokens_are_percent_encoded() {
        assert_eq!(percent_encoded("type=master&sig=a+b/c="), "type%3Dmaster%26sig%3Da%2Bb%2Fc%3D");
    }
}
