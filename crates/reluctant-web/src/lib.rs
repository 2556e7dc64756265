//! The core as WebAssembly, behind a handful of functions that take and give numbers.
//!
//! A page writes neurons into [`numbers`] and calls [`start`]; after [`play`] it reads what [`arms`], [`truth`],
//! [`belief`] and [`standing`] have left there. Functions that can fail return −1, and [`message`] says why.

pub mod demo;

use std::cell::RefCell;

use demo::Game;

/// Numbers that a page may hand over at once: the arms of a round, or a picture.
const ROOM: usize = 4096;

#[derive(Default)]
struct State {
    game: Option<Game>,
    numbers: Vec<f64>,
    text: String,
}

// One page, one thread.
thread_local! {
    static STATE: RefCell<State> = RefCell::new(State { numbers: vec![0.0; ROOM], ..State::default() });
}

fn with<T>(act: impl FnOnce(&mut State) -> T) -> T {
    STATE.with(|state| act(&mut state.borrow_mut()))
}

/// Runs `act` on the game; its number, or −1 with a message.
fn on_game(act: impl FnOnce(&mut Game, &mut [f64]) -> reluctant::Result<usize>) -> i32 {
    with(|state| match state.game.as_mut().map(|game| act(game, &mut state.numbers)) {
        Some(Ok(count)) => count as i32,
        Some(Err(error)) => {
            state.text = error.to_string();
            -1
        }
        None => {
            state.text = "no game has been started".to_owned();
            -1
        }
    })
}

fn leave(values: &[f64], numbers: &mut [f64]) -> usize {
    let count = values.len().min(numbers.len());
    numbers[..count].copy_from_slice(&values[..count]);
    count
}

/// Where numbers are exchanged: room for 4,096 of them.
#[unsafe(no_mangle)]
pub extern "C" fn numbers() -> *const f64 {
    with(|state| state.numbers.as_ptr())
}

/// Where the last text is; [`policies`] and [`message`] tell its length in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn text() -> *const u8 {
    with(|state| state.text.as_ptr())
}

/// Leaves the names and summaries of the policies as JSON.
#[unsafe(no_mangle)]
pub extern "C" fn policies() -> usize {
    let rows: Vec<[&str; 2]> = reluctant::policy::BUILT_IN
        .iter()
        .filter(|entry| demo::names().contains(&entry.name))
        .map(|entry| [entry.name, entry.summary])
        .collect();
    with(|state| {
        state.text = serde_json::to_string(&rows).unwrap_or_default();
        state.text.len()
    })
}

/// The length of the text that says what went wrong.
#[unsafe(no_mangle)]
pub extern "C" fn message() -> usize {
    with(|state| state.text.len())
}

/// Begins a game with the first `neurons` triples (θ₁, θ₂, sign) of the numbers and two policies, by their places.
#[unsafe(no_mangle)]
pub extern "C" fn start(seed: u32, neurons: usize, first: usize, second: usize) -> i32 {
    with(|state| {
        let known = demo::names();
        let players: Vec<&str> = [first, second].iter().filter_map(|place| known.get(*place).copied()).collect();
        let count = (3 * neurons).min(ROOM);
        match Game::new(u64::from(seed), &state.numbers[..count], &players) {
            Ok(game) => {
                state.game = Some(game);
                0
            }
            Err(error) => {
                state.game = None;
                state.text = error.to_string();
                -1
            }
        }
    })
}

/// Plays a round; the number of rounds so far.
#[unsafe(no_mangle)]
pub extern "C" fn play() -> i32 {
    on_game(|game, _| game.play().map(|()| game.round() as usize))
}

/// Leaves the arms of the last round; how many numbers there are.
#[unsafe(no_mangle)]
pub extern "C" fn arms() -> i32 {
    on_game(|game, numbers| Ok(leave(game.arms(), numbers)))
}

/// Leaves the mean rewards on the grid of the pictures.
#[unsafe(no_mangle)]
pub extern "C" fn truth() -> i32 {
    on_game(|game, numbers| Ok(leave(&game.truth(), numbers)))
}

/// Leaves what player `i` expects on the grid of the pictures.
#[unsafe(no_mangle)]
pub extern "C" fn belief(i: usize) -> i32 {
    on_game(|game, numbers| game.belief(i).map(|values| leave(&values, numbers)))
}

/// Leaves what player `i` has lost, and the two numbers of its last arm.
#[unsafe(no_mangle)]
pub extern "C" fn standing(i: usize) -> i32 {
    on_game(|game, numbers| Ok(leave(&game.standing(i).unwrap_or_default(), numbers)))
}
