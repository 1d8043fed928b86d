//! A game of a session.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::board::{Color, Position};
use crate::game::{Header as _, MoveNumbers, date, tags};
use crate::pgn::Outcome;
use crate::reel::{Block, GameRow};
use crate::report::{fen_at, game_pgn};
use crate::text::decode;

/// One game. It shares the block of games that it lies in, so that it is cheap to clone and stays valid after the session is
/// gone; of a database that is not in memory, a game that is kept keeps its block of about a megabyte.
#[derive(Clone)]
pub struct GameRef {
    block: Arc<Block>,
    index: usize,
    sources: Arc<[String]>,
}

impl GameRef {
    pub(super) fn new(block: &Arc<Block>, index: usize, sources: &Arc<[String]>) -> GameRef {
        GameRef { block: Arc::clone(block), index, sources: Arc::clone(sources) }
    }

    /// The game as its block has it.
    pub fn row(&self) -> GameRow<'_> {
        self.block.game(self.index)
    }

    /// Its number over all sources, from 1, skipped games included.
    pub fn number(&self) -> u32 {
        self.row().number()
    }

    /// Its source: the file as it was given.
    pub fn source(&self) -> &str {
        self.sources.get(self.row().source() as usize).map_or("", String::as_str)
    }

    /// Its number in its source, from 1, skipped games included.
    pub fn number_in_source(&self) -> u32 {
        self.row().number_in_source()
    }

    /// All tags in the order of the file, decoded: UTF-8, or else Windows-1252.
    pub fn tags(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        self.row().tags().map(|(name, value)| (decode(name), decode(value)))
    }

    /// The value of the first tag of a name, whatever the case of its letters.
    pub fn tag(&self, name: &str) -> Option<String> {
        Some(tags::text(self.row().tag_named(name)?).into_owned())
    }

    /// The name of White, if it is known.
    pub fn white(&self) -> Option<String> {
        self.player(Color::White)
    }

    /// The name of Black, if it is known.
    pub fn black(&self) -> Option<String> {
        self.player(Color::Black)
    }

    fn player(&self, side: Color) -> Option<String> {
        tags::player(&self.row(), side).map(Cow::into_owned)
    }

    /// The date as PGN writes dates, if anything of it is known.
    pub fn date(&self) -> Option<String> {
        date::known_text(&self.row()).map(Cow::into_owned)
    }

    /// How it ended, by its movetext.
    pub fn outcome(&self) -> Outcome {
        self.row().outcome()
    }

    /// How many half-moves it has.
    pub fn plies(&self) -> u32 {
        self.row().plies() as u32
    }

    /// The moves as SAN.
    pub fn sans(&self) -> Vec<String> {
        let row = self.row();
        let mut position = row.start();
        let sans = row.moves().iter().map(|&mv| {
            let san = mv.to_san(&position);
            position.play(mv);
            san
        });
        sans.collect()
    }

    /// The position after so many half-moves; `None` beyond the end.
    pub fn position(&self, ply: u32) -> Option<Position> {
        let row = self.row();
        let mut position = row.start();
        row.moves().get(..ply as usize)?.iter().for_each(|&mv| position.play(mv));
        Some(position)
    }

    /// The position after so many half-moves as FEN, with the halfmove clock and the move number that it has in the game;
    /// `None` beyond the end.
    pub fn fen(&self, ply: u32) -> Option<String> {
        (ply <= self.plies()).then(|| fen_at(&self.row(), ply))
    }

    /// The move that is played after so many half-moves, as SAN; `None` at the end.
    pub fn san(&self, ply: u32) -> Option<String> {
        let mv = *self.row().moves().get(ply as usize)?;
        Some(mv.to_san(&self.position(ply)?))
    }

    /// The name of the move that led to a position: `24.` is White's, `23...` Black's, `start` none.
    pub fn label(&self, ply: u32) -> String {
        let mut label = Vec::new();
        MoveNumbers::of(&self.row()).push_label(ply, &mut label);
        String::from_utf8(label).expect("labels are ASCII")
    }

    /// Tags, moves and result as PGN, in the encoding of the source.
    pub fn pgn(&self) -> Vec<u8> {
        game_pgn(&self.row())
    }
}

impl fmt::Debug for GameRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GameRef").field("number", &self.number()).field("source", &self.source()).finish()
    }
}
