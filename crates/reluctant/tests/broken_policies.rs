//! Deliberately broken policies: the conformance suite must reject each of them, by exactly
//! the check that is meant for it.
//!
//! One honest policy (explore, then optimism on a ridge regression) with one fault at a time. Without a fault it passes
//! every check, so it is the fault that is found.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::borrow::Cow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use reluctant::action::check_observation;
use reluctant::choice::argmax;
use reluctant::conformance::{CHECKS, Outcome, Subject, run};
use reluctant::rng::{index, unit_vector};
use reluctant::{
    Action, Choice, Confidence, Ellipsoid, Error, Key, Offer, Policy, Result, Score, Scratch, Settings, Snapshot,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Fault {
    None,
    IndexOutOfRange,
    ActionIsNotTheRow,
    PropensityZero,
    SaysOneWhileExploring,
    TakesAnyDimension,
    NanOnZeroArms,
    PanicsOnSingleArm,
    ChoosesOnSphere,
    DrawsWithoutTheKey,
    ReadsTheScratch,
    LearnsOnlyAfterSelect,
    LearnsInSelect,
    CountsSelects,
    RefusesLateRewards,
    AbsorbsNan,
    CountsBeforeItRefuses,
    TakesHugeRewards,
    Overflows,
    HalfLearnsWhatItRefuses,
    NeverLearns,
    ForgetsOnSave,
    SavesRoundedNumbers,
    CannotBeRestored,
}

const CONFIDENCE: Confidence = Confidence { lambda: 0.1, sigma: 0.1, delta: 0.05, norm_bound: 1.0 };
const EXPLORE: u64 = 10;

#[derive(Debug, Serialize, Deserialize)]
struct Toy {
    fault: Fault,
    dim: usize,
    ellipsoid: Ellipsoid,
    rewards: u64,
    /// What a policy without the key draws from.
    salt: u64,
    /// Selects since the last reward.
    #[serde(skip)]
    selects: AtomicU64,
    #[serde(skip)]
    chosen: Mutex<Vec<Vec<f64>>>,
}

/// Stands for the clock, the address of an object and other things that differ from one policy to the next.
static CLOCK: AtomicU64 = AtomicU64::new(1);

impl Toy {
    fn new(fault: Fault, dim: usize) -> Self {
        let ellipsoid = Ellipsoid::ridge(dim, CONFIDENCE.lambda);
        let salt = if fault == Fault::DrawsWithoutTheKey { CLOCK.fetch_add(1, Ordering::Relaxed) } else { 0 };
        Toy { fault, dim, ellipsoid, rewards: 0, salt, selects: AtomicU64::new(0), chosen: Mutex::default() }
    }

    fn draw(&self, key: Key) -> Key {
        if self.fault == Fault::DrawsWithoutTheKey { Key::new(self.salt).trial(self.rewards) } else { key }
    }

    /// Late is what was chosen, but not last. Choices that nobody remembers are taken on trust.
    fn is_late(&self, action: &[f64]) -> bool {
        let chosen = self.chosen.lock().unwrap();
        chosen.last().is_some_and(|last| last != action) && chosen.iter().any(|past| past == action)
    }
}

impl Policy for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn select<'a>(&self, arms: Offer<'a>, key: Key, scratch: &mut Scratch) -> Result<Choice<'a>> {
        self.selects.fetch_add(1, Ordering::Relaxed);
        if self.fault != Fault::TakesAnyDimension {
            arms.expect_dim(self.dim)?;
        }
        if let (Fault::ChoosesOnSphere, Offer::Sphere { dim }) = (self.fault, arms) {
            let mut action = vec![0.0; dim];
            unit_vector(&mut key.stream(), &mut action);
            return Ok(Choice::point(action, Score::default()));
        }
        let rows = arms.rows("toy")?;
        if self.fault == Fault::PanicsOnSingleArm {
            // Compares the first two arms, as if there were always two.
            assert!(rows.len() > 1 || self.rewards < 3, "a second arm is expected");
        }
        let junk = scratch.scores().len() as u64;
        self.score(rows.into(), scratch)?;
        let mut choice = if self.exploring() {
            let salt = if self.fault == Fault::ReadsTheScratch { junk } else { 0 };
            let drawn = index(&mut self.draw(key).later(salt).stream(), rows.len());
            Choice::row(rows, drawn, scratch.scores()[drawn]).by_chance(1.0 / rows.len() as f64)
        } else {
            let best = argmax(scratch.scores().iter().map(Score::upper)).unwrap_or(0);
            Choice::row(rows, best, scratch.scores()[best])
        };
        self.chosen.lock().unwrap().push(choice.action.to_vec());
        match self.fault {
            Fault::IndexOutOfRange => choice.index = Some(rows.len()),
            Fault::ActionIsNotTheRow => choice.action = Cow::Owned(choice.action.iter().map(|x| 1.01 * x).collect()),
            Fault::PropensityZero => choice.propensity = Some(0.0),
            Fault::SaysOneWhileExploring => choice.propensity = Some(1.0),
            _ => {}
        }
        Ok(choice)
    }

    fn learn(&mut self, action: Action<'_>, reward: f64) -> Result<()> {
        let mut reward = reward;
        match self.fault {
            Fault::AbsorbsNan if reward.is_nan() => reward = 0.0,
            Fault::CountsBeforeItRefuses => self.rewards += 1,
            Fault::TakesHugeRewards if reward.abs() == 1e200 => reward = 1e100,
            _ => {}
        }
        let action = check_observation("toy", self.dim, action, reward)?;
        if self.fault == Fault::HalfLearnsWhatItRefuses && reward.abs() > 1e9 {
            self.rewards += 1;
            return Err(Error::out_of_range("the reward", reward, "at most 1e9"));
        }
        if self.fault == Fault::RefusesLateRewards && self.is_late(action) {
            return Err(Error::out_of_range("the action", "late", "the last choice"));
        }
        let asked = self.selects.swap(0, Ordering::Relaxed);
        if self.fault == Fault::CountsSelects {
            self.rewards += asked.saturating_sub(2);
        }
        if self.fault != Fault::CountsBeforeItRefuses {
            self.rewards += 1;
        }
        let deaf = self.fault == Fault::NeverLearns || self.fault == Fault::LearnsOnlyAfterSelect && asked == 0;
        if !deaf {
            self.ellipsoid.update(action, reward);
        }
        Ok(())
    }

    fn score(&self, offer: Offer<'_>, scratch: &mut Scratch) -> Result<()> {
        if self.fault != Fault::TakesAnyDimension {
            offer.expect_dim(self.dim)?;
        }
        let rows = offer.rows("toy")?;
        let mut radius = CONFIDENCE.radius(self.ellipsoid.log_det_ratio());
        if self.fault == Fault::LearnsInSelect {
            radius /= 1.0 + self.selects.load(Ordering::Relaxed) as f64;
        }
        let scores = scratch.scores_mut();
        scores.clear();
        scores.extend(rows.iter().map(|x| {
            let squared: f64 = x.iter().map(|v| v * v).sum();
            let mean = self.ellipsoid.mean(x);
            let mean = match self.fault {
                Fault::NanOnZeroArms => mean / squared,
                // Times one, as long as the fourth power is a number.
                Fault::Overflows if squared > 0.0 => mean * (squared * squared) / (squared * squared),
                _ => mean,
            };
            Score { mean, width: radius * self.ellipsoid.squared_width(x).sqrt() }
        }));
        Ok(())
    }

    fn exploring(&self) -> bool {
        self.rewards < EXPLORE
    }

    fn snapshot(&self) -> Result<Snapshot> {
        let mut snapshot = Snapshot::of("toy", self)?;
        match self.fault {
            Fault::ForgetsOnSave => snapshot.state["rewards"] = 0.into(),
            Fault::SavesRoundedNumbers => {
                for weight in snapshot.state["ellipsoid"]["weights"].as_array_mut().into_iter().flatten() {
                    *weight = f64::from(weight.as_f64().unwrap_or(0.0) as f32).into();
                }
            }
            _ => {}
        }
        Ok(snapshot)
    }
}

fn restore(snapshot: Snapshot) -> Result<Box<dyn Policy>> {
    let toy: Toy = serde_json::from_value(snapshot.state).map_err(|e| Error::Snapshot { reason: e.to_string() })?;
    if toy.fault == Fault::CannotBeRestored && toy.rewards > 0 {
        return Err(Error::Snapshot { reason: "only new policies are read".to_owned() });
    }
    Ok(Box::new(toy))
}

fn subject(fault: Fault) -> Subject {
    Subject::new(format!("{fault:?}"), move |space, _| Ok(Box::new(Toy::new(fault, space.dim()))), restore)
        .in_environment("linear-sphere", Settings::new().with("arms", 30u64))
}

/// The checks that `subject` does not pass.
fn failed(subject: &Subject) -> Vec<(&'static str, Outcome)> {
    let outcomes = CHECKS.iter().map(|check| (check.name, run(subject, check)));
    outcomes.filter(|(_, outcome)| *outcome != Outcome::Passed).collect()
}

fn rejected_by(check: &str, faults: &[Fault]) {
    for fault in faults {
        let failed = failed(&subject(*fault));
        let names: Vec<&str> = failed.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, [check], "{fault:?}: {failed:?}");
    }
}

#[test]
fn without_a_fault_every_check_is_passed() {
    assert_eq!(failed(&subject(Fault::None)), []);
}

#[test]
fn arm_in_range() {
    rejected_by("arm_in_range", &[Fault::ActionIsNotTheRow, Fault::PropensityZero]);
    // What is not on offer has no mean reward, so that its regret cannot be measured either.
    let failed = failed(&subject(Fault::IndexOutOfRange));
    let names: Vec<&str> = failed.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["arm_in_range", "beats_uniform"], "{failed:?}");
}

#[test]
fn propensities_match_frequencies() {
    rejected_by("propensities_match_frequencies", &[Fault::SaysOneWhileExploring]);
}

#[test]
fn wrong_dimension_refused() {
    rejected_by("wrong_dimension_refused", &[Fault::TakesAnyDimension]);
}

#[test]
fn degenerate_arms_stay_finite() {
    rejected_by("degenerate_arms_stay_finite", &[Fault::NanOnZeroArms]);
}

/// A panic is a failure like any other. This one also meets the single arms that [`arm_in_range`] offers.
#[test]
fn a_panic_is_a_failure() {
    let names: Vec<&str> = failed(&subject(Fault::PanicsOnSingleArm)).iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["arm_in_range", "degenerate_arms_stay_finite"]);
}

#[test]
fn sphere_as_declared() {
    rejected_by("sphere_as_declared", &[Fault::ChoosesOnSphere]);
    let boasts = subject(Fault::None).on_sphere(true);
    assert_eq!(failed(&boasts).iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["sphere_as_declared"]);
}

#[test]
fn same_key_same_history() {
    rejected_by("same_key_same_history", &[Fault::ReadsTheScratch]);
    // What does not depend on the key is not left to chance either.
    let names: Vec<&str> = failed(&subject(Fault::DrawsWithoutTheKey)).iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["propensities_match_frequencies", "same_key_same_history"]);
}

#[test]
fn replay_equals_live() {
    rejected_by("replay_equals_live", &[Fault::LearnsOnlyAfterSelect]);
}

#[test]
fn select_does_not_learn() {
    rejected_by("select_does_not_learn", &[Fault::LearnsInSelect, Fault::CountsSelects]);
}

#[test]
fn out_of_order_rewards_accepted() {
    rejected_by("out_of_order_rewards_accepted", &[Fault::RefusesLateRewards]);
}

#[test]
fn bad_observations_refused() {
    let faults = [Fault::AbsorbsNan, Fault::CountsBeforeItRefuses, Fault::TakesHugeRewards];
    rejected_by("bad_observations_refused", &faults);
}

#[test]
fn extreme_numbers_stay_finite() {
    rejected_by("extreme_numbers_stay_finite", &[Fault::Overflows, Fault::HalfLearnsWhatItRefuses]);
}

#[test]
fn beats_uniform() {
    rejected_by("beats_uniform", &[Fault::NeverLearns]);
}

#[test]
fn saved_goes_on_to_the_bit() {
    let faults = [Fault::ForgetsOnSave, Fault::SavesRoundedNumbers, Fault::CannotBeRestored];
    rejected_by("saved_goes_on_to_the_bit", &faults);
}

#[test]
fn an_exception_excuses_only_what_fails() {
    let beats_uniform = CHECKS.iter().find(|check| check.name == "beats_uniform").unwrap();
    let excused = subject(Fault::NeverLearns).except("beats_uniform", "it never learns");
    assert!(matches!(run(&excused, beats_uniform), Outcome::Excused { reason: "it never learns", .. }));
    let stale = subject(Fault::None).except("beats_uniform", "it never learns");
    assert!(matches!(run(&stale, beats_uniform), Outcome::Failed(_)));
}
