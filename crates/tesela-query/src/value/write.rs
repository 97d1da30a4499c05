//! Values as JSON text.
//!
//! A place in a document is copied byte for byte. Numbers JSON has no spelling for, which only a computation can
//! yield, are written as the strings "NaN", "Infinity" and "-Infinity".

use super::{Num, Val};
use tesela_model::json::{self, Number, Value};

impl Val<'_> {
    /// Appends the JSON text. Undefined has none: the caller leaves the place out.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Val::Undefined => debug_assert!(false, "undefined is never written"),
            Val::Null => out.extend_from_slice(b"null"),
            Val::Bool(true) => out.extend_from_slice(b"true"),
            Val::Bool(false) => out.extend_from_slice(b"false"),
            Val::Number(number) => write_number(*number, out),
            Val::Text(text) => json::write_string(text, out),
            Val::Stored(node) => out.extend_from_slice(node.text().as_bytes()),
            Val::Constant(value) => write_value(value, out),
            Val::Array(elements) => {
                let mut list = List::open(b'[', out);
                for element in elements.iter().filter(|element| element.is_defined()) {
                    list.next(out);
                    element.write(out);
                }
                out.push(b']');
            }
            Val::Object(members) => {
                let mut list = List::open(b'{', out);
                for (name, member) in members.iter().filter(|(_, member)| member.is_defined()) {
                    list.next(out);
                    json::write_string(name, out);
                    out.push(b':');
                    member.write(out);
                }
                out.push(b'}');
            }
        }
    }

    /// The JSON text; empty for undefined.
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        if self.is_defined() {
            self.write(&mut out);
        }
        String::from_utf8(out).expect("the writer copies strings and writes ASCII")
    }
}

fn write_number(number: Num, out: &mut Vec<u8>) {
    let finite = number.as_f64().is_finite();
    let text = Number::from(number);
    if finite {
        out.extend_from_slice(text.text().as_bytes());
    } else {
        json::write_string(&text.text(), out);
    }
}

/// As [`json::write`], but with a spelling for every number.
pub fn write_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Number(number) if !number.as_f64().is_finite() => json::write_string(&number.text(), out),
        Value::Array(elements) => {
            let mut list = List::open(b'[', out);
            for element in elements {
                list.next(out);
                write_value(element, out);
            }
            out.push(b']');
        }
        Value::Object(object) => {
            let mut list = List::open(b'{', out);
            for (name, member) in object.iter() {
                list.next(out);
                json::write_string(name, out);
                out.push(b':');
                write_value(member, out);
            }
            out.push(b'}');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => json::write(value, out),
    }
}

/// Puts commas between, not before.
struct List {
    first: bool,
}

impl List {
    fn open(bracket: u8, out: &mut Vec<u8>) -> Self {
        out.push(bracket);
        Self { first: true }
    }

    fn next(&mut self, out: &mut Vec<u8>) {
        if !std::mem::take(&mut self.first) {
            out.push(b',');
        }
    }
}
