//! What the engine knows, as JSON.

use reluctant::Space;
use reluctant_lab::log::Offered;
use serde_json::{Map, Value, json};

use crate::config::PolicySpec;
use crate::engine::{Decided, Explained, Listed, Rewarded};
use crate::event::Decision;
use crate::fold::State;
use crate::offer::Offering;
use crate::tally::Stretch;

/// The answer to a request for a decision: the same whenever it is asked for.
pub(super) fn decided(policy: &str, Decided { n, id, decision }: &Decided) -> Value {
    let mut answer = json!({
        "event": id,
        "number": n,
        "policy": policy,
        "action": action(decision),
        "propensity": decision.propensity,
        "propensity_error": decision.propensity_error,
        "mean": decision.mean,
        "width": decision.width,
        "version": decision.version,
    });
    if let Some(agreed) = decision.agreed {
        answer["agreed"] = agreed.into();
    }
    answer
}

fn action(decision: &Decision) -> Value {
    let mut action = Map::new();
    if let Some(index) = decision.index {
        action.insert("index".to_owned(), index.into());
    }
    match &decision.name {
        Some(name) => action.insert("name".to_owned(), name.as_str().into()),
        None => action.insert("vector".to_owned(), decision.action.as_slice().into()),
    };
    action.into()
}

/// The answer to a reward: the same whenever it is handed in.
pub(super) fn rewarded(Rewarded { n, id, reward }: &Rewarded) -> Value {
    json!({ "event": id, "number": n, "reward": reward.value, "status": reward.fate })
}

/// A policy in short.
pub(super) fn brief(spec: &PolicySpec, state: &State) -> Value {
    json!({
        "name": spec.name,
        "kind": spec.kind,
        "mode": spec.mode.name(),
        "paused": state.paused,
        "version": state.version,
        "decisions": state.tally.decisions,
        "rewards": state.tally.rewards,
    })
}

/// All that is known of a policy in numbers.
pub(super) fn state(spec: &PolicySpec, state: &State) -> Value {
    let tally = &state.tally;
    let counted = tally.rewards - tally.late + tally.defaults;
    let mut all = brief(spec, state);
    let mut shares: Vec<(&String, &u64)> = tally.shares.iter().collect();
    shares.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
    let rest = json!({
        "space": space(spec.space),
        "settings": spec.settings,
        "seed": spec.seed,
        "reward_wait": spec.reward_wait.map(|ms| ms as f64 / 1e3),
        "default_reward": spec.default_reward,
        "events": state.n,
        "learned": tally.learned,
        "defaults": tally.defaults,
        "late": tally.late,
        "mean_reward": ratio(tally.reward_sum, counted),
        "agreement": ratio(tally.agreed as f64, tally.compared),
        "shares": shares.iter().map(|(name, count)| json!({"action": name, "decisions": count})).collect::<Vec<_>>(),
        "others": tally.others,
        "course": tally.course.stretches.iter().map(stretch).collect::<Vec<_>>(),
    });
    if let (Some(all), Value::Object(rest)) = (all.as_object_mut(), rest) {
        all.extend(rest);
    }
    all
}

fn space(space: Space) -> Value {
    match space {
        Space::Vectors { dim } => json!({ "dim": dim }),
        Space::Contexts { dim, action_dim } => json!({ "context": dim, "action_features": action_dim }),
    }
}

fn stretch(stretch: &Stretch) -> Value {
    json!({
        "time": stretch.time,
        "decisions": stretch.decisions,
        "rewards": stretch.rewards,
        "mean_reward": ratio(stretch.reward_sum, stretch.rewards),
        "mean_width": ratio(stretch.width_sum, stretch.decisions),
        "mean_propensity": ratio(stretch.propensity_sum, stretch.decisions),
        "agreement": ratio(stretch.agreed as f64, stretch.decisions),
    })
}

fn ratio(sum: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

/// A decision with what came of it.
pub(super) fn explained(policy: &str, found: &Explained) -> Value {
    let decided_now = Decided { n: found.n, id: found.id.clone(), decision: found.decision.clone() };
    let mut all = decided(policy, &decided_now);
    let rewards = found.rewards.iter().map(|reward| json!({ "reward": reward.value, "status": reward.fate }));
    all["time"] = found.time.into();
    all["rewards"] = rewards.collect::<Vec<_>>().into();
    all["explanation"] = json!({ "version": found.version, "of": found.explanation });
    if let Some(offering) = &found.offering {
        all["offer"] = offer(offering);
    }
    all
}

/// What was on offer, as a request says it and as a log does.
pub(super) fn offer(offering: &Offering) -> Value {
    let rows = |columns: usize, data: &[f64]| data.chunks(columns.max(1)).map(Value::from).collect::<Vec<_>>();
    match offering {
        Offering::Sphere { .. } | Offering::Listed(Offered::Sphere { .. }) => json!({ "arms": "sphere" }),
        Offering::Listed(Offered::Arms { dim, data }) => json!({ "arms": rows(*dim, data) }),
        Offering::Listed(Offered::Context { x, names, features }) => {
            let names_only: Vec<&str> = names.iter().map(|name| &**name).collect();
            let mut all = json!({ "context": x, "actions": names_only });
            if !features.is_empty() {
                all["features"] = rows(features.len() / names.len().max(1), features).into();
            }
            all
        }
    }
}

/// The versions that are kept.
pub(super) fn versions(policy: &str, version: u64, all: &[Listed]) -> Value {
    let one = |listed: &Listed| {
        json!({
            "version": listed.version.version,
            "events": listed.version.n,
            "time": listed.version.time,
            "current": listed.current,
        })
    };
    json!({ "policy": policy, "version": version, "versions": all.iter().map(one).collect::<Vec<_>>() })
}
