use http_body_util::BodyExt as _;

use super::*;

fn responder() -> (Responder, Env) {
    let env = Env::simulated(1);
    (Responder::new(env.clone()), env)
}

async fn text(response: Response<Body>) -> String {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.into()).unwrap()
}

fn header<'a>(response: &'a Response<Body>, name: &HeaderName) -> &'a str {
    response.headers().get(name).map_or("(absent)", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn an_answer_carries_what_every_response_does() {
    let (responder, env) = responder();
    let exchange = Exchange::begin(&HeaderMap::new(), &env);
    env.advance(Duration::from_micros(2_345));
    let mut answer = Answer::json(Status::Created, r#"{"id":"a"}"#);
    answer.set_request_charge(6.29);
    answer.write(&header::ITEM_COUNT, 7);
    answer.write(&header::LSN, 12_u64);
    answer.set(&header::ETAG, HeaderValue::from_static("\"e\""));
    let response = responder.respond(Ok(answer), &exchange);
    assert_eq!(response.status(), 201);
    for (name, expected) in [
        (&header::REQUEST_CHARGE, "6.29"),
        (&header::REQUEST_DURATION_MS, "2.345"),
        (&header::ITEM_COUNT, "7"),
        (&header::LSN, "12"),
        (&header::ETAG, "\"e\""),
        (&CONTENT_TYPE, "application/json"),
        (&header::LAST_STATE_CHANGE, "Thu, 01 Jan 2026 00:00:00 GMT"),
        (&header::SERVICE_VERSION, "version=2.14.0.0"),
        (&header::SUBSTATUS, "(absent)"),
        (&header::ACTIVITY_ID, exchange.activity_id()),
    ] {
        assert_eq!(header(&response, name), expected, "{name}");
    }
    assert_eq!(text(response).await, r#"{"id":"a"}"#);
}

#[tokio::test]
async fn an_error_has_a_body_its_sub_status_and_its_own_headers() {
    let (responder, env) = responder();
    let exchange = Exchange::begin(&HeaderMap::new(), &env);
    let mut error = ApiError::new(Status::TooManyRequests, "request rate is large")
        .with_sub_status(SubStatus::RU_BUDGET_EXCEEDED)
        .with_request_charge(0.38)
        .with_header(&header::SESSION_TOKEN, HeaderValue::from_static("0:-1#5"));
    error.retry_after_ms = Some(40);
    let response = responder.respond(Err(error), &exchange);
    assert_eq!(response.status(), 429);
    for (name, expected) in [
        (&header::SUBSTATUS, "3200"),
        (&header::RETRY_AFTER_MS, "40"),
        (&header::REQUEST_CHARGE, "0.38"),
        (&header::SESSION_TOKEN, "0:-1#5"),
        (&CONTENT_TYPE, "application/json"),
    ] {
        assert_eq!(header(&response, name), expected, "{name}");
    }
    let expected = format!(
        "{{\"code\":\"429\",\"message\":\"request rate is large\\r\\nActivityId: {}\"}}",
        exchange.activity_id()
    );
    assert_eq!(text(response).await, expected);
}

#[test]
fn activity_ids_are_echoed_when_they_are_fit_to_be() {
    let env = Env::simulated(1);
    let begin = |id: &[u8]| {
        let headers = HeaderMap::from_iter([(header::ACTIVITY_ID.clone(), HeaderValue::from_bytes(id).unwrap())]);
        Exchange::begin(&headers, &env).activity_id().to_owned()
    };
    assert_eq!(begin(b"5c1d0b2a-0000"), "5c1d0b2a-0000");
    for unfit in [&b""[..], b"a b", "é".as_bytes(), &[b'a'; ACTIVITY_ID_BYTES_MAX + 1]] {
        assert_eq!(begin(unfit).len(), 36, "{unfit:?}");
    }
    let new = || Exchange::begin(&HeaderMap::new(), &env).activity_id().to_owned();
    assert_ne!(new(), new());
}

#[test]
fn no_text_can_break_a_header() {
    let (responder, env) = responder();
    let mut answer = Answer::new(Status::Ok);
    answer.text(&header::CONTINUATION, "a\r\nx-evil: 1\0");
    answer.text(&header::SESSION_TOKEN, "é");
    let response = responder.respond(Ok(answer), &Exchange::begin(&HeaderMap::new(), &env));
    assert_eq!(header(&response, &header::CONTINUATION), "a??x-evil: 1?");
    assert_eq!(header(&response, &header::SESSION_TOKEN), "??");
    assert_eq!(header(&response, &CONTENT_TYPE), "(absent)", "no body, no type");
}

#[test]
fn failures_below_become_the_statuses_clients_expect() {
    for (error, status) in [
        (ApiError::from(PathError::Unknown), Status::NotFound),
        (PathError::NotUtf8.into(), Status::BadRequest),
        (BodyError::TooLarge { limit: 1 }.into(), Status::RequestEntityTooLarge),
        (BodyError::TimedOut { seconds: 1 }.into(), Status::RequestTimeout),
        (BodyError::Broken.into(), Status::BadRequest),
    ] {
        assert_eq!(error.status, status, "{error}");
    }
}
