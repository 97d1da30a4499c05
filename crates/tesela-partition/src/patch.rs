//! Patch: a list of small changes to one item, applied in order, all or none.
//!
//! Paths are JSON pointers (`/a/b/0`, `~1` for `/`, `~0` for `~`). In an array `add` inserts, `-` appends, `set`
//! replaces. The parent of a target must exist. `id`, the partition key and system properties cannot be patched.

use tesela_model::json::{Number, Value};
use tesela_model::limits::PATCH_OPERATIONS_MAX;
use tesela_model::partition_key::PartitionKeyDefinition;

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchOperation {
    pub path: Vec<String>,
    pub change: Change,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    Add(Value),
    Set(Value),
    Replace(Value),
    Remove,
    Increment(Number),
    Move { from: Vec<String> },
}

/// A list of operations and the predicate that must hold for them to apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    pub operations: Vec<PatchOperation>,
    /// Query text from `FROM` on, as the client sent it.
    pub condition: Option<String>,
}

/// Why a patch is refused. `index` counts from 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PatchError {
    #[error("the body of a patch must be a list of operations, or an object with 'operations'")]
    NotAPatch,
    #[error("a patch needs 1 to {PATCH_OPERATIONS_MAX} operations, this one has {0}")]
    Count(usize),
    #[error("patch operation {index}: {reason}")]
    Malformed { index: usize, reason: &'static str },
    #[error("patch operation {index}: path '{path}' cannot be patched")]
    Forbidden { index: usize, path: String },
    #[error("patch operation {index}: path '{path}' {reason}")]
    Target { index: usize, path: String, reason: &'static str },
}

impl Patch {
    /// From the wire: a bare array, or `{"operations": […], "condition": "from c where …"}`.
    pub fn from_json(body: &Value) -> Result<Self, PatchError> {
        let (operations, condition) = match body {
            Value::Array(operations) => (operations.as_slice(), None),
            Value::Object(object) => {
                let operations = object.get("operations").and_then(Value::as_array).ok_or(PatchError::NotAPatch)?;
                let condition = match object.get("condition") {
                    None | Some(Value::Null) => None,
                    Some(Value::String(text)) => Some(text.clone()),
                    Some(_) => return Err(PatchError::NotAPatch),
                };
                (operations, condition)
            }
            _ => return Err(PatchError::NotAPatch),
        };
        if operations.is_empty() || operations.len() > PATCH_OPERATIONS_MAX {
            return Err(PatchError::Count(operations.len()));
        }
        let operations = operations.iter().enumerate().map(|(index, operation)| parse_operation(index, operation));
        Ok(Self { operations: operations.collect::<Result<_, _>>()?, condition })
    }

    /// Refuses targets that identify the item or belong to the system.
    pub fn check_targets(&self, definition: &PartitionKeyDefinition) -> Result<(), PatchError> {
        for (index, operation) in self.operations.iter().enumerate() {
            let from = match &operation.change {
                Change::Move { from } => Some(from),
                _ => None,
            };
            for path in std::iter::once(&operation.path).chain(from) {
                if is_protected(path, definition) {
                    return Err(PatchError::Forbidden { index, path: pointer(path) });
                }
            }
        }
        Ok(())
    }

    /// Changes `root` by all operations; on error `root` is half changed and must be thrown away.
    pub fn apply(&self, root: &mut Value) -> Result<(), PatchError> {
        self.operations.iter().enumerate().try_for_each(|(index, operation)| apply(index, operation, root))
    }
}

fn is_protected(path: &[String], definition: &PartitionKeyDefinition) -> bool {
    const SYSTEM: [&str; 6] = ["id", "_rid", "_self", "_etag", "_ts", "_attachments"];
    let within = |outer: &[String], inner: &[String]| inner.starts_with(outer);
    match path.first() {
        None => true,
        Some(first) if SYSTEM.contains(&first.as_str()) => true,
        // Above the key: replacing the parent would change it. Below: the key would no longer be what it was.
        Some(_) => definition.paths.iter().any(|key| within(path, key.steps()) || within(key.steps(), path)),
    }
}

fn parse_operation(index: usize, operation: &Value) -> Result<PatchOperation, PatchError> {
    let malformed = |reason| PatchError::Malformed { index, reason };
    let name = operation.get("op").and_then(Value::as_str).ok_or(malformed("'op' must be a string"))?;
    let path =
        parse_pointer(operation.get("path")).ok_or(malformed("'path' must be a JSON pointer that starts with '/'"))?;
    let value = || operation.get("value").cloned().ok_or(malformed("'value' is missing"));
    let change = match name.to_ascii_lowercase().as_str() {
        "add" => Change::Add(value()?),
        "set" => Change::Set(value()?),
        "replace" => Change::Replace(value()?),
        "remove" => Change::Remove,
        "incr" | "increment" => match value()? {
            Value::Number(number) => Change::Increment(number),
            _ => return Err(malformed("'value' of incr must be a number")),
        },
        "move" => {
            let from = parse_pointer(operation.get("from"))
                .ok_or(malformed("'from' must be a JSON pointer that starts with '/'"))?;
            if path.len() > from.len() && path.starts_with(&from) {
                return Err(malformed("a value cannot be moved below itself"));
            }
            Change::Move { from }
        }
        _ => return Err(malformed("'op' is not one of add, set, replace, remove, incr, move")),
    };
    Ok(PatchOperation { path, change })
}

fn parse_pointer(value: Option<&Value>) -> Option<Vec<String>> {
    let text = value?.as_str()?.strip_prefix('/')?;
    let step = |step: &str| {
        let mut out = String::with_capacity(step.len());
        let mut chars = step.chars();
        while let Some(c) = chars.next() {
            out.push(match c {
                '~' => match chars.next()? {
                    '0' => '~',
                    '1' => '/',
                    _ => return None,
                },
                c => c,
            });
        }
        Some(out)
    };
    text.split('/').map(step).collect()
}

fn pointer(path: &[String]) -> String {
    path.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect()
}

fn apply(index: usize, operation: &PatchOperation, root: &mut Value) -> Result<(), PatchError> {
    match &operation.change {
        Change::Add(value) => put(index, &operation.path, root, value.clone(), Put::Insert),
        Change::Set(value) => put(index, &operation.path, root, value.clone(), Put::Overwrite),
        Change::Replace(value) => {
            *find_mut(root, &operation.path).ok_or_else(|| missing(index, &operation.path))? = value.clone();
            Ok(())
        }
        Change::Remove => remove(index, &operation.path, root).map(drop),
        Change::Increment(by) => increment(index, &operation.path, root, by),
        Change::Move { from } => {
            let value = remove(index, from, root)?;
            put(index, &operation.path, root, value, Put::Insert)
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Put {
    Insert,
    Overwrite,
}

fn missing(index: usize, path: &[String]) -> PatchError {
    PatchError::Target { index, path: pointer(path), reason: "does not exist" }
}

fn array_index(step: &str) -> Option<usize> {
    let canonical = step == "0" || !step.starts_with('0');
    (canonical && !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit())).then(|| step.parse().ok())?
}

fn find_mut<'a>(root: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    path.iter().try_fold(root, |value, step| match value {
        Value::Object(object) => object.get_mut(step),
        Value::Array(elements) => array_index(step).and_then(|at| elements.get_mut(at)),
        _ => None,
    })
}

fn parent_mut<'a, 'p>(
    index: usize,
    root: &'a mut Value,
    path: &'p [String],
) -> Result<(&'a mut Value, &'p str), PatchError> {
    let (last, above) = path.split_last().ok_or_else(|| missing(index, path))?;
    Ok((find_mut(root, above).ok_or_else(|| missing(index, path))?, last))
}

fn put(index: usize, path: &[String], root: &mut Value, value: Value, how: Put) -> Result<(), PatchError> {
    let wrong = |reason| PatchError::Target { index, path: pointer(path), reason };
    let (parent, last) = parent_mut(index, root, path)?;
    match parent {
        Value::Object(object) => {
            object.insert(last, value);
        }
        Value::Array(elements) if last == "-" => elements.push(value),
        Value::Array(elements) => match array_index(last) {
            Some(at) if at < elements.len() && how == Put::Overwrite => elements[at] = value,
            Some(at) if at <= elements.len() => elements.insert(at, value),
            Some(_) => return Err(wrong("is beyond the end of the array")),
            None => return Err(wrong("is no index of an array")),
        },
        _ => return Err(wrong("has a parent that is neither an object nor an array")),
    }
    Ok(())
}

fn remove(index: usize, path: &[String], root: &mut Value) -> Result<Value, PatchError> {
    let (parent, last) = parent_mut(index, root, path)?;
    let removed = match parent {
        Value::Object(object) => object.remove(last),
        Value::Array(elements) => array_index(last).filter(|at| *at < elements.len()).map(|at| elements.remove(at)),
        _ => None,
    };
    removed.ok_or_else(|| missing(index, path))
}

fn increment(index: usize, path: &[String], root: &mut Value, by: &Number) -> Result<(), PatchError> {
    let Some(target) = find_mut(root, path) else {
        return put(index, path, root, Value::Number(by.clone()), Put::Overwrite);
    };
    let Value::Number(number) = target else {
        return Err(PatchError::Target { index, path: pointer(path), reason: "is not a number" });
    };
    let exact = number.as_i64().zip(by.as_i64()).and_then(|(a, b)| a.checked_add(b));
    let sum = exact.map_or_else(|| Number::from(number.as_f64() + by.as_f64()), Number::from);
    if !sum.as_f64().is_finite() {
        return Err(PatchError::Target { index, path: pointer(path), reason: "would leave the range of a double" });
    }
    *target = Value::Number(sum);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tesela_model::json;

    fn run(document: &str, operations: &str) -> Result<String, String> {
        let patch =
            Patch::from_json(&json::parse(operations.as_bytes()).unwrap()).map_err(|error| error.to_string())?;
        patch.check_targets(&PartitionKeyDefinition::hash("/key/part", Some(2))).map_err(|error| error.to_string())?;
        let mut root = json::parse(document.as_bytes()).unwrap();
        patch.apply(&mut root).map_err(|error| error.to_string())?;
        Ok(json::to_string(&root))
    }

    #[test]
    fn operations_do_what_they_say() {
        let cases = [
            (r#"{"a":1}"#, r#"[{"op":"add","path":"/b","value":2}]"#, r#"{"a":1,"b":2}"#),
            (r#"{"a":1}"#, r#"[{"op":"add","path":"/a","value":null}]"#, r#"{"a":null}"#),
            (r#"{"a":[1,2]}"#, r#"[{"op":"add","path":"/a/1","value":9}]"#, r#"{"a":[1,9,2]}"#),
            (
                r#"{"a":[1,2]}"#,
                r#"[{"op":"add","path":"/a/-","value":9},{"op":"add","path":"/a/3","value":8}]"#,
                r#"{"a":[1,2,9,8]}"#,
            ),
            (r#"{"a":[1,2]}"#, r#"[{"op":"set","path":"/a/1","value":9}]"#, r#"{"a":[1,9]}"#),
            (r#"{"a":{}}"#, r#"[{"op":"set","path":"/a/b~1c","value":1}]"#, r#"{"a":{"b/c":1}}"#),
            (r#"{"a":1.50}"#, r#"[{"op":"replace","path":"/a","value":2}]"#, r#"{"a":2}"#),
            (r#"{"a":1,"b":2}"#, r#"[{"op":"remove","path":"/a"}]"#, r#"{"b":2}"#),
            (r#"{"a":[1,2,3]}"#, r#"[{"op":"remove","path":"/a/0"}]"#, r#"{"a":[2,3]}"#),
            (r#"{"n":1}"#, r#"[{"op":"incr","path":"/n","value":2}]"#, r#"{"n":3}"#),
            (r#"{"n":0.5}"#, r#"[{"op":"incr","path":"/n","value":-1}]"#, r#"{"n":-0.5}"#),
            ("{}", r#"[{"op":"incr","path":"/n","value":7}]"#, r#"{"n":7}"#),
            (r#"{"n":9007199254740993}"#, r#"[{"op":"incr","path":"/n","value":2}]"#, r#"{"n":9007199254740995}"#),
            (r#"{"a":{"x":1},"b":{}}"#, r#"[{"op":"move","from":"/a/x","path":"/b/y"}]"#, r#"{"a":{},"b":{"y":1}}"#),
            (r#"{"x":1.0,"a":1}"#, r#"{"operations":[{"op":"set","path":"/a","value":2}]}"#, r#"{"x":1.0,"a":2}"#),
        ];
        for (document, operations, expected) in cases {
            assert_eq!(run(document, operations).as_deref(), Ok(expected), "{operations}");
        }
    }

    #[test]
    fn bad_patches_are_refused_with_their_place() {
        let cases = [
            (r#"[]"#, "a patch needs 1 to 10 operations, this one has 0"),
            (
                r#"{"operations":[{"op":"set","path":"/id","value":1}]}"#,
                "patch operation 0: path '/id' cannot be patched",
            ),
            (r#"[{"op":"set","path":"/key","value":1}]"#, "patch operation 0: path '/key' cannot be patched"),
            (r#"[{"op":"set","path":"/key/part","value":1}]"#, "patch operation 0: path '/key/part' cannot be patched"),
            (r#"[{"op":"remove","path":"/_ts"}]"#, "patch operation 0: path '/_ts' cannot be patched"),
            (r#"[{"op":"replace","path":"/nope","value":1}]"#, "patch operation 0: path '/nope' does not exist"),
            (r#"[{"op":"add","path":"/no/pe","value":1}]"#, "patch operation 0: path '/no/pe' does not exist"),
            (
                r#"[{"op":"set","path":"/ok","value":1},{"op":"remove","path":"/nope"}]"#,
                "patch operation 1: path '/nope' does not exist",
            ),
            (
                r#"[{"op":"add","path":"/a/9","value":1}]"#,
                "patch operation 0: path '/a/9' is beyond the end of the array",
            ),
            (r#"[{"op":"add","path":"/a/x","value":1}]"#, "patch operation 0: path '/a/x' is no index of an array"),
            (r#"[{"op":"incr","path":"/s","value":1}]"#, "patch operation 0: path '/s' is not a number"),
            (r#"[{"op":"incr","path":"/s","value":"1"}]"#, "patch operation 0: 'value' of incr must be a number"),
            (r#"[{"op":"move","from":"/a","path":"/a/b"}]"#, "patch operation 0: a value cannot be moved below itself"),
            (
                r#"[{"op":"test","path":"/a"}]"#,
                "patch operation 0: 'op' is not one of add, set, replace, remove, incr, move",
            ),
            (
                r#"[{"op":"add","path":"a","value":1}]"#,
                "patch operation 0: 'path' must be a JSON pointer that starts with '/'",
            ),
            (r#"5"#, "the body of a patch must be a list of operations, or an object with 'operations'"),
        ];
        for (operations, expected) in cases {
            assert_eq!(
                run(r#"{"a":[1],"s":"x","key":{"part":1}}"#, operations),
                Err(expected.to_owned()),
                "{operations}"
            );
        }
        let eleven = format!("[{}]", [r#"{"op":"set","path":"/a","value":1}"#; 11].join(","));
        assert!(run("{}", &eleven).unwrap_err().contains("11"));
    }
}
