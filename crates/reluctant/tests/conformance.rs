//! Every registered policy × sample configuration × check, each under its own name, such as
//! `ofu-relu/gap/select_does_not_learn` or, in contexts, `ofu-relu/default-contexts/select_does_not_learn`. An excused
//! check is run too, and must still fail for its exception to stand.

use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use reluctant::conformance::{CHECKS, EXCEPTIONS, Outcome, Subject, run};
use reluctant::policy::{BUILT_IN, Contexts, Sample};
use reluctant::{Literal, Registry};

fn main() {
    let mut trials = Vec::new();
    let registry = Registry::default();
    for entry in BUILT_IN {
        trials.push(Trial::test(format!("{}/has_samples", entry.name), move || has_samples(entry.samples.len())));
        // Every sample on vectors, and the first one in contexts too: with a model an action, and joined with features.
        let itself = entry.sphere && matches!(entry.contexts, Contexts::Itself);
        let registered = |sample| Subject::registered(&registry, entry, sample);
        let in_contexts = entry.samples.iter().take(1).flat_map(|sample| {
            [registered(sample).in_contexts(0), registered(sample).in_contexts(2)]
                .map(|subject| subject.on_sphere(itself))
        });
        let by_chance = entry.samples.iter().take(1).flat_map(|sample| {
            let sample = leaves_to_chance(sample);
            let subject = Subject::registered(&registry, entry, &sample);
            [subject, Subject::registered(&registry, entry, &sample).in_contexts(0).on_sphere(itself)]
        });
        let subjects: Vec<Subject> = entry.samples.iter().map(registered).chain(in_contexts).chain(by_chance).collect();
        for subject in subjects.into_iter().map(Arc::new) {
            // Whoever leaves a fifth of its choices to chance learns as well, but pays for it.
            let pays = subject.name().contains("/chance");
            for check in CHECKS.iter().filter(|check| !pays || check.name != "beats_uniform") {
                let name = format!("{}/{}", subject.name(), check.name);
                let kind = if subject.excused(check).is_some() { "excused" } else { "" };
                let subject = Arc::clone(&subject);
                let test = move || match run(&subject, check) {
                    Outcome::Passed | Outcome::Excused { .. } => Ok(()),
                    Outcome::Failed(seen) => Err(Failed::from(format!("{} ({})", seen, check.why))),
                };
                trials.push(Trial::test(name, test).with_kind(kind));
            }
        }
    }
    trials.push(Trial::test("exceptions_name_what_exists", exceptions_name_what_exists));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// The same configuration with a share of its choices left to chance.
fn leaves_to_chance(sample: &Sample) -> Sample {
    let settings = [sample.settings, &[("chance", Literal::Real(0.2))]].concat();
    Sample { name: "chance", settings: settings.leak(), ..*sample }
}

/// A policy without a sample configuration would slip past the suite.
fn has_samples(count: usize) -> Result<(), Failed> {
    if count > 0 { Ok(()) } else { Err("the policy has no sample configuration".into()) }
}

fn exceptions_name_what_exists() -> Result<(), Failed> {
    for known in EXCEPTIONS {
        let policy = BUILT_IN.iter().any(|entry| entry.name == known.policy);
        let check = CHECKS.iter().any(|check| check.name == known.check);
        if !(policy && check && !known.reason.is_empty()) {
            return Err(format!("{known:?} names no policy, no check or no reason").into());
        }
    }
    Ok(())
}
