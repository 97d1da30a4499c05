//! Bytes that do not compress, the same for the same seed.

pub fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed;
    let words = (0..bytes.div_ceil(8)).flat_map(|_| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)).to_le_bytes()
    });
    words.take(bytes).collect()
}
