//! Games that hit, written as PGN.

use std::io::{self, Write};

use orbit_chess::database::{GameTexts, Taken};
use orbit_chess::engine::Answer;
use orbit_chess::files::OutputFile;
use orbit_chess::pgn::annotate;
use orbit_chess::reel::GameRow;
use orbit_chess::report::words::push_squares;
use orbit_chess::report::{Found, PgnWriter, Row, Rows, game_text};

use super::Failure;
use super::common::Progress;
use super::terminal::Stdout;

/// Letters of a copy in a comment at most.
const COPY_MAX: usize = 200;

/// Where games are written to.
pub(super) enum Target {
    Stdout(Stdout),
    File(OutputFile),
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::Stdout(out) => out.write(bytes),
            Target::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::Stdout(out) => out.flush(),
            Target::File(file) => file.flush(),
        }
    }
}

impl Target {
    fn failure(&self, error: io::Error) -> Failure {
        match self {
            Target::Stdout(_) => Failure::Stdout(error),
            Target::File(_) => Failure::File(error),
        }
    }
}

/// What is put at a hit.
#[derive(Clone, Debug)]
pub(super) enum Comment {
    None,
    Text(String),
    /// The first copy that hit, and how many others did.
    Copy,
}

impl Comment {
    /// What `--comment` asks for.
    pub(super) fn of(text: Option<&str>) -> Comment {
        match text {
            None => Comment::None,
            Some("") => Comment::Copy,
            Some(text) => Comment::Text(text.to_owned()),
        }
    }

    fn at(&self, row: &Row, found: &Found) -> String {
        if let Comment::Text(text) = self {
            return text.clone();
        }
        let copy = row.copy.and_then(|copy| found.names.copies.get(copy as usize));
        let mut text: String = copy.map_or(String::from("hit"), |copy| shortened(copy));
        if row.copies > 1 {
            text.push_str(&format!(" and {} more", row.copies - 1));
        }
        match row.value {
            Answer::Num(Some(number)) => text.push_str(&format!(" = {number}")),
            Answer::Set(squares) => {
                let mut names = Vec::new();
                push_squares(&mut names, squares);
                text.push_str(" = ");
                text.push_str(&String::from_utf8_lossy(&names));
            }
            Answer::Bool(_) | Answer::Num(None) => {}
        }
        text
    }
}

/// In ASCII, since a game may be in another encoding than ours.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(COPY_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Games that hit, and all places that they are written to.
pub(super) struct Games {
    writers: Vec<PgnWriter<Target>>,
    texts: GameTexts,
    comment: Comment,
    /// Games that are passed over, then those that are written.
    skip: u64,
    left: u64,
    is_closed: bool,
}

impl Games {
    pub(super) fn new(texts: GameTexts, comment: Comment, skip: u64, games_max: Option<u64>) -> Games {
        Games {
            writers: Vec::new(),
            texts,
            comment,
            skip,
            left: games_max.unwrap_or(u64::MAX),
            is_closed: false,
        }
    }

    pub(super) fn add(&mut self, target: Target) {
        self.writers.push(PgnWriter::new(target));
    }

    /// Whether games are written anywhere.
    pub(super) fn are_wanted(&self) -> bool {
        !self.writers.is_empty()
    }

    /// Whether copies are named.
    pub(super) fn name_copies(&self) -> bool {
        self.are_wanted() && matches!(self.comment, Comment::Copy)
    }

    /// The text of a game with its comments; nothing if games are not wanted.
    pub(super) fn text(&mut self, taken: &Taken, game: &GameRow, found: &Found) -> Result<Vec<u8>, Failure> {
        if !self.are_wanted() {
            return Ok(Vec::new());
        }
        let text =
            game_text(&mut self.texts, taken, game).map_err(|error| Failure::Other(error.to_string()))?;
        if matches!(self.comment, Comment::None) {
            return Ok(text);
        }
        let mut comments = Vec::new();
        found.rows(game, Rows::Hits, |row| comments.push((row.ply, self.comment.at(row, found))));
        Ok(annotate(&text, &comments))
    }

    /// Takes the games of the next block.
    pub(super) fn take(&mut self, taken: &Taken, found: &Found, progress: &Progress) -> Result<(), Failure> {
        for game in found.block.games().filter(|game| found.is_hit(game)) {
            if self.left == 0 || !self.are_wanted() {
                break;
            }
            if self.skip == 0 {
                let text = self.text(taken, &game, found)?;
                progress.beside_stdout(|| self.write(&text))?;
            } else {
                self.skip -= 1;
            }
        }
        Ok(())
    }

    /// Writes the next game.
    pub(super) fn write(&mut self, text: &[u8]) -> Result<(), Failure> {
        if self.skip > 0 {
            self.skip -= 1;
        } else if self.left > 0 {
            self.left -= 1;
            let mut fault = None;
            self.writers.retain_mut(|writer| match writer.write(text) {
                Err(error)
                    if matches!(writer.out(), Target::Stdout(_))
                        && error.kind() == io::ErrorKind::BrokenPipe =>
                {
                    self.is_closed = true;
                    false
                }
                Err(error) => {
                    fault = Some(writer.out().failure(error));
                    true
                }
                Ok(()) => true,
            });
            return fault.map_or(Ok(()), Err);
        }
        Ok(())
    }

    /// Whether whoever read standard output has had enough.
    pub(super) fn are_closed(&self) -> bool {
        self.is_closed
    }

    /// Ends all files and gives them their names.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        for writer in self.writers.drain(..) {
            let is_stdout = matches!(writer.out(), Target::Stdout(_));
            let ended = writer.finish().and_then(|mut target| target.flush().map(|()| target));
            match ended {
                // Whoever read standard output has had enough.
                Err(error) if is_stdout && error.kind() == io::ErrorKind::BrokenPipe => {}
                Err(error) if is_stdout => return Err(Failure::Stdout(error)),
                Err(error) => return Err(Failure::File(error)),
                Ok(Target::Stdout(_)) => {}
                Ok(Target::File(file)) => file.finish()?,
            }
        }
        Ok(())
    }

    /// The files that are not finished.
    pub(super) fn files(&self) -> impl Iterator<Item = &OutputFile> {
        self.writers.iter().filter_map(|writer| match writer.out() {
            Target::File(file) => Some(file),
            Target::Stdout(_) => None,
        })
    }
}
