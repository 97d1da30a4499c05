//! Rows of each partition that wait their turn.

use super::Step;
use crate::execution::{Group, Row};
use std::cmp::{Ordering, Reverse};
use std::collections::VecDeque;

#[derive(Default)]
pub(super) struct Queue {
    pub rows: VecDeque<Row>,
    pub groups: Vec<Group>,
    /// No page follows.
    pub done: bool,
}

/// Partitions that may still send something.
pub(super) fn unfinished(queues: &[Queue]) -> Vec<usize> {
    queues.iter().enumerate().filter(|(_, queue)| !queue.done).map(|(index, _)| index).collect()
}

/// The next row of the first partition that has any left.
pub(super) fn in_turn(queues: &mut [Queue]) -> Step {
    for (index, queue) in queues.iter_mut().enumerate() {
        if let Some(row) = queue.rows.pop_front() {
            return Step::Row(row);
        }
        if !queue.done {
            return Step::Fetch(vec![index]);
        }
    }
    Step::Done
}

/// The smallest of the first rows; all unfinished partitions must have one.
pub(super) fn ordered(queues: &mut [Queue], ties_descend: bool) -> Step {
    let waiting = |queue: &Queue| queue.rows.is_empty() && !queue.done;
    let missing: Vec<usize> = (0..queues.len()).filter(|index| waiting(&queues[*index])).collect();
    if !missing.is_empty() {
        return Step::Fetch(missing);
    }
    let tie = |a: usize, b: usize| -> Ordering { if ties_descend { Reverse(a).cmp(&Reverse(b)) } else { a.cmp(&b) } };
    let heads = queues.iter().enumerate().filter_map(|(index, queue)| Some((index, queue.rows.front()?)));
    let first = heads.min_by(|(a, row), (b, other)| row.sort_key.cmp(&other.sort_key).then_with(|| tie(*a, *b)));
    let Some(index) = first.map(|(index, _)| index) else { return Step::Done };
    queues[index].rows.pop_front().map_or(Step::Done, Step::Row)
}
