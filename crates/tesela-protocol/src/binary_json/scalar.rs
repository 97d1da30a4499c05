//! Numbers of binary JSON.
//!
//! Integers are written exactly. Doubles get the shortest text that reads back the same, so a whole
//! number loses its fraction (`3`, not `3.0`) as it does in the service. JSON has no other numbers:
//! infinities and NaN are refused.

use tesela_model::json::Number;

use super::{BinaryJsonError, Input, Result};

/// Whether the items of an array of bare numbers may have this type.
pub(super) fn may_be_uniform(marker: u8) -> bool {
    matches!(marker, 0xCD | 0xCE | 0xD7..=0xDC)
}

/// Writes the number a marker, read at `offset`, introduces.
pub(super) fn write_number(input: &mut Input<'_>, marker: u8, offset: usize, text: &mut Vec<u8>) -> Result<()> {
    let number = match marker {
        0x00..=0x1F => Number::from(i64::from(marker)),
        0xC8 | 0xD7 => Number::from(i64::from(input.byte()?)),
        0xD8 => Number::from(i64::from(i8::from_le_bytes(input.array()?))),
        0xC9 | 0xD9 => Number::from(i64::from(i16::from_le_bytes(input.array()?))),
        0xCA | 0xDA => Number::from(i64::from(i32::from_le_bytes(input.array()?))),
        0xCB | 0xDB => Number::from(i64::from_le_bytes(input.array()?)),
        0xDC => Number::from(i64::from(u32::from_le_bytes(input.array()?))),
        0xC7 => Number::from(u64::from_le_bytes(input.array()?)),
        0xCC | 0xCE => finite(f64::from_le_bytes(input.array()?), offset)?,
        0xCD => finite(f64::from(f32::from_le_bytes(input.array()?)), offset)?,
        _ => return Err(BinaryJsonError::BadMarker { marker, offset }),
    };
    text.extend_from_slice(number.text().as_bytes());
    Ok(())
}

fn finite(value: f64, offset: usize) -> Result<Number> {
    if value.is_finite() { Ok(Number::from(value)) } else { Err(BinaryJsonError::NotFinite { offset }) }
}
