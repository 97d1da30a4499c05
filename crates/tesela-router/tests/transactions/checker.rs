//! Looks for anomalies in a history of transactions on lists: appends and reads of whole lists.
//!
//! A list shows its own history: each appended value is unique, so a read tells the order of all writes before it. From
//! the reads follow dependencies between transactions: *ww*, one appended right before the other; *wr*, one read what
//! the other had appended last; *rw*, one read the list without what the other appended next; and *rt*, one had ended
//! before the other began. A cycle of them means that no order of the transactions explains what was seen:
//!
//! | cycle of | anomaly |
//! |---|---|
//! | ww | G0, writes interleaved |
//! | ww, wr | G1c, circular information flow |
//! | one rw among them | read skew (lost updates have this shape, too) |
//! | several rw | write skew |
//! | with rt | a stale read: serializable, but not in real time |
//!
//! Without any graph: a value of an aborted transaction that was read (G1a), a list read in the middle of a transaction's
//! appends (G1b), a transaction that does not see its own appends, a value twice in a list, an acknowledged append that
//! is missing at the end.
//!
//! The method is that of Kingsbury and Alvaro's Elle, for the one data type that makes it exact.

use std::collections::{BTreeMap, HashMap, HashSet};

pub type Key = u32;
pub type Value = u64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    Append(Key, Value),
    Read(Key, Vec<Value>),
}

#[derive(Clone, Debug)]
pub struct Transaction {
    /// Moments of one global counter.
    pub began: u64,
    pub ended: u64,
    pub committed: bool,
    pub ops: Vec<Op>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Anomaly {
    InterleavedWrites,
    AbortedRead,
    IntermediateRead,
    CircularFlow,
    ReadSkew,
    WriteSkew,
    StaleRead,
    OwnWriteMissed,
    Duplicate,
    LostAppend,
    /// Two reads of which neither is the beginning of the other.
    IncompatibleOrders,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Edge {
    WriteWrite,
    WriteRead,
    RealTime,
    ReadWrite,
}

/// Every kind of anomaly found, with an example each. The history ends with reads of every list by transactions that
/// began after all others.
pub fn anomalies(history: &[Transaction]) -> BTreeMap<Anomaly, String> {
    let mut checker = Checker { history, writers: HashMap::new(), orders: HashMap::new(), found: BTreeMap::new() };
    checker.index_writers();
    checker.check_reads();
    checker.order_versions();
    checker.check_final();
    checker.check_cycles();
    checker.found
}

struct Checker<'h> {
    history: &'h [Transaction],
    writers: HashMap<(Key, Value), usize>,
    /// The longest list read of each key: the order of its appends.
    orders: HashMap<Key, &'h [Value]>,
    found: BTreeMap<Anomaly, String>,
}

impl<'h> Checker<'h> {
    fn report(&mut self, anomaly: Anomaly, example: String) {
        self.found.entry(anomaly).or_insert(example);
    }

    fn index_writers(&mut self) {
        for (index, transaction) in self.history.iter().enumerate() {
            for op in &transaction.ops {
                if let Op::Append(key, value) = op {
                    let before = self.writers.insert((*key, *value), index);
                    assert!(before.is_none(), "appended values must be unique");
                }
            }
        }
    }

    fn committed(&self) -> impl Iterator<Item = (usize, &'h Transaction)> + use<'h> {
        self.history.iter().enumerate().filter(|(_, transaction)| transaction.committed)
    }

    fn check_reads(&mut self) {
        for (index, transaction) in self.committed() {
            // What the transaction must see of each key after its own operations so far.
            let mut own: HashMap<Key, (Option<&[Value]>, Vec<Value>)> = HashMap::new();
            for op in &transaction.ops {
                match op {
                    Op::Append(key, value) => own.entry(*key).or_default().1.push(*value),
                    Op::Read(key, values) => {
                        let (seen, appended) = own.entry(*key).or_default();
                        let explained = match seen {
                            Some(seen) => values.starts_with(seen) && values[seen.len()..] == appended[..],
                            None => values.ends_with(appended),
                        };
                        if !explained {
                            self.report(Anomaly::OwnWriteMissed, format!("{transaction:?} at key {key}"));
                        }
                        *seen = Some(values);
                        appended.clear();
                        self.check_values(index, *key, values);
                    }
                }
            }
        }
    }

    fn check_values(&mut self, reader: usize, key: Key, values: &[Value]) {
        let mut seen = HashSet::new();
        for value in values {
            if !seen.insert(value) {
                self.report(Anomaly::Duplicate, format!("{value} twice under {key}"));
            }
            match self.writers.get(&(key, *value)) {
                Some(writer) if !self.history[*writer].committed && *writer != reader => {
                    let writer = &self.history[*writer];
                    self.report(Anomaly::AbortedRead, format!("{value} under {key}, of {writer:?}"));
                }
                Some(_) => {}
                None => self.report(Anomaly::AbortedRead, format!("{value} under {key}, which nobody wrote")),
            }
        }
        let Some(last) = values.last() else { return };
        let Some(&writer) = self.writers.get(&(key, *last)) else { return };
        let final_append = self.history[writer].ops.iter().rev().find_map(|op| match op {
            Op::Append(other, value) if *other == key => Some(*value),
            _ => None,
        });
        if writer != reader && final_append != Some(*last) {
            self.report(Anomaly::IntermediateRead, format!("a list under {key} that ends with {last}"));
        }
    }

    fn order_versions(&mut self) {
        let mut incompatible = None;
        for (_, transaction) in self.committed() {
            for op in &transaction.ops {
                let Op::Read(key, values) = op else { continue };
                let longest = self.orders.entry(*key).or_insert(values);
                let (short, long) = if values.len() > longest.len() {
                    (*longest, values.as_slice())
                } else {
                    (values.as_slice(), *longest)
                };
                if !long.starts_with(short) {
                    incompatible = Some(format!("under {key}: {short:?} and {long:?}"));
                }
                *longest = long;
            }
        }
        if let Some(example) = incompatible {
            self.report(Anomaly::IncompatibleOrders, example);
        }
    }

    fn check_final(&mut self) {
        let known: HashSet<(Key, Value)> =
            self.orders.iter().flat_map(|(key, values)| values.iter().map(|value| (*key, *value))).collect();
        for (_, transaction) in self.committed() {
            for op in &transaction.ops {
                if let Op::Append(key, value) = op
                    && !known.contains(&(*key, *value))
                {
                    self.report(Anomaly::LostAppend, format!("{value} under {key}, of {transaction:?}"));
                }
            }
        }
    }

    fn check_cycles(&mut self) {
        let mut edges = self.dependencies();
        let cycle = |edges: &Graph, allowed: &[Edge]| has_cycle(edges, |edge| allowed.contains(&edge));
        use Edge::{ReadWrite, RealTime, WriteRead, WriteWrite};
        if let Some(example) = cycle(&edges, &[WriteWrite]) {
            self.report(Anomaly::InterleavedWrites, self.describe(&example));
        } else if let Some(example) = cycle(&edges, &[WriteWrite, WriteRead]) {
            self.report(Anomaly::CircularFlow, self.describe(&example));
        } else if let Some(example) = cycle(&edges, &[WriteWrite, WriteRead, ReadWrite]) {
            let skew = self.skew(&edges, &example);
            self.report(skew, self.describe(&example));
        } else {
            self.add_real_time(&mut edges);
            if let Some(example) = cycle(&edges, &[WriteWrite, WriteRead, ReadWrite, RealTime]) {
                self.report(Anomaly::StaleRead, self.describe(&example));
            }
        }
    }

    fn dependencies(&self) -> Graph {
        let mut graph: Graph = vec![Vec::new(); self.history.len()];
        let mut connect = |from: usize, to: usize, edge: Edge| {
            if from != to {
                graph[from].push((to, edge));
            }
        };
        let mut positions: HashMap<(Key, Value), usize> = HashMap::new();
        for (key, values) in &self.orders {
            for (position, value) in values.iter().enumerate() {
                positions.insert((*key, *value), position);
            }
            for pair in values.windows(2) {
                if let (Some(first), Some(second)) =
                    (self.writers.get(&(*key, pair[0])), self.writers.get(&(*key, pair[1])))
                {
                    connect(*first, *second, Edge::WriteWrite);
                }
            }
        }
        for (reader, transaction) in self.committed() {
            for op in &transaction.ops {
                let Op::Read(key, values) = op else { continue };
                if let Some(writer) = values.last().and_then(|last| self.writers.get(&(*key, *last))) {
                    connect(*writer, reader, Edge::WriteRead);
                }
                let next = values.last().map_or(Some(0), |last| positions.get(&(*key, *last)).map(|at| at + 1));
                let next = next.and_then(|next| self.orders.get(key)?.get(next));
                if let Some(writer) = next.and_then(|value| self.writers.get(&(*key, *value))) {
                    connect(reader, *writer, Edge::ReadWrite);
                }
            }
        }
        graph
    }

    /// Who ended before whom: only the latest that ended matter, the others precede those.
    fn add_real_time(&self, graph: &mut Graph) {
        let mut moments: Vec<(u64, bool, usize)> = Vec::new();
        for (index, transaction) in self.committed() {
            moments.push((transaction.began, true, index));
            moments.push((transaction.ended, false, index));
        }
        moments.sort_unstable();
        let mut latest: Vec<usize> = Vec::new();
        for (_, begins, index) in moments {
            if begins {
                latest.iter().for_each(|before| graph[*before].push((index, Edge::RealTime)));
            } else {
                let began = self.history[index].began;
                latest.retain(|before| self.history[*before].ended > began);
                latest.push(index);
            }
        }
    }

    /// Read skew takes one rw edge, write skew at least two in a row of dependencies.
    fn skew(&self, edges: &Graph, members: &[usize]) -> Anomaly {
        let inside: HashSet<usize> = members.iter().copied().collect();
        let single = members.iter().any(|from| {
            let successors = edges[*from].iter().filter(|(to, edge)| *edge == Edge::ReadWrite && inside.contains(to));
            successors.into_iter().any(|(to, _)| reaches(edges, *to, *from))
        });
        if single { Anomaly::ReadSkew } else { Anomaly::WriteSkew }
    }

    fn describe(&self, members: &[usize]) -> String {
        let some: Vec<_> = members.iter().take(4).map(|index| &self.history[*index]).collect();
        format!("{} transactions, among them {some:#?}", members.len())
    }
}

type Graph = Vec<Vec<(usize, Edge)>>;

/// Whether one can get there without any further rw edge.
fn reaches(graph: &Graph, from: usize, to: usize) -> bool {
    let (mut waiting, mut seen) = (vec![from], HashSet::from([from]));
    while let Some(node) = waiting.pop() {
        if node == to {
            return true;
        }
        for (next, edge) in &graph[node] {
            if matches!(edge, Edge::WriteWrite | Edge::WriteRead) && seen.insert(*next) {
                waiting.push(*next);
            }
        }
    }
    false
}

/// The members of a strongly connected component with more than one, by Tarjan's algorithm without recursion.
fn has_cycle(graph: &Graph, allowed: impl Fn(Edge) -> bool) -> Option<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut number = vec![UNSEEN; graph.len()];
    let mut low = vec![UNSEEN; graph.len()];
    let mut on_stack = vec![false; graph.len()];
    let (mut stack, mut count) = (Vec::new(), 0);
    for root in 0..graph.len() {
        if number[root] != UNSEEN {
            continue;
        }
        let mut work = vec![(root, 0_usize)];
        while let Some((node, next)) = work.pop() {
            if next == 0 {
                number[node] = count;
                low[node] = count;
                count += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            if let Some((to, edge)) = graph[node].get(next) {
                work.push((node, next + 1));
                if allowed(*edge) {
                    if number[*to] == UNSEEN {
                        work.push((*to, 0));
                    } else if on_stack[*to] {
                        low[node] = low[node].min(number[*to]);
                    }
                }
                continue;
            }
            if low[node] == number[node] {
                let start = stack.iter().rposition(|member| *member == node).expect("it was put there");
                let members = stack.split_off(start);
                members.iter().for_each(|member| on_stack[*member] = false);
                if members.len() > 1 {
                    return Some(members);
                }
            }
            if let Some((parent, _)) = work.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
        }
    }
    None
}

/// The checker finds what is planted.
mod tests {
    use super::*;

    /// Transactions in the order they are written, none overlapping, unless `concurrent`.
    fn history(transactions: &[(bool, &[Op])], concurrent: bool) -> Vec<Transaction> {
        let spans = (0_u64..).map(|index| if concurrent { (0, 1000) } else { (2 * index, 2 * index + 1) });
        let transactions = transactions.iter().zip(spans);
        transactions
            .map(|((committed, ops), (began, ended))| Transaction {
                began,
                ended,
                committed: *committed,
                ops: ops.to_vec(),
            })
            .collect()
    }

    fn found(transactions: &[(bool, &[Op])]) -> Vec<Anomaly> {
        anomalies(&history(transactions, true)).into_keys().collect()
    }

    fn append(key: Key, value: Value) -> Op {
        Op::Append(key, value)
    }

    fn read(key: Key, values: &[Value]) -> Op {
        Op::Read(key, values.to_vec())
    }

    #[test]
    fn a_serial_history_has_none() {
        let transactions: &[(bool, &[Op])] = &[
            (true, &[append(1, 1), read(1, &[1]), append(2, 2)]),
            (false, &[append(1, 9)]),
            (true, &[read(1, &[1]), append(1, 3), append(1, 4), read(1, &[1, 3, 4])]),
            (true, &[read(1, &[1, 3, 4]), read(2, &[2])]),
        ];
        assert_eq!(anomalies(&history(transactions, false)), BTreeMap::new());
    }

    #[test]
    fn planted_anomalies_are_found() {
        use Anomaly as A;
        let ends: &[Op] = &[read(1, &[1, 2]), read(2, &[4, 3])];
        // Two transactions, each first on one key and second on the other.
        assert_eq!(
            found(&[(true, &[append(1, 1), append(2, 3)]), (true, &[append(1, 2), append(2, 4)]), (true, ends)]),
            [A::InterleavedWrites]
        );
        assert_eq!(found(&[(false, &[append(1, 1)]), (true, &[read(1, &[1])])]), [A::AbortedRead]);
        assert_eq!(
            found(&[(true, &[append(1, 1), append(1, 2)]), (true, &[read(1, &[1])]), (true, &[read(1, &[1, 2])])]),
            [A::IntermediateRead, A::ReadSkew]
        );
        // Each read what the other wrote.
        assert_eq!(
            found(&[(true, &[append(1, 1), read(2, &[2])]), (true, &[append(2, 2), read(1, &[1])])]),
            [A::CircularFlow]
        );
        // Both read the same list and appended to it.
        assert_eq!(
            found(&[
                (true, &[read(1, &[]), append(1, 1)]),
                (true, &[read(1, &[]), append(1, 2)]),
                (true, &[read(1, &[1, 2])])
            ]),
            [A::ReadSkew]
        );
        // … and one of them overwrote the other's.
        assert_eq!(
            found(&[(true, &[append(1, 1)]), (true, &[append(1, 2)]), (true, &[read(1, &[2])])]),
            [A::LostAppend]
        );
        // Old and new of one transaction.
        assert_eq!(
            found(&[
                (true, &[append(1, 1), append(2, 2)]),
                (true, &[read(1, &[]), read(2, &[2])]),
                (true, &[read(1, &[1])])
            ]),
            [A::ReadSkew]
        );
        // Each read what the other was about to change.
        assert_eq!(
            found(&[
                (true, &[read(1, &[]), append(2, 2)]),
                (true, &[read(2, &[]), append(1, 1)]),
                (true, &[read(1, &[1]), read(2, &[2])])
            ]),
            [A::WriteSkew]
        );
        assert_eq!(found(&[(true, &[append(1, 1), read(1, &[])]), (true, &[read(1, &[1])])]), [A::OwnWriteMissed]);
        assert_eq!(found(&[(true, &[append(1, 1)]), (true, &[read(1, &[1, 1])])]), [A::Duplicate]);
        assert!(
            found(&[
                (true, &[append(1, 1)]),
                (true, &[append(1, 2)]),
                (true, &[read(1, &[1])]),
                (true, &[read(1, &[2])])
            ])
            .contains(&A::IncompatibleOrders)
        );
    }

    #[test]
    fn a_read_that_is_late_is_stale_in_real_time_only() {
        let transactions: &[(bool, &[Op])] =
            &[(true, &[append(1, 1)]), (true, &[read(1, &[])]), (true, &[read(1, &[1])])];
        assert_eq!(anomalies(&history(transactions, true)), BTreeMap::new());
        let late: Vec<_> = anomalies(&history(transactions, false)).into_keys().collect();
        assert_eq!(late, [Anomaly::StaleRead]);
    }
}
