//! A database as a folder of reels. The folder contains the reels, called *shards*, and a manifest that lists them in order.
//!
//! The manifest is written last, so a folder with a manifest is complete. It has a checksum of its own and records the
//! length and the header checksum of each shard. A shard's header in turn contains the checksum of the directory, and
//! each block has a checksum of its own. So a shard that was exchanged, truncated or altered is detected before any of
//! its games are used.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use super::reader::Reel;
use super::source::ReelSource;
use super::{FORMAT_VERSION, ReelError};
use orbit_core::files::{OutputError, OutputFile, open_regular};
use orbit_pgn::{READER_VERSION, Stamp};

/// The file name of the manifest.
pub const MANIFEST_NAME: &str = "orbit-manifest.json";
const SCHEMA: u32 = 1;
const MANIFEST_BYTES_MAX: u64 = 1 << 30;

/// The reason why a folder of reels cannot be read or written as one database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The manifest cannot be read.
    #[error("{} cannot be read ({error}): check the path and its permissions", path.display())]
    Unreadable {
        /// The manifest.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The manifest was altered or truncated, or it belongs to another version of orbit.
    #[error(
        "{} is no manifest of this version of orbit, or was altered or cut ({what}): make the folder again with `orbit index \
         --shards`", path.display()
    )]
    Malformed {
        /// The manifest.
        path: PathBuf,
        /// A description of the error in the manifest.
        what: String,
    },
    /// A folder contains shards but no manifest.
    #[error(
        "{} contains reels, but no {MANIFEST_NAME}: `orbit index --shards` was not finished; index again into a new folder, or \
         name the reels themselves", folder.display()
    )]
    Missing {
        /// The folder.
        folder: PathBuf,
    },
    /// A shard is missing.
    #[error("{} is missing, which {MANIFEST_NAME} names: put the file back, or index again", path.display())]
    MissingShard {
        /// The shard.
        path: PathBuf,
    },
    /// A shard is not the reel that the manifest describes.
    #[error(
        "{} is not the reel that {MANIFEST_NAME} describes ({what}): put the right file back, or index again",
        path.display()
    )]
    OtherShard {
        /// The shard.
        path: PathBuf,
        /// The difference between the shard and the manifest's description of it.
        what: String,
    },
    /// A shard is damaged.
    #[error(transparent)]
    Reel(#[from] ReelError),
    /// The folder already contains files.
    #[error("{} contains files already: give the name of a new folder, or remove this one first", folder.display())]
    NotEmpty {
        /// The folder.
        folder: PathBuf,
    },
    /// Another process is writing reels to the folder.
    #[error("another process is writing to {}: wait until it is done, or give the name of a new folder", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder or its manifest cannot be written.
    #[error("{} cannot be written ({error}): check the path, its permissions and the space on the disk", path.display())]
    Unwritable {
        /// The path that was to be written.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The manifest cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
}

/// The contents of a manifest.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    schema: u32,
    /// The version of orbit that wrote the folder.
    pub orbit: String,
    /// The format version of the reels.
    pub format_version: u32,
    /// The version of the rules by which games were read from PGN.
    pub reader_version: u32,
    /// True if the reels store side lines, comments and glyphs.
    pub variations: bool,
    /// The number of games in all shards, including skipped ones.
    pub games: u64,
    /// The number of positions in all shards.
    pub positions: u64,
    /// The sources of the games. Games in a shard refer to their sources by index in this list.
    pub sources: Vec<ManifestSource>,
    /// The reels, in the order of their games.
    pub shards: Vec<Shard>,
    /// The hash (XXH3, 64 bits) of the manifest as JSON without white space, computed while this field is empty.
    checksum: String,
}

/// A source, as the manifest lists it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ManifestSource {
    /// The name of the source: see [`ReelSource::name`].
    pub name: String,
    /// The path of the source: see [`ReelSource::path`].
    pub path: Option<String>,
    /// The size of the source in bytes, before decompression.
    pub bytes: Option<u64>,
    /// The time of the source's last change, in nanoseconds since 1970.
    pub modified_ns: Option<u64>,
    /// The hash (XXH3, 64 bits) of the source's bytes, as `xxhsum -H3` prints it.
    pub xxh3: Option<String>,
    /// The number of games in the source, including skipped ones.
    pub games: u64,
    /// The number of games in the source that were dropped as duplicates.
    pub duplicates: u64,
    /// The reason why the source was not read to its end, or `None` if it was.
    pub failure: Option<String>,
}

/// A reel in the folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Shard {
    /// The name of the reel's file in the folder.
    pub file: String,
    /// The size of the reel in bytes.
    pub bytes: u64,
    /// The number of blocks of the reel.
    pub blocks: u64,
    /// The number of games in the reel, including skipped ones.
    pub games: u64,
    /// The number of positions in the reel.
    pub positions: u64,
    /// The dates of the earliest and the latest game, in PGN notation.
    pub dates: Option<(String, String)>,
    /// The lowest and the highest player rating in the games.
    pub elos: Option<(u32, u32)>,
    /// The checksum of the reel's header, in eight hexadecimal digits.
    pub header: String,
    /// The hash (XXH3, 64 bits) of the file, as `xxhsum -H3` prints it.
    pub xxh3: String,
}

impl Manifest {
    /// Returns the path of a folder's manifest, or `None` if the folder is not a database of shards (reels).
    ///
    /// # Errors
    ///
    /// Returns [`ManifestError::Missing`] if the folder contains shards but no manifest.
    pub fn locate(folder: &Path) -> Result<Option<PathBuf>, ManifestError> {
        if !folder.is_dir() {
            return Ok(None);
        }
        let path = folder.join(MANIFEST_NAME);
        if path.exists() {
            return Ok(Some(path));
        }
        match folder.join(shard_name(0)).exists() {
            true => Err(ManifestError::Missing { folder: folder.to_owned() }),
            false => Ok(None),
        }
    }

    /// Reads a manifest and checks it without opening its shards.
    ///
    /// # Errors
    ///
    /// Returns [`ManifestError::Unreadable`] or [`ManifestError::Malformed`].
    pub fn read(path: &Path) -> Result<Manifest, ManifestError> {
        let unreadable = |error| ManifestError::Unreadable { path: path.to_owned(), error };
        let malformed =
            |what: &dyn ToString| ManifestError::Malformed { path: path.to_owned(), what: what.to_string() };
        let mut file = open_regular(path).map_err(unreadable)?;
        if file.metadata().map_err(unreadable)?.len() > MANIFEST_BYTES_MAX {
            return Err(malformed(&"it is longer than any may be"));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(unreadable)?;
        let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|error| malformed(&error))?;
        if manifest.schema != SCHEMA {
            return Err(malformed(&format!("schema {}, not {SCHEMA}", manifest.schema)));
        }
        if manifest.checksum != manifest.checksum_now() {
            return Err(malformed(&"its checksum is wrong"));
        }
        Ok(manifest)
    }

    /// Opens the shards in order, and checks them against the manifest.
    ///
    /// # Errors
    ///
    /// Returns [`ManifestError::MissingShard`] if a shard is missing, [`ManifestError::OtherShard`] if one is not the
    /// reel that the manifest describes, or [`ManifestError::Reel`] if one is damaged or unreadable.
    pub fn open_shards(&self, folder: &Path) -> Result<Vec<Reel>, ManifestError> {
        self.shards.iter().map(|shard| self.open_shard(shard, folder)).collect()
    }

    fn open_shard(&self, shard: &Shard, folder: &Path) -> Result<Reel, ManifestError> {
        let path = folder.join(&shard.file);
        let other = |what: String| ManifestError::OtherShard { path: path.clone(), what };
        if !path.exists() {
            return Err(ManifestError::MissingShard { path });
        }
        let reel = Reel::open(&path)?;
        let found =
            Shard { xxh3: shard.xxh3.clone(), ..Shard::from_reel(&reel, shard.file.clone(), String::new()) };
        if found != *shard {
            let what = match (found.games == shard.games, found.bytes == shard.bytes) {
                (false, _) => format!("{} games, not {}", found.games, shard.games),
                (_, false) => format!("{} bytes, not {}", found.bytes, shard.bytes),
                _ => String::from("another header"),
            };
            return Err(other(what));
        }
        if reel.sources().len() > self.sources.len() || reel.keeps_variations() != self.variations {
            return Err(other(String::from("other sources")));
        }
        Ok(reel)
    }

    /// Returns the sources of the manifest in the form that a reel stores.
    pub fn reel_sources(&self) -> Vec<ReelSource> {
        self.sources.iter().map(|source| source.to_reel_source(self.reader_version)).collect()
    }

    /// Returns the checksum, which identifies the manifest.
    pub fn checksum(&self) -> &str {
        &self.checksum
    }

    fn new(variations: bool, sources: &[ReelSource], shards: Vec<Shard>) -> Manifest {
        let first = sources.first().map_or(READER_VERSION, |source| source.reader);
        let is_one = sources.iter().all(|source| source.reader == first);
        let mut manifest = Manifest {
            schema: SCHEMA,
            orbit: env!("CARGO_PKG_VERSION").to_owned(),
            format_version: FORMAT_VERSION,
            reader_version: if is_one { first } else { 0 },
            variations,
            games: shards.iter().map(|shard| shard.games).sum(),
            positions: shards.iter().map(|shard| shard.positions).sum(),
            sources: sources.iter().map(ManifestSource::from_source).collect(),
            shards,
            checksum: String::new(),
        };
        manifest.checksum = manifest.checksum_now();
        manifest
    }

    fn checksum_now(&self) -> String {
        let bare = Manifest { checksum: String::new(), ..self.clone() };
        let bytes = serde_json::to_vec(&bare).expect("a manifest is numbers and texts");
        format!("{:016x}", XxHash3_64::oneshot(&bytes))
    }

    /// Writes the manifest of a folder in which all shards (reels) are complete.
    pub(super) fn write(
        folder: &Path,
        variations: bool,
        sources: &[ReelSource],
        shards: Vec<Shard>,
    ) -> Result<Manifest, ManifestError> {
        let path = folder.join(MANIFEST_NAME);
        let manifest = Manifest::new(variations, sources, shards);
        let mut text = serde_json::to_vec_pretty(&manifest).expect("a manifest is numbers and texts");
        text.push(b'\n');
        let mut file = OutputFile::create(&path)?;
        let written = file.write_all(&text);
        written.map_err(|error| ManifestError::Unwritable { path, error })?;
        file.finish()?;
        Ok(manifest)
    }
}

impl Shard {
    pub(super) fn from_reel(reel: &Reel, file: String, xxh3: String) -> Shard {
        let totals = reel.totals();
        Shard {
            file,
            bytes: reel.bytes(),
            blocks: reel.blocks() as u64,
            games: totals.games(),
            positions: totals.positions,
            dates: totals.dates.clone(),
            elos: totals.elos,
            header: format!("{:08x}", reel.header_crc()),
            xxh3,
        }
    }
}

impl ManifestSource {
    fn from_source(source: &ReelSource) -> ManifestSource {
        let ReelSource { name, path, stamp, games, duplicates, failure, .. } = source.clone();
        ManifestSource {
            name,
            path: path.as_deref().and_then(Path::to_str).map(String::from),
            bytes: stamp.bytes,
            modified_ns: stamp.modified_ns,
            xxh3: stamp.hash.map(|hash| format!("{hash:016x}")),
            games,
            duplicates,
            failure,
        }
    }

    fn to_reel_source(&self, reader: u32) -> ReelSource {
        let hash = self.xxh3.as_deref().and_then(|hash| u64::from_str_radix(hash, 16).ok());
        let mut source = ReelSource {
            name: self.name.clone(),
            path: self.path.as_ref().map(PathBuf::from),
            games: self.games,
            duplicates: self.duplicates,
            failure: self.failure.clone(),
            reader,
            ..ReelSource::default()
        };
        source.stamp = Stamp { bytes: self.bytes, modified_ns: self.modified_ns, hash };
        source
    }
}

/// Returns the file name of a shard, a reel of the folder. Shards are counted from 0.
pub(super) fn shard_name(index: usize) -> String {
    format!("{index:05}.reel")
}
