//! The body of every answer from 400 up: a JSON object with at least `code` and `message`.
//!
//! ```json
//! {"code":"NotFound","message":"…\r\nActivityId: 5c1d…"}
//! ```
//!
//! Some clients dereference `message` without looking, so an error never goes without a body. The
//! activity id ends the message, where people who only see the text can find it.

use tesela_model::json::{self, Object, Value};

/// What an error body says.
#[derive(Clone, Copy, Debug, Default)]
pub struct ErrorBody<'a> {
    pub code: &'a str,
    pub message: &'a str,
    pub activity_id: &'a str,
    /// JSON text for clients that read more than the message: the plan of a query the gateway refused.
    pub additional_error_info: Option<&'a str>,
}

impl ErrorBody<'_> {
    pub fn to_json(&self) -> Vec<u8> {
        let mut object = Object::with_capacity(3);
        object.insert("code", Value::from(self.code));
        let message = if self.activity_id.is_empty() {
            self.message.to_owned()
        } else {
            format!("{}\r\nActivityId: {}", self.message, self.activity_id)
        };
        object.insert("message", Value::from(message));
        if let Some(info) = self.additional_error_info {
            object.insert("additionalErrorInfo", Value::from(info));
        }
        let mut body = Vec::new();
        json::write(&Value::Object(object), &mut body);
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_message_and_activity_id_are_escaped_json() {
        let body = ErrorBody { code: "NotFound", message: "no \"x\"", activity_id: "a-1", additional_error_info: None };
        assert_eq!(
            String::from_utf8(body.to_json()).unwrap(),
            r#"{"code":"NotFound","message":"no \"x\"\r\nActivityId: a-1"}"#
        );
    }

    #[test]
    fn additional_information_is_a_string_of_its_own() {
        let body =
            ErrorBody { code: "BadRequest", message: "m", activity_id: "", additional_error_info: Some(r#"{"a":1}"#) };
        assert_eq!(
            String::from_utf8(body.to_json()).unwrap(),
            r#"{"code":"BadRequest","message":"m","additionalErrorInfo":"{\"a\":1}"}"#
        );
    }
}
