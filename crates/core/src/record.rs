//! The data of a game apart from its moves: the result, the tags, and the comments and glyphs of annotators.

/// The result of a game. It is read from the terminator of the movetext, never from the `Result` tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Outcome {
    #[default]
    Unknown = 0,
    WhiteWins = 1,
    BlackWins = 2,
    Draw = 3,
}

impl Outcome {
    /// Returns the terminator as PGN writes it.
    pub const fn text(self) -> &'static str {
        match self {
            Outcome::Unknown => "*",
            Outcome::WhiteWins => "1-0",
            Outcome::BlackWins => "0-1",
            Outcome::Draw => "1/2-1/2",
        }
    }

    /// Returns the result with the sides swapped: `1-0` becomes `0-1`.
    #[must_use]
    pub const fn colors_swapped(self) -> Outcome {
        match self {
            Outcome::WhiteWins => Outcome::BlackWins,
            Outcome::BlackWins => Outcome::WhiteWins,
            Outcome::Draw | Outcome::Unknown => self,
        }
    }
}

/// A comment or glyph by an annotator, and its node (a position of the game).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Annotation {
    /// The number of the annotated position within the game, as CQL numbers positions.
    pub node: u32,
    /// The comment or glyph.
    pub kind: AnnotationKind,
}

/// The content of an [`Annotation`]. The bytes of comments are unchanged, without their braces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AnnotationKind {
    /// A comment before the move that leads to the first position of a side line.
    Before(Vec<u8>),
    /// A comment after the move that leads to the position, or before the first move of the game.
    Comment(Vec<u8>),
    /// A numeric annotation glyph: 1 is `$1` or `!`.
    Nag(u16),
}

/// The data of a game that cannot be derived from its moves.
pub trait GameFacts {
    /// Returns the number of the game, counted from 1 over all sources. Skipped games are counted.
    fn number(&self) -> u32;
    /// Returns the result at the end of the movetext.
    fn outcome(&self) -> Outcome;
    /// Returns the value of the first tag with this name, with unchanged bytes.
    fn tag(&self, name: &str) -> Option<&[u8]>;
    /// Returns whether the two sides of the game have been swapped. A search swaps them to evaluate every game from one player's
    /// side. Move numbers are not changed.
    fn is_swapped(&self) -> bool {
        false
    }
    /// Returns the comments and glyphs in the order of their positions. The list is empty if the source of the game does not
    /// provide them.
    fn annotations(&self) -> &[Annotation];
}
