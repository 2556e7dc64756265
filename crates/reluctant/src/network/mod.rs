//! Small networks that policies train.
//!
//! | file | what |
//! | --- | --- |
//! | `single.rs`, `descent.rs` | one output; trained after every reward, as the papers on neural bandits have it |
//! | `shared.rs`, `adam.rs` | a hidden layer shared by several outputs, the heads; mini-batches by Adam |
//! | `scaling.rs`, `rewards.rs` | inputs and rewards in units of what was seen |
//! | `ramps.rs` | curves of single inputs |
//! | `history.rs`, `training.rs` | all rewards so far; when and how networks are trained on them |
//! | `trained.rs` | a network with heads and its history, trained anew whenever the history has grown by a share |
//! | `landmarks.rs` | what takes the place of a hidden layer that is infinitely wide |
//! | `langevin.rs` | noisy steps after each reward, whose iterates are draws from a posterior |
//! | `crowd.rs` | several such networks on bootstrap samples, around random prior functions |

mod adam;
mod crowd;
pub(crate) mod descent;
mod history;
mod landmarks;
mod langevin;
mod ramps;
mod rewards;
mod scaling;
mod shared;
pub(crate) mod single;
mod trained;
mod training;

pub(crate) use adam::logistic;
pub(crate) use crowd::Crowd;
pub(crate) use history::all_alike;
pub(crate) use langevin::{Langevin, STEP, STEPS, TEMPERATURE};
pub(crate) use ramps::MOST_CURVES;
pub(crate) use scaling::Inputs;
pub(crate) use trained::Trained;
pub(crate) use training::{DECAY, EPOCHS, GROWTH, RATE, WIDTH};
