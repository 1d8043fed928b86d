//! Writes games with hits as PGN: the text of their sources, with comments at the hits.
//!
//! The comments are written on any thread. The text of a game may be in a file that must be decompressed from its beginning, so
//! texts are read in database order, when the parts (the results for blocks, which are groups of games) are added up.

use serde::{Deserialize, Serialize};

use super::lists::ListReach;
use super::{Collector, Part, PartError, TakeError};
use crate::found::{BlockResult, Found};
use crate::report::words::{push_squares, push_text};
use crate::report::{CommentStyle, Row, Rows, game_text};
use orbit_database::{GameTexts, MemoryBudget, StreamedBlock, TextError};
use orbit_engine::{Answer, Wants};
use orbit_pgn::{Amendment, amend, annotate};
use orbit_reel::GameRow;

/// The maximum number of characters that a comment shows of a transformed copy.
const COPY_MAX: usize = 200;

/// The kind of comment to write at hits.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Comment {
    /// No comments. Games stay unchanged.
    #[default]
    None,
    /// The same text at every hit.
    Text(String),
    /// The first matching copy of the query, the number of other copies that match, and the query's value.
    Copy,
    /// The comments that the query itself writes, at hits or at other positions.
    Query(CommentStyle),
}

/// Collects the games with hits.
#[derive(Debug, Default)]
pub struct GamesCollector {
    comment: Comment,
    reach: ListReach,
}

/// A found game, which is written as PGN.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum WrittenGame {
    /// A game whose text has not been read yet.
    Unread {
        /// The index of the game in its block.
        index: u32,
        /// The comments to add to the PGN text of the game.
        added: Added,
    },
    /// The text of a game.
    Read(Vec<u8>),
}

/// The additions to the text of a game.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Added {
    /// Nothing.
    Nothing,
    /// Comments, each with the node (position number) at which it is written.
    Comments(Vec<(u32, String)>),
    /// The changes that the query requests.
    Amendment(Amendment),
}

/// The games with hits, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GamesPart {
    /// The games.
    pub games: Vec<WrittenGame>,
    games_max: Option<u64>,
}

impl GamesCollector {
    /// Collects games with these comments.
    pub fn new(comment: Comment, reach: ListReach) -> GamesCollector {
        GamesCollector { comment, reach }
    }

    /// Returns the limits of the list of games.
    pub fn reach(&self) -> &ListReach {
        &self.reach
    }
}

impl Collector for GamesCollector {
    type Part = GamesPart;

    fn wants(&self) -> Wants {
        self.comment.wants()
    }

    fn look(&self, result: &BlockResult, _: &MemoryBudget) -> GamesPart {
        let games_max = self.reach.games_max();
        let mut part = GamesPart { games: Vec::new(), games_max };
        if !self.reach.is_reached() {
            let found = result.first();
            let hit = found.games_found().take(part.most());
            part.games.extend(hit.map(|game| WrittenGame::new(&game, &found, &self.comment)));
        }
        part
    }

    fn take(
        &self,
        sum: &mut GamesPart,
        mut part: GamesPart,
        streamed: &StreamedBlock,
        texts: &mut GameTexts,
    ) -> Result<(), TakeError> {
        let left = part.most().saturating_sub(sum.games.len());
        part.games.truncate(left);
        for game in &mut part.games {
            game.read(streamed, texts)?;
        }
        Ok(sum.merge(part)?)
    }
}

impl GamesPart {
    fn most(&self) -> usize {
        self.games_max.and_then(|max| usize::try_from(max).ok()).unwrap_or(usize::MAX)
    }
}

impl Part for GamesPart {
    fn merge(&mut self, next: GamesPart) -> Result<(), PartError> {
        if *self == GamesPart::default() {
            *self = next;
            return Ok(());
        }
        if self.games_max != next.games_max && next != GamesPart::default() {
            return Err(PartError::Differ("limits"));
        }
        self.games.extend(next.games);
        self.games.truncate(self.most());
        Ok(())
    }

    fn check(&self, _: u64) -> Result<(), &'static str> {
        self.games.iter().try_for_each(WrittenGame::check)
    }
}

impl WrittenGame {
    /// Creates a game whose text will be read later.
    pub(super) fn new(game: &GameRow, found: &Found, comment: &Comment) -> WrittenGame {
        let added = match comment {
            Comment::None => Added::Nothing,
            Comment::Query(style) => {
                let commentary = found.commentary_of(game);
                let amendment = commentary.and_then(|said| style.amendment(game.number(), said));
                amendment.map_or(Added::Nothing, Added::Amendment)
            }
            Comment::Text(_) | Comment::Copy => {
                let mut comments = Vec::new();
                found.rows(game, Rows::Hits, |row| comments.push((row.node, comment.at(row, found))));
                Added::Comments(comments)
            }
        };
        WrittenGame::Unread { index: game.index() as u32, added }
    }

    /// Returns the text of the game, and reads it first if necessary. `streamed` is the game's block.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`GameTexts::text`].
    pub fn read(&mut self, streamed: &StreamedBlock, texts: &mut GameTexts) -> Result<&[u8], TextError> {
        if let WrittenGame::Unread { index, added } = self {
            let text = game_text(texts, streamed, &streamed.block.game(*index as usize))?;
            *self = WrittenGame::Read(match added {
                Added::Nothing => text,
                Added::Comments(comments) => annotate(&text, comments),
                Added::Amendment(amendment) => amend(&text, amendment),
            });
        }
        Ok(self.text())
    }

    /// Checks a game that was read from the file of a job part. It must include its text, because its block is not available.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        match self {
            WrittenGame::Read(text) if !text.is_empty() => Ok(()),
            _ => Err("a game has no text"),
        }
    }

    /// Returns the text, or nothing if it has not been read yet.
    pub fn text(&self) -> &[u8] {
        if let WrittenGame::Read(text) = self { text } else { &[] }
    }
}

impl Comment {
    /// Returns the facts about games and hits that these comments need.
    pub(super) fn wants(&self) -> Wants {
        // A text that is read from a file is checked against the known tags and moves of its game, so tags are needed.
        let games = Wants::GAME_TEXTS | Wants::TAGS;
        games
            | (Wants::LOWEST_COPY | Wants::COPY_NAMES | Wants::VALUES).when(*self == Comment::Copy)
            | Wants::COMMENTARY.when(matches!(self, Comment::Query(_)))
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
        if let Some(value) = row.text {
            let mut quoted = Vec::new();
            push_text(&mut quoted, value);
            text.push_str(" = ");
            text.push_str(&String::from_utf8_lossy(&quoted));
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

/// Truncates a string. The ellipsis is ASCII, because the encoding of a game may not be UTF-8.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(COPY_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// A filter for the games of a run. It skips a number of games and then accepts games up to a limit.
#[derive(Clone, Copy, Debug)]
pub struct GamesTaken {
    skip: u64,
    left: u64,
}

impl GamesTaken {
    /// Creates a filter that skips `skip` games and then accepts at most `games_max`.
    pub fn new(skip: u64, games_max: Option<u64>) -> GamesTaken {
        GamesTaken { skip, left: games_max.unwrap_or(u64::MAX) }
    }

    /// Returns whether the maximum number of games has been accepted.
    pub fn are_all(&self) -> bool {
        self.left == 0
    }

    /// Returns whether the next game is within the range to accept: after the skipped games, and before the limit. Each call is
    /// about the game after that of the previous call.
    pub fn takes_next(&mut self) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        let takes = self.left > 0;
        self.left = self.left.saturating_sub(1);
        takes
    }
}
