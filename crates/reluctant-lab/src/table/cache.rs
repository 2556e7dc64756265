//! Tables that were loaded not long ago. The trials of an experiment use the same one, and to read a file takes longer
//! than to play many a trial.
//!
//! The file is read each time and its content compared by its hash, which takes a hundredth of the time to parse it:
//! a file that has changed is never mistaken for what it was.

use std::sync::{Mutex, PoisonError};

use super::{Table, TableOptions, read};
use crate::error::Result;

/// How many tables are kept: more than experiments usually have, and few enough for memory.
const KEPT: usize = 8;

/// What was asked for and what it was, the latest last.
static TABLES: Mutex<Vec<(TableOptions, Table)>> = Mutex::new(Vec::new());

/// The table of these options, from memory if the file still has the same content.
pub(super) fn load(options: &TableOptions) -> Result<Table> {
    let bytes = read::bytes(&options.file)?;
    let fingerprint = read::fingerprint(&bytes);
    // Held while a table is parsed: threads that want the same one wait for it.
    let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    let known = tables.iter().position(|(asked, table)| asked == options && table.fingerprint() == fingerprint);
    let table = match known {
        Some(place) => tables.remove(place).1,
        None => Table::from_bytes(bytes, fingerprint, options)?,
    };
    if tables.len() == KEPT {
        tables.remove(0);
    }
    tables.push((options.clone(), table.clone()));
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::super::tests::File;
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_table_is_parsed_once_and_again_when_its_file_has_changed() {
        let file = File::new("cache", "x,class\n1,a\n2,b\n");
        let [first, second] = [(); 2].map(|()| load(&file.options()).unwrap());
        assert!(Arc::ptr_eq(&first.inner, &second.inner));
        let other = load(&TableOptions { as_categories: vec!["x".into()], ..file.options() }).unwrap();
        assert_eq!((first.width(), other.width()), (1, 2));
        std::fs::write(&file.options().file, "x,class\n3,a\n4,b\n").unwrap();
        let third = load(&file.options()).unwrap();
        assert_ne!(third.fingerprint(), first.fingerprint());
        assert_eq!(third.numbers(0), [3.0]);
    }
}
