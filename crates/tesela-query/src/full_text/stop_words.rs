//! Words too common to search for. Sorted, so that a look-up is a binary search; laid out by hand, because a word to a
//! line says no more.

use super::Language;

#[rustfmt::skip]
const ENGLISH: &[&str] = &[
    "a", "able", "about", "above", "according", "across", "actually", "after", "afterwards", "again", "against",
    "all", "almost", "alone", "along", "already", "also", "although", "always", "am", "among", "an", "and",
    "another", "any", "anybody", "anyhow", "anyone", "anything", "anyway", "anywhere", "apart", "are", "around",
    "as", "aside", "at", "away", "be", "became", "because", "become", "becomes", "becoming", "been", "before",
    "beforehand", "behind", "being", "below", "beside", "besides", "best", "better", "between", "beyond", "both",
    "but", "by", "came", "can", "cannot", "certain", "certainly", "come", "comes", "could", "did", "do", "does",
    "doing", "done", "down", "during", "each", "either", "else", "elsewhere", "enough", "especially", "etc",
    "even", "ever", "every", "everybody", "everyone", "everything", "everywhere", "except", "far", "few", "first",
    "followed", "following", "follows", "for", "former", "formerly", "from", "further", "furthermore", "get",
    "gets", "getting", "given", "gives", "go", "goes", "going", "gone", "got", "had", "has", "have", "having",
    "he", "hence", "her", "here", "hereby", "herein", "hers", "herself", "him", "himself", "his", "how", "however",
    "i", "if", "in", "indeed", "instead", "into", "is", "it", "its", "itself", "just", "keep", "keeps", "kept",
    "know", "known", "knows", "last", "latter", "latterly", "least", "less", "lest", "let", "like", "likely",
    "little", "many", "may", "maybe", "me", "meanwhile", "might", "more", "moreover", "most", "mostly", "much",
    "must", "my", "myself", "namely", "near", "nearly", "neither", "never", "nevertheless", "next", "no", "nobody",
    "none", "nor", "not", "nothing", "now", "nowhere", "of", "off", "often", "on", "once", "one", "ones", "only",
    "onto", "or", "other", "others", "otherwise", "ought", "our", "ours", "ourselves", "out", "outside", "over",
    "overall", "own", "particular", "particularly", "per", "perhaps", "please", "quite", "rather", "really",
    "said", "same", "say", "says", "seem", "seemed", "seeming", "seems", "seen", "several", "shall", "she",
    "should", "since", "so", "some", "somebody", "somehow", "someone", "something", "sometime", "sometimes",
    "somewhat", "somewhere", "soon", "still", "such", "than", "that", "the", "their", "theirs", "them",
    "themselves", "then", "thence", "there", "thereafter", "thereby", "therefore", "therein", "these", "they",
    "this", "those", "though", "through", "throughout", "thru", "thus", "to", "together", "too", "toward",
    "towards", "under", "unless", "until", "up", "upon", "us", "usually", "various", "very", "via", "was", "we",
    "well", "went", "were", "what", "whatever", "when", "whence", "whenever", "where", "whereas", "whereby",
    "wherein", "wherever", "whether", "which", "while", "who", "whoever", "whole", "whom", "whose", "why", "will",
    "with", "within", "without", "would", "yet", "you", "your", "yours", "yourself", "yourselves",
];
#[rustfmt::skip]
const FRENCH: &[&str] = &[
    "au", "aux", "avec", "ce", "ces", "dans", "de", "des", "du", "elle", "en", "est", "et", "il", "ils", "je",
    "la", "le", "les", "leur", "lui", "mais", "ne", "nous", "on", "ou", "par", "pas", "pour", "qu", "que", "qui",
    "sa", "se", "ses", "son", "sont", "sur", "tu", "un", "une", "vous", "à", "été", "être",
];
#[rustfmt::skip]
const GERMAN: &[&str] = &[
    "aber", "als", "am", "an", "auch", "auf", "aus", "bei", "das", "dem", "den", "der", "des", "die", "ein",
    "eine", "einem", "einen", "einer", "er", "es", "für", "hat", "ich", "im", "in", "ist", "mit", "nach", "nicht",
    "oder", "sich", "sie", "sind", "so", "und", "von", "war", "wie", "wir", "wird", "zu", "zum", "zur", "über",
];
#[rustfmt::skip]
const ITALIAN: &[&str] = &[
    "a", "ai", "al", "alla", "anche", "che", "chi", "ci", "come", "con", "da", "dal", "dei", "del", "della", "di",
    "e", "gli", "ha", "i", "il", "in", "io", "la", "le", "lo", "ma", "nel", "non", "o", "per", "più", "se", "si",
    "sono", "su", "un", "una", "uno", "è",
];
#[rustfmt::skip]
const PORTUGUESE: &[&str] = &[
    "a", "ao", "aos", "as", "com", "como", "da", "das", "de", "do", "dos", "e", "ela", "ele", "em", "eu", "foi",
    "mais", "mas", "na", "nas", "no", "nos", "não", "o", "os", "ou", "para", "pela", "pelo", "por", "que", "se",
    "sem", "ser", "seu", "sua", "são", "também", "um", "uma", "à", "é",
];
#[rustfmt::skip]
const SPANISH: &[&str] = &[
    "a", "al", "como", "con", "de", "del", "el", "ella", "en", "entre", "es", "esta", "este", "fue", "ha", "la",
    "las", "le", "lo", "los", "me", "muy", "más", "no", "nos", "o", "para", "pero", "por", "que", "se", "sin",
    "sobre", "su", "sus", "también", "un", "una", "y", "ya", "yo",
];

pub(super) fn contains(language: Language, word: &str) -> bool {
    list(language).binary_search(&word).is_ok()
}

fn list(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => ENGLISH,
        Language::French => FRENCH,
        Language::German => GERMAN,
        Language::Italian => ITALIAN,
        Language::Portuguese => PORTUGUESE,
        Language::Spanish => SPANISH,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_without_repetition() {
        for language in [
            Language::English,
            Language::French,
            Language::German,
            Language::Italian,
            Language::Portuguese,
            Language::Spanish,
        ] {
            assert!(list(language).windows(2).all(|pair| pair[0] < pair[1]), "{language:?}");
        }
    }
}
