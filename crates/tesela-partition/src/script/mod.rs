//! Transactions of scripts: stored procedures and triggers over one logical partition (R16, R17).
//!
//! A script may take seconds, so it does not run inside the writer. It runs on a thread of its own over one snapshot:
//!
//! ```text
//! begin ──> snapshot, LSN of the logical partition ──> script: reads, writes ──> Work ──> writer: unchanged? ──> commit
//!                         own writes on top of it <─┘                                 └─> Contended: run it again
//! ```
//!
//! * **One moment.** Everything the script reads is the snapshot with its own writes on top. Each of its writes is a
//!   transaction over those before it ([`Txn`]), so one that is refused leaves nothing.
//! * **Nothing shared.** The writer does not know of the script until the end. Then it is handed the list of writes,
//!   checks that the logical partition has the LSN the script has seen, and repeats the writes under one LSN of its own.
//!   Since the logical partition is the same, they do the same; since nothing else of it was committed in between, the
//!   script is serializable with everything on its key, not only isolated by a snapshot.
//! * **What the script has seen is what is committed.** `_rid` and `_etag` come from numbers drawn when the script wrote
//!   ([`Numbers`](crate::numbers::Numbers)), `_ts` is the second in which it began; the writer uses the same.
//!
//! Worked example: a procedure reads `{"n": 1}` at LSN 7 of its key and replaces it by `{"n": 2}`. Meanwhile a client
//! replaces it by `{"n": 5}`, LSN 8. The writer finds 8 where the script saw 7: [`WriteError::Contended`]. Run again, the
//! procedure reads 5 and writes 6.
//!
//! A script that only read commits nothing and is as of its snapshot.

mod collection;
mod layered;
mod query;
mod refusal;

pub use layered::Layered;
pub use refusal::OTHER_KEY;

use crate::charge;
use crate::container::Container;
use crate::error::{ReadError, WriteError};
use crate::item::LogicalKey;
use crate::layout::{Counters, DocumentRecord, Key, LogicalRecord};
use crate::partition::Partition;
use crate::read::View;
use crate::txn::{Overlay, Txn};
use crate::write::{self, WriteRequest, Written};
use crate::writer::{Transaction, WriteStep, Writer};
use std::sync::Arc;
use tesela_env::Env;
use tesela_model::json::Value;
use tesela_model::limits::{SCRIPT_WRITES_MAX, SCRIPT_WRITTEN_BYTES_MAX};
use tesela_query::{CompiledQuery, QueryError, UserFunctions};
use tesela_store::{Snapshot, Store, block_on};

/// Binds the queries of a script to its container: what names and functions mean is known above the partition.
pub trait BindQuery: Send + Sync {
    fn bind(&self, text: &str, parameters: &[(String, Value)]) -> Result<BoundQuery, QueryError>;
}

/// A query ready to run.
pub struct BoundQuery {
    pub query: CompiledQuery,
    pub functions: Box<dyn UserFunctions>,
}

/// Reads and writes of one script. Made on the thread the script runs on, which it may block.
pub struct ScriptTransaction<S: Store> {
    writer: Arc<Writer<S>>,
    env: Env,
    container: Arc<Container>,
    key: LogicalKey,
    /// The moment of its beginning.
    moment: View<S::Snapshot>,
    /// `dbs/{id}/colls/{id}`.
    alt_link: String,
    queries: Arc<dyn BindQuery>,
    /// The LSNs of the partition and of the logical partition in the snapshot.
    lsn: u64,
    seen: u64,
    counters: Counters,
    changes: Arc<Overlay>,
    steps: Vec<WriteStep>,
    written_bytes: usize,
    charge_ru: f64,
}

/// What a script leaves behind.
pub struct Work {
    transaction: Transaction,
    /// The partition's LSN in the snapshot.
    lsn: u64,
    /// RU of its operations, refused ones included.
    pub charge_ru: f64,
}

impl<S: Store> Partition<S> {
    /// Begins a transaction for a script. Blocks for as long as the store takes to read two rows.
    pub fn begin_script(
        &self,
        key: LogicalKey,
        alt_link: &str,
        queries: Arc<dyn BindQuery>,
    ) -> Result<ScriptTransaction<S>, ReadError> {
        let moment = self.view();
        let counters = block_on(moment.snapshot.get(moment.space, &Key::counters()))?;
        let counters = counters.map(|bytes| Counters::decode(&bytes)).transpose()?.unwrap_or_default();
        let logical = block_on(moment.snapshot.get(moment.space, &Key::logical(&key.epk)))?;
        let logical = logical.map(|bytes| LogicalRecord::decode(&bytes)).transpose()?.unwrap_or_default();
        Ok(ScriptTransaction {
            writer: self.writer().clone(),
            env: self.env().clone(),
            container: self.container(),
            key,
            moment,
            alt_link: alt_link.to_owned(),
            queries,
            lsn: counters.lsn,
            seen: logical.lsn,
            counters,
            changes: Arc::default(),
            steps: Vec::new(),
            written_bytes: 0,
            charge_ru: 0.0,
        })
    }

    /// Commits what a script did, all or nothing, under one LSN: the answer. [`WriteError::Contended`] when somebody
    /// else has written to the logical partition since the script began.
    pub async fn commit_script(&self, work: Work) -> Result<u64, WriteError> {
        if work.transaction.steps.is_empty() {
            return Ok(work.lsn);
        }
        let committed = self.writer().run(work.transaction).await.map_err(|failed| failed.error)?;
        Ok(committed.lsn)
    }
}

impl<S: Store> ScriptTransaction<S> {
    pub fn key(&self) -> &LogicalKey {
        &self.key
    }

    pub fn container(&self) -> &Container {
        &self.container
    }

    pub fn charge_ru(&self) -> f64 {
        self.charge_ru
    }

    /// One write, seen by whatever the script does next. A write that is refused changes nothing.
    pub fn write(&mut self, request: WriteRequest) -> Result<Written, WriteError> {
        let number = self.writer.numbers().draw();
        let scope = self.writer.scope(&self.moment.snapshot, &self.container, self.moment.now);
        let mut txn = Txn::new(&scope, self.key.clone(), &self.changes, self.counters);
        txn.reserved = Some(number);
        let written = match block_on(write::apply(&mut txn, &request)) {
            Ok(written) => written,
            Err(error) => {
                self.charge_ru += write::refusal_charge(&request);
                return Err(error);
            }
        };
        if let Some(effects) = txn.finish() {
            Arc::make_mut(&mut self.changes).absorb(effects.changes);
            self.counters = effects.counters;
        }
        self.charge_ru += written.charge_ru;
        self.written_bytes += written.record.bytes as usize;
        self.steps.push(WriteStep::Reserved { request, number });
        Ok(written)
    }

    /// The item of that id, as the script sees it.
    pub fn find(&mut self, id: &str) -> Result<Option<DocumentRecord>, ReadError> {
        let found = block_on(self.view().item(&self.key, id))?.map(|(_, record)| record);
        self.charge_ru += found.as_ref().map_or(charge::LOOKUP_RU, |record| charge::read(record.bytes as usize, false));
        Ok(found)
    }

    /// What the script reads: the snapshot and its own writes.
    fn view(&self) -> View<Layered<S::Snapshot>> {
        self.moment.over(Layered { below: self.moment.snapshot.clone(), changes: self.changes.clone() })
    }

    /// False when the writer would be held up too long by what there is to commit.
    fn has_room(&self) -> bool {
        self.steps.len() < SCRIPT_WRITES_MAX && self.written_bytes < SCRIPT_WRITTEN_BYTES_MAX
    }

    /// Ends the script's part; see [`Partition::commit_script`].
    pub fn finish(self) -> Work {
        let Self { key, steps, seen, moment, .. } = self;
        let transaction = Transaction { key, steps, unchanged_since: Some(seen), now: Some(moment.now) };
        Work { transaction, lsn: self.lsn, charge_ru: self.charge_ru }
    }
}
