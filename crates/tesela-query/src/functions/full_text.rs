//! Full-text tests and the internals rewritten ranking queries call. See [`crate::full_text`].
//!
//! Calls whose search terms are constant, which is nearly all of them, are prepared when the query is compiled (see
//! [`Search`]); the table rows serve terms that come from documents.

use super::{Arity, Function, Scope, exactly, strict};
use crate::full_text::{Analyzer, Phrase, Statistics, bm25};
use crate::value::{Kind, Val};

/// Letters a fuzzy word may differ in at most (service limit).
const FUZZY_DISTANCE_MAX: i64 = 2;

pub(super) const FUNCTIONS: &[Function] = &[
    strict("FullTextContains", exactly(2), |args, scope| contains(args, scope, Wanted::All)),
    strict("FullTextContainsAll", Arity::AtLeast(2), |args, scope| contains(args, scope, Wanted::All)),
    strict("FullTextContainsAny", Arity::AtLeast(2), |args, scope| contains(args, scope, Wanted::Any)),
    strict("_FullTextScore", exactly(5), score),
    strict("_FullTextWordCount", exactly(1), |args, _| {
        args[0].as_str().map_or(Val::Undefined, |text| Val::count(Analyzer::default().tokens(&text).len()))
    }),
];

/// Whether a text must contain all phrases or one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    All,
    Any,
}

/// A prepared FullTextContains, FullTextContainsAll or FullTextContainsAny.
#[derive(Clone, Debug)]
pub struct Search {
    pub analyzer: Analyzer,
    pub phrases: Vec<Phrase>,
    pub wanted: Wanted,
}

impl Search {
    /// `None` when a term is neither a string nor `{term, distance}`.
    pub fn new<'r>(analyzer: Analyzer, terms: &[Val<'r>], wanted: Wanted) -> Option<Self> {
        Some(Self { analyzer, phrases: phrases(analyzer, terms)?, wanted })
    }

    pub fn test<'r>(&self, text: &Val<'_>) -> Val<'r> {
        let Some(text) = text.as_str() else { return Val::Undefined };
        let tokens = self.analyzer.tokens(&text);
        let occurs = |phrase: &Phrase| tokens.occurrences(phrase) > 0;
        Val::Bool(match self.wanted {
            Wanted::All => self.phrases.iter().all(occurs),
            Wanted::Any => self.phrases.iter().any(occurs),
        })
    }
}

/// The phrases of a list of terms; arrays of terms count as their elements.
pub fn phrases(analyzer: Analyzer, terms: &[Val<'_>]) -> Option<Vec<Phrase>> {
    let mut phrases = Vec::new();
    for term in terms {
        match term.elements() {
            Some(elements) => {
                for element in elements {
                    phrases.push(phrase(analyzer, &element)?);
                }
            }
            None => phrases.push(phrase(analyzer, term)?),
        }
    }
    Some(phrases)
}

fn phrase(analyzer: Analyzer, term: &Val<'_>) -> Option<Phrase> {
    if term.kind() != Kind::Object {
        return Some(analyzer.phrase(&term.as_str()?, 0));
    }
    let distance = term.get("distance").as_i64().filter(|distance| (0..=FUZZY_DISTANCE_MAX).contains(distance))?;
    Some(analyzer.phrase(&term.get("term").as_str()?, distance as usize))
}

fn contains<'r>(args: &[Val<'r>], _: &Scope, wanted: Wanted) -> Val<'r> {
    Search::new(Analyzer::default(), &args[1..], wanted).map_or(Val::Undefined, |search| search.test(&args[0]))
}

/// `_FullTextScore(text, [term, ...], documents, words, [hits, ...])`: BM25 with the numbers the client gathered.
fn score<'r>(args: &[Val<'r>], _: &Scope) -> Val<'r> {
    let analyzer = Analyzer::default();
    let count = |value: &Val<'r>| value.as_f64().filter(|count| *count >= 0.0).map(|count| count as u64);
    let hits = args[4].elements().and_then(|all| all.map(|hits| count(&hits)).collect::<Option<Vec<u64>>>());
    let (Some(text), Some(phrases), Some(document_count), Some(total_word_count), Some(hit_counts)) =
        (args[0].as_str(), phrases(analyzer, &args[1..2]), count(&args[2]), count(&args[3]), hits)
    else {
        return Val::Undefined;
    };
    let tokens = analyzer.tokens(&text);
    let occurrences: Vec<usize> = phrases.iter().map(|phrase| tokens.occurrences(phrase)).collect();
    Val::double(bm25(&occurrences, tokens.len(), &Statistics { document_count, total_word_count, hit_counts }))
}
