//! The tests of the core in one program: to compile one for each file would take twice as long, and their longest tests
//! run side by side. `cargo test -p reluctant --test suite golden::` runs those of one file.
//!
//! Two files are programs of their own: `conformance.rs`, which names its tests itself, and `memory.rs`, which counts
//! what is allocated.

mod authors_profile;
mod broken_policies;
mod drift;
mod ellipsoid;
mod environments;
mod estimate;
mod fitted;
mod forgetting;
mod geometry;
mod golden;
mod in_blocks;
mod ladder;
mod lemmas;
mod lives;
mod neural_ucb;
mod ofu_relu_plus;
mod ofu_relu_plus_contexts;
mod plausible;
mod readme;
mod shared_networks;
mod snapshots;
mod theory;

use std::path::Path;

/// A file that stands in no list would never be run.
#[test]
fn no_file_is_left_out() {
    let apart = ["suite", "conformance", "memory"];
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for entry in tests.read_dir().expect("the folder of the tests") {
        let path = entry.expect("an entry of the folder").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
        let listed = include_str!("suite.rs").contains(&format!("\nmod {name};\n"));
        assert!(listed || apart.contains(&name), "tests/suite.rs does not list {name}");
    }
}
