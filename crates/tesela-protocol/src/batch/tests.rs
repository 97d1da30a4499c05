use tesela_model::partition_key::Component;

use super::*;

fn operation(kind: BatchOperationKind) -> BatchOperation {
    BatchOperation {
        kind,
        id: None,
        partition_key: None,
        body: None,
        if_match: None,
        if_none_match: None,
        indexing_directive: None,
        minimal_return: false,
    }
}

#[test]
fn every_operation_is_read_with_its_conditions() {
    use BatchOperationKind as K;
    let body = br#"[
        {"operationType":"Create","resourceBody":{"id":"z", "n":1.0}},
        {"operationType":"Upsert","resourceBody":{"id":"z"},"ifMatch":"\"e\"","ifNoneMatch":null},
        {"operationType":"Replace","id":"z","resourceBody":{"id":"z"},"partitionKey":"[\"x\"]"},
        {"operationType":"Patch","id":"z","resourceBody":{"operations":[]},"minimalReturnPreference":true},
        {"operationType":"Read","id":"z","ifNoneMatch":"\"e\""},
        {"operationType":"Delete","id":"z","indexingDirective":"Exclude"}]"#;
    let id = || Some("z".to_owned());
    let key = PartitionKeyValue::new(vec![Component::String("x".into())]);
    let expected = vec![
        BatchOperation { body: Some(r#"{"id":"z","n":1.0}"#.into()), ..operation(K::Create) },
        BatchOperation { body: Some(r#"{"id":"z"}"#.into()), if_match: Some("\"e\"".into()), ..operation(K::Upsert) },
        BatchOperation {
            id: id(),
            body: Some(r#"{"id":"z"}"#.into()),
            partition_key: Some(key),
            ..operation(K::Replace)
        },
        BatchOperation {
            id: id(),
            body: Some(r#"{"operations":[]}"#.into()),
            minimal_return: true,
            ..operation(K::Patch)
        },
        BatchOperation { id: id(), if_none_match: Some("\"e\"".into()), ..operation(K::Read) },
        BatchOperation { id: id(), indexing_directive: Some("Exclude".into()), ..operation(K::Delete) },
    ];
    assert_eq!(parse(body), Ok(expected));
}

#[test]
fn each_mistake_has_its_own_error() {
    for (body, expected) in [
        ("[]", BatchError::Empty),
        ("{}", BatchError::NotArray),
        ("[1]", BatchError::UnknownOperation { index: 0 }),
        ("[{}]", BatchError::UnknownOperation { index: 0 }),
        (r#"[{"operationType":"Merge"}]"#, BatchError::UnknownOperation { index: 0 }),
        (r#"[{"operationType":1}]"#, BatchError::WrongType { index: 0, field: "operationType" }),
        (r#"[{"operationType":"Create"}]"#, BatchError::Missing { index: 0, field: "resourceBody" }),
        (r#"[{"operationType":"Read"}]"#, BatchError::Missing { index: 0, field: "id" }),
        (
            r#"[{"operationType":"Read","id":"a"},{"operationType":"Read","id":7}]"#,
            BatchError::WrongType { index: 1, field: "id" },
        ),
        (
            r#"[{"operationType":"Create","resourceBody":[]}]"#,
            BatchError::WrongType { index: 0, field: "resourceBody" },
        ),
        (
            r#"[{"operationType":"Read","id":"a","partitionKey":"7"}]"#,
            BatchError::PartitionKey { index: 0, error: PartitionKeyHeaderError::NotArray },
        ),
    ] {
        assert_eq!(parse(body.as_bytes()), Err(expected), "{body}");
    }
    assert!(matches!(parse(b"["), Err(BatchError::NotJson(_))));
}

#[test]
fn a_batch_is_limited_in_operations() {
    let list = |count| format!("[{}]", vec![r#"{"operationType":"Read","id":"a"}"#; count].join(","));
    assert_eq!(parse(list(BATCH_OPERATIONS_MAX).as_bytes()).map(|operations| operations.len()), Ok(100));
    assert_eq!(parse(list(BATCH_OPERATIONS_MAX + 1).as_bytes()), Err(BatchError::TooMany));
}

#[test]
fn encodings_are_told_apart_by_the_first_byte() {
    assert_eq!(BatchEncoding::of(b" [1]"), BatchEncoding::Json);
    assert_eq!(BatchEncoding::of(b""), BatchEncoding::Json);
    assert_eq!(BatchEncoding::of(&[0x81, 0xf0, 0xd8, 0xff, 0x7f]), BatchEncoding::HybridRow);
}

#[test]
fn results_say_only_what_there_is_to_say() {
    let results = [
        BatchResult {
            status: 201,
            request_charge: 6.29,
            etag: Some("\"e\""),
            resource_body: Some(r#"{"id":"a"}"#),
            ..BatchResult::default()
        },
        BatchResult {
            status: 409,
            sub_status: SubStatus::UNIQUE_KEY_VIOLATION,
            message: Some("a \"b\""),
            ..BatchResult::default()
        },
        BatchResult { status: 429, retry_after_ms: Some(40), ..BatchResult::default() },
    ];
    let expected = concat!(
        r#"[{"statusCode":201,"requestCharge":6.29,"eTag":"\"e\"","resourceBody":{"id":"a"}},"#,
        r#"{"statusCode":409,"subStatusCode":3301,"requestCharge":0,"message":"a \"b\""},"#,
        r#"{"statusCode":429,"requestCharge":0,"retryAfterMilliseconds":40}]"#
    );
    assert_eq!(String::from_utf8(write_results(results)).unwrap(), expected);
}
