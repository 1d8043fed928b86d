//! The results of a run over a database.

use std::path::{Path, PathBuf};

use orbit_pgn::Stamp;
use orbit_reel::{ReelSource, Totals};
use orbit_witness::Agreement;

/// A file, stream or buffer from which games came.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceSummary {
    /// The path as given or found, or a name in its place. For a reel, there is one entry for each source from which it was made.
    pub name: String,
    /// The absolute path of the file without links, or its path when a reel was made from it; `None` if the source is no file.
    pub path: Option<PathBuf>,
    /// The identity of the file when it was read: complete once it was read to its end; the content hash only if
    /// [`pgn::Options::hash`](orbit_pgn::Options::hash) is set.
    pub stamp: Stamp,
    /// The number of games read, skipped ones included.
    pub games: u64,
    /// The number of games dropped as duplicates of earlier ones; they count as skipped.
    pub duplicates: u64,
    /// The reel from which its games came, if they did.
    pub reel: Option<PathBuf>,
    /// The reason why that reel does not hold all of it, if so.
    pub reel_failure: Option<String>,
    /// The version of the rules by which its games were read: see [`ReelSource::reader`].
    pub reader: u32,
    /// The reason why it was not read to its end, and the byte of the decompressed text, if so.
    pub failure: Option<(u64, String)>,
    /// The reason why a file of a folder was skipped, if it was: it holds no games whatever its name says.
    pub skipped: Option<String>,
}

impl SourceSummary {
    /// Makes the summary of a source of a reel, or of a folder of reels by its manifest.
    pub(super) fn of_reel(reel: &Path, source: &ReelSource) -> SourceSummary {
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
    /// Sums over the games, positions and problems of the blocks that were taken.
    pub totals: Totals,
    /// The number of side lines (variations) that are not searched because only main lines are: those of text that was read, and
    /// those of the sources of each reel that was read to its end.
    pub side_lines: u64,
    /// The games on which two readers agree, for text that two readers have read: see
    /// [`StreamOptions::readers`](super::StreamOptions::readers).
    pub agreement: Agreement,
    /// The sources, indexed by [`GameRow::source`](orbit_reel::GameRow::source).
    pub sources: Vec<SourceSummary>,
    /// The number of bytes read, before decompression.
    pub bytes: u64,
    /// True if the stream was read to its end (and not stopped by `take` or an interrupt).
    pub finished: bool,
}

impl Summary {
    /// Returns the files of folders that were skipped because they hold no games whatever their names say, with the reasons.
    pub fn skipped(&self) -> impl Iterator<Item = (&SourceSummary, &str)> {
        self.sources.iter().filter_map(|source| Some((source, source.skipped.as_deref()?)))
    }

    /// Returns the sources that were not read to their ends.
    pub fn failures(&self) -> impl Iterator<Item = (&SourceSummary, u64, &str)> {
        self.sources.iter().filter_map(|source| {
            source.failure.as_ref().map(|(offset, reason)| (source, *offset, reason.as_str()))
        })
    }
}
