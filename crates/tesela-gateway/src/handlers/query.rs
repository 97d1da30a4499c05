//! Queries over items, and their plans.

use super::{item_answer, paging, scope, session};
use crate::gateway::Gateway;
use crate::request::Call;
use crate::respond::{Answer, ApiError};
use tesela_model::json::{self, Value};
use tesela_model::limits::{QUERY_PAGE_ITEMS_DEFAULT, QUERY_TEXT_BYTES_MAX};
use tesela_protocol::feed::{FeedName, FeedWriter};
use tesela_protocol::header;
use tesela_protocol::status::Status;
use tesela_router::catalog::Container;
use tesela_router::{QueryPageOutcome, QuerySpec};
use tesela_store::Store;

/// The query in a body: `{"query": …, "parameters": [{"name", "value"}]}`.
pub(super) fn spec(body: &[u8]) -> Result<QuerySpec, ApiError> {
    let value =
        json::parse(body).map_err(|error| ApiError::bad_request(format!("the body is not valid JSON: {error}")))?;
    let text = value
        .get("query")
        .and_then(Value::as_str)
        .ok_or_else(|| ApiError::bad_request("the body must have the property 'query', a string"))?;
    if text.len() > QUERY_TEXT_BYTES_MAX {
        return Err(ApiError::bad_request(format!("the query is longer than {QUERY_TEXT_BYTES_MAX} bytes")));
    }
    let parameters = match value.get("parameters") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(parameters)) => parameters.iter().map(parameter).collect::<Result<_, _>>()?,
        Some(_) => return Err(ApiError::bad_request("'parameters' must be a list")),
    };
    Ok(QuerySpec { text: text.to_owned(), parameters })
}

fn parameter(value: &Value) -> Result<(String, Value), ApiError> {
    match (value.get("name").and_then(Value::as_str), value.get("value")) {
        (Some(name), Some(value)) if name.starts_with('@') => Ok((name.to_owned(), value.clone())),
        (Some(name), None) if name.starts_with('@') => Ok((name.to_owned(), Value::Null)),
        _ => Err(ApiError::bad_request("a parameter must have a 'name' that starts with @ and a 'value'")),
    }
}

impl<S: Store> Gateway<S> {
    pub(super) async fn query_items(&self, call: &Call<'_>, container: &Container) -> Result<Answer, ApiError> {
        session::reads_strong(call, self.account().consistency)?;
        let scope = scope::of(call, container)?;
        let prepared = self.router().prepare(container, spec(&call.body)?)?;
        let resume = paging::resume(call, container)?;
        let limit = paging::limit(call, QUERY_PAGE_ITEMS_DEFAULT)?;
        let page = self.router().query_page(container, &scope, &prepared, resume.as_deref(), limit).await?;
        session::check(call, container, page.served)?;
        let mut answer = rows_answer(container, &page);
        paging::write_next(&mut answer, container, page.continuation.as_deref())?;
        if call.flag(&header::POPULATE_QUERY_METRICS)? {
            write_metrics(&mut answer, &page);
        }
        Ok(answer)
    }

    pub(super) fn query_plan(&self, _call: &Call<'_>, _container: &Container) -> Result<Answer, ApiError> {
        Err(ApiError::new(Status::NotImplemented, "query plans are not served yet"))
    }
}

fn rows_answer(container: &Container, page: &QueryPageOutcome) -> Answer {
    let mut feed = FeedWriter::new(&container.resource.rid, FeedName::Documents);
    page.rows.iter().for_each(|row| feed.push(std::str::from_utf8(row).expect("rows are JSON text")));
    let mut answer = Answer::json(Status::Ok, feed.finish());
    answer.set_request_charge(page.charge_ru);
    answer.write(&header::ITEM_COUNT, page.rows.len());
    item_answer::write_served(&mut answer, container, page.served);
    answer
}

fn write_metrics(answer: &mut Answer, page: &QueryPageOutcome) {
    let ratio =
        if page.loaded_documents == 0 { 1.0 } else { (page.rows.len() as f64 / page.loaded_documents as f64).min(1.0) };
    answer.write(
        &header::QUERY_METRICS,
        format_args!(
            "totalExecutionTimeInMs=0.00;queryCompileTimeInMs=0.00;queryLogicalPlanBuildTimeInMs=0.00;queryPhysicalPlanBuildTimeInMs=0.00;\
             queryOptimizationTimeInMs=0.00;VMExecutionTimeInMs=0.00;indexLookupTimeInMs=0.00;instructionCount=0;documentLoadTimeInMs=0.00;\
             systemFunctionExecuteTimeInMs=0.00;userFunctionExecuteTimeInMs=0.00;retrievedDocumentCount={};retrievedDocumentSize={};\
             outputDocumentCount={};outputDocumentSize={};writeOutputTimeInMs=0.00;indexUtilizationRatio={ratio:.2}",
            page.loaded_documents,
            page.facts.loaded_bytes,
            page.rows.len(),
            page.facts.output_bytes,
        ),
    );
}
