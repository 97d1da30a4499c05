//! Full-text search: from text to tokens, from tokens to hits, from hits to a score.
//!
//! A text is cut into words, lower-cased, freed of stop words and reduced to stems by the rules of its language; a
//! search phrase goes through the same mill, so "Swimming" finds "swims". A phrase of several words matches where
//! its stems stand side by side; stop words between them do not count.
//!
//! A score is BM25: rare phrases weigh more, repetition saturates, long texts are discounted. It needs to know the
//! whole container (how many documents, how many words, how many documents with the phrase), which a row does not:
//! [`Statistics`] are gathered first, added up over partitions, and given to the execution that scores.
//!
//! ```text
//! FullTextScore(c.text, "swim", "pool"):  Σ over phrases  idf(hits) · tf·(k₁+1) / (tf + k₁·(1 − b + b·words/average))
//! ```
//!
//! Left out: dictionaries, synonyms, positions of hits.

mod score;
mod stop_words;
mod tokens;

pub use score::{Statistics, bm25};
pub use tokens::{Analyzer, Language, Phrase, Tokens};
