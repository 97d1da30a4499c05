//! The numbers of the whole container that full-text scores need, gathered before the rows are scored.

use crate::bind::CompiledQuery;
use crate::error::QueryError;
use crate::eval::Flow;
use crate::eval::{Frame, Run, eval, scan};
use crate::full_text::Statistics;
use crate::tree::{Projection, Select};
use tesela_model::document::Node;

/// Sees every document of the container (WHERE does not count here), yields one [`Statistics`] per score of the query.
/// Those of several partitions are added up with [`Statistics::add`].
pub struct StatisticsPass<'q> {
    query: &'q CompiledQuery,
    run: Run<'q>,
    /// The sources of the query, to put the document under its alias.
    sources: Select,
    gathered: Vec<Statistics>,
}

impl CompiledQuery {
    /// Whether a [`StatisticsPass`] must come before the execution.
    pub fn needs_statistics(&self) -> bool {
        !self.scorers.is_empty()
    }
}

impl<'q> StatisticsPass<'q> {
    pub fn new(query: &'q CompiledQuery) -> Self {
        let sources = Select {
            sources: query.stages[0].sources.clone(),
            filter: None,
            grouping: None,
            projection: Projection::List(Vec::new()),
            distinct: false,
        };
        let gathered = query.scorers.iter().map(|scorer| Statistics::of(scorer.phrases.len())).collect();
        Self { query, run: Run::for_constants(0, query.geospatial), sources, gathered }
    }

    pub fn push(&mut self, document: Node<'_>) -> Result<(), QueryError> {
        self.run.begin_document();
        let mut frame = Frame::new(self.query.slots.len(), Some(document), 0, &self.run);
        let gathered = &mut self.gathered;
        let query = self.query;
        let seen = scan(&self.sources, &mut frame, &mut |frame| {
            for (scorer, statistics) in query.scorers.iter().zip(gathered.iter_mut()) {
                statistics.document_count += 1;
                let text = eval(&scorer.text, frame)?;
                let Some(text) = text.as_str() else { continue };
                let tokens = scorer.analyzer.tokens(&text);
                statistics.total_word_count += tokens.len() as u64;
                for (phrase, hits) in scorer.phrases.iter().zip(&mut statistics.hit_counts) {
                    *hits += u64::from(tokens.occurrences(phrase) > 0);
                }
            }
            Ok(Flow::Enough)
        });
        seen.map(|_| ()).map_err(|error| *error)
    }

    pub fn finish(self) -> Vec<Statistics> {
        self.gathered
    }
}
