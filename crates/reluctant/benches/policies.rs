//! What a round costs: `select` and `update` of every registered policy over a grid of (arms, d, k), how the cost
//! grows, one fit of the estimator, and trials a second on one and two threads.
//!
//! `cargo bench -p reluctant --bench policies [-- NAME...]` for all policies, or some.
//!
//! Times are medians over rounds and depend on the machine; the exponents hardly do. An exponent is the slope of log
//! time against log size with everything else at the base of the grid. Where a size is small beside what a round costs
//! anyway, it is below its limit for large sizes.

mod floor;

use std::hint::black_box;
use std::time::{Duration, Instant};

use reluctant::estimate::{FitOptions, Samples, fit};
use reluctant::policy::{BUILT_IN, Entry, Policy};
use reluctant::rng::{normal, unit_vector};
use reluctant::{Key, Offer, Purpose, ReluNet, Result, RoundMemory, Scratch, Settings, env, play, policy};

/// The base of the grid, and the sizes that vary around it, one at a time.
const BASE: Size = Size { arms: 1000, dim: 2, neurons: 3 };
const ARMS: [usize; 4] = [250, 1000, 4000, 16_000];
const DIMS: [usize; 5] = [2, 5, 10, 20, 40];
const NEURONS: [usize; 4] = [3, 10, 20, 40];
/// The rounds at which growth in t is measured.
const ROUNDS: [u64; 4] = [100, 200, 400, 800];

/// Rounds that are measured, after those that make the policy leave its exploration.
const WARM_UP: u64 = 60;
const MEASURED: u64 = 120;
/// A configuration that takes longer than this is cut short.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, PartialEq)]
struct Size {
    arms: usize,
    dim: usize,
    neurons: usize,
}

/// Medians in microseconds.
#[derive(Clone, Copy)]
struct Cost {
    select: f64,
    update: f64,
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn environment(size: Size, key: Key) -> Result<Box<dyn env::Environment>> {
    let given = [("arms", size.arms), ("dim", size.dim), ("neurons", size.neurons)];
    let settings = given.iter().fold(Settings::new(), |settings, &(name, n)| settings.with(name, n as u64));
    env::build("relu-sphere", &settings, key)
}

/// The policy's first sample configuration, with what the environment tells.
fn build(entry: &Entry, size: Size, environment: &dyn env::Environment, key: Key) -> Result<Box<dyn Policy>> {
    let mut sample = entry.samples.first().map(|sample| sample.settings()).unwrap_or_default();
    if sample.get("neurons").is_some() {
        sample.set("neurons", size.neurons as u64);
    }
    policy::build(entry.name, size.dim, &policy::tell(entry, &sample, &environment.facts()), key)
}

/// The cost of each of rounds `from` to `from + count`, after the rounds before them; fewer if that takes too long.
fn costs(entry: &Entry, size: Size, from: u64, count: u64) -> Result<Vec<Cost>> {
    let key = Key::new(7);
    let environment = environment(size, key)?;
    let mut policy = build(entry, size, environment.as_ref(), key)?;
    let (mut memory, mut scratch) = (RoundMemory::default(), Scratch::default());
    let mut costs = Vec::new();
    let begin = Instant::now();
    for round in 1..from + count {
        let given = environment.round(round, &mut memory)?;
        let start = Instant::now();
        let choice = black_box(policy.select_in(black_box(&given), key.round(round), &mut scratch)?);
        let chosen = Instant::now();
        let reward = given.reward(&choice, given.mean(&choice)?);
        let learning = Instant::now();
        policy.update(black_box(&choice.action), reward)?;
        let update = learning.elapsed().as_secs_f64() * 1e6;
        if round >= from {
            costs.push(Cost { select: (chosen - start).as_secs_f64() * 1e6, update });
        }
        if begin.elapsed() > PATIENCE && costs.len() >= 5 || begin.elapsed() > 5 * PATIENCE {
            break;
        }
    }
    Ok(costs)
}

fn typical(costs: &[Cost]) -> Cost {
    let of = |part: fn(&Cost) -> f64| median(costs.iter().map(part).collect());
    Cost { select: of(|cost| cost.select), update: of(|cost| cost.update) }
}

/// The slope of log y against log x.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> =
        points.iter().filter(|(_, y)| y.is_finite() && *y > 0.0).map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let mean = |part: fn(&(f64, f64)) -> f64| logs.iter().map(part).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let spread: f64 = logs.iter().map(|p| (p.0 - x) * (p.0 - x)).sum();
    logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / spread
}

fn row(what: &str, entry: &Entry, size: Size) -> Option<Cost> {
    match costs(entry, size, WARM_UP, MEASURED).map(|costs| typical(&costs)) {
        Ok(cost) => {
            let Size { arms, dim, neurons } = size;
            println!("  {what:7} {arms:6} {dim:3} {neurons:3}  {:11.2}  {:11.2}", cost.select, cost.update);
            Some(cost)
        }
        Err(error) => {
            println!("  {what:7} {:6} {:3} {:3}  {error}", size.arms, size.dim, size.neurons);
            None
        }
    }
}

fn measure(entry: &Entry) {
    println!("\n{}\n  varies    arms   d   k   select, us   update, us", entry.name);
    let sizes = [
        ("arms", ARMS.map(|arms| (arms, Size { arms, ..BASE })).to_vec()),
        ("d", DIMS.map(|dim| (dim, Size { dim, ..BASE })).to_vec()),
        ("k", NEURONS.map(|neurons| (neurons, Size { neurons, ..BASE })).to_vec()),
    ];
    let mut exponents = Vec::new();
    for (what, sizes) in sizes {
        let found: Vec<(f64, Cost)> =
            sizes.into_iter().filter_map(|(n, size)| Some((n as f64, row(what, entry, size)?))).collect();
        exponents.push((what, found));
    }
    let last = ROUNDS[ROUNDS.len() - 1];
    let rounds = costs(entry, BASE, 1, last + last / 10).unwrap_or_default();
    let windows = ROUNDS.iter().filter_map(|&t| {
        let window = rounds.get(t as usize..(t + t / 10) as usize)?;
        Some((t as f64, typical(window)))
    });
    exponents.push(("t", windows.collect()));
    for (part, name) in [((|cost| cost.select) as fn(Cost) -> f64, "select"), (|cost| cost.update, "update")] {
        print!("  {name} grows like");
        for (what, found) in &exponents {
            let points: Vec<(f64, f64)> = found.iter().map(|&(n, cost)| (n, part(cost))).collect();
            print!("  {what}^{:.2}", exponent(&points));
        }
        println!();
    }
}

/// The least time of many runs, in microseconds: what else the machine does only ever adds.
fn least(runs: usize, mut run: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..runs {
        let start = Instant::now();
        run();
        least = least.min(start.elapsed().as_secs_f64() * 1e6);
    }
    least
}

/// OFU-ReLU against the floor, in alternation, over a thousand rounds. The arms of 64 rounds are drawn
/// before the clock starts and come again and again, so that neither finds the processor in the state in
/// which a random generator leaves it.
fn against_the_floor(neurons: usize) -> Result<()> {
    const SETS: u64 = 64;
    let size = Size { neurons, ..BASE };
    let key = Key::new(8);
    let environment = environment(size, key)?;
    let entry = policy::find("ofu-relu")?;
    let mut sets = Vec::new();
    for t in 1..=SETS {
        let mut memory = RoundMemory::default();
        environment.round(t, &mut memory)?;
        sets.push((memory.numbers, memory.means));
    }
    let net = ReluNet::random(2, neurons, &mut key.stream());
    let mut scratch = Scratch::default();
    let (mut patterns, mut forms) = (vec![0; size.arms], vec![0.0; size.arms]);
    let (mut rounds, mut floors) = (Vec::new(), Vec::new());
    for repetition in 0..5 {
        let mut policy = build(entry, size, environment.as_ref(), key.trial(repetition))?;
        for round in 1..=1000 {
            let (numbers, means) = &sets[(round % SETS) as usize];
            let arms = Offer::finite(2, numbers)?;
            let explores = policy.exploring();
            let start = Instant::now();
            floor::floor(net.theta(), &[1.0, 0.1, 0.1, 2.0], black_box(numbers), &mut patterns, &mut forms);
            black_box((&patterns, &forms));
            let passed = start.elapsed().as_secs_f64() * 1e6;
            let start = Instant::now();
            let choice = black_box(policy.select(black_box(arms), key.round(round), &mut scratch)?);
            let select = start.elapsed();
            let reward = means[choice.index.unwrap_or(0)] + 0.1 * normal(&mut key.round(round).stream());
            let start = Instant::now();
            policy.update(black_box(&choice.action), reward)?;
            if !explores {
                rounds.push((select + start.elapsed()).as_secs_f64() * 1e6);
                floors.push(passed);
            }
        }
    }
    let (round, floor) = (median(rounds), median(floors));
    println!(
        "  (2, {neurons:2}): floor {floor:.2} us, ofu-relu select + update {round:.2} us, {:.2} times",
        round / floor
    );
    Ok(())
}

/// Trials a second of OFU-ReLU, OFUL and NeuralUCB in turn on so many threads, each trial a thousand rounds.
fn throughput(threads: u64) -> Result<f64> {
    const EACH: u64 = 6;
    let trial = |number: u64| -> Result<()> {
        let key = Key::new(9).trial(number);
        let environment = environment(BASE, key)?;
        for name in ["ofu-relu", "oful", "neural-ucb"] {
            let mut policy = build(policy::find(name)?, BASE, environment.as_ref(), key)?;
            play(environment.as_ref(), policy.as_mut(), key, 1000, |step| _ = black_box(step))?;
        }
        Ok(())
    };
    let start = Instant::now();
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..threads).map(|w| scope.spawn(move || (0..EACH).try_for_each(|i| trial(w * EACH + i)))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or(Ok(())))
    })?;
    Ok(3.0 * (threads * EACH) as f64 / start.elapsed().as_secs_f64())
}

fn estimator() -> Result<()> {
    println!("\none fit of the estimator (`cargo bench --bench estimate` has more)");
    for (dim, neurons, len) in [(2, 3, 20), (2, 10, 20), (10, 5, 200)] {
        let key = Key::new(31);
        let truth = ReluNet::random(dim, neurons, &mut key.purpose(Purpose::Truth).stream());
        let mut stream = key.purpose(Purpose::Arms).stream();
        let mut x = vec![0.0; len * dim];
        x.chunks_exact_mut(dim).for_each(|row| unit_vector(&mut stream, row));
        let y: Vec<f64> = x.chunks_exact(dim).map(|row| truth.value(row) + 0.1 * normal(&mut stream)).collect();
        let samples = Samples::new(dim, &x, &y)?;
        let time = least(20, || drop(black_box(fit(black_box(samples), neurons, &FitOptions::default(), key))));
        println!("  d = {dim:2}, k = {neurons:2}, {len:3} samples: {:.3} ms", time / 1e3);
    }
    Ok(())
}

fn main() -> Result<()> {
    // cargo passes `--bench`.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    for entry in BUILT_IN.iter().filter(|entry| wanted.is_empty() || wanted.iter().any(|name| name == entry.name)) {
        measure(entry);
    }
    println!("\none pass over 1,000 arms, and a round of OFU-ReLU");
    [3, 10].into_iter().try_for_each(against_the_floor)?;
    if !wanted.is_empty() {
        return Ok(());
    }
    estimator()?;
    println!("\ntrials a second (ofu-relu, oful, neural-ucb in turn; 1,000 rounds, 1,000 arms)");
    let mut best = (0.0, 0.0, 0.0);
    for _ in 0..5 {
        let (one, two) = (throughput(1)?, throughput(2)?);
        println!("  1 thread {one:.1}, 2 threads {two:.1}: {:.2} times", two / one);
        best = (f64::max(best.0, one), f64::max(best.1, two), f64::max(best.2, two / one));
    }
    println!(
        "  best: 1 thread {:.1}, 2 threads {:.1}: {:.2} times; best pair {:.2} times",
        best.0,
        best.1,
        best.1 / best.0,
        best.2
    );
    Ok(())
}
