//! Stored procedures run here; the triggers of item writes are read from their headers; scripts are looked at before
//! they are stored.

use super::{item_answer, item_key, not_allowed};
use crate::gateway::Gateway;
use crate::request::Call;
use crate::respond::{Answer, ApiError};
use http::{HeaderName, HeaderValue};
use tesela_model::json::{self, Value};
use tesela_model::partition_key::PartitionKeyDefinition;
use tesela_partition::item::LogicalKey;
use tesela_protocol::link::{Addressing, ScriptKind as WireScriptKind};
use tesela_protocol::status::{Status, SubStatus};
use tesela_protocol::{header, percent};
use tesela_router::catalog::{self, Container, Folder, ScriptKind};
use tesela_router::{Refused, RouterError, TriggerNames};
use tesela_script::ScriptError;
use tesela_store::Store;

/// Characters of a log that stand in a header as they are.
const LOG_CHARACTERS: &[u8] = b"!*'()";
/// What a client should wait when all places for scripts are taken, in milliseconds. Ours.
pub(crate) const SCRIPTS_BUSY_RETRY_MS: u64 = 100;

impl<S: Store> Gateway<S> {
    /// POST to a stored procedure.
    pub(super) async fn execute(
        &self,
        call: &Call<'_>,
        container: &Container,
        kind: WireScriptKind,
        id: &str,
    ) -> Result<Answer, ApiError> {
        if kind != WireScriptKind::StoredProcedure {
            return Err(not_allowed(call));
        }
        let addressing = match call.link.addressing {
            Addressing::Name => catalog::Addressing::Name,
            Addressing::Rid => catalog::Addressing::Rid,
        };
        let procedure = container.script(ScriptKind::StoredProcedure, id, addressing);
        let procedure = procedure.ok_or_else(|| ApiError::not_found(format!("there is no stored procedure '{id}'")))?;
        let key = key(call, &container.definition.partition_key)?;
        let arguments = arguments(&call.body)?;
        let logging = logging(call)?;
        let ran = self.router().execute_procedure(container, key, procedure, arguments, logging).await;
        let ran = ran.map_err(|refused| script_refused(refused, container))?;
        let mut answer = Answer::json(Status::Ok, ran.body);
        answer.set_request_charge(ran.charge_ru);
        // Without the container's path: the Python SDK, given that and a body that is no item, files the session token
        // under no container at all and sends it to others. One node needs no token to show what it has written.
        item_answer::write_partition(&mut answer, ran.served);
        item_answer::write_usage(&mut answer, self.router().usage(container, ran.served.partition));
        write_log(&mut answer, ran.log.as_deref());
        Ok(answer)
    }

    /// Refuses a script that is no function before it is stored.
    pub(super) async fn check_script(&self, folder: Folder<'_>, body: &Value) -> Result<(), ApiError> {
        let Folder::Scripts { database, container, .. } = folder else { return Ok(()) };
        let container = self.router().catalog().state().owner_container(database, container)?.clone();
        let text = |name: &str| body.get(name).and_then(Value::as_str);
        match (text("id"), text("body")) {
            (Some(id), Some(source)) => Ok(self.router().check_script(&container, id, source).await?),
            // The catalog knows how to complain about what is missing.
            _ => Ok(()),
        }
    }
}

/// A procedure runs in one logical partition, so its whole key is needed.
fn key(call: &Call<'_>, definition: &PartitionKeyDefinition) -> Result<LogicalKey, ApiError> {
    let given = call.partition_key()?.map_or(0, |value| value.components().len());
    if given < definition.paths.len() && definition.paths.len() > 1 {
        return Err(ApiError::bad_request(
            "Partition key provided has fewer components than defined in the collection; a script needs all of them.",
        )
        .with_sub_status(SubStatus::PARTITION_KEY_MISMATCH));
    }
    item_key::of_point(call, definition)
}

/// The arguments of a procedure: a JSON array, or nothing.
fn arguments(body: &[u8]) -> Result<String, ApiError> {
    if body.trim_ascii().is_empty() {
        return Ok(String::new());
    }
    let malformed =
        |reason: String| ApiError::bad_request(format!("the arguments of a procedure are a list: {reason}"));
    match json::parse(body).map_err(|error| malformed(error.to_string()))? {
        Value::Array(_) => {}
        other => return Err(malformed(format!("not {}", other.type_name()))),
    }
    Ok(std::str::from_utf8(body).expect("what parses is UTF-8").to_owned())
}

pub(super) fn logging(call: &Call<'_>) -> Result<bool, ApiError> {
    call.flag(&header::SCRIPT_ENABLE_LOGGING)
}

/// Puts a log into its header.
pub(super) fn write_log(answer: &mut Answer, log: Option<&str>) {
    if let Some(log) = log {
        answer.text(&header::SCRIPT_LOG_RESULTS, &percent::encode(log, LOG_CHARACTERS));
    }
}

/// The triggers a write asks for.
pub(super) fn trigger_names<'c>(call: &'c Call<'_>) -> Result<Option<TriggerNames<'c>>, ApiError> {
    let pre = one_name(call, &header::PRE_TRIGGER_INCLUDE)?;
    let post = one_name(call, &header::POST_TRIGGER_INCLUDE)?;
    Ok((pre.is_some() || post.is_some()).then_some(TriggerNames { pre, post }))
}

/// A list of one (service limit: one trigger of each kind on a request).
fn one_name<'c>(call: &'c Call<'_>, name: &HeaderName) -> Result<Option<&'c str>, ApiError> {
    let list = call.text(name)?.unwrap_or_default();
    let mut names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
    match (names.next(), names.next()) {
        (one, None) => Ok(one),
        (_, Some(_)) => Err(ApiError::bad_request(format!("only one trigger of a kind can be included, not '{list}'"))),
    }
}

/// A refusal with all that is known of it.
pub(super) fn script_refused(refused: Refused, container: &Container) -> ApiError {
    let log = match &refused.error {
        RouterError::Script(error) => error.log.clone(),
        _ => None,
    };
    let error = ApiError::from(refused.error).with_request_charge(refused.charge_ru);
    let error = match refused.served {
        Some(served) => item_answer::served_error(error, container, served),
        None => error,
    };
    match log.map(|log| HeaderValue::try_from(percent::encode(&log, LOG_CHARACTERS))) {
        Some(Ok(log)) => error.with_header(&header::SCRIPT_LOG_RESULTS, log),
        _ => error,
    }
}

/// A script's failure as the service words it: a list of errors inside the message.
impl From<ScriptError> for ApiError {
    fn from(error: ScriptError) -> Self {
        let status = Status::from_number(error.status()).unwrap_or(Status::InternalServerError);
        let errors: json::Object = [("Errors", vec![Value::from(error.message.as_str())])].into_iter().collect();
        let message = format!("Message: {}", json::to_string(&Value::Object(errors)));
        Self::new(status, message).with_sub_status(SubStatus(error.substatus()))
    }
}
