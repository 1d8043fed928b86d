//! The results of a run over a database.

use std::path::{Path, PathBuf};

use orbit_pgn::Stamp;
use orbit_reel::{ReelSource, Totals};
use orbit_witness::Agreement;

/// A file, stream or buffer from which games came.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceSummary {
    /// The path as given or found, or a name instead of a path. For a reel, there is one entry for each source from which it was
    /// made.
    pub name: String,
    /// The absolute path of the file without links. For a source of a reel, it is the path that the file had when the reel was
    /// made. `None` if the source is not a file.
    pub path: Option<PathBuf>,
    /// The identity of the file when it was read. It is complete once the file was read to its end; the hash of the content is
    /// set only with [`pgn::Options::hash`](orbit_pgn::Options::hash).
    pub stamp: Stamp,
    /// The number of games that were read, with skipped games included.
    pub games: u64,
    /// The number of games that were dropped as duplicates of earlier games. They count as skipped.
    pub duplicates: u64,
    /// The reel from which the games of the source came, if they came from a reel.
    pub reel: Option<PathBuf>,
    /// If this reel does not contain the whole source, the reason.
    pub reel_failure: Option<String>,
    /// The version of the rules by which the games were read: see [`ReelSource::reader`].
    pub reader: u32,
    /// If the source was not read to its end, the byte of the decompressed text at which reading stopped, and the reason.
    pub failure: Option<(u64, String)>,
    /// If the source is a file in a folder and was skipped, the reason: it contains no games in spite of its name.
    pub skipped: Option<String>,
}

impl SourceSummary {
    /// Creates the summary of a source of a reel. For a folder of reels, the source is that of the manifest.
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

    /// Converts the summary to an entry of a reel.
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
    /// The totals of the games, positions and problems in the blocks that were returned.
    pub totals: Totals,
    /// The number of side lines (variations) that were left out, because only main lines are searched. It counts the side lines in
    /// text that was read, and those in the sources of each reel that was read to its end.
    pub side_lines: u64,
    /// The result of comparing two readers, for text that both have read: see
    /// [`StreamOptions::readers`](super::StreamOptions::readers).
    pub agreement: Agreement,
    /// The sources, indexed by [`GameRow::source`](orbit_reel::GameRow::source).
    pub sources: Vec<SourceSummary>,
    /// The number of bytes that were read, before decompression.
    pub bytes: u64,
    /// True if the stream was read to its end and was not stopped by `take` or an interrupt.
    pub finished: bool,
}

impl Summary {
    /// Returns the files in folders that were skipped because they contain no games in spite of their names, with the reasons.
    pub fn skipped(&self) -> impl Iterator<Item = (&SourceSummary, &str)> {
        self.sources.iter().filter_map(|source| Some((source, source.skipped.as_deref()?)))
    }

    /// Returns the sources that were not read to their ends, each with the byte where reading stopped and the reason.
    pub fn failures(&self) -> impl Iterator<Item = (&SourceSummary, u64, &str)> {
        self.sources.iter().filter_map(|source| {
            source.failure.as_ref().map(|(offset, reason)| (source, *offset, reason.as_str()))
        })
    }
}
