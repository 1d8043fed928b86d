//! What a run over a database came to.

use std::path::{Path, PathBuf};

use orbit_pgn::Stamp;
use orbit_reel::{ReelSource, Totals};
use orbit_witness::Agreement;

/// A file, stream or memory that games came from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceSummary {
    /// The path as given or found, or what stands in for one. Of a reel, the sources it was made
    /// from.
    pub name: String,
    /// Where its file lies, or lay when a reel was made from it, from the root and without links; unknown of what
    /// is no file.
    pub path: Option<PathBuf>,
    /// What its file was known by when it was read: all of it once it was read to its end, the content only if
    /// [`pgn::Options::hash`](orbit_pgn::Options::hash) asked for that.
    pub stamp: Stamp,
    /// Games read, skipped ones included.
    pub games: u64,
    /// How many of them were dropped as duplicates of earlier ones; they are among the skipped.
    pub duplicates: u64,
    /// The reel that its games came from, if they did.
    pub reel: Option<PathBuf>,
    /// Why that reel does not hold all of it, if so.
    pub reel_failure: Option<String>,
    /// The version of the rules by which its games were read: see [`ReelSource::reader`].
    pub reader: u32,
    /// Why it was not read to its end, and at which byte of the decompressed text, if so.
    pub failure: Option<(u64, String)>,
    /// Why it was left unread although its folder was given, if it was: it holds no games whatever its name says.
    pub skipped: Option<String>,
}

impl SourceSummary {
    /// Of a source of a reel, or of a folder of reels by its manifest.
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

    /// The same as an entry of a reel.
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

/// What a run over a database came to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Games, positions and problems of the blocks that were taken.
    pub totals: Totals,
    /// Side lines (variations) that are not searched, since games are their main lines: those of text that was read, and those that
    /// the sources of a reel had, if it was read to its end.
    pub side_lines: u64,
    /// What two readers agree on, of text that two have read: see [`StreamOptions::readers`](super::StreamOptions::readers).
    pub agreement: Agreement,
    /// The sources, by the index that [`GameRow::source`](orbit_reel::GameRow::source) gives.
    pub sources: Vec<SourceSummary>,
    /// Bytes read, before decompression.
    pub bytes: u64,
    /// Whether the stream was taken to its end (and not stopped by `take` or an interrupt).
    pub finished: bool,
}

impl Summary {
    /// The files of folders that hold no games whatever their names say, and why they were left unread.
    pub fn skipped(&self) -> impl Iterator<Item = (&SourceSummary, &str)> {
        self.sources.iter().filter_map(|source| Some((source, source.skipped.as_deref()?)))
    }

    /// The sources that were not read to their ends.
    pub fn failures(&self) -> impl Iterator<Item = (&SourceSummary, u64, &str)> {
        self.sources.iter().filter_map(|source| {
            source.failure.as_ref().map(|(offset, reason)| (source, *offset, reason.as_str()))
        })
    }
}
