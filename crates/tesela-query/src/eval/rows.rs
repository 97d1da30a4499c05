//! Rows of a select: nested loops over its sources, the filter, then groups or the projection.

use super::{Evaluated, Flow, Frame, eval, truth};
use crate::aggregate::Accumulator;
use crate::distinct::DistinctRows;
use crate::tree::{Expr, Grouping, Projection, Select, Source};
use crate::value::{Val, key};
use std::borrow::Cow;
use std::collections::HashMap;
use tesela_model::json::{self, Value};

/// Calls `visit` for each row of the sources that passes the filter, with the frame set to it.
pub fn scan<'r>(
    select: &'r Select,
    frame: &mut Frame<'r>,
    visit: &mut dyn FnMut(&mut Frame<'r>) -> Evaluated<Flow>,
) -> Evaluated<Flow> {
    from_source(select, 0, frame, visit)
}

fn from_source<'r>(
    select: &'r Select,
    at: usize,
    frame: &mut Frame<'r>,
    visit: &mut dyn FnMut(&mut Frame<'r>) -> Evaluated<Flow>,
) -> Evaluated<Flow> {
    let Some(source) = select.sources.get(at) else {
        frame.run().step()?;
        if let Some(filter) = &select.filter
            && truth(filter, frame)? != Some(true)
        {
            return Ok(Flow::More);
        }
        return visit(frame);
    };
    match source {
        Source::Document(slot) => match frame.document {
            Some(document) => {
                frame.set(*slot, Val::Stored(document));
                from_source(select, at + 1, frame, visit)
            }
            None => Ok(Flow::More),
        },
        Source::Input(slot) => {
            let row = frame.input.clone();
            frame.set(*slot, row);
            from_source(select, at + 1, frame, visit)
        }
        Source::Value(slot, expr) => match eval(expr, frame)? {
            Val::Undefined => Ok(Flow::More),
            value => {
                frame.set(*slot, value);
                from_source(select, at + 1, frame, visit)
            }
        },
        Source::Each(slot, expr) => {
            let array = eval(expr, frame)?;
            let Some(elements) = array.elements() else { return Ok(Flow::More) };
            for element in elements {
                frame.set(*slot, element);
                if from_source(select, at + 1, frame, visit)? == Flow::Enough {
                    return Ok(Flow::Enough);
                }
            }
            Ok(Flow::More)
        }
        Source::Rows(slot, inner) => select_rows(inner, frame, &mut |frame, row| {
            frame.set(*slot, row);
            from_source(select, at + 1, frame, visit)
        }),
    }
}

/// The rows of a subquery, as values. Undefined ones are none.
pub fn select_rows<'r>(
    select: &'r Select,
    frame: &mut Frame<'r>,
    sink: &mut dyn FnMut(&mut Frame<'r>, Val<'r>) -> Evaluated<Flow>,
) -> Evaluated<Flow> {
    let mut distinct = select.distinct.then(DistinctRows::default);
    let mut emit = |frame: &mut Frame<'r>| -> Evaluated<Flow> {
        let row = row_value(&select.projection, frame)?;
        if !row.is_defined() || distinct.as_mut().is_some_and(|seen| !seen.insert(&row)) {
            return Ok(Flow::More);
        }
        sink(frame, row)
    };
    let Some(grouping) = &select.grouping else { return scan(select, frame, &mut emit) };
    let mut groups = Groups::new(grouping);
    scan(select, frame, &mut |frame| {
        groups.add(grouping, frame)?;
        Ok(Flow::More)
    })?;
    for group in groups.finish() {
        if group.in_frame(frame, &mut emit)? == Flow::Enough {
            return Ok(Flow::Enough);
        }
    }
    Ok(Flow::More)
}

/// The row as a value.
pub fn row_value<'r>(projection: &'r Projection, frame: &mut Frame<'r>) -> Evaluated<Val<'r>> {
    match projection {
        Projection::Value(expr) => eval(expr, frame),
        Projection::List(items) => {
            let mut members = Vec::with_capacity(items.len());
            for (name, expr) in items {
                let value = eval(expr, frame)?;
                if value.is_defined() {
                    members.push((Cow::Borrowed(&**name), value));
                }
            }
            Ok(Val::Object(members.into()))
        }
    }
}

/// A row as JSON text, and its key when rows are kept apart.
pub struct Projected {
    pub json: Vec<u8>,
    pub distinct_key: Option<Vec<u8>>,
}

/// Writes the row; `None` when there is none. Items go straight to the text unless the key is wanted.
pub fn project<'r>(select: &'r Select, frame: &mut Frame<'r>) -> Evaluated<Option<Projected>> {
    let mut json = Vec::new();
    if let (Projection::List(items), false) = (&select.projection, select.distinct) {
        write_items(items, frame, &mut json)?;
        return Ok(Some(Projected { json, distinct_key: None }));
    }
    let row = row_value(&select.projection, frame)?;
    if !row.is_defined() {
        return Ok(None);
    }
    row.write(&mut json);
    let distinct_key = select.distinct.then(|| {
        let mut bytes = Vec::new();
        key::append(&row, &mut bytes);
        bytes
    });
    Ok(Some(Projected { json, distinct_key }))
}

fn write_items<'r>(items: &'r [(Box<str>, Expr)], frame: &mut Frame<'r>, out: &mut Vec<u8>) -> Evaluated<()> {
    out.push(b'{');
    for (name, expr) in items {
        let value = eval(expr, frame)?;
        if value.is_defined() {
            if out.len() > 1 {
                out.push(b',');
            }
            json::write_string(name, out);
            out.push(b':');
            value.write(out);
        }
    }
    out.push(b'}');
    Ok(())
}

/// The groups of a select, in the order they appeared.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    groups: Vec<Group>,
    by_key: HashMap<Vec<u8>, usize>,
    /// Bytes held, for the limit of the execution.
    bytes: usize,
    scratch: Vec<u8>,
}

/// One group: the values of its keys and what was accumulated.
#[derive(Clone, Debug)]
pub struct Group {
    key: Vec<u8>,
    keys: Vec<Option<Value>>,
    accumulators: Vec<Accumulator>,
}

impl Groups {
    /// Without GROUP BY there is one group from the start.
    pub fn new(grouping: &Grouping) -> Self {
        let mut groups = Self::default();
        if !grouping.has_group_by {
            groups.insert(Group { key: Vec::new(), keys: Vec::new(), accumulators: accumulators(grouping) });
        }
        groups
    }

    /// Takes the row in the frame.
    pub fn add<'r>(&mut self, grouping: &'r Grouping, frame: &mut Frame<'r>) -> Evaluated<()> {
        self.scratch.clear();
        let mut keys = smallvec::SmallVec::<[Val<'r>; 4]>::new();
        for expr in &grouping.keys {
            let value = eval(expr, frame)?;
            key::append(&value, &mut self.scratch);
            keys.push(value);
        }
        let index = match self.by_key.get(&self.scratch) {
            Some(index) => *index,
            None => self.insert(Group {
                key: self.scratch.clone(),
                keys: keys.iter().map(Val::to_value).collect(),
                accumulators: accumulators(grouping),
            }),
        };
        for (number, (_, expr)) in grouping.aggregates.iter().enumerate() {
            let value = eval(expr, frame)?;
            self.bytes += self.groups[index].accumulators[number].add(&value);
        }
        Ok(())
    }

    /// Adds to every COUNT of the only group.
    pub fn count(&mut self, rows: u64) {
        for accumulator in self.groups.iter_mut().flat_map(|group| &mut group.accumulators) {
            accumulator.merge(Accumulator::Count(rows));
        }
    }

    /// Takes a group of another part of the container.
    pub fn merge(&mut self, group: Group) {
        match self.by_key.get(&group.key) {
            Some(index) => {
                for (mine, theirs) in self.groups[*index].accumulators.iter_mut().zip(group.accumulators) {
                    mine.merge(theirs);
                }
            }
            None => {
                self.insert(group);
            }
        }
    }

    fn insert(&mut self, group: Group) -> usize {
        let index = self.groups.len();
        self.bytes += 2 * group.key.len() + std::mem::size_of::<Group>();
        self.by_key.insert(group.key.clone(), index);
        self.groups.push(group);
        index
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn finish(self) -> Vec<Group> {
        self.groups
    }
}

fn accumulators(grouping: &Grouping) -> Vec<Accumulator> {
    grouping.aggregates.iter().map(|(kind, _)| Accumulator::new(*kind)).collect()
}

impl Group {
    /// Runs `body` with the group's keys and results in reach.
    pub fn in_frame<'r, T>(self, frame: &mut Frame<'r>, body: &mut dyn FnMut(&mut Frame<'r>) -> T) -> T {
        let defined = |value: Option<Value>| value.map_or(Val::Undefined, Val::from_value);
        let keys = self.keys.into_iter().map(defined).collect();
        let aggregates = self.accumulators.into_iter().map(|accumulator| defined(accumulator.finish())).collect();
        frame.with_group(keys, aggregates, |frame| body(frame))
    }
}
