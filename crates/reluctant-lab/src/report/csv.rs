//! `curves.csv` and `trials.csv`: every number behind the figures and the tables.
//!
//! Neither holds a time, so that both are byte for byte the same whenever the trials are. The column that names the
//! environment is called `panel`, as readers of these files expect it.

use super::Digest;

/// The statistics of each policy at each checkpoint. The interval's cells are empty if there is but one trial.
pub fn curves(digest: &Digest<'_>) -> Result<Vec<u8>, String> {
    write(|csv| {
        csv.write_record(["panel", "policy", "round", "mean", "lo95", "hi95", "median", "q10", "q90"])?;
        for environment in &digest.environments {
            for policy in &environment.policies {
                for (round, at) in environment.results.checkpoints.iter().zip(&policy.curve) {
                    let [lo, hi] = at.ci95().map_or_else(Default::default, |ci| ci.map(|bound| bound.to_string()));
                    csv.write_record([
                        environment.results.name.as_str(),
                        policy.label(),
                        &round.to_string(),
                        &at.mean.to_string(),
                        &lo,
                        &hi,
                        &at.median.to_string(),
                        &at.q10.to_string(),
                        &at.q90.to_string(),
                    ])?;
                }
            }
        }
        Ok(())
    })
}

/// Each trial's final regret and whether it still grows linearly.
pub fn trials(digest: &Digest<'_>) -> Result<Vec<u8>, String> {
    write(|csv| {
        csv.write_record(["panel", "policy", "trial", "regret", "linear"])?;
        for environment in &digest.environments {
            for policy in &environment.policies {
                for (trial, linear) in policy.policy.trials.iter().zip(&policy.linear) {
                    csv.write_record([
                        environment.results.name.as_str(),
                        policy.label(),
                        &trial.trial.to_string(),
                        &trial.total().to_string(),
                        &linear.to_string(),
                    ])?;
                }
            }
        }
        Ok(())
    })
}

fn write(fill: impl FnOnce(&mut csv::Writer<Vec<u8>>) -> csv::Result<()>) -> Result<Vec<u8>, String> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    fill(&mut csv).map_err(|error| error.to_string())?;
    csv.into_inner().map_err(|error| error.to_string())
}
