//! The page in a real Chromium that clicks through it: by mouse, by keyboard, on a phone, in the dark.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says best what it expects by failing where it is not met"
)]

mod common;

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use common::{SERVICE, Served};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A browser that is told what to do through two pipes, one JSON message after the other.
struct Browser {
    _dir: TempDir,
    child: Child,
    to: File,
    from: BufReader<File>,
    session: Option<String>,
    count: u64,
}

impl Browser {
    /// Starts one; `None`, with a sentence, where Chromium is not installed.
    fn start() -> Option<Self> {
        if !Command::new("sh").args(["-c", "command -v chromium"]).output().is_ok_and(|found| found.status.success()) {
            println!("left out: Chromium is not installed (Debian's package chromium)");
            return None;
        }
        let dir = TempDir::new().unwrap();
        let [to, from] = ["to", "from"].map(|name| dir.path().join(name));
        assert!(Command::new("mkfifo").args([&to, &from]).status().unwrap().success());
        let script = "exec chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
                      --user-data-dir=\"$1/profile\" --remote-debugging-pipe 3<\"$1/to\" 4>\"$1/from\"";
        let child = Command::new("bash")
            .args(["-c", script, "chromium"])
            .arg(dir.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (to, from) = (File::create(to).unwrap(), BufReader::new(File::open(from).unwrap()));
        Some(Browser { _dir: dir, child, to, from, session: None, count: 0 })
    }

    fn tell(&mut self, method: &str, params: Value) -> Value {
        self.try_tell(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn try_tell(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.count += 1;
        let mut message = json!({ "id": self.count, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut reply = Vec::new();
            assert!(self.from.read_until(0, &mut reply).unwrap() > 0, "Chromium is gone");
            reply.pop();
            let reply: Value = serde_json::from_slice(&reply).unwrap();
            if reply["id"] == self.count {
                let error = reply["error"].clone();
                return if error.is_null() { Ok(reply["result"].clone()) } else { Err(error) };
            }
        }
    }

    fn open(&mut self, address: &str) {
        let target = self.tell("Target.createTarget", json!({ "url": address }))["targetId"].clone();
        let attached = self.tell("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        self.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
    }

    /// The value of an expression in the page.
    fn see(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let found = loop {
            match self.try_tell("Runtime.evaluate", params.clone()) {
                Ok(found) => break found,
                // The page was not there yet, and what was asked went with what stood in its place.
                Err(error) if error["message"].as_str().is_some_and(|said| said.contains("context")) => {}
                Err(error) => panic!("{expression}: {error}"),
            }
        };
        assert!(found["exceptionDetails"].is_null(), "{expression}: {found}");
        found["result"]["value"].clone()
    }

    /// Waits until a condition holds in the page; gives up after twenty seconds.
    fn until(&mut self, condition: &str) {
        let expression = format!(
            "new Promise(done => {{ const began = Date.now(); const look = () => {{ \
             if ((() => {{ try {{ return {condition} }} catch {{ return false }} }})()) done(true); \
             else if (Date.now() - began > 20000) done(document.body.innerText); else setTimeout(look, 30); }}; \
             look(); }})"
        );
        let found = self.see(&expression);
        assert_eq!(found, true, "{condition} does not come true; the page says: {found}");
    }

    fn press(&mut self, key: &str, code: u32) {
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" && key == "Enter" { "\r" } else { "" };
            let params = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text });
            self.tell("Input.dispatchKeyEvent", params);
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn play(served: &Served) {
    for i in 0..20 {
        let offer =
            json!({ "event": format!("e{i}"), "context": [f64::from(i) / 10.0, 1.0], "actions": ["tea", "coffee"] });
        assert_eq!(served.post("/v1/shop/decide", &offer.to_string()).status, 200);
        let reward = json!({ "event": format!("e{i}"), "reward": f64::from(i % 2) });
        assert_eq!(served.post("/v1/shop/reward", &reward.to_string()).status, 200);
    }
}

#[test]
fn a_person_can_use_the_page() {
    let Some(mut browser) = Browser::start() else { return };
    let served = Served::new(SERVICE);
    play(&served);
    browser.open(&format!("http://{}/", served.address()));
    browser.until("document.querySelectorAll('#policy option').length === 3");
    browser.see("{ const s = document.getElementById('policy'); s.value = 'shop'; s.onchange(); }");
    browser.until("document.getElementById('facts').innerText.includes('20')");
    browser.until("document.querySelectorAll('#decisions tr').length === 12");
    browser.until("document.querySelectorAll('#shares .bar').length === 2");
    for chart in ["reward", "width", "propensity"] {
        browser.until(&format!("document.querySelector('#{chart} polyline') !== null"));
    }
    // Why, by a click.
    browser.see("document.querySelector('#decisions button').click()");
    browser.until("document.getElementById('why').innerText.includes('Event e19')");
    // What it is worth.
    browser.see("document.getElementById('estimate').click()");
    browser.until("document.getElementById('estimates').innerText.includes('95 %')");
    // Keep a version, learn something, and go back.
    browser.see("document.getElementById('keep').click()");
    browser.until("document.getElementById('versions').innerText.includes('current')");
    served.post("/v1/shop/decide", r#"{"event":"more","context":[1,1],"actions":["tea","coffee"]}"#);
    served.post("/v1/shop/reward", r#"{"event":"more","reward":1}"#);
    browser.until("document.querySelector('#versions button') !== null");
    browser.see("window.confirm = () => true; document.querySelector('#versions button').click()");
    browser.until("document.getElementById('facts').innerText.includes('43')");
    assert_eq!(served.get("/v1/shop").json()["version"], 43);
    // Pause by keyboard: the button takes the focus, and Enter presses it.
    browser.see("document.getElementById('pause').focus()");
    browser.press("Enter", 13);
    browser.until("document.getElementById('pause').textContent === 'Learn again'");
    assert_eq!(served.get("/v1/shop").json()["paused"], true);
    assert_eq!(
        browser.see("[...document.querySelectorAll('button, select, input')].every(e => e.tabIndex === 0)"),
        true
    );
    assert_eq!(browser.see("document.getElementById('trouble').textContent"), "");
    on_a_phone_in_the_dark(&mut browser);
    let ours = "r => r.name.startsWith(location.origin) || r.name.startsWith('data:')";
    let all = format!("performance.getEntriesByType('resource').every({ours})");
    assert_eq!(browser.see(&all), true, "something comes from elsewhere");
}

fn on_a_phone_in_the_dark(browser: &mut Browser) {
    let background = "getComputedStyle(document.body).backgroundColor";
    let light = browser.see(background);
    let dark = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
    browser.tell("Emulation.setEmulatedMedia", dark);
    assert_ne!(browser.see(background), light);
    let phone = json!({ "width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": true });
    browser.tell("Emulation.setDeviceMetricsOverride", phone);
    browser.until("document.documentElement.scrollWidth <= 360");
}

#[test]
fn the_page_asks_for_a_token_where_one_is_needed() {
    let Some(mut browser) = Browser::start() else { return };
    let hash = {
        use sha2::{Digest, Sha256};
        Sha256::digest(b"rule-me").iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    let served = Served::new(&format!("{SERVICE}\n[tokens]\nadmin = \"sha256:{hash}\"\n"));
    browser.open(&format!("http://{}/", served.address()));
    browser.until("!document.getElementById('door').hidden && document.getElementById('all').hidden");
    browser.see("document.getElementById('token').value = 'rule-me'; document.querySelector('#login button').click()");
    browser.until("document.getElementById('door').hidden && !document.getElementById('all').hidden");
}
