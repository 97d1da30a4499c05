//! R35: what is written is what the published JSON Schema describes.
//!
//! The checker below knows just the keywords that schema uses, and fails on any other, so that it cannot pass
//! by ignorance.

use crate::every_resolver::Draw;
use tesela_model::json::{self, Object, Value};
use tesela_resolver::ResolverState;
use tesela_resolver::state::SCHEMA_TEXT;

struct Checker<'a> {
    definitions: &'a Object,
}

impl Checker<'_> {
    fn valid(&self, schema: &Value, value: &Value) -> bool {
        let schema = schema.as_object().expect("a schema is an object");
        schema.iter().all(|(keyword, wanted)| self.keyword(schema, keyword, wanted, value))
    }

    fn keyword(&self, schema: &Object, keyword: &str, wanted: &Value, value: &Value) -> bool {
        let number = |value: &Value| value.as_f64().expect("a number in the schema");
        let length = || value.as_array().map_or(0.0, |elements| elements.len() as f64);
        match keyword {
            "$schema" | "$id" | "title" | "description" | "$defs" => true,
            "$ref" => {
                let name = wanted.as_str().and_then(|path| path.strip_prefix("#/$defs/")).expect("a local reference");
                self.valid(self.definitions.get(name).expect("a definition"), value)
            }
            "type" => match wanted.as_str().expect("a type") {
                "integer" => value.as_i64().is_some(),
                name => value.type_name() == name,
            },
            "const" => wanted == value,
            "enum" => wanted.as_array().expect("an enum").contains(value),
            "oneOf" => wanted.as_array().expect("choices").iter().filter(|it| self.valid(it, value)).count() == 1,
            "required" => {
                let names = wanted.as_array().expect("names");
                names.iter().all(|name| name.as_str().is_some_and(|name| value.get(name).is_some()))
            }
            "properties" => wanted
                .as_object()
                .expect("properties")
                .iter()
                .all(|(name, schema)| value.get(name).is_none_or(|value| self.valid(schema, value))),
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Value::as_object).expect("properties");
                value.as_object().is_none_or(|object| object.keys().all(|name| known.contains_key(name)))
            }
            "items" => value.as_array().is_none_or(|elements| elements.iter().all(|it| self.valid(wanted, it))),
            "minItems" => length() >= number(wanted),
            "maxItems" => length() <= number(wanted),
            "minimum" => value.as_f64().is_none_or(|found| found >= number(wanted)),
            "maximum" => value.as_f64().is_none_or(|found| found <= number(wanted)),
            other => panic!("the checker does not know {other}"),
        }
    }
}

fn check(states: impl IntoIterator<Item = Value>, expected: bool) {
    let schema = json::parse(SCHEMA_TEXT.as_bytes()).unwrap();
    let checker = Checker { definitions: schema.get("$defs").and_then(Value::as_object).unwrap() };
    for state in states {
        assert_eq!(checker.valid(&schema, &state), expected, "{}", json::to_string(&state));
    }
}

fn states() -> Vec<Value> {
    let draw = Draw { weights: vec![1, 3, 2], hash: 3, virtual_nodes: 5, limit_percent: 110 };
    draw.resolvers().into_iter().map(|resolver| ResolverState { revision: 9, resolver }.encode()).collect()
}

#[test]
fn r35_every_resolver_fits_the_schema() {
    let kinds: std::collections::BTreeSet<String> = states()
        .iter()
        .map(|state| state.get("resolver").and_then(|it| it.get("kind")).and_then(Value::as_str).unwrap().to_owned())
        .collect();
    let all = ["custom", "fallback", "hash", "lookup", "managed", "nested", "range", "spillover", "transition"];
    assert_eq!(kinds, all.map(String::from).into());
    check(states(), true);
}

#[test]
fn r35_the_schema_refuses_what_the_decoder_refuses() {
    let broken = |change: fn(&mut Object)| {
        states().into_iter().map(move |mut state| {
            change(state.as_object_mut().unwrap());
            state
        })
    };
    check(broken(|state| drop(state.insert("schema", "tesela.resolver/2"))), false);
    check(broken(|state| drop(state.remove("revision"))), false);
    check(broken(|state| drop(state.insert("extra", 1))), false);
    check(
        broken(|state| {
            let resolver = state.get_mut("resolver").and_then(Value::as_object_mut).unwrap();
            resolver.insert("extra", 1);
        }),
        false,
    );
}
