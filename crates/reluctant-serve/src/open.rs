//! The store that a configuration names.

use crate::config::StoreSpec;
use crate::error::Result;
#[cfg(not(feature = "postgres"))]
use crate::error::ServeError;
use crate::store::{Sqlite, Store};

/// Opens the store that a configuration names.
pub fn open_store(spec: &StoreSpec) -> Result<Box<dyn Store>> {
    match spec {
        StoreSpec::File(path) => Ok(Box::new(Sqlite::open(path)?)),
        #[cfg(feature = "postgres")]
        StoreSpec::Postgres(address) => Ok(Box::new(crate::store::Postgres::open(address)?)),
        #[cfg(not(feature = "postgres"))]
        StoreSpec::Postgres(_) => Err(ServeError::Machine {
            action: "use PostgreSQL".to_owned(),
            reason: "this program was built without it".to_owned(),
        }),
    }
}

/// Opens the store that a configuration names to read from it, while a service writes.
pub fn open_reader(spec: &StoreSpec) -> Result<Box<dyn Store>> {
    match spec {
        StoreSpec::File(path) => Ok(Box::new(Sqlite::reader(path)?)),
        #[cfg(feature = "postgres")]
        StoreSpec::Postgres(address) => Ok(Box::new(crate::store::Postgres::reader(address)?)),
        #[cfg(not(feature = "postgres"))]
        StoreSpec::Postgres(_) => open_store(spec),
    }
}
