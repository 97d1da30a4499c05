//! MurmurHash3, the two forms partition keys are placed by: x86 32-bit (version 1) and x64 128-bit (version 2).
//! Both with seed 0, by the public algorithm of Austin Appleby.

/// MurmurHash3 x86 32-bit, seed 0.
pub fn murmur3_32(data: &[u8]) -> u32 {
    const C1: u32 = 0xcc9e_2d51;
    const C2: u32 = 0x1b87_3593;
    let scramble = |k: u32| k.wrapping_mul(C1).rotate_left(15).wrapping_mul(C2);
    let mut h = 0_u32;
    let (blocks, tail) = data.as_chunks::<4>();
    for block in blocks {
        h ^= scramble(u32::from_le_bytes(*block));
        h = h.rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    if !tail.is_empty() {
        h ^= scramble(tail.iter().rev().fold(0, |k, byte| k << 8 | u32::from(*byte)));
    }
    h ^= data.len() as u32;
    h ^= h >> 16;
    h = h.wrapping_mul(0x85eb_ca6b);
    h ^= h >> 13;
    h = h.wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

fn scramble_low(k: u64) -> u64 {
    k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

fn scramble_high(k: u64) -> u64 {
    k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

fn finish(mut k: u64) -> u64 {
    k ^= k >> 33;
    k = k.wrapping_mul(0xff51_afd7_ed55_8ccd);
    k ^= k >> 33;
    k = k.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ (k >> 33)
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |k, byte| k << 8 | u64::from(*byte))
}

/// MurmurHash3 x64 128-bit, seed 0: the low half in the low 64 bits.
pub fn murmur3_128(data: &[u8]) -> u128 {
    let (mut h1, mut h2) = (0_u64, 0_u64);
    let (blocks, tail) = data.as_chunks::<16>();
    for block in blocks {
        h1 ^= scramble_low(little_endian(&block[..8]));
        h1 = h1.rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 ^= scramble_high(little_endian(&block[8..]));
        h2 = h2.rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let (low, high) = tail.split_at(tail.len().min(8));
    if !high.is_empty() {
        h2 ^= scramble_high(little_endian(high));
    }
    if !low.is_empty() {
        h1 ^= scramble_low(little_endian(low));
    }
    h1 ^= data.len() as u64;
    h2 ^= data.len() as u64;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = finish(h1);
    h2 = finish(h2);
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    u128::from(h2) << 64 | u128::from(h1)
}
