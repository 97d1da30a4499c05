//! Queries over the items of a container.

use crate::catalog::Container;
use crate::error::RouterError;
use crate::items::served;
use crate::router::{Router, Served};
use crate::scope::Scope;
use crate::scripts::ContainerFunctions;
use crate::walk::Walk;
use std::sync::Arc;
use std::time::Duration;
use tesela_model::container::{ContainerDefinition, DistanceFunction, FullTextLanguage, GeospatialType};
use tesela_model::document::Node;
use tesela_model::json::Value;
use tesela_partition::charge::{self, QueryFacts};
use tesela_partition::query::{Cost, QueryRequest, Resume};
use tesela_partition::read::{FeedScope, PageLimit};
use tesela_partition::write::Predicate;
use tesela_query::full_text::{Language, Statistics};
use tesela_query::functions::Geospatial;
use tesela_query::functions::vector::Measure;
use tesela_query::merge::{Merge, MergeOptions, Part, Step};
use tesela_query::plan::{KeySelection, PlanContext, PlanScope, QueryPlan, SupportedFeatures, plan, select_keys};
use tesela_query::{
    CompileContext, CompiledQuery, ComputedProperty, Execution, ExecutionOptions, FullTextPath, QueryError,
    UserFunctions, VectorPath,
};
use tesela_sql::ast::Query;
use tesela_store::Store;

/// A query as a client sends it.
#[derive(Clone, Debug, Default)]
pub struct QuerySpec {
    pub text: String,
    /// Names with their `@`.
    pub parameters: Vec<(String, Value)>,
}

/// A query parsed and bound to a container.
pub struct Prepared {
    pub syntax: Query,
    pub parameters: Vec<(String, Value)>,
    pub compiled: CompiledQuery,
    functions: ContainerFunctions,
}

/// A page of rows.
#[derive(Debug)]
pub struct QueryPageOutcome {
    /// The partitions that were visited, in order.
    pub visited: Vec<Served>,
    pub rows: Vec<Vec<u8>>,
    pub continuation: Option<Vec<u8>>,
    pub charge_ru: f64,
    pub cost: Cost,
}

/// The parts of a definition that decide what a query means.
struct Meaning {
    computed: Vec<ComputedProperty>,
    geospatial: Geospatial,
    vectors: Vec<VectorPath>,
    full_text: Vec<FullTextPath>,
    language: Language,
}

impl Meaning {
    fn of(definition: &ContainerDefinition) -> Self {
        let computed = definition.computed_properties.iter();
        let computed = computed.map(|one| ComputedProperty { name: one.name.clone(), query: one.query.clone() });
        let vectors = definition.vector_embedding_policy.iter().flat_map(|policy| &policy.embeddings);
        let vectors =
            vectors.map(|one| VectorPath { path: one.path.steps().to_vec(), measure: measure(one.distance_function) });
        let policy = definition.full_text_policy.as_ref();
        let language_of = |language: FullTextLanguage| Language::from_tag(language.name()).unwrap_or_default();
        let language = policy.and_then(|policy| policy.default_language).map(language_of).unwrap_or_default();
        let texts = policy.iter().flat_map(|policy| &policy.paths);
        let texts = texts.map(|one| FullTextPath {
            path: one.path.steps().to_vec(),
            language: one.language.map_or(language, language_of),
        });
        let geospatial = match definition.geospatial_type {
            GeospatialType::Geography => Geospatial::Geography,
            GeospatialType::Geometry => Geospatial::Geometry,
        };
        Self {
            computed: computed.collect(),
            geospatial,
            vectors: vectors.collect(),
            full_text: texts.collect(),
            language,
        }
    }

    fn context<'a>(&'a self, now_ticks: i64, functions: &'a dyn UserFunctions) -> CompileContext<'a> {
        CompileContext {
            computed_properties: &self.computed,
            geospatial: self.geospatial,
            vectors: &self.vectors,
            full_text: &self.full_text,
            language: self.language,
            now_ticks,
            functions,
        }
    }
}

fn measure(function: DistanceFunction) -> Measure {
    match function {
        DistanceFunction::Cosine => Measure::Cosine,
        DistanceFunction::Euclidean => Measure::Euclidean,
        DistanceFunction::DotProduct => Measure::DotProduct,
    }
}

/// Parses a query and settles what its names mean in a container.
pub(crate) fn bind(
    definition: &ContainerDefinition,
    text: &str,
    parameters: &[(String, Value)],
    now_ticks: i64,
    functions: &dyn UserFunctions,
) -> Result<(Query, CompiledQuery), QueryError> {
    let syntax = tesela_sql::parse(text)?;
    let meaning = Meaning::of(definition);
    let compiled = CompiledQuery::compile(&syntax, parameters, &meaning.context(now_ticks, functions))?;
    Ok((syntax, compiled))
}

impl<S: Store> Router<S> {
    fn now_ticks(&self) -> i64 {
        self.env().now().unix_micros() as i64 * 10
    }

    /// Parses a query and binds it to a container.
    pub fn prepare(&self, container: &Container, spec: QuerySpec) -> Result<Prepared, RouterError> {
        let functions = ContainerFunctions::new(self, container);
        let (syntax, compiled) =
            bind(&container.definition, &spec.text, &spec.parameters, self.now_ticks(), &functions)?;
        Ok(Prepared { syntax, parameters: spec.parameters, compiled, functions })
    }

    /// The plan of a query for a client that merges by itself.
    pub fn plan(
        &self,
        container: &Container,
        spec: &QuerySpec,
        features: SupportedFeatures,
        scope: PlanScope,
    ) -> Result<QueryPlan, RouterError> {
        let syntax = tesela_sql::parse(&spec.text).map_err(QueryError::from)?;
        let meaning = Meaning::of(&container.definition);
        let functions = ContainerFunctions::new(self, container);
        let context = PlanContext { scope, compile: &meaning.context(self.now_ticks(), &functions) };
        Ok(plan(&syntax, &spec.parameters, &container.definition.partition_key, features, &context)?)
    }

    /// The keys documents of the answer can have, by the query's own filter (R19).
    pub fn select_keys(&self, container: &Container, prepared: &Prepared) -> KeySelection {
        let meaning = Meaning::of(&container.definition);
        let context = meaning.context(self.now_ticks(), &prepared.functions);
        select_keys(&prepared.compiled, &container.definition.partition_key, &context)
    }

    /// A page from the next partition of the scope: for queries whose rows need no merging.
    pub async fn query_page(
        &self,
        container: &Container,
        scope: &Scope,
        prepared: &Prepared,
        continuation: Option<&[u8]>,
        limit: PageLimit,
    ) -> Result<QueryPageOutcome, RouterError> {
        let range = scope.range(&container.partitions)?;
        let mut walk = match continuation {
            Some(bytes) => Walk::resume(bytes, &range).ok_or(RouterError::Continuation)?,
            None => Walk::over(range),
        };
        let stop = walk.next(&container.partitions).ok_or(RouterError::Continuation)?;
        let resume = match stop.state.as_deref() {
            Some(bytes) => Resume::decode(bytes).ok_or(RouterError::Continuation)?,
            None => Resume::default(),
        };
        let partition = self.partition(container, stop.partition).await?;
        let env = self.env().clone();
        let elapsed = move || env.elapsed();
        let within = scope.within(&stop.partition.range, &stop.range);
        let request = QueryRequest { resume, ..self.request(prepared, within, limit, &elapsed) };
        let page = partition.query(&request).await?;
        // A query that reads no documents has its one answer from the first partition.
        match page.next {
            None if !prepared.compiled.reads_documents() => walk.finish(),
            next => walk.advance(next.map(|resume| resume.encode())),
        }
        let continuation = (!walk.is_done()).then(|| walk.encode());
        let charge_ru = charge::query(&page.cost.facts);
        let visited = vec![served(&partition)];
        Ok(QueryPageOutcome { visited, rows: page.rows, continuation, charge_ru, cost: page.cost })
    }

    /// A page of a query over several partitions, merged here into one answer. The continuation counts the rows given.
    pub async fn merged_page(
        &self,
        container: &Container,
        scope: &Scope,
        prepared: &Prepared,
        continuation: Option<&[u8]>,
        limit: PageLimit,
    ) -> Result<QueryPageOutcome, RouterError> {
        let given = match continuation {
            Some(bytes) => u64::from_le_bytes(bytes.try_into().map_err(|_| RouterError::Continuation)?),
            None => 0,
        };
        let parts = self.parts(container, scope, prepared, limit).await?;
        let options =
            MergeOptions { now_ticks: self.now_ticks(), seed: self.env().random(), ..MergeOptions::default() };
        let mut merge = Merge::new(&prepared.compiled, parts.parts.len(), options);
        let mut waiting: Vec<Option<Part>> = parts.parts.into_iter().map(Some).collect();
        let mut page = MergedRows::new(given, limit);
        loop {
            match merge.step()? {
                Step::Done => break,
                Step::Row(row) => {
                    if !page.push(row.json) {
                        break;
                    }
                }
                Step::Fetch(wanted) => {
                    for partition in wanted {
                        let part = waiting[partition].take().expect("every part is asked for once: it is complete");
                        merge.provide(partition, part)?;
                    }
                }
            }
        }
        let mut cost = parts.cost;
        cost.facts.output_bytes = page.bytes as u64;
        let further_visits = parts.visited.len().saturating_sub(1) as f64;
        let charge_ru = charge::query(&cost.facts) + further_visits * charge::query(&QueryFacts::default());
        let continuation = page.next().map(|given| given.to_le_bytes().to_vec());
        let charge_ru = charge::round(charge_ru);
        Ok(QueryPageOutcome { visited: parts.visited, rows: page.rows, continuation, charge_ru, cost })
    }

    /// Every partition's part, in the order of their ranges.
    async fn parts(
        &self,
        container: &Container,
        scope: &Scope,
        prepared: &Prepared,
        limit: PageLimit,
    ) -> Result<Parts, RouterError> {
        let mut walk = Walk::over(scope.range(&container.partitions)?);
        let mut views = Vec::new();
        while let Some(stop) = walk.next(&container.partitions) {
            let partition = self.partition(container, stop.partition).await?;
            let (view, within) = (partition.view(), scope.within(&stop.partition.range, &stop.range));
            views.push((partition, view, within));
            walk.advance(None);
        }
        let env = self.env().clone();
        let elapsed = move || env.elapsed();
        let mut statistics: Option<Vec<Statistics>> = None;
        if prepared.compiled.needs_statistics() {
            for (_, view, within) in &views {
                let request = self.request(prepared, within.clone(), limit, &elapsed);
                let part = view.statistics(&request).await?;
                match &mut statistics {
                    Some(total) => total.iter_mut().zip(&part).for_each(|(total, part)| total.add(part)),
                    None => statistics = Some(part),
                }
            }
        }
        let mut parts = Parts::default();
        for (partition, view, within) in views {
            let request =
                QueryRequest { statistics: statistics.clone(), ..self.request(prepared, within, limit, &elapsed) };
            let part = partition.part(&view, &request).await?;
            parts.visited.push(served(&partition));
            parts.cost.add(&part.cost);
            parts.parts.push(Part { rows: part.rows, groups: part.groups, done: true });
        }
        Ok(parts)
    }

    fn request<'q>(
        &self,
        prepared: &'q Prepared,
        scope: FeedScope,
        limit: PageLimit,
        elapsed: &'q (dyn Fn() -> Duration + Send + Sync),
    ) -> QueryRequest<'q> {
        QueryRequest {
            query: &prepared.compiled,
            functions: &prepared.functions,
            scope,
            resume: Resume::default(),
            limit,
            now_ticks: self.now_ticks(),
            seed: self.env().random(),
            statistics: None,
            elapsed,
        }
    }

    /// The condition of a patch, `FROM c WHERE …`, as a predicate on documents.
    pub fn patch_condition(&self, container: &Container, text: &str) -> Result<Predicate, RouterError> {
        let spec = QuerySpec { text: format!("SELECT VALUE true {text}"), parameters: Vec::new() };
        let prepared = Arc::new(self.prepare(container, spec)?);
        Ok(Arc::new(move |document: Node<'_>| {
            let options = ExecutionOptions { functions: &prepared.functions, ..ExecutionOptions::default() };
            let mut execution = Execution::new(&prepared.compiled, options);
            execution.push(document, 0).is_ok() && !execution.take_rows().is_empty()
        }))
    }
}

/// The parts of all partitions.
#[derive(Default)]
struct Parts {
    parts: Vec<Part>,
    visited: Vec<Served>,
    cost: Cost,
}

/// The rows of one page of a merged answer.
struct MergedRows {
    given: u64,
    seen: u64,
    limit: PageLimit,
    rows: Vec<Vec<u8>>,
    bytes: usize,
    more: bool,
}

impl MergedRows {
    fn new(given: u64, limit: PageLimit) -> Self {
        Self { given, seen: 0, limit, rows: Vec::new(), bytes: 0, more: false }
    }

    /// False when the row is left for the next page.
    fn push(&mut self, row: Vec<u8>) -> bool {
        self.seen += 1;
        if self.seen <= self.given {
            return true;
        }
        let full = self.rows.len() >= self.limit.items || self.bytes + row.len() > self.limit.bytes;
        if full && !self.rows.is_empty() {
            self.more = true;
            return false;
        }
        self.bytes += row.len();
        self.rows.push(row);
        true
    }

    /// Rows given by now, when there are more.
    fn next(&self) -> Option<u64> {
        self.more.then_some(self.given + self.rows.len() as u64)
    }
}
