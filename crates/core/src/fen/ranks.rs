//! Reads piece placements that may contain letters other than piece letters, such as the board patterns of a search.

/// One rank of a placement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RankText<'t> {
    /// The index of the rank in the text: 0 for the first one, which is rank 8. The index can exceed 7, since a faulty placement
    /// may have more than eight ranks.
    pub index: u32,
    /// The offset of the rank's first byte in the placement.
    pub start: usize,
    /// The text between the slashes.
    pub text: &'t str,
}

/// The meaning of one character of a placement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Symbol {
    /// A digit: that many empty squares. The digits 0 and 9 are included, although no FEN may contain them.
    Squares(u32),
    /// `~`: the preceding piece is a promoted pawn. The mark describes no square.
    Promoted,
    /// Any other character, which describes one square.
    Letter(char),
}

/// Returns the ranks of a placement. A faulty placement may have more or fewer than eight.
pub fn ranks(placement: &str) -> impl Iterator<Item = RankText<'_>> {
    let mut start = 0;
    (0..).zip(placement.split('/')).map(move |(index, text)| {
        let rank = RankText { index, start, text };
        start += text.len() + 1;
        rank
    })
}

impl Symbol {
    /// Returns the number of squares that the symbol describes.
    fn squares(self) -> u32 {
        match self {
            Symbol::Squares(squares) => squares,
            Symbol::Promoted => 0,
            Symbol::Letter(_) => 1,
        }
    }

    /// Returns the character that the symbol was read from, for messages.
    pub fn letter(self) -> char {
        match self {
            Symbol::Squares(squares) => char::from_digit(squares, 10).unwrap_or('?'),
            Symbol::Promoted => '~',
            Symbol::Letter(letter) => letter,
        }
    }
}

impl<'t> RankText<'t> {
    /// Returns an iterator over the characters of the rank. For each character it yields the offset in the rank's text, the file of
    /// its first square (0 for the a-file), and its meaning. A file can exceed 7, since a faulty rank may have more than eight
    /// squares.
    ///
    /// ```
    /// use orbit_core::fen::{Symbol, ranks};
    /// let rank = ranks("8/2A1_3").nth(1).unwrap();
    /// let letters: Vec<_> = rank.symbols().filter(|symbol| matches!(symbol.2, Symbol::Letter(_))).collect();
    /// assert_eq!(letters, [(1, 2, Symbol::Letter('A')), (3, 4, Symbol::Letter('_'))]);
    /// ```
    pub fn symbols(self) -> impl Iterator<Item = (usize, u32, Symbol)> + use<'t> {
        let mut next = 0u32;
        self.text.char_indices().map(move |(at, letter)| {
            let file = next;
            let symbol = match letter.to_digit(10) {
                Some(squares) => Symbol::Squares(squares),
                None if letter == '~' => Symbol::Promoted,
                None => Symbol::Letter(letter),
            };
            next = next.saturating_add(symbol.squares());
            (at, file, symbol)
        })
    }

    /// Returns the number of squares in the rank, which is not 8 if the rank is faulty.
    pub fn files(self) -> u32 {
        self.symbols().fold(0, |files, (.., symbol)| files.saturating_add(symbol.squares()))
    }
}
