//! One game: a reward in the plane, and players that learn it.

use reluctant::rng::{normal, uniform};
use reluctant::{Key, Offer, Policy, Purpose, ReluNet, Result, Scratch, Settings, policy};

/// Arms on offer in a round.
pub const ARMS: usize = 100;

/// Points on each side of the pictures of truth and belief.
pub const SIDE: usize = 33;

/// What the policies can be told wrongly or not at all, and the demo tells right: the noise.
pub const SIGMA: f64 = 0.1;

/// A policy and what has become of it.
#[derive(Debug)]
struct Player {
    policy: Box<dyn Policy>,
    /// What was lost so far.
    regret: f64,
    /// The arm of the last round, two numbers.
    last: [f64; 2],
}

/// A reward and its players.
#[derive(Debug)]
pub struct Game {
    truth: ReluNet,
    players: Vec<Player>,
    key: Key,
    round: u64,
    /// The arms of the last round, row after row.
    arms: Vec<f64>,
    scratch: Scratch,
}

/// The names of the policies that can play: all that choose among arms by what they have seen.
pub fn names() -> Vec<&'static str> {
    policy::BUILT_IN.iter().map(|entry| entry.name).filter(|name| *name != "oracle").collect()
}

impl Game {
    /// A game on Σ sᵢ·max(0, θᵢ·x), with one player for each name. `neurons` holds θ and s, three numbers a neuron.
    pub fn new(seed: u64, neurons: &[f64], players: &[&str]) -> Result<Self> {
        let (mut theta, mut signs) = (Vec::new(), Vec::new());
        for neuron in neurons.chunks_exact(3) {
            theta.extend_from_slice(&neuron[..2]);
            signs.push(if neuron[2] < 0.0 { -1.0 } else { 1.0 });
        }
        let truth = ReluNet::with_signs(2, theta, signs)?;
        let key = Key::new(seed);
        let players = players.iter().map(|name| player(name, &truth, key)).collect::<Result<_>>()?;
        Ok(Game { truth, players, key, round: 0, arms: Vec::new(), scratch: Scratch::default() })
    }

    /// Plays a round: every player meets the same arms and the same noise.
    pub fn play(&mut self) -> Result<()> {
        self.round += 1;
        let key = self.key.round(self.round);
        let mut stream = key.purpose(Purpose::Arms).stream();
        self.arms = (0..ARMS).flat_map(|_| disc(&mut stream)).collect();
        let noise = SIGMA * normal(&mut key.purpose(Purpose::Noise).stream());
        let best = self.arms.chunks_exact(2).map(|x| self.truth.value(x)).fold(f64::NEG_INFINITY, f64::max);
        for player in &mut self.players {
            let choice = player.policy.select(Offer::finite(2, &self.arms)?, key, &mut self.scratch)?;
            let value = self.truth.value(&choice.action);
            player.regret += best - value;
            player.last = [choice.action[0], choice.action[1]];
            player.policy.update(&choice, value + noise)?;
        }
        Ok(())
    }

    /// How many rounds were played.
    pub fn round(&self) -> u64 {
        self.round
    }

    /// The arms of the last round, two numbers each.
    pub fn arms(&self) -> &[f64] {
        &self.arms
    }

    /// What player `i` has lost, and its last arm.
    pub fn standing(&self, i: usize) -> Option<[f64; 3]> {
        self.players.get(i).map(|player| [player.regret, player.last[0], player.last[1]])
    }

    /// The mean rewards on the grid.
    pub fn truth(&self) -> Vec<f64> {
        grid().chunks_exact(2).map(|x| self.truth.value(x)).collect()
    }

    /// What player `i` expects on the grid.
    pub fn belief(&mut self, i: usize) -> Result<Vec<f64>> {
        let Some(player) = self.players.get(i) else { return Ok(Vec::new()) };
        player.policy.score(Offer::finite(2, &grid())?, &mut self.scratch)?;
        Ok(self.scratch.scores().iter().map(|score| score.mean).collect())
    }
}

/// A player that is told what its policy asks for and the demo knows.
fn player(name: &str, truth: &ReluNet, key: Key) -> Result<Player> {
    let entry = policy::find(name)?;
    let has = |param: &str| entry.params.iter().any(|known| known.name == param);
    let mut settings = Settings::new();
    if has("sigma") {
        settings.set("sigma", SIGMA);
    }
    // `plausible` finds the number of neurons out; the others must be told.
    if has("neurons") && name != "plausible" {
        settings.set("neurons", truth.neurons() as u64);
    }
    if has("signs") {
        settings.set("signs", "free");
    }
    Ok(Player { policy: policy::build(name, 2, &settings, key)?, regret: 0.0, last: [0.0; 2] })
}

/// A point of the unit disc, uniformly.
fn disc(stream: &mut reluctant::Stream) -> [f64; 2] {
    loop {
        let x = [2.0 * uniform(stream) - 1.0, 2.0 * uniform(stream) - 1.0];
        if x[0] * x[0] + x[1] * x[1] <= 1.0 {
            return x;
        }
    }
}

/// The points of the pictures, row after row from the top left.
fn grid() -> Vec<f64> {
    let at = |i: usize| 2.0 * i as f64 / (SIDE - 1) as f64 - 1.0;
    (0..SIDE * SIDE).flat_map(|i| [at(i % SIDE), -at(i / SIDE)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: [f64; 6] = [1.0, 0.0, 1.0, 0.0, 1.0, 1.0];

    #[test]
    fn every_policy_plays_and_believes() {
        for name in names() {
            let mut game = Game::new(1, &TWO, &[name]).expect(name);
            for _ in 0..5 {
                game.play().expect(name);
            }
            assert_eq!(game.belief(0).expect(name).len(), SIDE * SIDE, "{name}");
        }
    }

    #[test]
    fn who_learns_loses_less_than_chance() {
        let mut game = Game::new(1, &TWO, &["plausible", "uniform"]).expect("a game");
        for _ in 0..60 {
            game.play().expect("a round");
        }
        let lost = |i: usize| game.standing(i).expect("a player")[0];
        assert!(lost(0) < 0.2 * lost(1), "{} against {}", lost(0), lost(1));
    }

    #[test]
    fn the_truth_is_where_the_grid_says() {
        let game = Game::new(1, &TWO, &[]).expect("a game");
        let truth = game.truth();
        // The corners: top left (-1, 1), top right (1, 1), bottom right (1, -1).
        assert_eq!([truth[0], truth[SIDE - 1], truth[SIDE * SIDE - 1]], [1.0, 2.0, 1.0]);
    }

    #[test]
    fn a_reward_of_nothing_and_an_unknown_policy_are_refused() {
        assert!(Game::new(1, &[], &["uniform"]).is_err());
        assert!(Game::new(1, &TWO, &["unknown"]).is_err());
        assert!(Game::new(1, &[f64::NAN, 0.0, 1.0], &["uniform"]).is_err());
    }
}
