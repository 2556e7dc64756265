//! Bad requests, a test each: a proper status, one sentence as problem+json, and nothing changed.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says best what it expects by failing where it is not met"
)]

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;

use common::{Reply, SERVICE, Served, raw, request};

const JSON: (&str, &str) = ("Content-Type", "application/json");
const ARMS: &str = r#"{"event":"e","arms":[[1,0],[0,1]]}"#;

/// The answer is a problem with this status and these words, and the log is as it was.
fn refused(served: &Served, reply: &Reply, status: u16, says: &str) {
    assert_eq!(reply.status, status, "{} {}", reply.head, reply.text());
    assert!(reply.head.contains("content-type: application/problem+json"), "{}", reply.head);
    assert!(reply.head.contains("x-request-id: "), "{}", reply.head);
    let problem = reply.json();
    assert_eq!(problem["status"], status);
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains(says), "'{says}' is not in: {detail}");
    assert!(!detail.contains('\n') && !detail.contains("panicked"), "{detail}");
    unchanged(served);
}

fn unchanged(served: &Served) {
    for policy in ["arms", "shop", "pupil"] {
        let state = served.get(&format!("/v1/{policy}")).json();
        assert_eq!((&state["events"], &state["version"]), (&0.into(), &0.into()), "{policy} has changed");
    }
}

/// Posts `body` to `path` of a fresh service.
fn posted(path: &str, body: &str, status: u16, says: &str) {
    let served = Served::new(SERVICE);
    refused(&served, &served.post(path, body), status, says);
}

#[test]
fn no_json() {
    posted("/v1/arms/decide", "{\"arms\": [[1,", 400, "this is not JSON");
}

#[test]
fn an_empty_body() {
    posted("/v1/arms/decide", "", 400, "this is not JSON");
}

#[test]
fn json_of_another_shape() {
    posted("/v1/arms/decide", "[1, 2, 3]", 400, "this is not what is asked for here");
}

#[test]
fn an_unknown_field() {
    posted("/v1/arms/decide", r#"{"arms":[[1,0]],"colour":"red"}"#, 400, "unknown field `colour`");
}

#[test]
fn nan() {
    posted("/v1/arms/decide", r#"{"arms":[[NaN,0]]}"#, 400, "this is not JSON");
}

#[test]
fn a_number_that_is_too_large() {
    posted("/v1/arms/decide", r#"{"arms":[[1e400,0]]}"#, 400, "number out of range");
    posted("/v1/arms/decide", r#"{"arms":[[1e101,0]]}"#, 422, "coordinate 1 of arm 1 is 1");
}

#[test]
fn ragged_arms() {
    posted("/v1/arms/decide", r#"{"arms":[[1,0],[1]]}"#, 400, "row 2 has another length than the first, 2");
}

#[test]
fn arms_of_another_dimension() {
    posted("/v1/arms/decide", r#"{"arms":[[1,0,0]]}"#, 422, "has dimension 3, but dimension 2 is needed");
}

#[test]
fn no_arms() {
    posted("/v1/arms/decide", r#"{"arms":[]}"#, 422, "no arms");
}

#[test]
fn nothing_on_offer() {
    posted("/v1/arms/decide", "{}", 422, "give either arms");
}

#[test]
fn a_context_where_arms_belong() {
    posted("/v1/arms/decide", r#"{"context":[1,2],"actions":["a"]}"#, 422, "was made for vectors here");
    posted("/v1/shop/decide", r#"{"arms":[[1,2]]}"#, 422, "was made for contexts here");
}

#[test]
fn an_action_twice() {
    posted("/v1/shop/decide", r#"{"context":[1,2],"actions":["a","a"]}"#, 422, "the action 'a' is offered twice");
}

#[test]
fn a_default_that_is_not_on_offer() {
    let body = r#"{"context":[1,2],"actions":["a","b"],"default":"c"}"#;
    posted("/v1/pupil/decide", body, 422, "the default 'c' is not on offer");
    posted(
        "/v1/pupil/decide",
        r#"{"context":[1,2],"actions":["a"],"default":7}"#,
        422,
        "the default 7 is not on offer",
    );
}

#[test]
fn the_sphere_for_a_policy_that_cannot() {
    let text = SERVICE.replace("kind = \"oful\"\ndim = 2", "kind = \"gp-ucb\"\ndim = 2");
    let served = Served::new(&text);
    refused(&served, &served.post("/v1/arms/decide", r#"{"arms":"sphere"}"#), 422, "needs a finite set of arms");
    refused(&served, &served.post("/v1/arms/decide", r#"{"arms":"globe"}"#), 400, "the only word for arms");
}

#[test]
fn ten_million_arms() {
    let body = format!(r#"{{"arms":[{}[1,0]]}}"#, "[1,0],".repeat(10_000_000));
    let served = Served::new(SERVICE);
    refused(&served, &served.post("/v1/arms/decide", &body), 413, "a body may have at most");
}

#[test]
fn more_arms_than_allowed() {
    let body = format!(r#"{{"arms":[{}[1,0]]}}"#, "[1,0],".repeat(10_000));
    posted("/v1/arms/decide", &body, 422, "10001 actions are on offer, and at most 10000 are allowed");
}

#[test]
fn an_oversized_body_that_does_not_say_its_size() {
    let served = Served::new(&format!("{}\n[limits]\nbody = 1000\n", SERVICE));
    let chunk = format!("{:x}\r\n{}\r\n", 2000, " ".repeat(2000));
    let head = "POST /v1/arms/decide HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Type: application/json\r\n\
                Transfer-Encoding: chunked\r\n\r\n";
    refused(&served, &raw(served.address(), format!("{head}{chunk}0\r\n\r\n").as_bytes()), 413, "at most 1000 bytes");
}

#[test]
fn a_body_that_says_it_is_something_else() {
    let served = Served::new(SERVICE);
    let reply =
        request(served.address(), "POST", "/v1/arms/decide", &[("Content-Type", "text/plain")], ARMS.as_bytes());
    refused(&served, &reply, 415, "a body must be JSON");
}

#[test]
fn an_unknown_policy() {
    posted("/v1/legs/decide", ARMS, 404, "there is no policy 'legs'");
}

#[test]
fn an_unknown_address() {
    let served = Served::new(SERVICE);
    refused(&served, &served.get("/v2/arms"), 404, "there is nothing at this address");
}

#[test]
fn a_wrong_method() {
    let served = Served::new(SERVICE);
    refused(&served, &served.get("/v1/arms/decide"), 405, "this address takes another method");
    let reply = request(served.address(), "DELETE", "/v1/arms", &[JSON], b"");
    refused(&served, &reply, 405, "this address takes another method");
}

#[test]
fn a_reward_for_nothing() {
    posted("/v1/arms/reward", r#"{"event":"nobody","reward":1}"#, 404, "arms made no decision with the id 'nobody'");
}

#[test]
fn a_reward_that_is_no_number() {
    posted("/v1/arms/reward", r#"{"event":"e","reward":"much"}"#, 400, "invalid type");
    posted("/v1/arms/reward", r#"{"event":"e","reward":null}"#, 400, "invalid type");
    posted("/v1/arms/reward", r#"{"event":"e"}"#, 400, "missing field `reward`");
}

#[test]
fn ids_that_are_not_allowed() {
    for id in ["", "~1", "a\\nb", &"x".repeat(129)] {
        posted("/v1/arms/decide", &format!(r#"{{"event":"{id}","arms":[[1,0]]}}"#), 422, "an event's id must have");
    }
}

#[test]
fn a_replayed_decision_with_another_body() {
    let served = Served::new(SERVICE);
    let first = served.post("/v1/arms/decide", ARMS);
    assert_eq!(first.status, 200, "{}", first.text());
    assert_eq!(served.post("/v1/arms/decide", ARMS).body, first.body);
    let other = served.post("/v1/arms/decide", r#"{"event":"e","arms":[[1,0],[0,2]]}"#);
    assert_eq!((other.status, other.json()["status"].clone()), (409, 409.into()));
    assert_eq!(served.get("/v1/arms").json()["events"], 1);
}

#[test]
fn a_replayed_reward_with_another_value() {
    let served = Served::new(SERVICE);
    served.post("/v1/arms/decide", ARMS);
    let first = served.post("/v1/arms/reward", r#"{"event":"e","reward":1}"#);
    assert_eq!(first.status, 200, "{}", first.text());
    assert_eq!(served.post("/v1/arms/reward", r#"{"event":"e","reward":1.0}"#).body, first.body);
    assert_eq!(served.post("/v1/arms/reward", r#"{"event":"e","reward":2}"#).status, 409);
    assert_eq!(served.get("/v1/arms").json()["learned"], 1);
}

#[test]
fn batches_that_are_empty_or_too_large() {
    posted("/v1/arms/decide/batch", r#"{"requests":[]}"#, 422, "a batch has 1 to 1000 requests, and this one has 0");
    let many = format!(r#"{{"requests":[{}{ARMS}]}}"#, format!("{ARMS},").repeat(1000));
    posted("/v1/arms/decide/batch", &many, 422, "this one has 1001");
}

#[test]
fn a_version_that_is_not_kept() {
    posted("/v1/arms/rollback", r#"{"version":17}"#, 404, "version 17 is not kept");
    posted("/v1/arms/rollback", r#"{"version":-1}"#, 400, "this is not what is asked for here");
}

#[test]
fn a_query_that_is_no_number() {
    let served = Served::new(SERVICE);
    refused(&served, &served.get("/v1/arms/decisions?last=many"), 400, "last must be a whole number, not 'many'");
}

/// SHA-256 of "decide-me", "reward-me" and "rule-me".
const TOKENS: &str = r#"
[tokens]
decide = ["sha256:DECIDE"]
reward = "sha256:REWARD"
admin = "sha256:ADMIN"
"#;

fn hash(token: &str) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(token.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn guarded() -> Served {
    let tokens = TOKENS.replace("DECIDE", &hash("decide-me"));
    let tokens = tokens.replace("REWARD", &hash("reward-me")).replace("ADMIN", &hash("rule-me"));
    Served::new(&format!("{SERVICE}{tokens}"))
}

fn bearing(served: &Served, token: &str, path: &str, body: &str) -> Reply {
    let token = format!("Bearer {token}");
    let method = if body.is_empty() { "GET" } else { "POST" };
    request(served.address(), method, path, &[JSON, ("Authorization", &token)], body.as_bytes())
}

#[test]
fn tokens_that_are_missing_wrong_or_for_something_else() {
    let served = guarded();
    let missing = served.post("/v1/arms/decide", ARMS);
    assert_eq!(missing.status, 401);
    assert!(missing.head.contains("www-authenticate: bearer"), "{}", missing.head);
    assert_eq!(bearing(&served, "guess", "/v1/arms/decide", ARMS).status, 401);
    let other = bearing(&served, "reward-me", "/v1/arms/decide", ARMS);
    assert_eq!(other.status, 403);
    assert!(other.text().contains("this token is for reward, and this needs one for decide"));
    assert_eq!(bearing(&served, "decide-me", "/v1/arms", "").status, 403);
    assert_eq!(bearing(&served, "rule-me", "/v1/arms", "").json()["events"], 0);
    assert_eq!(bearing(&served, "decide-me", "/v1/arms/decide", ARMS).status, 200);
    assert_eq!(bearing(&served, "rule-me", "/v1/arms/reward", r#"{"event":"e","reward":1}"#).status, 200);
    assert_eq!(served.get("/healthz").status, 200);
}

#[test]
fn too_many_requests() {
    // One request, and then none for a thousand seconds.
    let served = Served::new(&format!("{SERVICE}\n[limits]\nrate = 0.001\n"));
    assert_eq!(served.post("/v1/arms/decide", ARMS).status, 200);
    let reply = served.post("/v1/arms/decide", ARMS);
    assert_eq!(reply.status, 429, "{}", reply.text());
    assert!(reply.head.contains("retry-after: "), "{}", reply.head);
}

/// A body that never ends is given up on, and so is a header.
#[test]
fn slow_lorises() {
    let served = Served::new(&format!("{SERVICE}\n[limits]\ntimeout = 1.5\n"));
    let head = "POST /v1/arms/decide HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Type: application/json\r\n\
                Content-Length: 100\r\n\r\n{\"arms\"";
    refused(&served, &raw(served.address(), head.as_bytes()), 408, "the body took too long to arrive");
    let mut stream = TcpStream::connect(served.address()).unwrap();
    stream.write_all(b"GET /v1/arms HTTP/1.1\r\nHo").unwrap();
    let mut reply = Vec::new();
    // Hung up on, with or without a word; what counts is that this returns.
    let _ = stream.read_to_end(&mut reply);
    unchanged(&served);
}

#[test]
fn what_is_not_http() {
    let served = Served::new(SERVICE);
    let reply = raw(served.address(), b"EHLO mail.example.org\r\n\r\n");
    assert_eq!(reply.status, 400);
    unchanged(&served);
}
