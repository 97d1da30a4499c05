//! Full text: which properties hold prose and in which language (`fullTextPolicy`), and which of them are indexed
//! (`indexingPolicy.fullTextIndexes`).

use super::fields::{Fields, find_word, insert_list, property_path, with_extra};
use super::{DefinitionError, IndexingPolicy};
use crate::json::{Object, Value};
use crate::partition_key::PropertyPath;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct FullTextPolicy {
    /// Of paths that name none.
    pub default_language: Option<FullTextLanguage>,
    pub paths: Vec<FullTextPath>,
    pub extra: Object,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FullTextPath {
    pub path: PropertyPath,
    pub language: Option<FullTextLanguage>,
    pub extra: Object,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FullTextLanguage {
    #[default]
    English,
    German,
    Spanish,
    French,
    Italian,
    PortugueseBrazil,
    Portuguese,
}

const LANGUAGES: [(&str, FullTextLanguage); 7] = [
    ("en-US", FullTextLanguage::English),
    ("de-DE", FullTextLanguage::German),
    ("es-ES", FullTextLanguage::Spanish),
    ("fr-FR", FullTextLanguage::French),
    ("it-IT", FullTextLanguage::Italian),
    ("pt-BR", FullTextLanguage::PortugueseBrazil),
    ("pt-PT", FullTextLanguage::Portuguese),
];

impl FullTextLanguage {
    pub fn name(self) -> &'static str {
        LANGUAGES[self as usize].0
    }

    fn take(fields: &mut Fields<'_>, name: &'static str) -> Result<Option<Self>, DefinitionError> {
        let Some(word) = fields.string(name)? else { return Ok(None) };
        let found = find_word(word, &LANGUAGES);
        found.map(Some).ok_or_else(|| DefinitionError::FullTextLanguage {
            found: word.to_owned(),
            supported: LANGUAGES.map(|(name, _)| name).join(", "),
        })
    }
}

impl FullTextPolicy {
    pub(super) fn from_json(value: &Value) -> Result<Self, DefinitionError> {
        let mut fields = Fields::of("fullTextPolicy", value)?;
        let default_language = FullTextLanguage::take(&mut fields, "defaultLanguage")?;
        let mut paths: Vec<FullTextPath> = Vec::new();
        for element in fields.objects("fullTextPaths")? {
            let place = element.place("path");
            let one = FullTextPath::read(element)?;
            if paths.iter().any(|earlier| earlier.path.steps() == one.path.steps()) {
                return Err(DefinitionError::Repeated { at: place });
            }
            paths.push(one);
        }
        Ok(Self { default_language, paths, extra: fields.rest() })
    }

    pub(super) fn to_json(&self) -> Value {
        let mut object = Object::new();
        if let Some(language) = self.default_language {
            object.insert("defaultLanguage", language.name());
        }
        insert_list(&mut object, "fullTextPaths", &self.paths, FullTextPath::to_json);
        with_extra(object, &self.extra)
    }

    /// The language of the text at a path: its own, else the policy's, else English.
    pub fn language(&self, path: &PropertyPath) -> FullTextLanguage {
        let own = self.paths.iter().find(|one| one.path.steps() == path.steps()).and_then(|one| one.language);
        own.or(self.default_language).unwrap_or_default()
    }
}

impl FullTextPath {
    fn read(mut fields: Fields<'_>) -> Result<Self, DefinitionError> {
        let text = fields.required_string("path")?;
        let path =
            property_path("the full text policy", text).map_err(|_| DefinitionError::FullTextPath(text.to_owned()))?;
        let language = FullTextLanguage::take(&mut fields, "language")?;
        Ok(Self { path, language, extra: fields.rest() })
    }

    fn to_json(&self) -> Value {
        let mut object = Object::new();
        object.insert("path", self.path.text());
        if let Some(language) = self.language {
            object.insert("language", language.name());
        }
        with_extra(object, &self.extra)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct FullTextIndex {
    pub path: PropertyPath,
    pub extra: Object,
}

impl FullTextIndex {
    pub(super) fn read_list(fields: &mut Fields<'_>) -> Result<Vec<Self>, DefinitionError> {
        let mut indexes: Vec<Self> = Vec::new();
        for (index, mut element) in fields.objects("fullTextIndexes")?.into_iter().enumerate() {
            let place = element.place("path");
            let text = element.string("path")?.ok_or(DefinitionError::FullTextIndexWithoutPath(index))?;
            let path = property_path("a full text index", text)
                .map_err(|_| DefinitionError::FullTextIndexPath { index, path: text.to_owned() })?;
            if indexes.iter().any(|earlier| earlier.path.steps() == path.steps()) {
                return Err(DefinitionError::Repeated { at: place });
            }
            indexes.push(Self { path, extra: element.rest() });
        }
        Ok(indexes)
    }

    pub(super) fn to_json(&self) -> Value {
        with_extra([("path", self.path.text())].into_iter().collect(), &self.extra)
    }
}

/// Every index is on a path of the policy.
pub(super) fn check_indexes(indexing: &IndexingPolicy, policy: Option<&FullTextPolicy>) -> Result<(), DefinitionError> {
    let known = |index: &FullTextIndex| {
        policy.is_some_and(|policy| policy.paths.iter().any(|path| path.path.steps() == index.path.steps()))
    };
    match indexing.full_text_indexes.iter().find(|index| !known(index)) {
        Some(index) => Err(DefinitionError::FullTextIndexWithoutPolicy(index.path.text().to_owned())),
        None => Ok(()),
    }
}
