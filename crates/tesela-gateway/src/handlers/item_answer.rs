//! What every answer about items carries: where it came from and how far that partition is.

use crate::respond::{Answer, ApiError};
use http::HeaderValue;
use tesela_partition::etag;
use tesela_partition::layout::DocumentRecord;
use tesela_protocol::status::Status;
use tesela_protocol::{header, percent};
use tesela_router::catalog::Container;
use tesela_router::{Served, Usage};

/// Characters of a name that stand in a header as they are.
const PATH_CHARACTERS: &[u8] = b"/-_.~!*'()$&+,;=:@ ";

/// Headers of the partition that answered, for the session of its container.
pub fn write_served(answer: &mut Answer, container: &Container, served: Served) {
    write_partition(answer, served);
    write_owner(answer, container);
}

/// Headers of the partition that answered.
pub fn write_partition(answer: &mut Answer, served: Served) {
    let Served { partition, lsn } = served;
    answer.write(&header::SESSION_TOKEN, format_args!("{partition}:-1#{lsn}"));
    answer.write(&header::LSN, lsn);
    answer.write(&header::PARTITION_KEY_RANGE_ID, partition);
    answer.write(&header::GLOBAL_COMMITTED_LSN, lsn);
    answer.write(&header::LLSN, lsn);
    answer.write(&header::QUORUM_ACKED_LSN, lsn);
    answer.write(&header::QUORUM_ACKED_LLSN, lsn);
    answer.write(&header::TRANSPORT_REQUEST_ID, lsn);
}

/// Headers that tell clients which container's session an answer belongs to.
pub fn write_owner(answer: &mut Answer, container: &Container) {
    answer.write(&header::ALT_CONTENT_PATH, percent::encode(&container.path, PATH_CHARACTERS));
    answer.write(&header::CONTENT_PATH, &container.rid);
}

/// How full the partition is: sizes in KB, `documentSize` in MB.
pub fn write_usage(answer: &mut Answer, usage: Usage) {
    answer.set(
        &header::RESOURCE_QUOTA,
        HeaderValue::from_static(
            "documentSize=10240;documentsSize=10485760;documentsCount=-1;collectionSize=10485760;",
        ),
    );
    let kb = usage.bytes.div_ceil(1024);
    let documents = usage.documents;
    answer.write(
        &header::RESOURCE_USAGE,
        format_args!("documentSize={};documentsSize={kb};documentsCount={documents};collectionSize={kb};", kb / 1024),
    );
}

/// The LSN of the version an answer is about.
pub fn write_item(answer: &mut Answer, record: &DocumentRecord) {
    answer.write(&header::ETAG, etag::of(record));
    answer.write(&header::ITEM_LSN, record.lsn);
    answer.write(&header::ITEM_LLSN, record.lsn);
}

/// An item as the answer to a read or a write.
pub fn item(status: Status, record: &DocumentRecord, minimal: bool) -> Answer {
    let mut answer = if minimal { Answer::new(status) } else { Answer::json(status, record.document.text_bytes()) };
    write_item(&mut answer, record);
    answer
}

/// Puts the partition's headers on an error about an item.
pub fn served_error(error: ApiError, container: &Container, served: Served) -> ApiError {
    let value = |text: String| HeaderValue::try_from(text).expect("numbers and base64 are visible ASCII");
    let Served { partition, lsn } = served;
    error
        .with_header(&header::SESSION_TOKEN, value(format!("{partition}:-1#{lsn}")))
        .with_header(&header::LSN, value(lsn.to_string()))
        .with_header(&header::PARTITION_KEY_RANGE_ID, value(partition.to_string()))
        .with_header(&header::ALT_CONTENT_PATH, value(percent::encode(&container.path, PATH_CHARACTERS)))
        .with_header(&header::CONTENT_PATH, value(container.rid.to_string()))
}
