//! Keeps tables of positions open between requests.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::format::{TableError, table_path};
use super::read::{PositionTable, TableMark};
use orbit_core::sync::lock;
use orbit_reel::Reel;

/// The tables of positions that requests to a database have opened so far. A table is reopened if its file was replaced.
#[derive(Debug, Default)]
pub struct OpenTables(Mutex<Vec<OpenTable>>);

#[derive(Debug)]
struct OpenTable {
    reel: PathBuf,
    /// The checksum of the reel's header, which shows if the reel was replaced.
    header_crc: u32,
    table: Arc<PositionTable>,
}

impl OpenTables {
    /// Returns the table of a reel, as [`PositionTable::open`] does.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`PositionTable::open`].
    pub fn table(&self, reel: &Reel) -> Result<Option<Arc<PositionTable>>, TableError> {
        let is_of_reel = |open: &&OpenTable| open.reel == reel.path() && open.header_crc == reel.header_crc();
        let known = lock(&self.0).iter().find(is_of_reel).map(|open| Arc::clone(&open.table));
        let found = std::fs::metadata(table_path(reel.path())).ok();
        if let Some(table) = known
            && found.is_some_and(|found| TableMark::new(&found) == table.mark())
        {
            return Ok(Some(table));
        }
        // The lock is not held while the table is opened, so other requests can proceed with their tables.
        let table = PositionTable::open(reel).map(|table| table.map(Arc::new));
        let mut open = lock(&self.0);
        open.retain(|open| open.reel != reel.path());
        if let Ok(Some(table)) = &table {
            let table = Arc::clone(table);
            open.push(OpenTable { reel: reel.path().to_owned(), header_crc: reel.header_crc(), table });
        }
        table
    }
}
