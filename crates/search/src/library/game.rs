//! A game in a database.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::report::{fen_at, game_pgn};
use orbit_core::board::{Color, PackedMove, Position};
use orbit_core::game::{GameHeader as _, MoveNumbers, date, tags};
use orbit_core::text::decode;
use orbit_pgn::Outcome;
use orbit_reel::{Block, GameRow};

/// One game. It references its block (a group of whole games), so it is cheap to clone and stays valid after the database is
/// dropped. If the database is not in memory, each game also keeps its block alive, which takes about a megabyte.
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

    /// Returns the game as a row of its block.
    pub fn row(&self) -> GameRow<'_> {
        self.block.game(self.index)
    }

    /// Returns the number of the game in the database, counted from 1 across all sources. Skipped games are counted.
    pub fn number(&self) -> u32 {
        self.row().number()
    }

    /// Returns the path of the game's source file, as it was given.
    pub fn source(&self) -> &str {
        self.sources.get(self.row().source() as usize).map_or("", String::as_str)
    }

    /// Returns the number of the game in its source, counted from 1. Skipped games are counted.
    pub fn number_in_source(&self) -> u32 {
        self.row().number_in_source()
    }

    /// Iterates over all tags in file order. Text is decoded as UTF-8, or as Windows-1252 if it is not valid UTF-8.
    pub fn tags(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        self.row().tags().map(|(name, value)| (decode(name), decode(value)))
    }

    /// Returns the value of the first tag with this name, ignoring case.
    pub fn tag(&self, name: &str) -> Option<String> {
        Some(tags::text(self.row().tag_named(name)?).into_owned())
    }

    /// Returns White's name, if known.
    pub fn white(&self) -> Option<String> {
        self.player(Color::White)
    }

    /// Returns Black's name, if known.
    pub fn black(&self) -> Option<String> {
        self.player(Color::Black)
    }

    fn player(&self, side: Color) -> Option<String> {
        tags::player(&self.row(), side).map(Cow::into_owned)
    }

    /// Returns the date as PGN writes it, `YYYY.MM.DD`, if any part of it is known.
    pub fn date(&self) -> Option<String> {
        date::known_text(&self.row()).map(Cow::into_owned)
    }

    /// Returns the result given in the movetext.
    pub fn outcome(&self) -> Outcome {
        self.row().outcome()
    }

    /// Returns the number of half-moves in the main line.
    pub fn plies(&self) -> u32 {
        self.row().plies() as u32
    }

    /// Returns the number of nodes. Nodes are the positions of the game, numbered from 0: first those of the main line, where the
    /// number equals the ply, then those of the side lines, if the database keeps them
    /// ([`DatabaseOptions::variations`](super::DatabaseOptions::variations)).
    pub fn nodes(&self) -> u32 {
        self.row().positions() as u32
    }

    /// Returns the moves of the main line as SAN.
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

    /// Returns the number of half-moves played before a node.
    ///
    /// # Panics
    ///
    /// Panics if the game has no such node. This applies to all methods that take a node.
    pub fn ply(&self, node: u32) -> u32 {
        self.checked(node).ply_of(node)
    }

    /// Returns the index of the side line that contains a node, or `None` for nodes on the main line. Side lines are numbered in
    /// the order of their nodes.
    pub fn line(&self, node: u32) -> Option<usize> {
        Some(self.checked(node).line_of(node)?.index())
    }

    /// Returns the preceding node. For the first node of a side line, this is the node from which it branches off. Returns `None`
    /// at the start of the game.
    pub fn parent(&self, node: u32) -> Option<u32> {
        self.checked(node).parent_of(node)
    }

    /// Returns the position at a node.
    pub fn position(&self, node: u32) -> Position {
        let mut position = self.row().start();
        self.path(node).into_iter().for_each(|mv| position.play(mv));
        position
    }

    /// Returns the FEN of the position at a node, with the halfmove clock and move number from the game.
    pub fn fen(&self, node: u32) -> String {
        fen_at(&self.checked(node), node)
    }

    /// Returns the move that leads to a node as SAN, or `None` at the start of the game.
    pub fn san_before(&self, node: u32) -> Option<String> {
        let parent = self.parent(node)?;
        Some(self.row().move_to(node)?.to_san(&self.position(parent)))
    }

    /// Returns the move that follows a node in its line as SAN, or `None` at the end of the line.
    pub fn san_after(&self, node: u32) -> Option<String> {
        Some(self.checked(node).move_from(node)?.to_san(&self.position(node)))
    }

    /// Returns a label for the move that leads to a node: `24.` for White, `23...` for Black, `start` for the first node.
    pub fn label(&self, node: u32) -> String {
        let mut label = Vec::new();
        MoveNumbers::from_header(&self.row()).push_label(self.ply(node), &mut label);
        String::from_utf8(label).expect("labels are ASCII")
    }

    /// Returns the moves from the start of the game to a node.
    fn path(&self, node: u32) -> Vec<PackedMove> {
        let row = self.checked(node);
        let before = |&node: &u32| row.parent_of(node);
        let nodes = std::iter::successors(Some(node), before);
        let mut path: Vec<PackedMove> = nodes.filter_map(|node| row.move_to(node)).collect();
        path.reverse();
        path
    }

    fn checked(&self, node: u32) -> GameRow<'_> {
        let nodes = self.nodes();
        assert!(
            node < nodes,
            "game {} has {nodes} nodes, numbered from 0: there is no node {node}",
            self.number()
        );
        self.row()
    }

    /// Returns the tags, moves and result as PGN in the encoding of the source. Side lines, comments and glyphs are included if
    /// the database keeps them.
    pub fn pgn(&self) -> Vec<u8> {
        game_pgn(&self.row())
    }

    /// Returns the game as [`GameRef::pgn`] does, decoded as UTF-8, or as Windows-1252 if it is not valid UTF-8.
    pub fn pgn_text(&self) -> String {
        decode(&self.pgn()).into_owned()
    }
}

impl fmt::Debug for GameRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GameRef").field("number", &self.number()).field("source", &self.source()).finish()
    }
}
