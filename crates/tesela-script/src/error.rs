//! Why a script did not run to its end, in the words and numbers the service uses.

use crate::budget::Spent;

/// A run that failed. Nothing of it may be committed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ScriptError {
    pub kind: ErrorKind,
    /// Text for the client, in the service's style.
    pub message: String,
    /// What the script had logged, if logging was on.
    pub log: Option<String>,
    /// What the run used: a script that fails is charged too.
    pub spent: Spent,
}

/// Whose doing a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The text is not a JavaScript function.
    Compile,
    /// The script threw; the number is that of `new Error(number, body)`.
    Thrown { number: Option<u32> },
    /// The arguments are not JSON.
    Arguments,
    /// The text, or what the script answers, is larger than allowed.
    TooLarge,
    /// The script ran out of time or steps.
    TimedOut,
    /// The script timed out too often lately and was not run.
    Blocked,
    /// An operation ended the run ([`OpError::Abort`](crate::OpError::Abort)).
    Aborted { status: u16, substatus: u32 },
    /// The engine failed: no memory for a realm, or a defect of ours.
    Engine,
}

/// Sub-status of a script that does not compile (service's `ScriptCompileError`).
pub const SUBSTATUS_COMPILE: u32 = 65_535;

impl ScriptError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), log: None, spent: Spent::default() }
    }

    /// HTTP-like status.
    pub fn status(&self) -> u16 {
        match self.kind {
            ErrorKind::Compile | ErrorKind::Thrown { .. } | ErrorKind::Arguments => 400,
            ErrorKind::Blocked => 403,
            ErrorKind::TimedOut => 408,
            ErrorKind::TooLarge => 413,
            ErrorKind::Engine => 500,
            ErrorKind::Aborted { status, .. } => status,
        }
    }

    /// `x-ms-substatus`, 0 if there is none.
    pub fn substatus(&self) -> u32 {
        match self.kind {
            ErrorKind::Compile => SUBSTATUS_COMPILE,
            ErrorKind::Thrown { number } => number.unwrap_or(0),
            ErrorKind::Aborted { substatus, .. } => substatus,
            ErrorKind::Arguments
            | ErrorKind::TooLarge
            | ErrorKind::TimedOut
            | ErrorKind::Blocked
            | ErrorKind::Engine => 0,
        }
    }
}
