//! What is done to a policy itself: pause, resume, go back to a version. It is logged like everything else.

use super::{Answer, Engine, Refusal};
use crate::event::Fact;
use crate::store::Version;

/// A version that can be gone back to.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// The snapshot.
    pub version: Version,
    /// Whether the policy is at it.
    pub current: bool,
}

impl Engine {
    /// Learns nothing until it is resumed; a policy that is paused already stays so.
    pub fn pause(&mut self, policy: usize) -> Answer<()> {
        self.order(policy, true)
    }

    /// Learns again.
    pub fn resume(&mut self, policy: usize) -> Answer<()> {
        self.order(policy, false)
    }

    fn order(&mut self, policy: usize, pause: bool) -> Answer<()> {
        if self.live[policy].state.paused == pause {
            return Ok(());
        }
        let fact = if pause { Fact::Pause } else { Fact::Resume };
        Ok(self.log(policy, String::new(), fact, &[]).map(drop)?)
    }

    /// The versions that are kept, the latest first.
    pub fn versions(&mut self, policy: usize) -> Answer<Vec<Listed>> {
        let live = &self.live[policy];
        let current = live.state.version;
        let all = self.store.versions(live.id)?;
        Ok(all.into_iter().map(|version| Listed { version, current: version.version == current }).collect())
    }

    /// Keeps a snapshot now, and gives its version.
    pub fn keep_version(&mut self, policy: usize) -> Answer<u64> {
        if self.live[policy].state.n > self.live[policy].saved {
            self.save_version(policy)?;
        }
        Ok(self.live[policy].state.version)
    }

    /// Goes back to a kept version, or to 0, before anything was learnt. What was logged since stays in the log.
    pub fn rollback(&mut self, policy: usize, version: u64) -> Answer<u64> {
        let kept = self.store.versions(self.live[policy].id)?;
        let found = kept.iter().find(|kept| kept.version == version).map(|kept| kept.n);
        let Some(to) = found.or((version == 0).then_some(0)) else {
            let message = format!("version {version} is not kept; the versions that are can be listed");
            return Err(Refusal::Unknown(message));
        };
        Ok(self.log(policy, String::new(), Fact::Rollback { to }, &[])?)
    }
}
