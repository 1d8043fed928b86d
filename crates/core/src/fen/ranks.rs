//! Placements in which squares may have letters that are no pieces, such as boards to search for.

/// One rank of a placement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RankText<'t> {
    /// From 0 for the first, which is rank 8. A placement that is wrong may have more than eight.
    pub index: u32,
    /// Where it begins in the placement.
    pub start: usize,
    /// What stands between the slashes.
    pub text: &'t str,
}

/// What a letter of a placement says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Symbol {
    /// A digit: so many squares. 0 and 9 are none of a FEN.
    Squares(u32),
    /// `~`: the piece before it was promoted. It takes no square.
    Promoted,
    /// Any other letter: one square.
    Letter(char),
}

/// The ranks of a placement, whether or not there are eight.
pub fn ranks(placement: &str) -> impl Iterator<Item = RankText<'_>> {
    let mut start = 0;
    (0..).zip(placement.split('/')).map(move |(index, text)| {
        let rank = RankText { index, start, text };
        start += text.len() + 1;
        rank
    })
}

impl Symbol {
    /// How many squares it takes.
    fn squares(self) -> u32 {
        match self {
            Symbol::Squares(squares) => squares,
            Symbol::Promoted => 0,
            Symbol::Letter(_) => 1,
        }
    }

    /// The letter itself, for messages.
    pub fn letter(self) -> char {
        match self {
            Symbol::Squares(squares) => char::from_digit(squares, 10).unwrap_or('?'),
            Symbol::Promoted => '~',
            Symbol::Letter(letter) => letter,
        }
    }
}

impl<'t> RankText<'t> {
    /// Each letter with its place in the rank's text, the file of its first square, from 0 for the a-file, and what it
    /// says. A rank that is wrong may have more than eight files.
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

    /// How many squares it has.
    pub fn files(self) -> u32 {
        self.symbols().fold(0, |files, (.., symbol)| files.saturating_add(symbol.squares()))
    }
}
