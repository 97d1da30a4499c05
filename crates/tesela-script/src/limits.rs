//! What a script may use, as data. The defaults are the service's figures where it publishes them.

use std::time::Duration;

/// Steps between two looks at the clock: the engine calls its interrupt handler once in so many calls
/// and backward jumps (`JS_INTERRUPT_COUNTER_INIT` of QuickJS, a constant of its source).
pub const STEPS_PER_POLL: u64 = 10_000;

/// Time a script may take (service limit: 5 s for an operation).
pub const SCRIPT_TIME_MS: u64 = 5_000;
/// Time after which further operations are not accepted, so that a script can still answer how far it
/// got. Ours: a fifth of the time limit is left for that.
pub const SCRIPT_ACCEPT_MS: u64 = 4_000;
/// Steps a script may take. Ours: about four times what the time limit allows on a fast machine, so
/// that it decides only where time stands still (simulation).
pub const SCRIPT_STEPS_MAX: u64 = 2_000_000_000;
/// Heap of one script, in bytes. Ours: several pages of 4 MB JSON as objects.
pub const SCRIPT_HEAP_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Native stack of one script, in bytes. The thread that runs scripts needs this much and some more;
/// the default stack of a Rust thread (2 MiB) is enough.
pub const SCRIPT_STACK_BYTES_MAX: usize = 512 * 1024;
/// Script text, in bytes. Ours: compiling cannot be interrupted, and thousands of declarations in one
/// scope take the engine seconds. Minified libraries of the usual size fit.
pub const SCRIPT_SOURCE_BYTES_MAX: usize = 256 * 1024;
/// Sum of the squares of lengths between brackets on one line of a script. Ours: if they are character
/// classes of regular expressions, compiling them takes the engine about that many nanoseconds.
pub const BRACKETS_SQUARED_MAX: u64 = 1_000_000_000;
/// Body a script answers, in bytes (service limit for a response).
pub const SCRIPT_BODY_BYTES_MAX: usize = tesela_model::limits::PAGE_BYTES_MAX;
/// Log of one run, in bytes. It travels percent-encoded in a header, up to three bytes for one, and
/// Node.js refuses more than 16 KiB of headers.
pub const SCRIPT_LOG_BYTES_MAX: usize = 4 * 1024;
/// Exception text and stack in an error message, in UTF-16 units each. Ours: they travel in a body.
pub const SCRIPT_ERROR_CHARS_MAX: usize = 8 * 1024;
/// Operations a script may have queued before their callbacks ran; more are not accepted.
pub const PENDING_OPERATIONS_MAX: usize = 10_000;
/// Items on a page when the script does not say (documented default of the server-side API).
pub const SCRIPT_PAGE_ITEMS_DEFAULT: u32 = 100;
/// Idle realms kept for reuse, in all. Each holds under a megabyte.
pub const WARM_REALMS_MAX: usize = 64;
/// Heap an idle realm may hold, in bytes; a larger one is dropped. Ours: several times what it takes.
pub const WARM_HEAP_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// A run that moved more bytes than this in and out has its garbage collected at once.
pub const TIDY_BYTES: usize = 64 * 1024;
/// Runs between two collections of garbage that small runs leave.
pub const TIDY_RUNS: u32 = 64;
/// Time after which an unused realm is dropped by [`Engine::sweep`](crate::Engine::sweep).
pub const IDLE_REALM_MS: u64 = 5 * 60 * 1000;
/// Scripts compiled in a realm before it is made anew. Ours: above the service's 100 procedures, 50
/// functions and as many triggers of a container; more means that they come and go.
pub const SCRIPTS_PER_REALM_MAX: usize = 256;
/// Runs after which a realm is made anew: bounds whatever the engine may accumulate.
pub const RUNS_PER_REALM_MAX: u32 = 10_000;
/// Consecutive time-outs after which a script is blocked ("several times", says the service).
pub const TIMEOUTS_BEFORE_BLOCK: u32 = 5;
/// A run that overran its time limit by this much blocks its script at once.
pub const OVERRUN_MS: u64 = 1_000;
/// How long it is then blocked.
pub const BLOCK_MS: u64 = 30_000;
/// Scripts whose time-outs are remembered.
pub const OFFENDERS_MAX: usize = 1_024;

const _: () = assert!(SCRIPT_ACCEPT_MS < SCRIPT_TIME_MS, "a script must have time to answer after its last operation");
const _: () =
    assert!(SCRIPT_BODY_BYTES_MAX >= tesela_model::limits::DOCUMENT_BYTES_MAX, "a trigger answers a whole document");

/// The limits of one [`Engine`](crate::Engine).
#[derive(Clone, Debug)]
pub struct Limits {
    /// Wall time of a run, operations included.
    pub time: Duration,
    /// Part of `time` in which new operations are accepted.
    pub accept_time: Duration,
    /// Calls and loop turns of a run.
    pub steps: u64,
    /// JavaScript heap of a run.
    pub heap_bytes: usize,
    /// Native stack of a run.
    pub stack_bytes: usize,
    /// Body a run may answer.
    pub body_bytes: usize,
    /// Log a run may write; the rest is cut.
    pub log_bytes: usize,
    /// Idle realms kept, over all containers.
    pub warm_realms: usize,
    /// Consecutive time-outs that block a script.
    pub timeouts_before_block: u32,
    /// Length of that block.
    pub block_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_millis(SCRIPT_TIME_MS),
            accept_time: Duration::from_millis(SCRIPT_ACCEPT_MS),
            steps: SCRIPT_STEPS_MAX,
            heap_bytes: SCRIPT_HEAP_BYTES_MAX,
            stack_bytes: SCRIPT_STACK_BYTES_MAX,
            body_bytes: SCRIPT_BODY_BYTES_MAX,
            log_bytes: SCRIPT_LOG_BYTES_MAX,
            warm_realms: WARM_REALMS_MAX,
            timeouts_before_block: TIMEOUTS_BEFORE_BLOCK,
            block_time: Duration::from_millis(BLOCK_MS),
        }
    }
}
