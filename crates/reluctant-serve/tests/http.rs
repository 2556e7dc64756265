//! The running server as a caller meets it, every answer held against the OpenAPI document that it serves.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says best what it expects by failing where it is not met"
)]

mod common;
#[path = "common/schema.rs"]
mod schema;

use std::collections::BTreeSet;

use common::{Reply, SERVICE, Served, registry};
use reluctant_lab::evaluate::{Options, Target, evaluate};
use serde_json::{Value, json};

/// A service, the document that it serves, and what of it was used.
struct Described {
    served: Served,
    document: Value,
    used: BTreeSet<(String, String)>,
}

impl Described {
    fn new(text: &str) -> Self {
        let served = Served::new(text);
        let document = served.get("/openapi.json").json();
        Described { served, document, used: BTreeSet::new() }
    }

    /// The template of the document that an address belongs to.
    fn template(&self, path: &str) -> String {
        let path: Vec<&str> = path.split('?').next().unwrap().split('/').collect();
        let fits = |template: &str| {
            let parts: Vec<&str> = template.split('/').collect();
            parts.len() == path.len()
                && parts.iter().zip(&path).all(|(part, given)| part.starts_with('{') || part == given)
        };
        let paths = self.document["paths"].as_object().unwrap();
        // An exact address goes before one with a place to fill in.
        let exact = paths.keys().find(|template| template.split('/').eq(path.iter().copied()));
        exact.or_else(|| paths.keys().find(|template| fits(template))).expect("the address is described").clone()
    }

    /// An answer, which is checked.
    fn call(&mut self, method: &str, path: &str, body: Option<Value>) -> Reply {
        let template = self.template(path);
        let operation = self.document["paths"][&template][method].clone();
        assert!(operation.is_object(), "{method} {template} is not described");
        self.used.insert((method.to_owned(), template));
        let reply = match &body {
            _ if method == "get" => self.served.get(path),
            body => self.served.post(path, &body.as_ref().map_or(String::new(), Value::to_string)),
        };
        let fits = if let Some(body) = &body {
            let expected = &operation["requestBody"]["content"]["application/json"]["schema"];
            schema::check(&self.document, expected, body, "request")
        } else {
            Ok(())
        };
        assert!(fits.is_ok() || reply.status >= 400, "{fits:?}");
        self.check(&operation, &reply);
        reply
    }

    fn check(&self, operation: &Value, reply: &Reply) {
        let status = reply.status.to_string();
        let responses = &operation["responses"];
        let response = responses.get(&status).unwrap_or(&responses["default"]);
        let (kind, content) = response["content"].as_object().unwrap().iter().next().unwrap();
        assert!(reply.head.contains(&format!("content-type: {kind}")), "{kind} is not in {}", reply.head);
        if kind.ends_with("json") && !kind.contains("ndjson") {
            schema::check(&self.document, &content["schema"], &reply.json(), "answer").unwrap();
        }
    }

    fn post(&mut self, path: &str, body: Value) -> Value {
        let reply = self.call("post", path, Some(body));
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()
    }

    fn get(&mut self, path: &str) -> Value {
        let reply = self.call("get", path, None);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        reply.json()
    }
}

/// Every address of the document answers as it says, and there is none that was not tried.
#[test]
fn every_answer_is_as_the_document_says() {
    let mut service = Described::new(SERVICE);
    for path in ["/", "/healthz", "/readyz", "/metrics"] {
        assert_eq!(service.call("get", path, None).status, 200);
    }
    service.get("/openapi.json");
    assert_eq!(service.get("/v1/arms/estimates")["sentences"][0], "No decision has a reward yet.");

    let decided = service.post("/v1/arms/decide", json!({"event": "a", "arms": [[1, 0], [0, 1]]}));
    assert_eq!((&decided["event"], &decided["propensity"]), (&json!("a"), &json!(1.0)));
    assert_eq!(decided["action"]["vector"].as_array().unwrap().len(), 2);
    let sphere = service.post("/v1/arms/decide", json!({"arms": "sphere"}));
    assert_eq!((&sphere["event"], &sphere["action"]["index"]), (&json!("~2"), &Value::Null));
    assert_eq!(service.post("/v1/arms/reward", json!({"event": "a", "reward": 0.5}))["status"], "learned");
    assert_eq!(service.call("post", "/v1/arms/reward", Some(json!({"event": "a", "reward": 0.7}))).status, 409);

    let requests: Vec<Value> = (0..30)
        .map(|i| json!({"event": i.to_string(), "context": [f64::from(i) / 10.0, 1], "actions": ["tea", "coffee"]}))
        .collect();
    let answers = service.post("/v1/shop/decide/batch", json!({ "requests": requests }));
    assert_eq!(answers["answers"].as_array().unwrap().len(), 30);
    let rewards: Vec<Value> = (0..31).map(|i| json!({"event": i.to_string(), "reward": 1})).collect();
    let answers = service.post("/v1/shop/reward/batch", json!({ "requests": rewards }));
    assert_eq!(
        (&answers["answers"][29]["status"], &answers["answers"][30]["status"]),
        (&json!("learned"), &json!(404))
    );

    let pupil = json!({"context": [1, 2], "actions": ["a", "b"], "default": "b", "default_propensity": 0.5});
    assert_eq!(service.post("/v1/pupil/decide", pupil)["action"]["name"], "b");

    assert_eq!(service.get("/v1/policies")["policies"].as_array().unwrap().len(), 3);
    let state = service.get("/v1/shop");
    assert_eq!((&state["decisions"], &state["learned"], &state["mean_reward"]), (&json!(30), &json!(30), &json!(1.0)));
    assert_eq!(service.get("/v1/shop/decisions?last=7")["decisions"].as_array().unwrap().len(), 7);
    let explained = service.get("/v1/shop/decisions/3");
    assert_eq!(explained["offer"]["actions"], json!(["tea", "coffee"]));
    assert!(explained["explanation"]["of"]["mean"].is_number());

    let version = service.call("post", "/v1/arms/versions", None).json()["version"].clone();
    assert_eq!(service.get("/v1/arms/versions")["versions"][0]["version"], version);
    assert_eq!(service.post("/v1/arms/rollback", json!({ "version": version }))["as_of"], version);
    assert_eq!(service.call("post", "/v1/arms/pause", None).json()["paused"], true);
    assert_eq!(service.call("post", "/v1/arms/resume", None).json()["paused"], false);
    assert_eq!(service.get("/v1/arms/snapshot")["policy"], "oful");
    assert_eq!(service.call("get", "/v1/shop/log", None).status, 200);
    assert_eq!(service.get("/v1/shop/estimates")["rounds"], 30);

    let paths = service.document["paths"].as_object().unwrap();
    let all = paths.iter().flat_map(|(path, methods)| {
        methods.as_object().unwrap().keys().map(move |method| (method.clone(), path.clone()))
    });
    assert_eq!(all.collect::<BTreeSet<_>>(), service.used);
}

/// The exported log is read by the lab: what it says was earned is what was given.
#[test]
fn the_exported_log_can_be_evaluated() {
    let served = Served::new(SERVICE);
    for i in 0..60 {
        let body = json!({"event": i.to_string(), "context": [f64::from(i % 7), 1.0], "actions": ["a", "b"]});
        assert_eq!(served.post("/v1/shop/decide", &body.to_string()).status, 200);
        // Every sixth reward is not given.
        if i % 6 > 0 {
            served.post("/v1/shop/reward", &json!({"event": i.to_string(), "reward": f64::from(i % 2)}).to_string());
        }
    }
    let log = served.get("/v1/shop/log");
    assert!(log.head.contains("application/x-ndjson"), "{}", log.head);
    let path = served.dir.path().join("export.jsonl");
    std::fs::write(&path, &log.body).unwrap();
    let target = Target::parse("uniform", &registry()).unwrap();
    let judged = evaluate(&registry(), &path, &[target], &Options::default(), &|_| ()).unwrap();
    assert_eq!((judged[0].log.rounds, judged[0].log.unrewarded), (50, 10));
    let estimates = served.get("/v1/shop/estimates").json();
    assert_eq!(estimates["earned"]["value"], judged[0].logged.value);
    let half = served.get("/v1/shop/log?after=55").text();
    assert!(half.lines().count() < log.text().lines().count() / 2 + 10);
}

#[test]
fn metrics_count_what_happened() {
    let served = Served::new(SERVICE);
    served.post("/v1/arms/decide", r#"{"event":"a","arms":[[1,0],[0,1]]}"#);
    served.post("/v1/arms/reward", r#"{"event":"a","reward":0.5}"#);
    served.post("/v1/arms/reward", r#"{"event":"b","reward":0.5}"#);
    let text = served.get("/metrics").text();
    for line in [
        "reluctant_decisions_total{policy=\"arms\"} 1",
        "reluctant_rewards_total{policy=\"arms\"} 1",
        "reluctant_reward_sum{policy=\"arms\"} 0.5",
        "reluctant_request_seconds_count{route=\"/v1/{policy}/reward\",status=\"404\"} 1",
        "reluctant_writer_groups_total 2",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
}

/// A request's id is taken over if it is plain, and made otherwise.
#[test]
fn answers_carry_the_id_of_their_request() {
    let served = Served::new(SERVICE);
    let given = common::request(served.address(), "GET", "/healthz", &[("X-Request-Id", "mine-17")], b"");
    assert!(given.head.contains("x-request-id: mine-17"), "{}", given.head);
    let made = served.get("/healthz");
    assert!(made.head.contains("x-request-id: "), "{}", made.head);
}

/// A stopped service keeps a snapshot, and the next one goes on from there.
#[test]
fn a_service_goes_on_where_it_stopped() {
    let mut served = Served::new(SERVICE);
    let body = r#"{"event":"a","arms":[[1,0],[0,1]]}"#;
    let first = served.post("/v1/arms/decide", body);
    let address = served.address();
    let state = served.running.take().unwrap().stop().unwrap().state(0).save().unwrap();
    assert!(std::net::TcpStream::connect(address).is_err());
    let config = common::config(served.dir.path(), SERVICE);
    let running = reluctant_serve::start(config, registry(), reluctant_serve::clock::Clock::Machine).unwrap();
    served.running = Some(running);
    assert_eq!(served.post("/v1/arms/decide", body).body, first.body);
    assert_eq!(served.get("/v1/arms/versions").json()["versions"].as_array().unwrap().len(), 1);
    assert_eq!(served.running.take().unwrap().stop().unwrap().state(0).save().unwrap(), state);
}

#[test]
fn a_port_that_is_taken_is_refused_and_the_store_not_touched() {
    let served = Served::new(SERVICE);
    let dir = tempfile::TempDir::new().unwrap();
    let text = SERVICE.replace("127.0.0.1:0", &served.address().to_string());
    let config = common::config(dir.path(), &text);
    let refused = reluctant_serve::start(config, registry(), reluctant_serve::clock::Clock::Machine).unwrap_err();
    assert!(refused.to_string().contains("another process listens there"), "{refused}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}
