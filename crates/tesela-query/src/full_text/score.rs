//! BM25 and the numbers it needs from the whole container.

/// How soon repetition stops counting.
const K1: f64 = 1.2;
/// How much the length of a text counts.
const B: f64 = 0.75;

/// What a scorer must know of the container: gathered from every document, filtered or not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    pub document_count: u64,
    /// Words of all texts under the scored path.
    pub total_word_count: u64,
    /// Documents with the phrase, for each phrase of the query.
    pub hit_counts: Vec<u64>,
}

impl Statistics {
    /// Statistics of nothing, for that many phrases.
    pub fn of(phrases: usize) -> Self {
        Self { hit_counts: vec![0; phrases], ..Self::default() }
    }

    /// Adds those of another part of the container.
    pub fn add(&mut self, other: &Self) {
        self.document_count += other.document_count;
        self.total_word_count += other.total_word_count;
        self.hit_counts.resize(self.hit_counts.len().max(other.hit_counts.len()), 0);
        for (mine, theirs) in self.hit_counts.iter_mut().zip(&other.hit_counts) {
            *mine += theirs;
        }
    }
}

/// The score of a text of `words` words in which the phrases occur that often. Zero when none occurs.
pub fn bm25(occurrences: &[usize], words: usize, statistics: &Statistics) -> f64 {
    let documents = statistics.document_count as f64;
    let average = statistics.total_word_count as f64 / documents;
    let length = if average > 0.0 { words as f64 / average } else { 1.0 };
    let term = |(count, hits): (&usize, &u64)| {
        let (tf, hits) = (*count as f64, *hits as f64);
        let idf = (1.0 + (documents - hits + 0.5) / (hits + 0.5)).ln();
        idf * tf * (K1 + 1.0) / (tf + K1 * (1.0 - B + B * length))
    };
    occurrences.iter().zip(&statistics.hit_counts).filter(|(count, _)| **count > 0).map(term).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statistics(hits: u64) -> Statistics {
        Statistics { document_count: 100, total_word_count: 1_000, hit_counts: vec![hits] }
    }

    #[test]
    fn rare_repeated_and_short_weigh_more() {
        let base = bm25(&[1], 10, &statistics(10));
        assert!(base > 0.0);
        assert!(bm25(&[1], 10, &statistics(2)) > base, "rarer");
        assert!(bm25(&[2], 10, &statistics(10)) > base, "more often");
        assert!(bm25(&[1], 5, &statistics(10)) > base, "in a shorter text");
        assert!(bm25(&[200], 10, &statistics(10)) < 3.0 * base, "repetition saturates");
        assert_eq!(bm25(&[0], 10, &statistics(10)), 0.0);
    }

    #[test]
    fn partitions_add_up() {
        let mut sum = Statistics::of(2);
        sum.add(&Statistics { document_count: 1, total_word_count: 5, hit_counts: vec![1, 0] });
        sum.add(&Statistics { document_count: 2, total_word_count: 7, hit_counts: vec![1, 1] });
        assert_eq!(sum, Statistics { document_count: 3, total_word_count: 12, hit_counts: vec![2, 1] });
    }
}
