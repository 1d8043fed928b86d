//! Recognises files that look like games, archives or other collections of games, by their names and their first bytes.

use std::path::Path;

/// The file name endings of game collections in unsupported formats. If a database consists of several files, the list contains
/// only one of their endings, so a message to the user names the database once.
const FOREIGN: [&str; 17] = [
    ".rar", ".xz", ".lzma", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.zst", ".cbh", ".cbv", ".cbf",
    ".cbone", ".2cbh", ".2cbv", ".si3", ".si4", ".si5",
];
/// The maximum number of names that a message to the user lists.
const NAMES_SHOWN: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ArchiveFormat {
    Zip,
    SevenZ,
}

impl ArchiveFormat {
    /// Recognises a format from the first bytes of a file.
    pub(super) fn from_head(head: &[u8]) -> Option<ArchiveFormat> {
        match head {
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] | [b'P', b'K', 7, 8, ..] => {
                Some(ArchiveFormat::Zip)
            }
            [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => Some(ArchiveFormat::SevenZ),
            _ => None,
        }
    }

    /// Recognises a format by the file name.
    pub(super) fn from_name(path: &Path) -> Option<ArchiveFormat> {
        let end = path.extension()?;
        let is = |name: &str| end.eq_ignore_ascii_case(name);
        if is("zip") { Some(ArchiveFormat::Zip) } else { is("7z").then_some(ArchiveFormat::SevenZ) }
    }

    /// Returns whether this build reads the format.
    pub(super) fn is_read(self) -> bool {
        self == ArchiveFormat::Zip || cfg!(feature = "sevenz")
    }

    /// Returns the name of the format for messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            ArchiveFormat::Zip => "zip archive",
            ArchiveFormat::SevenZ => "7z archive",
        }
    }
}

/// Returns the first names of a list, and the number of remaining names: `a.txt, b.txt, c.txt and 5 more`. `all` is the total
/// number of names.
pub(super) fn listed(names: &[String], all: usize) -> String {
    let shown = names.len().min(NAMES_SHOWN);
    let more = all - shown;
    let names = names[..shown].join(", ");
    if more == 0 { names } else { format!("{names} and {more} more") }
}

fn lower_name(path: &Path) -> Vec<u8> {
    path.file_name().unwrap_or_default().as_encoded_bytes().to_ascii_lowercase()
}

/// Returns whether a name ends in `.pgn`, `.epd` or `.fen`, perhaps followed by `.zst`, `.gz` or `.bz2`.
pub(super) fn looks_like_games(path: &Path) -> bool {
    let name = lower_name(path);
    let name =
        [&b".zst"[..], b".gz", b".bz2"].iter().find_map(|end| name.strip_suffix(*end)).unwrap_or(&name);
    [&b".pgn"[..], b".epd", b".fen"].iter().any(|end| name.ends_with(end))
}

/// Returns whether the file name is that of an archive, or of a database in an unsupported format.
pub(super) fn is_foreign(path: &Path) -> bool {
    let name = lower_name(path);
    FOREIGN.iter().any(|end| name.ends_with(end.as_bytes())) || ArchiveFormat::from_name(path).is_some()
}
