//! The rows of the last stage: kept apart, put in order, cut to OFFSET and LIMIT.

use super::{Input, Output, Progress};
use crate::bind::CompiledQuery;
use crate::distinct::DistinctRows;
use crate::eval::{Evaluated, Flow, Frame, eval, project};
use crate::fusion::{Fusion, Ranked};
use crate::tree::{Component, Order, OrderItem, Select};
use crate::value::key;
use std::collections::{BTreeMap, HashMap};
use tesela_sql::ast::Direction;

/// Sorts behind every key: a row without a score.
const LAST: u8 = 0xFF;

/// A row of the answer, or of a partition's part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The JSON text of the row.
    pub json: Vec<u8>,
    /// Bytes that sort as ORDER BY wants the rows; empty without one.
    pub sort_key: Vec<u8>,
    /// Bytes that are equal when rows are; only with DISTINCT.
    pub distinct_key: Option<Vec<u8>>,
    /// What the components of RRF say; empty without it.
    pub scores: Vec<Option<f64>>,
    /// The document the row comes from; 0 for rows of a group.
    pub rid: u64,
}

impl Row {
    /// Bytes the row is charged with while it is held.
    pub(crate) fn held_bytes(&self) -> usize {
        let key = self.distinct_key.as_ref().map_or(0, Vec::len);
        std::mem::size_of::<Self>() + self.json.len() + 2 * self.sort_key.len() + 2 * key + 16 * self.scores.len()
    }
}

pub(super) struct Collector<'q> {
    order: OrderOf<'q>,
    keep: Keep,
    distinct: Option<DistinctRows>,
    window: Window,
    ready: Vec<Row>,
    bytes: usize,
    /// Rows seen of the current document, for ties within it.
    sequence: (u64, u32),
    /// Keys are wanted even when rows stream.
    keyed: bool,
}

enum OrderOf<'q> {
    None,
    By(&'q [OrderItem]),
    Fusion(&'q [Component]),
}

/// What must wait until all documents are in.
enum Keep {
    /// Nothing: rows are in order as they come.
    Nothing,
    /// Every row.
    All(Vec<(Vec<u8>, Row)>),
    /// The first rows in order, at most so many; with DISTINCT the first of equal ones.
    Best { rows: BTreeMap<Vec<u8>, Row>, count: u64, by_distinct: HashMap<Vec<u8>, Vec<u8>> },
}

/// OFFSET and LIMIT over rows that come in order.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    offset: u64,
    limit: Option<u64>,
    progress: Progress,
}

impl Window {
    pub fn new(offset: u64, limit: Option<u64>, progress: Progress) -> Self {
        Self { offset, limit, progress }
    }

    /// Whether the next row is in the window; counts it.
    pub fn admit(&mut self) -> bool {
        if self.progress.skipped < self.offset {
            self.progress.skipped += 1;
            return false;
        }
        if self.is_full() {
            return false;
        }
        self.progress.emitted += 1;
        true
    }

    pub fn is_full(&self) -> bool {
        self.limit.is_some_and(|limit| self.progress.emitted >= limit)
    }

    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// Rows that must be known, in order, to fill the window.
    fn reach(&self) -> Option<u64> {
        self.limit.map(|limit| limit.saturating_add(self.offset))
    }
}

impl<'q> Collector<'q> {
    pub fn new(query: &'q CompiledQuery, input: Input, output: Output, resume: Progress) -> Self {
        let distinct = query.stages.last().is_some_and(|select| select.distinct);
        let window = match output {
            Output::Complete => Window::new(query.offset, query.limit, resume),
            // The merge skips; a partition may have to give all of it.
            Output::Partial => {
                let reach = Window::new(query.offset, query.limit, resume).reach();
                Window::new(0, reach, Progress::default())
            }
        };
        let order = match &query.order {
            Order::None => OrderOf::None,
            Order::By(items) => OrderOf::By(items),
            Order::Fusion(components) => OrderOf::Fusion(components),
        };
        let keep = match (&order, window.reach()) {
            (OrderOf::None, _) => Keep::Nothing,
            (OrderOf::By(_), _) if input == Input::Ordered => Keep::Nothing,
            (OrderOf::By(_), None) if !distinct => Keep::All(Vec::new()),
            (OrderOf::By(_), reach) => {
                Keep::Best { rows: BTreeMap::new(), count: reach.unwrap_or(u64::MAX), by_distinct: HashMap::new() }
            }
            (OrderOf::Fusion(_), _) => Keep::All(Vec::new()),
        };
        // Fused ranks are relative to all rows: nothing may be cut before the merge has them.
        let window = if matches!((&order, output), (OrderOf::Fusion(_), Output::Partial)) {
            Window::new(0, None, Progress::default())
        } else {
            window
        };
        Self {
            order,
            distinct: (distinct && matches!(keep, Keep::Nothing)).then(DistinctRows::default),
            keep,
            window,
            ready: Vec::new(),
            bytes: 0,
            sequence: (0, 0),
            keyed: output == Output::Partial,
        }
    }

    /// For the first of several stages, whose rows a merge takes on.
    pub fn of_stage(query: &'q CompiledQuery) -> Self {
        let distinct = query.stages.first().is_some_and(|select| select.distinct);
        Self {
            order: OrderOf::None,
            keep: Keep::Nothing,
            distinct: distinct.then(DistinctRows::default),
            window: Window::new(0, None, Progress::default()),
            ready: Vec::new(),
            bytes: 0,
            sequence: (0, 0),
            keyed: true,
        }
    }

    pub fn is_full(&self) -> bool {
        // A window over kept rows is only filled at the end; no row at all is wanted when it is empty.
        match self.keep {
            Keep::Nothing => self.window.is_full(),
            Keep::All(_) | Keep::Best { .. } => self.window.reach() == Some(0) || self.window.limit == Some(0),
        }
    }

    pub fn bytes(&self) -> usize {
        self.bytes + self.distinct.as_ref().map_or(0, DistinctRows::bytes)
    }

    pub fn progress(&self) -> Progress {
        self.window.progress
    }

    pub fn take_ready(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.ready)
    }

    /// Takes the row in the frame.
    pub fn offer<'r>(&mut self, select: &'r Select, frame: &mut Frame<'r>) -> Evaluated<Flow>
    where
        'q: 'r,
    {
        if self.is_full() {
            return Ok(Flow::Enough);
        }
        let sort_key = self.sort_key(frame)?;
        let full_key = self.full_key(&sort_key, frame.rid());
        if self.is_hopeless(&full_key) {
            return Ok(Flow::More);
        }
        let scores = self.scores(frame)?;
        let Some(projected) = project(select, frame)? else { return Ok(Flow::More) };
        let row =
            Row { json: projected.json, sort_key, distinct_key: projected.distinct_key, scores, rid: frame.rid() };
        Ok(self.keep(full_key, row))
    }

    fn sort_key<'r>(&self, frame: &mut Frame<'r>) -> Evaluated<Vec<u8>>
    where
        'q: 'r,
    {
        let mut bytes = Vec::new();
        let OrderOf::By(items) = self.order else { return Ok(bytes) };
        if matches!(self.keep, Keep::Nothing) && !self.keyed {
            return Ok(bytes);
        }
        for item in items {
            let value = eval(&item.expr, frame)?;
            if item.undefined_last && !value.is_defined() {
                bytes.push(LAST);
                continue;
            }
            match item.direction {
                Direction::Ascending => key::append(&value, &mut bytes),
                Direction::Descending => key::append_descending(&value, &mut bytes),
            }
        }
        Ok(bytes)
    }

    /// The sort key with the tie breakers behind it.
    fn full_key(&mut self, sort_key: &[u8], rid: u64) -> Vec<u8> {
        if matches!(self.keep, Keep::Nothing) {
            return Vec::new();
        }
        self.sequence = if self.sequence.0 == rid { (rid, self.sequence.1 + 1) } else { (rid, 0) };
        let mut bytes = Vec::with_capacity(sort_key.len() + 12);
        bytes.extend_from_slice(sort_key);
        let tie = if self.descends() { !rid } else { rid };
        bytes.extend_from_slice(&tie.to_be_bytes());
        bytes.extend_from_slice(&self.sequence.1.to_be_bytes());
        bytes
    }

    fn descends(&self) -> bool {
        match self.order {
            OrderOf::By(items) => ties_descend(items),
            OrderOf::None | OrderOf::Fusion(_) => false,
        }
    }

    /// Whether the row would fall off the end anyway, so that it need not be projected.
    fn is_hopeless(&self, full_key: &[u8]) -> bool {
        match &self.keep {
            Keep::Best { rows, count, .. } if rows.len() as u64 >= *count => {
                rows.last_key_value().is_none_or(|(last, _)| full_key >= last.as_slice())
            }
            _ => false,
        }
    }

    fn scores<'r>(&self, frame: &mut Frame<'r>) -> Evaluated<Vec<Option<f64>>>
    where
        'q: 'r,
    {
        match self.order {
            OrderOf::Fusion(components) => {
                components.iter().map(|component| Ok(eval(&component.expr, frame)?.as_f64())).collect()
            }
            OrderOf::None | OrderOf::By(_) => Ok(Vec::new()),
        }
    }

    fn keep(&mut self, full_key: Vec<u8>, row: Row) -> Flow {
        match &mut self.keep {
            Keep::Nothing => {
                if let (Some(seen), Some(key)) = (&mut self.distinct, &row.distinct_key)
                    && !seen.insert_key(key.clone())
                {
                    return Flow::More;
                }
                if self.window.admit() {
                    self.ready.push(row);
                }
                if self.window.is_full() { Flow::Enough } else { Flow::More }
            }
            Keep::All(rows) => {
                self.bytes += row.held_bytes();
                rows.push((full_key, row));
                Flow::More
            }
            Keep::Best { rows, count, by_distinct } => {
                if let Some(distinct) = &row.distinct_key {
                    match by_distinct.get(distinct) {
                        Some(known) if *known <= full_key => return Flow::More,
                        Some(known) => self.bytes -= rows.remove(known).map_or(0, |row| row.held_bytes()),
                        None => {}
                    }
                    by_distinct.insert(distinct.clone(), full_key.clone());
                }
                self.bytes += row.held_bytes();
                rows.insert(full_key, row);
                if rows.len() as u64 > *count
                    && let Some((_, dropped)) = rows.pop_last()
                {
                    self.bytes -= dropped.held_bytes();
                    if let Some(distinct) = &dropped.distinct_key {
                        by_distinct.remove(distinct);
                    }
                }
                Flow::More
            }
        }
    }

    pub fn finish(mut self) -> Vec<Row> {
        let mut rows = std::mem::take(&mut self.ready);
        let kept: Vec<Row> = match self.keep {
            Keep::Nothing => return rows,
            Keep::All(mut kept) => {
                kept.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
                kept.into_iter().map(|(_, row)| row).collect()
            }
            Keep::Best { rows, .. } => rows.into_values().collect(),
        };
        let in_order = match self.order {
            OrderOf::Fusion(components) if !self.keyed => fuse(components, kept),
            _ => kept,
        };
        rows.extend(in_order.into_iter().filter(|_| self.window.admit()));
        rows
    }
}

/// Ties follow the direction of the first item.
pub fn ties_descend(items: &[OrderItem]) -> bool {
    items.first().is_some_and(|item| item.direction == Direction::Descending && !item.undefined_last)
}

/// Rows in the order of their fused ranks; with DISTINCT, the first of equal ones.
pub fn fuse(components: &[Component], rows: Vec<Row>) -> Vec<Row> {
    let fusion = Fusion::new(components.iter().map(|component| (component.direction, component.weight)));
    let ranked: Vec<Ranked> = fusion.rank(rows.iter().map(|row| row.scores.as_slice()));
    let mut places: Vec<Option<Row>> = rows.into_iter().map(Some).collect();
    let mut seen = DistinctRows::default();
    let in_order = ranked.into_iter().filter_map(|ranked| places[ranked.index].take());
    in_order.filter(|row| row.distinct_key.as_ref().is_none_or(|key| seen.insert_key(key.clone()))).collect()
}
