//! Queries over items.
//!
//! Who merges? Official SDKs are built around a gateway that passes rows on but merges nothing: told 400/1004 they ask
//! for the plan and merge the ranges themselves, and their paging, tokens and caches depend on it. So an SDK (it names
//! its capabilities in a header) gets what it expects. Everybody else, curl first of all, gets any query answered as
//! one result set, merged here.
//!
//! A filter on the whole partition key leads to the one partition that matters, whoever asks (R19).

use super::query_plan::{plan_body, spec};
use super::{item_answer, paging, scope, session};
use crate::gateway::Gateway;
use crate::request::Call;
use crate::respond::{Answer, ApiError};
use tesela_model::limits::QUERY_PAGE_ITEMS_DEFAULT;
use tesela_partition::read::PageLimit;
use tesela_protocol::feed::{FeedName, FeedWriter};
use tesela_protocol::header;
use tesela_protocol::status::{Status, SubStatus};
use tesela_query::plan::{KeySelection, PlanScope, SupportedFeatures, is_servable_by_gateway};
use tesela_router::catalog::Container;
use tesela_router::{Prepared, QueryPageOutcome, QuerySpec, Scope};
use tesela_store::Store;

/// A header of ours: how many physical partitions an answer came from.
static VISITED: http::HeaderName = http::HeaderName::from_static("x-tesela-partitions-visited");

/// How a query is run.
enum Way {
    /// Partition by partition, a page from each.
    InTurn(Scope),
    /// All partitions at once, merged.
    Merged(Scope),
}

impl<S: Store> Gateway<S> {
    pub(super) async fn query_items(&self, call: &Call<'_>, container: &Container) -> Result<Answer, ApiError> {
        session::reads_strong(call, self.account().consistency)?;
        session::check(call)?;
        let spec = spec(&call.body)?;
        let prepared = self.router().prepare(container, spec.clone())?;
        let way = self.way(call, container, &spec, &prepared)?;
        let resume = paging::resume(call, container)?;
        let limit = paging::limit(call, QUERY_PAGE_ITEMS_DEFAULT)?;
        let page = self.run(container, &way, &prepared, resume.as_deref(), limit).await?;
        let mut answer = rows_answer(container, &page);
        paging::write_next(&mut answer, container, page.continuation.as_deref())?;
        if call.flag(&header::POPULATE_QUERY_METRICS)? {
            write_metrics(&mut answer, &page);
        }
        Ok(answer)
    }

    async fn run(
        &self,
        container: &Container,
        way: &Way,
        prepared: &Prepared,
        resume: Option<&[u8]>,
        limit: PageLimit,
    ) -> Result<QueryPageOutcome, ApiError> {
        Ok(match way {
            Way::InTurn(scope) => self.router().query_page(container, scope, prepared, resume, limit).await?,
            Way::Merged(scope) => self.router().merged_page(container, scope, prepared, resume, limit).await?,
        })
    }

    fn way(
        &self,
        call: &Call<'_>,
        container: &Container,
        spec: &QuerySpec,
        prepared: &Prepared,
    ) -> Result<Way, ApiError> {
        let scope = scope::of(call, container)?;
        let mergeless = is_servable_by_gateway(&prepared.syntax);
        if scope != Scope::Container {
            let partitions = container.partitions.overlapping(&scope.range(&container.partitions)?).len();
            return Ok(if mergeless || partitions <= 1 { Way::InTurn(scope) } else { Way::Merged(scope) });
        }
        let keys = self.router().select_keys(container, prepared);
        let crosses = call.flag(&header::ENABLE_CROSS_PARTITION)?;
        // Even for one partition: an SDK refuses by the plan what it does not support, whatever the filter.
        let planned = crosses && !mergeless && call.headers.contains_key(&header::SDK_CAPABILITIES);
        match pinned(&keys, container) {
            _ if planned => Err(self.leave_to_client(container, spec)),
            Some(scope) => Ok(Way::InTurn(scope)),
            None if !crosses => Err(cross_partition_disabled()),
            None if mergeless => Ok(Way::InTurn(Scope::Container)),
            None => Ok(Way::Merged(Scope::Container)),
        }
    }

    /// What an SDK that merges by itself waits for. Its plan goes along: some read it there.
    fn leave_to_client(&self, container: &Container, spec: &QuerySpec) -> ApiError {
        let plan = self.router().plan(container, spec, SupportedFeatures::all(), PlanScope::Container);
        let message = "The provided cross partition query can not be directly served by the gateway. \
                       This is a first chance (internal) exception that all newer clients will know how to handle gracefully.";
        let mut error = ApiError::bad_request(message).with_sub_status(SubStatus::CROSS_PARTITION_QUERY_NOT_SERVABLE);
        error.additional_error_info = match plan {
            Ok(plan) => String::from_utf8(plan_body(&plan)).ok(),
            // There is no plan for it; the client finds out why when it asks.
            Err(_) => Some("{}".to_owned()),
        };
        error
    }
}

/// The request neither names a partition nor allows for several.
pub(super) fn cross_partition_disabled() -> ApiError {
    ApiError::bad_request(
        "Cross partition query is required but disabled. Please set x-ms-documentdb-query-enablecrosspartition to true, \
         specify x-ms-documentdb-partitionkey, or revise your query to avoid this exception.",
    )
}

/// The one logical partition the query's filter leaves.
fn pinned(keys: &KeySelection, container: &Container) -> Option<Scope> {
    let definition = &container.definition.partition_key;
    match keys {
        KeySelection::Keys(values) if !values.is_empty() && keys.pins_whole_key(definition) => {
            // Zero and minus zero are one value to a filter and two points to the hash.
            let ranges = keys.ranges(definition);
            (ranges.len() == 1).then(|| Scope::Logical(ranges[0].min.clone()))
        }
        _ => None,
    }
}

fn rows_answer(container: &Container, page: &QueryPageOutcome) -> Answer {
    let mut feed = FeedWriter::new(&container.resource.rid, FeedName::Documents);
    page.rows.iter().for_each(|row| feed.push(std::str::from_utf8(row).expect("rows are JSON text")));
    let mut answer = Answer::json(Status::Ok, feed.finish());
    answer.set_request_charge(page.charge_ru);
    answer.write(&header::ITEM_COUNT, page.rows.len());
    answer.write(&VISITED, page.visited.len());
    match page.visited.as_slice() {
        [served] => item_answer::write_served(&mut answer, container, *served),
        several => {
            let tokens: Vec<String> = several.iter().map(|one| format!("{}:-1#{}", one.partition, one.lsn)).collect();
            answer.write(&header::SESSION_TOKEN, tokens.join(","));
            item_answer::write_owner(&mut answer, container);
        }
    }
    answer
}

fn write_metrics(answer: &mut Answer, page: &QueryPageOutcome) {
    let cost = &page.cost;
    let ratio =
        if cost.loaded_documents == 0 { 1.0 } else { (page.rows.len() as f64 / cost.loaded_documents as f64).min(1.0) };
    answer.write(
        &header::QUERY_METRICS,
        format_args!(
            "totalExecutionTimeInMs=0.00;queryCompileTimeInMs=0.00;queryLogicalPlanBuildTimeInMs=0.00;queryPhysicalPlanBuildTimeInMs=0.00;\
             queryOptimizationTimeInMs=0.00;VMExecutionTimeInMs=0.00;indexLookupTimeInMs=0.00;instructionCount=0;documentLoadTimeInMs=0.00;\
             systemFunctionExecuteTimeInMs=0.00;userFunctionExecuteTimeInMs=0.00;retrievedDocumentCount={};retrievedDocumentSize={};\
             outputDocumentCount={};outputDocumentSize={};writeOutputTimeInMs=0.00;indexUtilizationRatio={ratio:.2}",
            cost.loaded_documents,
            cost.facts.loaded_bytes,
            page.rows.len(),
            cost.facts.output_bytes,
        ),
    );
}
