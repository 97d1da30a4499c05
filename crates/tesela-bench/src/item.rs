//! The measured item: 1 KB of JSON as an order service might store it, a dozen indexed properties and
//! a text that fills it up. The same bytes for every server.

/// Size of an item's text without what the server adds.
const ITEM_BYTES: usize = 1024;

/// Logical partitions the items are spread over.
const PARTITIONS: u64 = 1_000;

pub const DATABASE: &str = "bench";
pub const CONTAINER: &str = "items";

pub fn id(number: u64) -> String {
    format!("item-{number:012}")
}

pub fn partition_key(number: u64) -> String {
    format!("customer-{:04}", number % PARTITIONS)
}

/// The item with this number, exactly [`ITEM_BYTES`] long.
pub fn body(number: u64) -> String {
    let frame = |notes: &str| {
        format!(
            concat!(
                r#"{{"id":"{}","pk":"{}","kind":"order","status":"{}","total":{}.{:02},"currency":"EUR","#,
                r#""lines":{},"paid":{},"city":"city-{}","created":"2026-11-{:02}T10:{:02}:00Z","#,
                r#""tags":["a{}","b{}"],"notes":"{}"}}"#
            ),
            id(number),
            partition_key(number),
            ["open", "paid", "sent"][(number % 3) as usize],
            number % 900,
            number % 100,
            number % 7,
            number.is_multiple_of(2),
            number % 50,
            1 + number % 28,
            number % 60,
            number % 5,
            number % 11,
            notes
        )
    };
    let filler = ITEM_BYTES.saturating_sub(frame("").len());
    frame(&words(number, filler))
}

/// Text that compresses about as well as prose does.
fn words(seed: u64, bytes: usize) -> String {
    const WORDS: [&str; 16] = [
        "partition",
        "key",
        "order",
        "river",
        "of",
        "the",
        "light",
        "even",
        "spread",
        "hash",
        "range",
        "and",
        "split",
        "quiet",
        "store",
        "ring",
    ];
    let mut text = String::with_capacity(bytes + 10);
    let mut state = seed;
    while text.len() < bytes {
        state = mixed(state);
        text.push_str(WORDS[(state % 16) as usize]);
        text.push(' ');
    }
    text.truncate(bytes);
    text
}

/// A step of splitmix64: the same numbers on every machine.
pub fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_one_kilobyte_of_json() {
        for number in [0, 1, 999, 123_456_789] {
            let text = body(number);
            assert_eq!(text.len(), ITEM_BYTES);
            let value: serde_json::Value = serde_json::from_str(&text).expect("items are JSON");
            assert_eq!(value["id"], id(number));
            assert_eq!(value["pk"], partition_key(number));
        }
    }
}
