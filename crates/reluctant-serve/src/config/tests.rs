//! The sentences about a file that is wrong.

use std::path::Path;

use reluctant::{Registry, Space};

use super::{Config, Mode, StoreSpec};

const GOOD: &str = "store = \"a.db\"\n[[policy]]\nname = \"p\"\nkind = \"oful\"\ndim = 2\n";

fn said(text: &str) -> String {
    Config::parse(text, Path::new("/etc/service.toml"), &Registry::default()).map(drop).unwrap_err().to_string()
}

#[test]
fn a_good_file_is_read() {
    let text = "store = \"a.db\"\nsnapshot_every = 7\n[limits]\nrate = 2.5\ntimeout = 0.5\n[[policy]]\nname = \"p\"\n\
                kind = \"lin-ts\"\ncontext = 3\naction_features = 2\nmode = \"apprentice\"\nreward_wait = 1.5\n\
                default_reward = -1\nlambda = 2\n";
    let config = Config::parse(text, Path::new("/etc/service.toml"), &Registry::default()).unwrap();
    assert_eq!(config.store, StoreSpec::File("/etc/a.db".into()));
    assert_eq!((config.snapshot_every, config.limits.rate), (7, 2.5));
    let policy = &config.policies[0];
    assert_eq!((policy.space, policy.mode), (Space::Contexts { dim: 3, action_dim: 2 }, Mode::Apprentice));
    assert_eq!((policy.reward_wait, policy.default_reward), (Some(1500), Some(-1.0)));
}

#[test]
fn every_mistake_is_named_with_its_line() {
    for (text, sentence) in [
        ("store = ", "/etc/service.toml:1: this is not TOML"),
        ("", "store is missing: the path of a file, or postgres://…"),
        ("store = \"a.db\"", "there is no policy: write [[policy]] at least once"),
        ("store = \"mysql://x\"", ":1: store is 'mysql://x': it must be the path of a file"),
        (&format!("listen = \"here\"\n{GOOD}"), ":1: listen is 'here': write an address and a port"),
        (&format!("listen = \"0.0.0.0:80\"\n{GOOD}"), "without [tokens] the service listens only to its own machine"),
        (&format!("colour = 1\n{GOOD}"), ":1: unknown key of the service 'colour'"),
        (&format!("{GOOD}[limits]\nbody = 0\n"), ":7: body = 0 is out of range"),
        (&format!("{GOOD}[tokens]\n"), "[tokens] names no token"),
        (&format!("{GOOD}[tokens]\nadmin = \"secret\"\n"), ":7: admin must be 'sha256:' and the 64 hexadecimal digits"),
        (&GOOD.replace("oful", "ofull"), ":4: unknown policy 'ofull'; did you mean 'oful'?"),
        (&GOOD.replace("oful", "oracle"), ":4: oracle reads the mean rewards"),
        (&GOOD.replace("dim = 2", ""), "give either dim, the dimension of arms, or context"),
        (&GOOD.replace("dim = 2", "dim = 0"), ":5: dim = 0 is out of range"),
        (&GOOD.replace("\"p\"", "\"p/q\""), ":3: name is 'p/q': it may have letters"),
        (&GOOD.replace("\"p\"", "\"policies\""), ":3: name is 'policies': that address is the list"),
        (&format!("{GOOD}lamda = 1\n"), ":6: unknown parameter of oful 'lamda'; did you mean 'lambda'?"),
        (&format!("{GOOD}mode = \"offline\"\n"), ":6: unknown mode 'offline'"),
        (&format!("{GOOD}default_reward = 0\n"), ":6: default_reward needs reward_wait"),
        (&format!("{GOOD}[[policy]]\nname = \"p\"\nkind = \"oful\"\ndim = 2\n"), "two policies are called 'p'"),
    ] {
        let said = said(text);
        assert!(said.contains(sentence), "'{sentence}' is not in: {said}");
        assert!(said.starts_with("/etc/service.toml"), "{said}");
    }
}
