//! Words of a text, as stems.

use super::stop_words;
use rust_stemmers::{Algorithm, Stemmer};

/// A language of the full-text policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Language {
    #[default]
    English,
    French,
    German,
    Italian,
    Portuguese,
    Spanish,
}

impl Language {
    /// From a tag such as `en-US`; `None` for a language we have no rules for.
    pub fn from_tag(tag: &str) -> Option<Self> {
        let primary = tag.split('-').next().unwrap_or_default();
        Some(match primary.to_ascii_lowercase().as_str() {
            "en" => Self::English,
            "fr" => Self::French,
            "de" => Self::German,
            "it" => Self::Italian,
            "pt" => Self::Portuguese,
            "es" => Self::Spanish,
            _ => return None,
        })
    }

    fn algorithm(self) -> Algorithm {
        match self {
            Self::English => Algorithm::English,
            Self::French => Algorithm::French,
            Self::German => Algorithm::German,
            Self::Italian => Algorithm::Italian,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Spanish => Algorithm::Spanish,
        }
    }
}

/// Turns text into stems by the rules of a language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Analyzer {
    language: Language,
}

/// The stems of a text in their order, stop words left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens(Vec<String>);

/// What is searched for: stems side by side, each within an edit distance (zero unless asked for).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    stems: Vec<String>,
    distance: usize,
}

impl Analyzer {
    pub fn new(language: Language) -> Self {
        Self { language }
    }

    pub fn tokens(&self, text: &str) -> Tokens {
        let stemmer = Stemmer::create(self.language.algorithm());
        let stems = words(text).filter_map(|word| {
            let word = word.to_lowercase().replace('\u{2019}', "'");
            (!stop_words::contains(self.language, &word)).then(|| stemmer.stem(&word).into_owned())
        });
        Tokens(stems.collect())
    }

    /// A phrase to search for. `distance` is the number of letters each word may differ in.
    pub fn phrase(&self, text: &str, distance: usize) -> Phrase {
        Phrase { stems: self.tokens(text).0, distance }
    }
}

/// Runs of letters and digits. An apostrophe between letters belongs to the word, a point or comma between digits
/// to the number.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut before = None;
    let mut rest = text.char_indices().peekable();
    let mut start = None;
    std::iter::from_fn(move || {
        loop {
            let Some((at, c)) = rest.next() else {
                return start.take().map(|start| &text[start..]);
            };
            let after = rest.peek().map(|(_, next)| *next);
            let both = |test: fn(char) -> bool| before.is_some_and(test) && after.is_some_and(test);
            let joins = (is_apostrophe(c) && both(char::is_alphabetic))
                || (matches!(c, '.' | ',') && both(|c| c.is_ascii_digit()));
            before = Some(c);
            if c.is_alphanumeric() {
                start.get_or_insert(at);
            } else if let (false, Some(from)) = (joins, start) {
                start = None;
                return Some(&text[from..at]);
            }
        }
    })
}

fn is_apostrophe(c: char) -> bool {
    c == '\'' || c == '\u{2019}'
}

impl Tokens {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How often the phrase occurs. A phrase of stop words alone occurs nowhere.
    pub fn occurrences(&self, phrase: &Phrase) -> usize {
        if phrase.stems.is_empty() {
            return 0;
        }
        let matches = |(token, stem): (&String, &String)| phrase.accepts(token, stem);
        self.0.windows(phrase.stems.len()).filter(|window| window.iter().zip(&phrase.stems).all(matches)).count()
    }
}

impl Phrase {
    fn accepts(&self, token: &str, stem: &str) -> bool {
        token == stem || (self.distance > 0 && within(token, stem, self.distance))
    }
}

/// Whether two words are at most `distance` insertions, deletions or replacements apart.
fn within(a: &str, b: &str, distance: usize) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > distance {
        return false;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
        if row.iter().all(|cost| *cost > distance) {
            return false;
        }
    }
    row[b.len()] <= distance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn occurrences(text: &str, phrase: &str, distance: usize) -> usize {
        let analyzer = Analyzer::default();
        analyzer.tokens(text).occurrences(&analyzer.phrase(phrase, distance))
    }

    #[test]
    fn words_are_found_in_any_form() {
        assert_eq!(occurrences("He swims; she was Swimming.", "swim", 0), 2);
        assert_eq!(occurrences("John's boats", "john boat", 0), 1);
        assert_eq!(occurrences("sub-marine", "marine", 0), 1);
        assert_eq!(occurrences("", "marine", 0), 0);
        assert_eq!(
            words("It's 1,977.5 m. 'Tis – O’Neill,3").collect::<Vec<_>>(),
            ["It's", "1,977.5", "m", "Tis", "O’Neill", "3"]
        );
    }

    #[test]
    fn phrases_need_their_words_side_by_side() {
        assert_eq!(occurrences("The United States of America", "united states", 0), 1);
        assert_eq!(
            occurrences("The United States of America", "states america", 0),
            1,
            "stop words do not stand between"
        );
        assert_eq!(occurrences("states that united", "united states", 0), 0);
        assert_eq!(occurrences("to be or not to be", "to be", 0), 0, "nothing but stop words");
    }

    #[test]
    fn fuzzy_words_may_differ_by_the_distance() {
        assert_eq!(occurrences("a red bicycel", "bicycle", 0), 0);
        assert_eq!(occurrences("a red bicycel", "bicycle", 2), 1);
        assert!(within("kitten", "sitting", 3));
        assert!(!within("kitten", "sitting", 2));
        assert!(within("", "ab", 2));
    }

    #[test]
    fn languages_have_their_own_rules() {
        let german = Analyzer::new(Language::from_tag("de-DE").unwrap());
        assert_eq!(german.tokens("die Häuser"), german.tokens("der Häusern"));
        let spanish = Analyzer::new(Language::from_tag("es").unwrap());
        assert_eq!(spanish.tokens("las casas"), spanish.tokens("la casa"));
        assert_eq!(Language::from_tag("xx"), None);
    }
}
