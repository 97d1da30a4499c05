//! Where in the query text a piece of syntax stands.
//!
//! Offsets are bytes of the UTF-8 text, because that is what the lexer walks. The wire
//! reports positions in UTF-16 units (`errors[].location`), so [`Span::to_utf16`] converts
//! once, at the border, for the one span an error carries.

use std::ops::Range;

/// Half-open byte range `start..end` of the query text.
///
/// 32 bits are enough: the parser refuses text above [`tesela_model::limits::QUERY_TEXT_BYTES_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The spanned piece of `text`; empty when the span does not belong to this text.
    pub fn of(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or_default()
    }

    /// The same range counted in UTF-16 units, as the service reports error locations.
    pub fn to_utf16(self, text: &str) -> Range<usize> {
        let units =
            |byte: u32| text.char_indices().take_while(|(at, _)| *at < byte as usize).map(|(_, c)| c.len_utf16()).sum();
        units(self.start)..units(self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf16_positions_count_surrogate_pairs_as_two() {
        let text = "é😀x";
        let x = Span::new(6, 7);
        assert_eq!(x.of(text), "x");
        assert_eq!(x.to_utf16(text), 3..4);
    }

    #[test]
    fn a_span_of_another_text_yields_nothing() {
        assert_eq!(Span::new(3, 9).of("ab"), "");
    }
}
