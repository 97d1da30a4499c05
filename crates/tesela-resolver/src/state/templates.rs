//! Collection templates.

use tesela_model::json::{Object, Value};

use super::fields::{Fields, unexpected};
use super::{StateError, config};
use crate::resolvers::{CollectionTemplate, Script, ScriptKind, Throughput};

pub(super) fn encode(template: &CollectionTemplate) -> Object {
    let mut object = Object::new();
    object.insert("naming", template.naming.to_string());
    object.insert("first", template.first);
    if !template.properties.is_empty() {
        object.insert("properties", template.properties.clone());
    }
    if let Some(policy) = &template.indexing_policy {
        object.insert("indexingPolicy", policy.clone());
    }
    match template.throughput {
        Some(Throughput::Manual(ru)) => {
            object.insert("throughput", Object::from_iter([("manual", ru)]));
        }
        Some(Throughput::Autoscale(ru)) => {
            object.insert("throughput", Object::from_iter([("autoscale", ru)]));
        }
        None => {}
    }
    if !template.scripts.is_empty() {
        object.insert("scripts", template.scripts.iter().map(encode_script).collect::<Vec<_>>());
    }
    object
}

fn encode_script(script: &Script) -> Value {
    let mut object = Object::with_capacity(2);
    let kind = match script.kind {
        ScriptKind::Procedure => "procedure",
        ScriptKind::Trigger => "trigger",
        ScriptKind::Function => "function",
    };
    object.insert("kind", kind);
    object.insert("definition", script.definition.clone());
    object.into()
}

pub(super) fn decode(value: &Value, at: String) -> Result<CollectionTemplate, StateError> {
    let mut fields = Fields::of(value, at.clone())?;
    let mut template = CollectionTemplate::new(fields.text("naming")?).map_err(config(&at))?;
    template.first = fields.number("first", i64::MAX as u64)?;
    if let Some((properties, at)) = fields.optional("properties") {
        template.properties = object(properties, &at)?;
    }
    template.indexing_policy = fields.optional("indexingPolicy").map(|(policy, _)| policy.clone());
    template.throughput = fields.optional("throughput").map(|(value, at)| decode_throughput(value, at)).transpose()?;
    if let Some((scripts, at)) = fields.optional("scripts") {
        template.scripts = super::fields::elements(scripts, at)?
            .map(|(value, at)| decode_script(value, at))
            .collect::<Result<_, _>>()?;
    }
    fields.finish()?;
    Ok(template)
}

fn decode_throughput(value: &Value, at: String) -> Result<Throughput, StateError> {
    let mut fields = Fields::of(value, at)?;
    let throughput = if fields.optional("manual").is_some() {
        Throughput::Manual(fields.number_32("manual")?)
    } else {
        Throughput::Autoscale(fields.number_32("autoscale")?)
    };
    fields.finish()?;
    Ok(throughput)
}

fn decode_script(value: &Value, at: String) -> Result<Script, StateError> {
    let mut fields = Fields::of(value, at)?;
    let (kind, at) = fields.value("kind")?;
    let kind = match kind.as_str() {
        Some("procedure") => ScriptKind::Procedure,
        Some("trigger") => ScriptKind::Trigger,
        Some("function") => ScriptKind::Function,
        _ => return Err(unexpected(&at, "procedure, trigger or function", kind)),
    };
    let (definition, at) = fields.value("definition")?;
    let definition = object(definition, &at)?;
    fields.finish()?;
    Ok(Script { kind, definition })
}

fn object(value: &Value, at: &str) -> Result<Object, StateError> {
    value.as_object().cloned().ok_or_else(|| unexpected(at, "an object", value))
}
