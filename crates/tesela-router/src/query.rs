//! Queries over the items of a container.

use crate::catalog::Container;
use crate::error::RouterError;
use crate::items::served;
use crate::router::{Router, Served};
use crate::scope::Scope;
use crate::walk::Walk;
use std::sync::Arc;
use tesela_model::container::{ContainerDefinition, DistanceFunction, FullTextLanguage, GeospatialType};
use tesela_model::document::Node;
use tesela_model::json::Value;
use tesela_partition::charge::{self, QueryFacts};
use tesela_partition::query::{QueryRequest, Resume};
use tesela_partition::read::PageLimit;
use tesela_partition::write::Predicate;
use tesela_query::full_text::Language;
use tesela_query::functions::Geospatial;
use tesela_query::functions::vector::Measure;
use tesela_query::{
    CompileContext, CompiledQuery, ComputedProperty, Execution, ExecutionOptions, FullTextPath, NoFunctions, VectorPath,
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
}

/// A page of rows from one partition.
#[derive(Debug)]
pub struct QueryPageOutcome {
    pub served: Served,
    pub rows: Vec<Vec<u8>>,
    pub continuation: Option<Vec<u8>>,
    pub charge_ru: f64,
    pub facts: QueryFacts,
    pub loaded_documents: u64,
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

    fn context(&self, now_ticks: i64) -> CompileContext<'_> {
        CompileContext {
            computed_properties: &self.computed,
            geospatial: self.geospatial,
            vectors: &self.vectors,
            full_text: &self.full_text,
            language: self.language,
            now_ticks,
            functions: &NoFunctions,
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

impl<S: Store> Router<S> {
    fn now_ticks(&self) -> i64 {
        self.env().now().unix_micros() as i64 * 10
    }

    /// Parses a query and binds it to a container.
    pub fn prepare(&self, container: &Container, spec: QuerySpec) -> Result<Prepared, RouterError> {
        let syntax = tesela_sql::parse(&spec.text).map_err(|error| tesela_query::QueryError::Refused(vec![error]))?;
        let meaning = Meaning::of(&container.definition);
        let compiled = CompiledQuery::compile(&syntax, &spec.parameters, &meaning.context(self.now_ticks()))?;
        Ok(Prepared { syntax, parameters: spec.parameters, compiled })
    }

    /// A page from the next partition of the scope.
    pub async fn query_page(
        &self,
        container: &Container,
        scope: &Scope,
        prepared: &Prepared,
        continuation: Option<&[u8]>,
        limit: PageLimit,
    ) -> Result<QueryPageOutcome, RouterError> {
        let mut walk = match continuation {
            Some(bytes) => Walk::decode(bytes).ok_or(RouterError::Continuation)?,
            None => Walk::over(scope.range(&container.partitions)?),
        };
        let stop = walk.next(&container.partitions).ok_or(RouterError::Continuation)?;
        let resume = match stop.state.as_deref() {
            Some(bytes) => Resume::decode(bytes).ok_or(RouterError::Continuation)?,
            None => Resume::default(),
        };
        let partition = self.partition(container, stop.partition).await?;
        let env = self.env().clone();
        let elapsed = move || env.elapsed();
        let request = QueryRequest {
            query: &prepared.compiled,
            functions: &NoFunctions,
            scope: scope.within(&stop.partition.range, &stop.range),
            resume,
            limit,
            now_ticks: self.now_ticks(),
            seed: self.env().random(),
            elapsed: &elapsed,
        };
        let page = partition.view().query(&request).await?;
        // A query that reads no documents has its one answer from the first partition.
        match page.next {
            None if !prepared.compiled.reads_documents() => walk.finish(),
            next => walk.advance(next.map(|resume| resume.encode())),
        }
        let continuation = (!walk.is_done()).then(|| walk.encode());
        let charge_ru = charge::query(&page.facts);
        let (served, rows, facts, loaded_documents) =
            (served(&partition), page.rows, page.facts, page.loaded_documents);
        Ok(QueryPageOutcome { served, rows, continuation, charge_ru, facts, loaded_documents })
    }

    /// The condition of a patch, `FROM c WHERE …`, as a predicate on documents.
    pub fn patch_condition(&self, container: &Container, text: &str) -> Result<Predicate, RouterError> {
        let spec = QuerySpec { text: format!("SELECT VALUE true {text}"), parameters: Vec::new() };
        let prepared = Arc::new(self.prepare(container, spec)?);
        Ok(Arc::new(move |document: Node<'_>| {
            let mut execution = Execution::new(&prepared.compiled, ExecutionOptions::default());
            execution.push(document, 0).is_ok() && !execution.take_rows().is_empty()
        }))
    }
}
