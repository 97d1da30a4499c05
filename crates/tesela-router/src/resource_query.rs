//! Queries over the feeds of the catalog: databases, containers, offers, users, scripts.
//!
//! They are few and small: every resource is read, filtered by the ordinary engine, and the rows are the answer.

use crate::catalog::FeedPage;
use crate::error::RouterError;
use crate::query::QuerySpec;
use tesela_model::document::Document;
use tesela_query::{CompileContext, CompiledQuery, Execution, ExecutionOptions, QueryError};

impl FeedPage {
    /// The rows of a query over the resources of a page, as JSON text.
    pub fn query(&self, spec: &QuerySpec) -> Result<Vec<Vec<u8>>, RouterError> {
        let syntax = tesela_sql::parse(&spec.text).map_err(|error| QueryError::Refused(vec![error]))?;
        let compiled = CompiledQuery::compile(&syntax, &spec.parameters, &CompileContext::default())?;
        let mut execution = Execution::new(&compiled, ExecutionOptions::default());
        for (number, resource) in self.resources.iter().enumerate() {
            let document = Document::encode(&resource.json).expect("resources are JSON of our own writing");
            execution.push(document.root(), number as u64 + 1)?;
        }
        let mut rows = execution.take_rows();
        rows.extend(execution.finish()?);
        Ok(rows.into_iter().map(|row| row.json).collect())
    }
}
