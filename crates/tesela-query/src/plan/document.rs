//! Getting hold of the document in a query whose FROM does not name it.
//!
//! Rows of ORDER BY rewrites carry the `_rid` of their document, by which clients break ties and resume. `FROM c` gives
//! it as `c._rid`; a path, an iteration or a subquery hides the document behind what it makes of it. Then the document
//! becomes a source of its own, and the old one is joined to it:
//!
//! ```text
//! FROM t IN c.tags                       FROM c AS document JOIN t IN document.tags
//! FROM (SELECT VALUE c.x FROM c) AS r    FROM c AS document JOIN (SELECT VALUE c.x FROM document AS c) AS r
//! ```
//!
//! Both mean the same: a source is evaluated once per document either way. That is not so for subqueries that gather
//! documents (DISTINCT, GROUP BY, aggregates); the planner refuses those before.

use super::outline::{document_name, source_name, unused_name};
use super::syntax;
use tesela_sql::Span;
use tesela_sql::ast::{Collection, FromClause, Query, Source, SourceKind};

/// The FROM clause with the document under a name, and that name. `None` for a query without FROM.
pub(super) fn with_document(query: &Query) -> Option<(FromClause, String)> {
    let mut from = query.from.clone()?;
    if let Some(name) = document_name(&from) {
        let name = name.to_owned();
        return Some((from, name));
    }
    let document = unused_name(query, "document");
    let container = rename_container(from.sources.first_mut()?, &document)?;
    let collection = Collection::Path { root: syntax::name(&container), steps: Vec::new() };
    let kind = SourceKind::Named { collection, alias: Some(syntax::name(&document)) };
    from.sources.insert(0, Source { kind, span: Span::default() });
    Some((from, document))
}

/// Lets the source read from `document` instead of the container, whose name in the query it returns.
fn rename_container(source: &mut Source, document: &str) -> Option<String> {
    // A plain name is also the alias of what it names; it stays the alias.
    let alias = source_name(source).map(syntax::name);
    let (collection, missing_alias) = match &mut source.kind {
        SourceKind::Named { collection, alias } => (collection, Some(alias)),
        SourceKind::Iteration { collection, .. } => (collection, None),
    };
    match collection {
        Collection::Path { root, steps } => {
            if let (true, Some(slot @ None)) = (steps.is_empty(), missing_alias) {
                *slot = alias;
            }
            Some(std::mem::replace(&mut root.name, document.to_owned()))
        }
        Collection::Subquery(inner) => rename_container(inner.from.as_mut()?.sources.first_mut()?, document),
    }
}
