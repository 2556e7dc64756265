//! What is learnt from a log, in folds: each round is judged by policies and models that have not seen it.

use rayon::prelude::*;
use reluctant::{Key, Policy, Registry, Scratch, Space};

use super::sphere::{ANGLES, Aim, Kernel, predicted};
use super::{Options, Target, Term};
use crate::error::{LabError, Result};
use crate::log::{Offered, Record};

/// A policy in each fold, or one for all if it does not learn.
enum Judge {
    Fixed(Box<dyn Policy>),
    Learnt(Vec<Box<dyn Policy>>),
}

impl Judge {
    fn of(&self, fold: usize) -> &dyn Policy {
        match self {
            Judge::Fixed(policy) => policy.as_ref(),
            Judge::Learnt(policies) => policies[fold].as_ref(),
        }
    }
}

/// The policies to evaluate and the models of rewards.
pub(super) struct Folds {
    folds: usize,
    key: Key,
    model: Option<Judge>,
    targets: Vec<Judge>,
    /// Where the policies go on the sphere, fold by fold, once they have learnt.
    aims: Vec<Vec<Aim>>,
    kernels: Vec<Kernel>,
}

/// A policy does not fit the log.
fn misfit(cause: reluctant::Error) -> LabError {
    LabError::Misfit(cause.to_string())
}

impl Folds {
    pub(super) fn new(registry: &Registry, space: Space, targets: &[Target], options: &Options) -> Result<Self> {
        let (folds, key) = (options.folds.unwrap_or(2).max(2), Key::new(options.seed));
        let learnt = |kind: &str, settings: &reluctant::Settings| {
            let build = |_| registry.build_policy(kind, space, settings, key.branch("fold"));
            (0..folds).map(build).collect::<reluctant::Result<Vec<_>>>().map(Judge::Learnt).map_err(misfit)
        };
        let model = options.model.as_ref().map(|(kind, settings)| learnt(kind, settings)).transpose()?;
        let mut judges = Vec::new();
        for target in targets {
            judges.push(match target {
                Target::Saved { snapshot, .. } => {
                    let policy = registry.restore(snapshot.clone()).map_err(misfit)?;
                    if policy.space() != space {
                        let message =
                            format!("the policy was made for {:?}, and the log has {space:?}", policy.space());
                        return Err(LabError::Misfit(message));
                    }
                    Judge::Fixed(policy)
                }
                Target::Learning { kind, settings, .. } => learnt(kind, settings)?,
            });
        }
        Ok(Folds { folds, key, model, targets: judges, aims: Vec::new(), kernels: Vec::new() })
    }

    /// All folds learn from rounds, but each not from its own; `first` is the number of the first of them.
    pub(super) fn learn(&mut self, records: &[Record], first: u64) -> Result<()> {
        let mut learners: Vec<(usize, &mut Box<dyn Policy>)> = Vec::new();
        for judge in self.model.iter_mut().chain(&mut self.targets) {
            if let Judge::Learnt(policies) = judge {
                learners.extend(policies.iter_mut().enumerate());
            }
        }
        let folds = self.folds as u64;
        let learn = |(fold, policy): (usize, &mut Box<dyn Policy>)| -> reluctant::Result<()> {
            for (_, record) in (first..).zip(records).filter(|(number, _)| number % folds != fold as u64) {
                policy.learn(record.offer.action(record.chosen), record.reward)?;
            }
            Ok(())
        };
        learners.into_par_iter().with_max_len(1).try_for_each(learn).map_err(misfit)
    }

    /// Where the policies go on the sphere of `dim`-dimensional space, now that they have learnt.
    pub(super) fn aim(&mut self, dim: usize, options: &Options) -> Result<()> {
        self.kernels = ANGLES.iter().map(|angle| Kernel::new(*angle, dim)).collect();
        let aim = |target: &Judge, fold: usize| {
            let model = self.model.as_ref().map(|model| model.of(fold));
            Aim::of(target.of(fold), model, options.draws.max(1), self.key.branch("choice").round(fold as u64))
        };
        let aims = |target| (0..self.folds).map(|fold| aim(target, fold)).collect::<reluctant::Result<Vec<_>>>();
        self.aims = self.targets.iter().map(aims).collect::<reluctant::Result<_>>().map_err(misfit)?;
        Ok(())
    }

    /// What the estimators see of round `number`, for each policy, and on the sphere for each angle; a sentence if it
    /// cannot be said.
    pub(super) fn terms(
        &self,
        number: u64,
        record: &Record,
        options: &Options,
        scratch: &mut Scratch,
    ) -> std::result::Result<Vec<Term>, String> {
        let Some(propensity) = record.propensity else {
            return Err(
                "the propensity is missing, and without the probability of what was chosen a log says nothing \
                        of other policies"
                    .to_owned(),
            );
        };
        let fold = (number % self.folds as u64) as usize;
        let said = |cause: reluctant::Error| cause.to_string();
        if let Offered::Sphere { point, .. } = &record.offer {
            let model = self.model.as_ref().map(|model| model.of(fold));
            let mean = predicted(model, point.len(), point, scratch).map_err(said)?[0];
            let aims = self.aims.iter();
            return Ok(aims.flat_map(|aims| aims[fold].terms(record, point, mean, &self.kernels)).collect());
        }
        let offer = record.offer.as_offer().map_err(said)?;
        let mut means = vec![0.0; record.offer.count()];
        if let Some(model) = &self.model {
            model.of(fold).means(offer, scratch).map_err(said)?;
            means.iter_mut().zip(scratch.scores()).for_each(|(mean, score)| *mean = score.mean);
        }
        let mut probabilities = Vec::new();
        let term = |target: &Judge| {
            let key = self.key.branch("choice").round(number.wrapping_mul(options.draws.max(1)));
            target
                .of(fold)
                .distribution(offer, options.draws, key, scratch, &mut probabilities)
                .map_err(|cause| cause.to_string())?;
            Ok(Term {
                probability: probabilities[record.chosen],
                propensity,
                certain: propensity >= 1.0 && record.propensity_error == 0.0,
                reward: record.reward,
                predicted: means[record.chosen],
                expected: means.iter().zip(&probabilities).map(|(mean, p)| mean * p).sum(),
            })
        };
        self.targets.iter().map(term).collect()
    }
}
