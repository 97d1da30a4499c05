//! Session tokens: how far a client has seen the writes of each partition key range.
//!
//! ```text
//! 0:-1#12             range 0, no failover yet (version -1), 12 writes
//! 0:2#12#1=8#2=7      the same with the progress of regions 1 and 2
//! 0:42                the form before 2018, still sent by old state
//! 0:-1#12,1:-1#9      several ranges, on cross-partition requests
//! ```
//!
//! This server has one region and answers with one range at a time, always `{range}:-1#{lsn}`: clients
//! merge tokens and refuse to when the lists of regions differ. What clients send is read in full.

/// The version of tokens while no failover has happened.
const VERSION_INITIAL: i64 = -1;

/// The progress of one partition key range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeToken<'a> {
    pub range_id: &'a str,
    pub version: i64,
    pub lsn: u64,
    /// Region id and the local progress there.
    pub regions: Vec<(u32, u64)>,
}

/// The text is no session token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the session token is not of the form range:version#lsn")]
pub struct SessionTokenError;

/// The token of an answer that touched one range.
pub fn format(range_id: &str, lsn: u64) -> String {
    format!("{range_id}:{VERSION_INITIAL}#{lsn}")
}

/// Reads the header of a request, one entry for each range it names.
pub fn parse(text: &str) -> Result<Vec<RangeToken<'_>>, SessionTokenError> {
    text.split(',').map(|piece| RangeToken::parse(piece.trim_ascii()).ok_or(SessionTokenError)).collect()
}

impl<'a> RangeToken<'a> {
    fn parse(piece: &'a str) -> Option<Self> {
        let (range_id, progress) = piece.split_once(':')?;
        if range_id.is_empty() {
            return None;
        }
        let Some((version, rest)) = progress.split_once('#') else {
            let lsn = progress.parse().ok()?;
            return Some(Self { range_id, version: VERSION_INITIAL, lsn, regions: Vec::new() });
        };
        let mut parts = rest.split('#');
        let lsn = parts.next()?.parse().ok()?;
        let region = |part: &str| {
            let (region, lsn) = part.split_once('=')?;
            Some((region.parse().ok()?, lsn.parse().ok()?))
        };
        let regions = parts.map(region).collect::<Option<_>>()?;
        Some(Self { range_id, version: version.parse().ok()?, lsn, regions })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token<'a>(range_id: &'a str, version: i64, lsn: u64, regions: &[(u32, u64)]) -> RangeToken<'a> {
        RangeToken { range_id, version, lsn, regions: regions.to_vec() }
    }

    #[test]
    fn every_form_is_read() {
        for (text, expected) in [
            ("0:-1#12", vec![token("0", -1, 12, &[])]),
            ("0:0#5#0=5", vec![token("0", 0, 5, &[(0, 5)])]),
            ("1:2#100#1=98#2=100", vec![token("1", 2, 100, &[(1, 98), (2, 100)])]),
            ("0:0#5#0=5,1:0#3#0=3", vec![token("0", 0, 5, &[(0, 5)]), token("1", 0, 3, &[(0, 3)])]),
            ("0:42", vec![token("0", -1, 42, &[])]),
            ("0:1, 7:2", vec![token("0", -1, 1, &[]), token("7", -1, 2, &[])]),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_we_write_we_read() {
        let text = format("17", u64::MAX);
        assert_eq!(text, "17:-1#18446744073709551615");
        assert_eq!(parse(&text), Ok(vec![token("17", -1, u64::MAX, &[])]));
    }

    #[test]
    fn junk_is_refused() {
        for text in
            ["", ",", "0", "0:", ":1", "0:x", "0:-1#", "0:-1#-3", "0:-1#5#", "0:-1#5#1", "0:-1#5#a=1", "0:1,", "0:x#5"]
        {
            assert_eq!(parse(text), Err(SessionTokenError), "{text}");
        }
    }
}
