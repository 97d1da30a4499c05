//! `--name value` pairs; every flag has a value, every value a default or a complaint.

use crate::failure::{Failure, Result};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Debug)]
pub struct Arguments(BTreeMap<String, String>);

impl Arguments {
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let mut pairs = BTreeMap::new();
        while let Some(word) = words.next() {
            let name = word.strip_prefix("--").ok_or_else(|| Failure::new(format!("`{word}` is not a flag")))?;
            let value = words.next().ok_or_else(|| Failure::new(format!("{word} needs a value")))?;
            pairs.insert(name.to_owned(), value);
        }
        Ok(Self(pairs))
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub fn required(&self, name: &str) -> Result<&str> {
        self.text(name).ok_or_else(|| Failure::new(format!("--{name} is missing")))
    }

    pub fn path(&self, name: &str) -> Result<PathBuf> {
        self.required(name).map(PathBuf::from)
    }

    pub fn number<T: FromStr>(&self, name: &str, default: T) -> Result<T> {
        match self.text(name) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| Failure::new(format!("--{name}: `{text}` is not a number"))),
        }
    }
}
