//! Small networks that policies train.
//!
//! | file | what |
//! | --- | --- |
//! | `single.rs`, `descent.rs` | one output; trained after every reward, as the papers on neural bandits have it |
//! | `shared.rs`, `adam.rs` | a hidden layer shared by several outputs, the heads; mini-batches by Adam |
//! | `scaling.rs` | inputs and rewards in units of what was seen |
//! | `trained.rs` | such a network with its history, trained anew whenever the history has grown by a share |

mod adam;
pub(crate) mod descent;
mod scaling;
mod shared;
pub(crate) mod single;
mod trained;

pub(crate) use trained::{DECAY, EPOCHS, GROWTH, Inputs, RATE, Trained, WIDTH};
