//! Writes blocks to a folder of reels of about the same size.
//!
//! The blocks and their order are the same as in a single reel, so the folder and the single reel contain the same database.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::block::Block;
use super::encode::EncodedBlock;
use super::format::SectionBytes;
use super::manifest::{Manifest, ManifestError, Shard, shard_name};
use super::reader::Reel;
use super::source::ReelSource;
use super::totals::Totals;
use super::writer::ReelWriter;
use orbit_core::files::{lock_folder, release};
use orbit_pgn::{Stamp, hash_file};

/// A writer of a folder of reels. Unless [`ShardsWriter::finish`] is called, everything it wrote is removed.
#[derive(Debug)]
pub struct ShardsWriter {
    folder: PathBuf,
    /// The locked folder. The lock keeps other writers out.
    lock: File,
    /// True if the writer created the folder.
    is_new: bool,
    /// The total size of blocks in bytes after which the next shard (reel) begins.
    shard_bytes: u64,
    variations: bool,
    writer: Option<ReelWriter>,
    /// The total size in bytes of the blocks in the current shard.
    bytes: u64,
    /// The number of games of each source in the current shard.
    games: Vec<u64>,
    shards: Vec<Shard>,
    totals: Totals,
    sections: SectionBytes,
    is_finished: bool,
}

impl ShardsWriter {
    /// Creates a writer for a folder of reels. The folder must be empty or not exist yet.
    ///
    /// # Errors
    ///
    /// Returns [`ManifestError::NotEmpty`], [`ManifestError::Busy`] while another writer is writing to the folder, or
    /// [`ManifestError::Unwritable`] if nothing can be written to it.
    pub fn create(folder: &Path, shard_bytes: u64, variations: bool) -> Result<ShardsWriter, ManifestError> {
        let unwritable = |error| ManifestError::Unwritable { path: folder.to_owned(), error };
        let is_new = !folder.exists();
        if is_new {
            fs::create_dir_all(folder).map_err(unwritable)?;
        } else if !folder.is_dir() {
            return Err(ManifestError::NotEmpty { folder: folder.to_owned() });
        }
        let Some(lock) = lock_folder(folder).map_err(unwritable)? else {
            return Err(ManifestError::Busy { folder: folder.to_owned() });
        };
        if fs::read_dir(folder).map_err(unwritable)?.next().is_some() {
            return Err(ManifestError::NotEmpty { folder: folder.to_owned() });
        }
        Ok(ShardsWriter {
            folder: folder.to_owned(),
            lock,
            is_new,
            shard_bytes,
            variations,
            writer: None,
            bytes: 0,
            games: Vec::new(),
            shards: Vec::new(),
            totals: Totals::default(),
            sections: SectionBytes::default(),
            is_finished: false,
        })
    }

    /// Appends a block, whose totals are `totals`. The block refers to its sources by index in `sources`. Only the names and the
    /// files of the sources must be known at this time. [`ShardsWriter::finish`] receives all other facts about them.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ReelWriter::append`].
    pub fn append(
        &mut self,
        block: &Block,
        (encoded, totals): (&EncodedBlock, &Totals),
        sources: &[ReelSource],
    ) -> Result<(), ManifestError> {
        let bytes = encoded.bytes.len() as u64;
        if self.bytes > 0 && self.bytes.saturating_add(bytes) > self.shard_bytes {
            self.finish_shard(sources, 0)?;
        }
        self.begin_shard()?;
        if let Some(writer) = &mut self.writer {
            writer.append(encoded, totals)?;
        }
        self.bytes += bytes;
        self.games.resize(sources.len(), 0);
        for part in block.source_games() {
            self.games[part.source as usize] += u64::from(part.games);
        }
        Ok(())
    }

    fn begin_shard(&mut self) -> Result<(), ManifestError> {
        if self.writer.is_none() {
            let mut writer = ReelWriter::create(&self.folder.join(shard_name(self.shards.len())))?;
            writer.keep_variations(self.variations);
            self.writer = Some(writer);
        }
        Ok(())
    }

    /// Completes the current shard.
    fn finish_shard(&mut self, sources: &[ReelSource], side_lines: u64) -> Result<(), ManifestError> {
        let Some(mut writer) = self.writer.take() else { return Ok(()) };
        let file = shard_name(self.shards.len());
        let path = self.folder.join(&file);
        writer.pass_over(side_lines);
        self.games.resize(sources.len(), 0);
        // Facts about whole sources are stored in the manifest, not in the shard. A source with a hash but without a failure would
        // be taken for a whole source. A stamp without a hash is that of a file, so other sources have no stamp.
        let of_shard = sources.iter().zip(&self.games).map(|(source, &games)| ReelSource {
            games,
            duplicates: 0,
            failure: None,
            stamp: if source.is_file() { Stamp { hash: None, ..source.stamp } } else { Stamp::default() },
            ..source.clone()
        });
        let (totals, sections) = writer.finish(&of_shard.collect::<Vec<_>>())?;
        self.totals.add(&totals);
        self.sections.add(&sections);
        let unreadable = |error| ManifestError::Unreadable { path: path.clone(), error };
        let hash = hash_file(&path).map_err(unreadable)?;
        self.shards.push(Shard::from_reel(&Reel::open(&path)?, file, format!("{hash:016x}")));
        self.bytes = 0;
        self.games.clear();
        Ok(())
    }

    /// Returns the path of the temporary file being written, if there is one.
    pub fn temporary_path(&self) -> Option<&Path> {
        self.writer.as_ref().and_then(ReelWriter::temporary_path)
    }

    /// Completes the last shard and writes the manifest. `side_lines` is the number of side lines that were omitted.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ReelWriter::finish`], and an error if the manifest cannot be written.
    pub fn finish(
        mut self,
        sources: &[ReelSource],
        side_lines: u64,
    ) -> Result<(Manifest, Totals, SectionBytes), ManifestError> {
        // A database without games becomes one shard without blocks.
        if self.shards.is_empty() {
            self.begin_shard()?;
        }
        self.finish_shard(sources, side_lines)?;
        let shards = std::mem::take(&mut self.shards);
        let manifest = match Manifest::write(&self.folder, self.variations, sources, shards.clone()) {
            Ok(manifest) => manifest,
            Err(error) => {
                self.shards = shards;
                return Err(error);
            }
        };
        self.is_finished = true;
        Ok((manifest, std::mem::take(&mut self.totals), self.sections))
    }
}

impl Drop for ShardsWriter {
    /// Removes everything this writer wrote, unless [`ShardsWriter::finish`] was called. Errors are ignored, since a folder of
    /// shards without a manifest is not a database.
    fn drop(&mut self) {
        if self.is_finished {
            release(&self.lock);
            return;
        }
        drop(self.writer.take());
        for shard in &self.shards {
            let _ = fs::remove_file(self.folder.join(&shard.file));
        }
        if self.is_new {
            let _ = fs::remove_dir(&self.folder);
        }
        release(&self.lock);
    }
}
