//! Writes with triggers: the pre-trigger, the write and the post-trigger are one transaction (R16).
//!
//! A pre-trigger sees the document on its way in and may replace it; a post-trigger sees what was stored and may
//! replace what the client is answered. Whichever fails, nothing has happened.

use super::{Failed, Session};
use crate::catalog::{Addressing, Container, Detail, ScriptKind, Trigger, TriggerMoment, TriggerOperation};
use crate::error::RouterError;
use crate::items::{ItemWritten, Refused};
use crate::router::Router;
use tesela_model::document::Document;
use tesela_partition::error::WriteError;
use tesela_partition::item::Item;
use tesela_partition::script::ScriptTransaction;
use tesela_partition::write::{self, Write, WriteRequest, Written};
use tesela_script::{Script, TriggerOperation as Occasion};
use tesela_store::Store;

/// The triggers a request asks for.
#[derive(Clone, Copy, Debug, Default)]
pub struct TriggerNames<'a> {
    pub pre: Option<&'a str>,
    pub post: Option<&'a str>,
}

/// A write and what its triggers made of it.
#[derive(Debug)]
pub struct TriggeredWrite {
    pub item: ItemWritten,
    /// JSON text the client is answered instead of the item.
    pub response: Option<String>,
    pub log: Option<String>,
}

/// The same before it is committed.
struct Fired {
    written: Written,
    response: Option<String>,
    log: Option<String>,
}

/// The triggers of one write.
struct Triggers {
    occasion: Occasion,
    pre: Option<Script>,
    post: Option<Script>,
}

impl<S: Store> Router<S> {
    /// Writes an item with the triggers named.
    pub async fn write_triggered(
        &self,
        container: &Container,
        request: WriteRequest,
        names: TriggerNames<'_>,
        logging: bool,
    ) -> Result<TriggeredWrite, Refused> {
        let occasion = occasion(&request.write)?;
        let find =
            |name: Option<&str>, moment| name.map(|name| self.trigger(container, name, moment, occasion)).transpose();
        let triggers = Triggers {
            occasion,
            pre: find(names.pre, TriggerMoment::Pre)?,
            post: find(names.post, TriggerMoment::Post)?,
        };
        let key = request.key.clone();
        let run = move |transaction: &mut ScriptTransaction<S>, session: &mut Session| {
            triggers.write(transaction, session, &request)
        };
        let done = self.transact(container, key, logging, run).await?;
        let Fired { written, response, log } = done.value;
        let written = Written { charge_ru: done.charge_ru, ..written };
        Ok(TriggeredWrite { item: ItemWritten { served: done.served, written }, response, log })
    }

    fn trigger(
        &self,
        container: &Container,
        name: &str,
        moment: TriggerMoment,
        occasion: Occasion,
    ) -> Result<Script, RouterError> {
        let absent = || RouterError::NoTrigger { name: name.to_owned(), moment };
        let entry = container.script(ScriptKind::Trigger, name, Addressing::Name).ok_or_else(absent)?;
        let Detail::Script(script) = &entry.detail else { unreachable!("triggers are scripts") };
        let trigger = script.trigger.filter(|trigger| trigger.moment == moment).ok_or_else(absent)?;
        if !covers(trigger, occasion) {
            return Err(RouterError::TriggerOperation { name: name.to_owned(), operation: trigger.operation });
        }
        self.scripts().loaded.get(&container.resource.rid, entry).map_err(RouterError::Script)
    }
}

/// What triggers of a write are told about it.
fn occasion(write: &Write) -> Result<Occasion, RouterError> {
    match write {
        Write::Create(_) => Ok(Occasion::Create),
        Write::Upsert(_) => Ok(Occasion::Upsert),
        Write::Replace { .. } => Ok(Occasion::Replace),
        Write::Delete { .. } => Ok(Occasion::Delete),
        Write::Patch { .. } => Err(RouterError::TriggerOnPatch),
    }
}

fn covers(trigger: Trigger, occasion: Occasion) -> bool {
    match trigger.operation {
        TriggerOperation::All => true,
        TriggerOperation::Create => occasion == Occasion::Create,
        TriggerOperation::Update | TriggerOperation::Replace => occasion == Occasion::Replace,
        TriggerOperation::Delete => occasion == Occasion::Delete,
        TriggerOperation::Upsert => occasion == Occasion::Upsert,
    }
}

impl Triggers {
    fn write<S: Store>(
        &self,
        transaction: &mut ScriptTransaction<S>,
        session: &mut Session,
        request: &WriteRequest,
    ) -> Result<Fired, Failed> {
        let mut request = request.clone();
        let mut logs = Vec::new();
        if let Some(pre) = &self.pre {
            let document = item_of(&request.write).map(|item| item.document.text());
            let outcome = session.engine.run_pre_trigger(pre, self.occasion, document, transaction, &session.options);
            let outcome = session.account(outcome)?;
            logs.extend(outcome.log);
            if let Some(body) = outcome.body {
                exchange(&mut request.write, &body)?;
            }
        }
        if let Some(item) = item_of(&request.write) {
            // R17: no trigger moves an item to another key.
            write::check_key(transaction.container(), &request.key, item)?;
        }
        let sent = item_of(&request.write).map(|item| item.document.clone());
        let written = transaction.write(request)?;
        let mut response = None;
        if let Some(post) = &self.post {
            let stored = sent.as_ref().map(|_| written.record.document.text());
            let sent = sent.as_ref().map(Document::text);
            let outcome =
                session.engine.run_post_trigger(post, self.occasion, sent, stored, transaction, &session.options);
            let outcome = session.account(outcome)?;
            logs.extend(outcome.log);
            response = outcome.body;
        }
        let log = session.options.logging.then(|| logs.concat());
        Ok(Fired { written, response, log })
    }
}

/// The document a write brings.
fn item_of(write: &Write) -> Option<&Item> {
    match write {
        Write::Create(item) | Write::Upsert(item) | Write::Replace { item, .. } => Some(item),
        Write::Patch { .. } | Write::Delete { .. } => None,
    }
}

/// Puts another document in its place.
fn exchange(write: &mut Write, body: &str) -> Result<(), WriteError> {
    match write {
        Write::Create(item) | Write::Upsert(item) | Write::Replace { item, .. } => {
            *item = Item::parse(body.as_bytes())?;
        }
        Write::Patch { .. } | Write::Delete { .. } => {}
    }
    Ok(())
}
