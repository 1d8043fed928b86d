//! The results of a run over a database.

use std::path::{Path, PathBuf};

use orbit_pgn::Stamp;
use orbit_reel::{ReelSource, Totals};
use orbit_witness::Agreement;

/// A file, stream or buffer from which games came.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceSummary {
    /// The path of the source, as given or found in a folder, or a name if it has no path. A reel has a summary for each source
    /// from which it was built.
    pub name: String,
    /// The absolute path of the file, without links, or `None` if the source is not a file. For a source of a reel, it is the path
    /// that the file had when the reel was built.
    pub path: Option<PathBuf>,
    /// The identity of the file when it was read. It is complete only once the file has been read to its end; the hash of the
    /// content is set only with [`pgn::Options::hash`](orbit_pgn::Options::hash).
    pub stamp: Stamp,
    /// The number of games that were read, including skipped games.
    pub games: u64,
    /// The number of games that were dropped as duplicates of earlier games. They also count as skipped.
    pub duplicates: u64,
    /// The reel that contains the source's games, if they were read from a reel.
    pub reel: Option<PathBuf>,
    /// The reason why the reel lacks a part of the source, if it does.
    pub reel_failure: Option<String>,
    /// The version of the rules for reading games that were used: see [`ReelSource::reader`].
    pub reader: u32,
    /// The byte offset in the decompressed text at which reading stopped, and the reason, if the source was not read to its end.
    pub failure: Option<(u64, String)>,
    /// The reason why the source was skipped, or `None` if it was read. A file in a folder is skipped if it contains no games,
    /// despite its name.
    pub skipped: Option<String>,
}

impl SourceSummary {
    /// Creates the summary of a reel's source. For a folder of reels, the source is an entry of the manifest.
    pub(super) fn from_reel(reel: &Path, source: &ReelSource) -> SourceSummary {
        SourceSummary {
            name: source.name.clone(),
            path: source.path.clone(),
            stamp: source.stamp,
            duplicates: source.duplicates,
            reel: Some(reel.to_owned()),
            reel_failure: source.failure.clone(),
            reader: source.reader,
            ..SourceSummary::default()
        }
    }

    /// Converts the summary to a source entry of a reel.
    pub fn to_reel_source(&self) -> ReelSource {
        let failure = self.failure.as_ref();
        let failure = failure.map(|(offset, reason)| format!("not read beyond byte {offset}: {reason}"));
        let failure = failure.or_else(|| self.skipped.as_ref().map(|reason| format!("skipped: {reason}")));
        ReelSource {
            name: self.name.clone(),
            path: self.path.clone(),
            stamp: self.stamp,
            games: self.games,
            duplicates: self.duplicates,
            failure: failure.or_else(|| self.reel_failure.clone()),
            reader: self.reader,
        }
    }
}

/// The results of a run over a database.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// The totals over the returned blocks: games, positions and problems.
    pub totals: Totals,
    /// The number of side lines (variations) that were left out, because only main lines are searched. It includes side lines in
    /// text that was read, and those that a fully read reel had left out.
    pub side_lines: u64,
    /// The result of comparing two PGN readers on the text that both have read: see
    /// [`StreamOptions::readers`](super::StreamOptions::readers).
    pub agreement: Agreement,
    /// The sources, indexed by [`GameRow::source`](orbit_reel::GameRow::source).
    pub sources: Vec<SourceSummary>,
    /// The number of bytes that were read, counted before decompression.
    pub bytes: u64,
    /// True if the stream was read to its end and was not stopped by the caller or an interrupt.
    pub finished: bool,
}

impl Summary {
    /// Returns the files in folders that were skipped because they contain no games, despite their names. Each has the reason.
    pub fn skipped(&self) -> impl Iterator<Item = (&SourceSummary, &str)> {
        self.sources.iter().filter_map(|source| Some((source, source.skipped.as_deref()?)))
    }

    /// Returns the sources that were not read to their ends. Each has the byte offset at which reading stopped, and the reason.
    pub fn failures(&self) -> impl Iterator<Item = (&SourceSummary, u64, &str)> {
        self.sources.iter().filter_map(|source| {
            source.failure.as_ref().map(|(offset, reason)| (source, *offset, reason.as_str()))
        })
    }
}
