//! The documents a query must look at, in the order it asks for.
//!
//! They come straight from an [`OrderIndex`], with those that have no value before or behind its rows, until the page is
//! full. With a filter that lets few documents through, most of them would be loaded in vain; it may be better to take
//! the few and put them in order. Nobody knows beforehand, so what the filter leaves is gathered beside the scan
//! ([`Collector`]) in alternate steps. Once it is known, it is either sorted or, when it is still much, used to skip
//! rows of other documents.
//!
//! However the documents are found, they come in one order, and a [`Place`] in it says where a page ended: the next
//! page may find its documents another way.

use super::PageError;
use super::collector::{Collected, Collector};
use super::documents::open_with_kept_out;
use super::lookup::Lookup;
use super::open::{FEW, Opened};
use super::order_index::OrderIndex;
use super::place::Place;
use super::reader::{Numbered, Reader};
use super::sized;
use super::source::Source;
use crate::error::ReadError;
use crate::index::Absent;
use crate::index::value_code::UNDEFINED;
use crate::layout::{DocumentRecord, Key};
use crate::read::FeedScope;
use bytes::Bytes;
use std::collections::VecDeque;
use tesela_model::rid::DocumentOrdinal;
use tesela_query::QueryError;
use tesela_query::limits::BUFFERED_BYTES_MAX;
use tesela_store::{Direction, KeyRange, Snapshot};

const CHUNK_MIN: usize = sized(8, 1);
const CHUNK_MAX: usize = sized(256, 5);
/// Index rows gathered against each chunk of documents while the two race.
const RACE_ROWS: usize = sized(1024, 4);
/// What a load of a document costs in rows of an index, about.
const LOAD_ROWS: u64 = 10;

/// A document in its place.
pub(super) struct Candidate {
    pub ordinal: u64,
    pub record: DocumentRecord,
    pub place: Place,
}

/// What an ordered look at documents is about.
pub(super) struct Ordering<'a> {
    pub order: &'a OrderIndex,
    pub scope: &'a FeedScope,
    pub lookup: &'a Lookup,
    /// Who may lack the path of the order; asked after the view was taken.
    pub absent: Option<Absent>,
    pub place: Option<Place>,
    /// Rows that fill the page.
    pub wanted: u64,
}

/// See the module.
pub(super) struct Ordered<'a, S: Snapshot> {
    pub reader: Reader<'a, S>,
    order: &'a OrderIndex,
    scope: &'a FeedScope,
    /// What is left, in order.
    sections: VecDeque<Section>,
    place: Option<Place>,
    /// The only documents that can pass the filter.
    members: Option<Vec<u64>>,
    contenders: Vec<Collector>,
    all: u64,
    wanted: u64,
    chunk: usize,
    /// Length of a row's key before its code.
    code_at: usize,
}

/// A part of the order.
enum Section {
    /// Rows of the index.
    Rows(KeyRange),
    /// Documents already in order.
    Placed(VecDeque<Place>),
    /// Documents that may have no value, ascending or descending.
    Listed(VecDeque<u64>),
    /// Any document may have no value: documents, or members of the logical partition.
    Everyone(KeyRange),
}

impl<'a, S: Snapshot> Ordered<'a, S> {
    pub async fn open(mut reader: Reader<'a, S>, about: Ordering<'a>) -> Result<Self, PageError> {
        let all = reader.counters().await?.documents;
        let kept_out = reader.kept_out().await?;
        let code_at = about.order.key(&[]).len();
        let mut ordered = Self {
            reader,
            order: about.order,
            scope: about.scope,
            sections: VecDeque::new(),
            place: about.place,
            members: None,
            contenders: Vec::new(),
            all,
            wanted: about.wanted,
            chunk: usize::try_from(about.wanted).unwrap_or(CHUNK_MAX).clamp(CHUNK_MIN, CHUNK_MAX),
            code_at,
        };
        ordered.complete_place().await?;
        if kept_out.is_none_or(|documents| !documents.is_empty()) {
            // The index does not know all documents: put every one in order.
            let everyone = ordered.everyone().await?;
            ordered.sort(everyone).await?;
            return Ok(ordered);
        }
        ordered.lay_out(about.absent);
        ordered.narrow_down(about.lookup).await?;
        Ok(ordered)
    }

    /// A place that did not fit its token is completed from its document, if that is still there. Otherwise the page
    /// begins where the place certainly is not passed.
    async fn complete_place(&mut self) -> Result<(), ReadError> {
        let Some(place) = self.place.as_ref().filter(|place| place.is_cut()) else { return Ok(()) };
        let found = self.reader.view.document(DocumentOrdinal(place.ordinal)).await?;
        let whole = found
            .map(|record| Place::of(self.order, self.order.code_of(record.document.root()), place.ordinal, &record));
        match whole.filter(|whole| place.is_cut_from(whole)) {
            Some(whole) => self.place = Some(whole),
            None if self.order.direction() == Direction::Backward => {
                let mut above = place.clone();
                above.code.extend([u8::MAX; 9]);
                self.place = Some(above);
            }
            None => {}
        }
        Ok(())
    }

    /// The sections behind the place.
    fn lay_out(&mut self, absent: Option<Absent>) {
        let forward = self.order.direction() == Direction::Forward;
        let place = self.place.clone();
        let at_undefined =
            self.order.absentees().is_some() && place.as_ref().is_some_and(|place| place.code == [UNDEFINED]);
        let undefined_wanted = absent.is_some() && (at_undefined || place.is_none() || !forward);
        let rows_wanted = !at_undefined || forward;
        if let (Some(absent), true) = (absent, undefined_wanted) {
            let behind = place.filter(|_| at_undefined).map(|place| place.ordinal);
            self.sections.push_back(match absent {
                Absent::Among(list) => Section::Listed(in_direction(&list, self.order.direction(), behind)),
                Absent::Many => Section::Everyone(self.everyone_behind(behind)),
            });
        }
        if rows_wanted {
            let place = self.place.as_ref().filter(|_| !at_undefined);
            let rows = self.order.ranges().into_iter().map(|range| self.behind(range, place));
            let rows: Vec<Section> = rows.filter(|range| !range.is_empty()).map(Section::Rows).collect();
            if forward {
                self.sections.extend(rows);
            } else {
                rows.into_iter().rev().for_each(|range| self.sections.push_front(range));
            }
        }
    }

    fn everyone_behind(&self, behind: Option<u64>) -> KeyRange {
        let (range, key) = match self.scope {
            FeedScope::Logical(epk) => {
                (Key::members(epk, None), behind.map(|ordinal| Key::member(epk, DocumentOrdinal(ordinal))))
            }
            FeedScope::All | FeedScope::Range(_) => {
                (Key::documents(), behind.map(|ordinal| Key::document(DocumentOrdinal(ordinal))))
            }
        };
        key.map_or(range.clone(), |key| range.after(&key, self.order.direction()))
    }

    /// What of a range of rows lies behind a place. A run is read again from its beginning.
    fn behind(&self, range: KeyRange, place: Option<&Place>) -> KeyRange {
        let Some(place) = place else { return range };
        let code = self.order.key(&place.code);
        if place.key.is_empty() {
            let row = [&code[..], &self.order.tie(place.ordinal).to_be_bytes()].concat();
            return range.after(&row, self.order.direction());
        }
        match self.order.direction() {
            Direction::Forward => KeyRange { start: range.start.max(code.into()), end: range.end },
            Direction::Backward => {
                let end = [range.end, KeyRange::prefix(&code).end].into_iter().flatten().min();
                KeyRange { start: range.start, end }
            }
        }
    }

    /// Finds out what the filter and the scope leave, as far as that costs little; the rest competes with the scan.
    async fn narrow_down(&mut self, lookup: &Lookup) -> Result<(), PageError> {
        let mut opened = if lookup.conjuncts().is_empty() {
            Opened::default()
        } else {
            open_with_kept_out(lookup, &mut self.reader).await?
        };
        if let FeedScope::Logical(epk) = self.scope {
            let members = self.reader.logical(epk).await?.documents;
            if members < self.all {
                let source = Source::postings(Key::members(epk, None).start);
                if self.is_worth_sorting(members) {
                    let members = self.drain(Collector::of_source(source)).await?;
                    return self.sort(members).await;
                }
                opened.wide.push(Collector::of_source(source));
            }
        }
        if let FeedScope::Range(range) = self.scope {
            opened.wide.push(Collector::new(vec![Key::members_between(range.min(), range.max())], Vec::new()));
        }
        for source in opened.narrow {
            match source.known_len() {
                Some(len) if self.is_worth_sorting(len as u64) => {
                    let few = self.drain(Collector::of_source(source)).await?;
                    return self.sort(few).await;
                }
                _ => opened.wide.push(Collector::of_source(source)),
            }
        }
        self.contenders = opened.wide;
        Ok(())
    }

    /// Whether loading so many documents to sort them costs less than finding as many as are wanted among all.
    ///
    /// One document in all / n is among the n, so the scan passes wanted * all / n rows; sorting loads n documents.
    fn is_worth_sorting(&self, n: u64) -> bool {
        let scan = u128::from(self.wanted.min(self.all)) * u128::from(self.all);
        n <= FEW as u64 || u128::from(n) * u128::from(n) * u128::from(LOAD_ROWS) <= scan
    }

    async fn drain(&mut self, mut collector: Collector) -> Result<Vec<u64>, ReadError> {
        while collector.step(&mut self.reader, RACE_ROWS, usize::MAX).await? == Collected::More {}
        Ok(collector.into_ordinals())
    }

    async fn everyone(&mut self) -> Result<Vec<u64>, ReadError> {
        let range = match self.scope {
            FeedScope::Logical(epk) => Key::members(epk, None),
            FeedScope::All => Key::all_members(),
            FeedScope::Range(range) => Key::members_between(range.min(), range.max()),
        };
        self.drain(Collector::new(vec![range], Vec::new())).await
    }

    /// Puts documents in order; what is left comes from these alone.
    async fn sort(&mut self, ordinals: Vec<u64>) -> Result<(), PageError> {
        let mut places = Vec::with_capacity(ordinals.len());
        let mut bytes = 0;
        for chunk in ordinals.chunks(CHUNK_MAX) {
            for (ordinal, record) in self.reader.documents(chunk).await? {
                if !self.scope.contains(&record.epk) {
                    continue;
                }
                let place = Place::of(self.order, self.order.code_of(record.document.root()), ordinal, &record);
                if self.place.as_ref().is_none_or(|from| place.compare(from, self.order).is_gt()) {
                    bytes += size_of::<Place>() + place.code.len() + place.key.len();
                    places.push(place);
                }
            }
            check_bytes(bytes)?;
            tokio::task::yield_now().await;
        }
        places.sort_unstable_by(|a, b| a.compare(b, self.order));
        self.sections = VecDeque::from([Section::Placed(places.into())]);
        self.contenders.clear();
        Ok(())
    }

    /// The next documents in order; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<Candidate>>, PageError> {
        let chunk = self.chunk;
        self.chunk = (2 * self.chunk).min(CHUNK_MAX);
        while let Some(section) = self.sections.pop_front() {
            let candidates = match section {
                Section::Rows(range) => self.rows(range, chunk).await?,
                Section::Placed(places) => self.placed(places, chunk).await?,
                Section::Listed(list) => self.listed(list, chunk).await?,
                Section::Everyone(range) => self.look_at_everyone(range).await?,
            };
            if let Some(last) = candidates.last() {
                self.place = Some(last.place.clone());
                return Ok(Some(candidates));
            }
            tokio::task::yield_now().await;
        }
        Ok(None)
    }

    async fn rows(&mut self, range: KeyRange, chunk: usize) -> Result<Vec<Candidate>, PageError> {
        // Rows of documents that cannot pass cost no load, so more of them are read at a time.
        let most = if self.members.is_some() { RACE_ROWS } else { chunk };
        let direction = self.order.direction();
        let (keys, rest) = self.reader.keys(range.clone(), direction, most).await?;
        let run = |key: &Bytes| self.order.run(self.code(key)).map(|length| self.code_at + length);
        let found = keys.iter().enumerate().find_map(|(at, key)| run(key).map(|length| (at, key.slice(..length))));
        let plain = match &found {
            Some((0, run)) => {
                let run = run.clone();
                return self.run(range, &run).await;
            }
            Some((at, _)) => {
                // Up to the row before the run; the run begins the next section.
                self.sections.push_front(Section::Rows(range.after(&keys[at - 1], direction)));
                &keys[..*at]
            }
            None => {
                if let Some(rest) = rest {
                    self.sections.push_front(Section::Rows(rest));
                }
                &keys[..]
            }
        };
        let mut wanted = Vec::with_capacity(plain.len());
        for key in plain {
            let ordinal = self.order.tie(Key::trailing_ordinal(key).map_err(ReadError::from)?.0);
            if self.may_pass(ordinal) {
                wanted.push((ordinal, key.slice(self.code_at..key.len() - 8)));
            }
        }
        let ordinals: Vec<u64> = wanted.iter().map(|(ordinal, _)| *ordinal).collect();
        let documents = self.reader.documents(&ordinals).await?;
        let mut codes = wanted.into_iter();
        Ok(self.in_scope(documents, |ordinal, record| {
            let (_, code) = codes.find(|(other, _)| *other == ordinal)?;
            Some(Place::of(self.order, code.to_vec(), ordinal, record))
        }))
    }

    fn code<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        key.get(self.code_at..key.len().saturating_sub(8)).unwrap_or_default()
    }

    fn may_pass(&self, ordinal: u64) -> bool {
        self.members.as_ref().is_none_or(|members| members.binary_search(&ordinal).is_ok())
    }

    /// Puts the documents of a run in order.
    async fn run(&mut self, range: KeyRange, prefix: &[u8]) -> Result<Vec<Candidate>, PageError> {
        let whole = KeyRange::prefix(prefix);
        let rest = match self.order.direction() {
            Direction::Forward => KeyRange { start: whole.end.clone().unwrap_or_default(), end: range.end },
            Direction::Backward => KeyRange { start: range.start, end: Some(whole.start.clone()) },
        };
        let contenders = std::mem::take(&mut self.contenders);
        let later = std::mem::take(&mut self.sections);
        let rows = self.drain(Collector::new(vec![whole], Vec::new())).await?;
        let ordinals: Vec<u64> = rows.into_iter().map(|tie| self.order.tie(tie)).collect();
        let ordinals: Vec<u64> = ordinals.into_iter().filter(|ordinal| self.may_pass(*ordinal)).collect();
        self.sort(ordinals).await?;
        self.contenders = contenders;
        if !rest.is_empty() {
            self.sections.push_back(Section::Rows(rest));
        }
        self.sections.extend(later);
        Ok(Vec::new())
    }

    async fn placed(&mut self, mut places: VecDeque<Place>, chunk: usize) -> Result<Vec<Candidate>, PageError> {
        let now: Vec<Place> = places.drain(..chunk.min(places.len())).collect();
        if !places.is_empty() {
            self.sections.push_front(Section::Placed(places));
        }
        let ordinals: Vec<u64> = now.iter().map(|place| place.ordinal).collect();
        let documents = self.reader.documents(&ordinals).await?;
        let mut now = now.into_iter();
        Ok(self.in_scope(documents, |ordinal, _| now.find(|place| place.ordinal == ordinal)))
    }

    async fn listed(&mut self, mut list: VecDeque<u64>, chunk: usize) -> Result<Vec<Candidate>, PageError> {
        let now: Vec<u64> = list.drain(..chunk.min(list.len())).collect();
        if !list.is_empty() {
            self.sections.push_front(Section::Listed(list));
        }
        let possible: Vec<u64> = now.into_iter().filter(|ordinal| self.may_pass(*ordinal)).collect();
        self.reader.spent.listed += possible.len() as u64;
        let documents = self.reader.documents(&possible).await?;
        self.reader.spent.stale += (possible.len() - documents.len()) as u64;
        Ok(self.without_value(documents))
    }

    async fn look_at_everyone(&mut self, range: KeyRange) -> Result<Vec<Candidate>, PageError> {
        let direction = self.order.direction();
        if let Some(members) = &self.members {
            let behind = self.place.as_ref().filter(|place| place.code == [UNDEFINED]).map(|place| place.ordinal);
            self.sections.push_front(Section::Listed(in_direction(members, direction, behind)));
            return Ok(Vec::new());
        }
        let (documents, rest) = match self.scope {
            FeedScope::Logical(_) => {
                let (keys, rest) = self.reader.keys(range, direction, CHUNK_MAX).await?;
                let ordinals = keys.iter().map(|key| Key::trailing_ordinal(key).map(|ordinal| ordinal.0));
                let ordinals = ordinals.collect::<Result<Vec<u64>, _>>().map_err(ReadError::from)?;
                (self.reader.documents(&ordinals).await?, rest)
            }
            FeedScope::All | FeedScope::Range(_) => self.reader.scan_documents(range, direction, CHUNK_MAX).await?,
        };
        if let Some(rest) = rest {
            self.sections.push_front(Section::Everyone(rest));
        }
        Ok(self.without_value(documents))
    }

    fn without_value(&mut self, documents: Vec<Numbered>) -> Vec<Candidate> {
        let count = documents.len();
        let lacking: Vec<Numbered> =
            documents.into_iter().filter(|(_, record)| !self.order.has_value(record.document.root())).collect();
        self.reader.spent.stale += (count - lacking.len()) as u64;
        self.in_scope(lacking, |ordinal, _| Some(Place { code: vec![UNDEFINED], key: Vec::new(), ordinal }))
    }

    fn in_scope(
        &self,
        documents: Vec<Numbered>,
        mut place: impl FnMut(u64, &DocumentRecord) -> Option<Place>,
    ) -> Vec<Candidate> {
        let inside = documents.into_iter().filter(|(_, record)| self.scope.contains(&record.epk));
        let candidate = |(ordinal, record): Numbered| {
            let place = place(ordinal, &record)?;
            Some(Candidate { ordinal, record, place })
        };
        inside.filter_map(candidate).collect()
    }

    /// The caller wants more than one chunk: give the contenders their turn.
    pub async fn compete(&mut self) -> Result<(), PageError> {
        let mut at = 0;
        while at < self.contenders.len() {
            match self.contenders[at].step(&mut self.reader, RACE_ROWS, usize::MAX).await? {
                Collected::More | Collected::TooMany => at += 1,
                Collected::Done => {
                    let found = self.contenders.swap_remove(at).into_ordinals();
                    self.contenders.clear();
                    if self.is_worth_sorting(found.len() as u64) {
                        return self.sort(found).await;
                    }
                    self.members = Some(found);
                }
            }
        }
        Ok(())
    }
}

fn check_bytes(bytes: usize) -> Result<(), QueryError> {
    if bytes > BUFFERED_BYTES_MAX { Err(QueryError::TooManyBytes { limit: BUFFERED_BYTES_MAX }) } else { Ok(()) }
}

/// Ascending ordinals in the direction of a scan, behind one of them.
fn in_direction(ordinals: &[u64], direction: Direction, behind: Option<u64>) -> VecDeque<u64> {
    match direction {
        Direction::Forward => {
            let from = behind.map_or(0, |behind| ordinals.partition_point(|ordinal| *ordinal <= behind));
            ordinals[from..].iter().copied().collect()
        }
        Direction::Backward => {
            let to = behind.map_or(ordinals.len(), |behind| ordinals.partition_point(|ordinal| *ordinal < behind));
            ordinals[..to].iter().rev().copied().collect()
        }
    }
}
