//! The example of the repository's README and of the guide's first page is that of the crate's README, which runs as a
//! test of the documentation. A packaged crate comes without the others, and has nothing to compare.

use std::fs;
use std::path::Path;

/// The lines of the first block of Rust, without what indents them.
fn example(text: &str) -> Vec<&str> {
    let block = text.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of Rust");
    block.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

#[test]
fn pages_show_what_is_tested() {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let inner = fs::read_to_string(crate_dir.join("README.md")).expect("the crate has a README");
    let tested = example(&inner);
    for page in ["../../README.md", "../../docs/index.md"] {
        let Ok(outer) = fs::read_to_string(crate_dir.join(page)) else { continue };
        let mut rest = tested.iter();
        for line in example(&outer) {
            assert!(rest.any(|other| *other == line), "{page} shows what the crate's README does not have: {line}");
        }
    }
}
