use super::*;

/// Bodies made with the official encoder, and one of every form it can read but never writes.
const VECTORS: &str = include_str!("../../testdata/binary_json_vectors.json");
const LIMIT: usize = 1 << 20;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: String = hex.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

fn text(hex: &str) -> Result<String> {
    to_text(&bytes(hex), LIMIT).map(|text| String::from_utf8(text).unwrap())
}

#[test]
fn every_vector_reads_as_its_json() {
    let file = json::parse(VECTORS.as_bytes()).unwrap();
    let vectors = file.as_array().unwrap();
    assert!(vectors.len() > 100);
    for vector in vectors {
        let field = |name| vector.get(name).and_then(json::Value::as_str).unwrap();
        assert_eq!(text(field("binary")), Ok(field("json").to_owned()), "{}", field("binary"));
    }
}

#[test]
fn the_fixed_dictionary_and_the_literal_numbers_are_complete() {
    for marker in 0x00..=0x1F_u8 {
        assert_eq!(text(&format!("80{marker:02x}")), Ok(marker.to_string()));
    }
    for marker in 0x20..=0x3F_u8 {
        assert!(text(&format!("80{marker:02x}")).unwrap().len() > 3);
    }
    assert_eq!(text("80 3f"), Ok("\"_id\"".into()));
}

#[test]
fn each_defect_has_its_own_error() {
    use BinaryJsonError as E;
    for (hex, expected) in [
        ("", E::NoPreamble),
        ("7b7d", E::NoPreamble),
        ("80", E::Truncated { offset: 1 }),
        ("80 cb 00", E::Truncated { offset: 2 }),
        ("80 85 68 69", E::Truncated { offset: 2 }),
        ("80 c2 ff ff ff ff", E::Truncated { offset: 6 }),
        ("80 e2 05 00", E::Truncated { offset: 3 }),
        ("80 e4 ff ff ff ff 00", E::Truncated { offset: 6 }),
        // A string that crosses the end of its array, and an array that crosses the end of its own.
        ("80 e2 02 82 68 69", E::Truncated { offset: 4 }),
        ("80 e2 02 e2 02 00 00", E::Truncated { offset: 5 }),
        ("80 e9", E::Truncated { offset: 2 }),
        ("80 e9 2c", E::Truncated { offset: 3 }),
        ("80 d4", E::BadMarker { marker: 0xD4, offset: 1 }),
        ("80 68", E::BadMarker { marker: 0x68, offset: 1 }),
        ("80 70", E::BadMarker { marker: 0x70, offset: 1 }),
        ("80 cf 00 00", E::BadMarker { marker: 0xCF, offset: 1 }),
        ("80 ff", E::BadMarker { marker: 0xFF, offset: 1 }),
        ("80 f0 c8 01 01", E::BadMarker { marker: 0xC8, offset: 2 }),
        ("80 f2 f1 da 00 00", E::BadMarker { marker: 0xF1, offset: 2 }),
        ("80 e9 00 00", E::NameNotString { marker: 0x00, offset: 2 }),
        ("80 ea 02 e0 00", E::NameNotString { marker: 0xE0, offset: 3 }),
        ("80 82 ff fe", E::BadString { offset: 1 }),
        ("80 78 01 1f", E::BadString { offset: 1 }),
        ("80 7b 01 7f 01", E::BadString { offset: 1 }),
        ("80 71 00 01", E::BadString { offset: 1 }),
        ("80 71 01 03 41", E::BadString { offset: 1 }),
        ("80 40", E::UserString { offset: 1 }),
        ("80 60 00", E::UserString { offset: 1 }),
        ("80 c3 00", E::BadReference { offset: 1 }),
        ("80 c3 01", E::BadReference { offset: 1 }),
        ("80 e2 04 81 68 c3 09", E::BadReference { offset: 5 }),
        ("80 e2 04 00 00 c3 03", E::BadReference { offset: 5 }),
        ("80 e2 06 81 68 c3 03 c3 05", E::BadReference { offset: 7 }),
        ("80 cc 00 00 00 00 00 00 f0 7f", E::NotFinite { offset: 1 }),
        ("80 cd 00 00 c0 7f", E::NotFinite { offset: 1 }),
        ("80 e5 02 03 00 00", E::WrongCount { offset: 6 }),
        ("80 ed 02 02 2c 00", E::WrongCount { offset: 6 }),
        ("80 d0 d0", E::TrailingBytes { count: 1 }),
    ] {
        assert_eq!(text(hex), Err(expected), "{hex}");
    }
}

#[test]
fn nesting_is_limited() {
    let nested = |depth: usize| {
        let mut body = vec![PREAMBLE];
        body.extend(std::iter::repeat_n(0xE1, depth));
        body.push(0);
        to_text(&body, LIMIT)
    };
    assert_eq!(nested(DOCUMENT_DEPTH_MAX).map(|text| text.len()), Ok(2 * DOCUMENT_DEPTH_MAX + 1));
    assert_eq!(nested(DOCUMENT_DEPTH_MAX + 1), Err(BinaryJsonError::TooDeep));
    assert_eq!(nested(1_000_000), Err(BinaryJsonError::TooDeep));
}

#[test]
fn references_cannot_blow_a_body_up() {
    // One string of 60,000 bytes and 20,000 references to it.
    let mut values = vec![0xC1, 0x60, 0xEA];
    values.extend(std::iter::repeat_n(b'a', 60_000));
    values.extend([0xC3, 6].repeat(20_000));
    let mut body = vec![PREAMBLE, 0xE4];
    body.extend((values.len() as u32).to_le_bytes());
    body.extend(values);
    assert_eq!(to_text(&body, LIMIT), Err(BinaryJsonError::TooLong { limit: LIMIT }));
}

#[test]
fn no_mutation_of_a_body_panics_or_gives_bad_json() {
    let file = json::parse(VECTORS.as_bytes()).unwrap();
    let mut state = 7_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut read = 0;
    for vector in file.as_array().unwrap() {
        let original = bytes(vector.get("binary").and_then(json::Value::as_str).unwrap());
        for _ in 0..200 {
            let mut body = original.clone();
            for _ in 0..=random() % 3 {
                let at = 1 + random() % (body.len() - 1);
                body[at] = random() as u8;
            }
            body.truncate(2 + random() % body.len());
            if let Ok(text) = to_text(&body, LIMIT) {
                json::parse(&text).unwrap_or_else(|error| panic!("{body:02x?}: {error}"));
                read += 1;
            }
        }
    }
    assert!(read > 1000, "only {read} mutations were still readable");
}
