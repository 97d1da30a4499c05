//! `clientEncryptionPolicy`: which properties clients encrypt before they send them. The server only keeps the policy:
//! it never has a key.

use super::DefinitionError;
use super::fields::{Fields, insert_list, invalid, property_path, with_extra};
use crate::json::{Object, Value};
use crate::partition_key::{PartitionKeyDefinition, PropertyPath};

#[derive(Clone, Debug, PartialEq)]
pub struct ClientEncryptionPolicy {
    pub included_paths: Vec<ClientEncryptionPath>,
    /// 1, or 2 which can also encrypt the id and the partition key.
    pub format_version: u8,
    pub extra: Object,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ClientEncryptionPath {
    /// A top-level property.
    pub path: PropertyPath,
    pub key_id: String,
    /// Equal values have equal ciphers, so that they can be looked up.
    pub deterministic: bool,
    pub extra: Object,
}

const ALGORITHM: &str = "AEAD_AES_256_CBC_HMAC_SHA256";

impl ClientEncryptionPolicy {
    pub(super) fn from_json(value: &Value, key: &PartitionKeyDefinition) -> Result<Self, DefinitionError> {
        let mut fields = Fields::of("clientEncryptionPolicy", value)?;
        let version = fields.integer("policyFormatVersion")?.unwrap_or(1);
        let format_version = match version {
            1 => 1,
            2 => 2,
            _ => return Err(invalid(fields.place("policyFormatVersion"), "1 or 2", &Value::from(version))),
        };
        let mut included_paths: Vec<ClientEncryptionPath> = Vec::new();
        for element in fields.objects("includedPaths")? {
            let place = element.place("path");
            let one = ClientEncryptionPath::read(element)?;
            one.check(format_version, key)?;
            if included_paths.iter().any(|earlier| earlier.path.steps() == one.path.steps()) {
                return Err(DefinitionError::Repeated { at: place });
            }
            included_paths.push(one);
        }
        Ok(Self { included_paths, format_version, extra: fields.rest() })
    }

    pub(super) fn to_json(&self) -> Value {
        let mut object = Object::new();
        insert_list(&mut object, "includedPaths", &self.included_paths, ClientEncryptionPath::to_json);
        object.insert("policyFormatVersion", self.format_version);
        with_extra(object, &self.extra)
    }
}

impl ClientEncryptionPath {
    fn read(mut fields: Fields<'_>) -> Result<Self, DefinitionError> {
        const TYPES: [(&str, bool); 2] = [("Deterministic", true), ("Randomized", false)];
        let path = property_path("the client encryption policy", fields.required_string("path")?)?;
        let key_id = fields.required_string("clientEncryptionKeyId")?.to_owned();
        let kind = fields.word("encryptionType", "Deterministic or Randomized", &TYPES)?;
        let deterministic = kind.ok_or_else(|| DefinitionError::Missing { at: fields.place("encryptionType") })?;
        if fields.word("encryptionAlgorithm", ALGORITHM, &[(ALGORITHM, ())])?.is_none() {
            return Err(DefinitionError::Missing { at: fields.place("encryptionAlgorithm") });
        }
        Ok(Self { path, key_id, deterministic, extra: fields.rest() })
    }

    fn check(&self, format_version: u8, key: &PartitionKeyDefinition) -> Result<(), DefinitionError> {
        let refused = |reason| Err(DefinitionError::EncryptedPath { path: self.path.text().to_owned(), reason });
        let [property] = self.path.steps() else { return refused("only top-level properties can be encrypted") };
        let is_key = key.paths.iter().any(|path| path.steps().first() == Some(property));
        match (property == "id" || is_key, format_version, self.deterministic) {
            (true, 1, _) => refused("policy format version 1 cannot encrypt the id or the partition key"),
            (true, _, false) => refused("the id and the partition key need deterministic encryption"),
            _ => Ok(()),
        }
    }

    fn to_json(&self) -> Value {
        let kind = if self.deterministic { "Deterministic" } else { "Randomized" };
        let object = [
            ("path", self.path.text()),
            ("clientEncryptionKeyId", &self.key_id),
            ("encryptionType", kind),
            ("encryptionAlgorithm", ALGORITHM),
        ];
        with_extra(object.into_iter().collect(), &self.extra)
    }
}
