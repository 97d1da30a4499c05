//! FROM and JOIN: where rows come from and under which names.

use super::origin::Origin;
use super::{Binder, Bound, check_count};
use crate::error::code;
use crate::limits::JOINS_MAX;
use crate::tree::{Expr, Projection, Select, Source, Step};
use tesela_sql::SqlError;
use tesela_sql::ast::{Collection, Ident, PathStep, PathStepKind, Query, SourceKind};

impl Binder<'_> {
    /// Binds the sources of a query into the innermost level.
    pub(super) fn sources(&mut self, query: &Query) -> Bound<Vec<Source>> {
        if let Some(from) = &query.from {
            check_count("JOINs", from.sources.len() - 1, JOINS_MAX, from.span)?;
        }
        let mut sources = Vec::new();
        self.level().in_from = true;
        for source in query.from.iter().flat_map(|from| &from.sources) {
            match &source.kind {
                SourceKind::Named { collection, alias } => self.named(collection, alias.as_ref(), &mut sources)?,
                SourceKind::Iteration { alias, collection } => self.iteration(alias, collection, &mut sources)?,
            }
        }
        self.level().in_from = false;
        Ok(sources)
    }

    fn named(&mut self, collection: &Collection, alias: Option<&Ident>, sources: &mut Vec<Source>) -> Bound<()> {
        match collection {
            Collection::Path { root, steps } => {
                let alias = alias.cloned().or_else(|| default_alias(root, steps));
                let value = self.collection_path(root, steps, sources)?;
                if let (Expr::Slot(slot), Some(Source::Document(document))) = (&value, sources.last())
                    && slot == document
                {
                    return self.bind_alias(alias.as_ref(), *slot);
                }
                let slot = self.new_slot(self.origin(&value));
                sources.push(Source::Value(slot, value));
                self.bind_alias(alias.as_ref(), slot)
            }
            Collection::Subquery(inner) => {
                let (select, origin) = self.source_subquery(inner)?;
                let slot = self.new_slot(origin);
                sources.push(match select {
                    Some(select) => Source::Rows(slot, Box::new(select)),
                    None => Source::Input(slot),
                });
                self.bind_alias(alias, slot)
            }
        }
    }

    fn iteration(&mut self, alias: &Ident, collection: &Collection, sources: &mut Vec<Source>) -> Bound<()> {
        let array = match collection {
            Collection::Path { root, steps } => self.collection_path(root, steps, sources)?,
            Collection::Subquery(inner) => {
                let (select, origin) = self.source_subquery(inner)?;
                let rows = self.new_slot(origin);
                sources.push(match select {
                    Some(select) => Source::Rows(rows, Box::new(select)),
                    None => Source::Input(rows),
                });
                Expr::Slot(rows)
            }
        };
        let slot = self.new_slot(self.origin(&array).each());
        sources.push(Source::Each(slot, array));
        self.bind_alias(Some(alias), slot)
    }

    /// Binds the subquery of a source. One that must see all documents before it yields a row becomes a stage of its
    /// own, and nothing remains of it here.
    fn source_subquery(&mut self, inner: &Query) -> Bound<(Option<Select>, Origin)> {
        let over_container = self.reaches_container();
        let select = self.subquery(inner)?;
        let staged = over_container && (select.distinct || select.grouping.is_some() || takes_input(&select));
        if staged {
            self.stages.push(select);
            return Ok((None, Origin::Computed));
        }
        let origin = match &select.projection {
            _ if select.grouping.is_some() => Origin::Computed,
            Projection::Value(expr) => self.origin(expr),
            Projection::List(items) => {
                Origin::Object(items.iter().map(|(name, item)| (name.clone(), self.origin(item))).collect())
            }
        };
        Ok((Some(select), origin))
    }

    /// Whether a free name stands for the container: in the first source of the query, or of a subquery there.
    fn reaches_container(&self) -> bool {
        self.levels.iter().all(|level| level.in_from && level.aliases.is_empty())
    }

    /// A path of a source. When it starts at the container, the document becomes a source before it.
    fn collection_path(&mut self, root: &Ident, steps: &[PathStep], sources: &mut Vec<Source>) -> Bound<Expr> {
        let base = if self.resolve(&root.name).is_none() && self.reaches_container() {
            let slot = self.new_slot(Origin::document());
            sources.push(Source::Document(slot));
            self.reads_documents = true;
            Expr::Slot(slot)
        } else {
            self.identifier(&root.name, root.span)?
        };
        let mut bound = Vec::with_capacity(steps.len());
        for step in steps {
            bound.push(self.path_step(step)?);
        }
        self.steps(base, bound)
    }

    fn path_step(&mut self, step: &PathStep) -> Bound<Step> {
        Ok(match &step.kind {
            PathStepKind::Member(name) | PathStepKind::Quoted(name) => Step::Name(name.as_str().into()),
            PathStepKind::Element(index) => Step::Index(usize::try_from(*index).unwrap_or(usize::MAX)),
            PathStepKind::Parameter(name) => {
                let value = self.parameter(name, step.span)?;
                let index = value.as_i64().and_then(|index| usize::try_from(index).ok());
                match (value.as_str(), index) {
                    (Some(name), _) => Step::Name(name.into()),
                    (None, Some(index)) => Step::Index(index),
                    (None, None) => {
                        let message = format!("parameter '{name}' is neither a property name nor an array index");
                        return Err(SqlError::new(code::COMPUTED_INDEX, step.span, message));
                    }
                }
            }
        })
    }

    /// Puts a source under its name, if it has one.
    fn bind_alias(&mut self, alias: Option<&Ident>, slot: usize) -> Bound<()> {
        self.level().last_source = Some(slot);
        let Some(alias) = alias else { return Ok(()) };
        if self.level().find(&alias.name).is_some() {
            let message = format!("The alias '{}' is used for two sources.", alias.name);
            return Err(SqlError::new(code::ALIAS_TWICE, alias.span, message));
        }
        self.level().aliases.push((alias.name.clone(), slot));
        Ok(())
    }
}

/// Without an alias a path goes by the name of its last step; a path that ends in an index has none.
fn default_alias(root: &Ident, steps: &[PathStep]) -> Option<Ident> {
    match steps.last() {
        None => Some(root.clone()),
        Some(PathStep { kind: PathStepKind::Member(name) | PathStepKind::Quoted(name), span }) => {
            Some(Ident::new(name.clone(), *span))
        }
        Some(_) => None,
    }
}

fn takes_input(select: &Select) -> bool {
    select.sources.iter().any(|source| match source {
        Source::Input(_) => true,
        Source::Rows(_, inner) => takes_input(inner),
        Source::Document(_) | Source::Value(..) | Source::Each(..) => false,
    })
}
