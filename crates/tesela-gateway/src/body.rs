//! Reading the body of a request, within limits of size and time.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::time::timeout;

use crate::limits::DRAINED_BODY_BYTES_MAX;

/// Why there is no body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    #[error("the request body is larger than {limit} bytes")]
    TooLarge { limit: usize },
    #[error("the request body did not arrive within {seconds} seconds")]
    TimedOut { seconds: u64 },
    #[error("the request body ended before its time")]
    Broken,
}

/// The whole body, of at most `limit` bytes, within `time`.
pub async fn read(body: Incoming, limit: usize, time: Duration) -> Result<Bytes, BodyError> {
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    match timeout(time, collect(body, limit)).await {
        Ok(read) => read,
        Err(_) => Err(BodyError::TimedOut { seconds: time.as_secs() }),
    }
}

async fn collect(mut body: Incoming, limit: usize) -> Result<Bytes, BodyError> {
    let promised = body.size_hint().lower();
    if promised > limit as u64 {
        // A body that nobody will wait for is refused by its length alone.
        if promised <= DRAINED_BODY_BYTES_MAX as u64 {
            drain(body).await;
        }
        return Err(BodyError::TooLarge { limit });
    }
    let expected = usize::try_from(body.size_hint().lower()).unwrap_or(limit);
    let mut collected = match next(&mut body).await? {
        // Most bodies come in one piece, which needs no copying.
        Some(first) if first.len() == expected && body.is_end_stream() => return Ok(first),
        Some(first) => {
            let mut collected = BytesMut::with_capacity(expected.max(first.len()));
            collected.extend_from_slice(&first);
            collected
        }
        None => return Ok(Bytes::new()),
    };
    while collected.len() <= limit {
        match next(&mut body).await? {
            Some(data) => collected.extend_from_slice(&data),
            None => return Ok(collected.freeze()),
        }
    }
    drain(body).await;
    Err(BodyError::TooLarge { limit })
}

/// The next bytes; trailers are passed over.
async fn next(body: &mut Incoming) -> Result<Option<Bytes>, BodyError> {
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

/// Reads on without keeping anything: a client that is still sending does not look for an answer, and closing in
/// its face would lose it.
async fn drain(mut body: Incoming) {
    let mut drained = 0;
    while let Ok(Some(data)) = next(&mut body).await {
        drained += data.len();
        if drained > DRAINED_BODY_BYTES_MAX {
            return;
        }
    }
}
