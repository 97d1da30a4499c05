use std::cmp::Ordering;

use proptest::prelude::*;

use super::*;

/// One field of any kind, with the order the encoding promises.
#[derive(Clone, Debug, PartialEq)]
enum Field {
    Tag(u8),
    U32(u32),
    U64(u64),
    F64(f64),
    Bytes(Vec<u8>),
    Str(String),
}

impl Field {
    fn write(&self, key: KeyWriter) -> KeyWriter {
        match self {
            Self::Tag(tag) => key.tag(*tag),
            Self::U32(number) => key.u32(*number),
            Self::U64(number) => key.u64(*number),
            Self::F64(number) => key.f64(*number),
            Self::Bytes(bytes) => key.bytes(bytes),
            Self::Str(text) => key.str(text),
        }
    }

    fn read_alike(&self, key: &mut KeyReader<'_>) -> Result<Self, KeyError> {
        Ok(match self {
            Self::Tag(_) => Self::Tag(key.tag()?),
            Self::U32(_) => Self::U32(key.u32()?),
            Self::U64(_) => Self::U64(key.u64()?),
            Self::F64(_) => Self::F64(key.f64()?),
            Self::Bytes(_) => Self::Bytes(key.bytes()?.into_owned()),
            Self::Str(_) => Self::Str(key.str()?.into_owned()),
        })
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Tag(a), Self::Tag(b)) => a.cmp(b),
            (Self::U32(a), Self::U32(b)) => a.cmp(b),
            (Self::U64(a), Self::U64(b)) => a.cmp(b),
            (Self::F64(a), Self::F64(b)) => a.partial_cmp(b).expect("no NaN is generated"),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            (Self::Str(a), Self::Str(b)) => a.cmp(b),
            _ => panic!("only keys of one shape are compared"),
        }
    }
}

fn number() -> impl Strategy<Value = f64> {
    use proptest::num::f64::{INFINITE, NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    prop_oneof![POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO | INFINITE, (-3_i32..3).prop_map(f64::from),]
}

/// Short, and made of the bytes that matter, so that two of them often share a prefix.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(0_u8), Just(1), Just(2), Just(0x61), Just(0xff), any::<u8>()];
    prop::collection::vec(byte, 0..6)
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[\u{0}\u{1}\u{2}ab\u{7f}ßé€😀]{0,5}", ".{0,8}"]
}

/// Two fields of the same kind.
fn pair() -> impl Strategy<Value = (Field, Field)> {
    fn two<T: Clone + std::fmt::Debug>(
        of: impl Strategy<Value = T> + Clone,
        make: fn(T) -> Field,
    ) -> impl Strategy<Value = (Field, Field)> {
        let equal = of.clone().prop_map(move |a| (make(a.clone()), make(a)));
        let any = (of.clone(), of).prop_map(move |(a, b)| (make(a), make(b)));
        prop_oneof![1 => equal, 3 => any]
    }
    prop_oneof![
        two(any::<u8>(), Field::Tag),
        two(any::<u32>(), Field::U32),
        two(any::<u64>(), Field::U64),
        two(number().boxed(), Field::F64),
        two(bytes().boxed(), Field::Bytes),
        two(text().boxed(), Field::Str),
    ]
}

fn encode<'a>(fields: impl IntoIterator<Item = &'a Field>) -> Bytes {
    fields.into_iter().fold(KeyWriter::new(), |key, field| field.write(key)).finish()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn keys_sort_as_their_fields(pairs in prop::collection::vec(pair(), 1..5)) {
        let left = encode(pairs.iter().map(|(field, _)| field));
        let right = encode(pairs.iter().map(|(_, field)| field));
        let expected = pairs.iter().map(|(a, b)| a.compare(b)).find(|order| order.is_ne());
        prop_assert_eq!(left.cmp(&right), expected.unwrap_or(Ordering::Equal));
    }

    #[test]
    fn fields_survive_a_round_trip(pairs in prop::collection::vec(pair(), 0..6)) {
        let fields: Vec<_> = pairs.into_iter().map(|(field, _)| field).collect();
        let key = encode(&fields);
        let mut reader = KeyReader::new(&key);
        for field in &fields {
            prop_assert_eq!(&field.read_alike(&mut reader).unwrap(), field);
        }
        reader.end().unwrap();
    }

    /// Any bytes decode to an error or to fields that encode to the same bytes again.
    #[test]
    fn decoding_accepts_only_what_encoding_writes(
        key in prop_oneof![prop::collection::vec(any::<u8>(), 0..24), bytes()],
        shape in prop::collection::vec(pair(), 0..4),
    ) {
        let mut reader = KeyReader::new(&key);
        let fields: Result<Vec<_>, _> =
            shape.iter().map(|(field, _)| field.read_alike(&mut reader)).collect();
        if let Ok(fields) = fields {
            let read = key.len() - reader.rest().len();
            prop_assert_eq!(&encode(&fields)[..], &key[..read]);
        }
    }

    #[test]
    fn a_string_prefix_covers_exactly_the_strings_that_begin_so(text in text(), prefix in text()) {
        let range = crate::KeyRange::prefix(KeyWriter::new().tag(3).str_prefix(&prefix).as_slice());
        let key = KeyWriter::new().tag(3).str(&text).u64(9).finish();
        prop_assert_eq!(range.contains(&key), text.starts_with(&prefix));
    }
}

#[test]
fn the_documented_example_is_byte_exact() {
    let key = KeyWriter::new().tag(7).str("a\0b").u64(258).finish();
    assert_eq!(key[..], [7, 0x61, 1, 1, 0x62, 0, 0, 0, 0, 0, 0, 0, 1, 2]);
}

#[test]
fn numbers_are_byte_exact() {
    for (number, bytes) in [
        (0.0, [0x80, 0, 0, 0, 0, 0, 0, 0]),
        (-0.0, [0x80, 0, 0, 0, 0, 0, 0, 0]),
        (1.0, [0xbf, 0xf0, 0, 0, 0, 0, 0, 0]),
        (-1.0, [0x40, 0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        (f64::NEG_INFINITY, [0x00, 0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
    ] {
        assert_eq!(KeyWriter::new().f64(number).as_slice(), bytes, "{number}");
    }
}

#[test]
fn damaged_keys_name_their_fault() {
    let cases: [(&[u8], KeyError); 5] = [
        (b"abc", KeyError::Truncated),
        (b"a\x01\x03\x00", KeyError::BadEscape { byte: 3 }),
        (b"a\x01\x00", KeyError::BadEscape { byte: 0 }),
        (b"\xff\x00", KeyError::NotUtf8),
        (b"\xc3\x01\x01\x00", KeyError::NotUtf8),
    ];
    for (key, error) in cases {
        assert_eq!(KeyReader::new(key).str(), Err(error), "{key:?}");
    }
    let negative_zero = (!SIGN).to_be_bytes();
    assert_eq!(KeyReader::new(&negative_zero).f64(), Err(KeyError::NegativeZero));
    assert_eq!(KeyReader::new(b"ab").end(), Err(KeyError::TrailingBytes { bytes: 2 }));
}
