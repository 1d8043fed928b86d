//! Generates random queries with `line` and `path` that refer to pieces and moves of a game.

use shakmaty::{Bitboard, Color, Square};

use crate::differential::Rng;
use evaluators::chains::{
    game::Game,
    query::{Amount, Atom, Body, Chain, Dash, Designator, Filter, Focus, Query},
};

const TRANSFORMS: [&str; 7] =
    ["flip", "flipcolor", "flipcolor", "rotate90", "fliphorizontal", "flipvertical", "shift"];

pub struct Generator<'a> {
    pub rng: &'a mut Rng,
    pub games: &'a [Game],
    pub variations: bool,
}

/// Returns a suffix with its minimum and maximum number of repetitions.
fn suffix(text: &str, min: usize, max: Option<usize>) -> (String, usize, Option<usize>) {
    (text.into(), min, max)
}

fn words<'w>(rng: &mut Rng, all: &[&'w str]) -> Vec<&'w str> {
    all.iter().copied().filter(|_| rng.percent(6)).collect()
}

impl Generator<'_> {
    /// Returns a whole query.
    pub fn body(&mut self) -> Body {
        let query = if self.rng.percent(55) { self.path(2) } else { self.line(2) };
        let count = self.rng.percent(30);
        let transform = self.rng.percent(28).then(|| (*self.rng.pick(&TRANSFORMS), count));
        let before = if self.rng.percent(12) { vec![self.filter(0, false)] } else { vec![] };
        Body { variations: self.variations, transform, before, query }
    }

    fn line(&mut self, depth: usize) -> Query {
        let back = self.rng.percent(12);
        // For a line that runs backwards, the language does not define which children it may step to.
        let sibling = (self.variations && !back && self.rng.percent(10))
            .then(|| *self.rng.pick(&["primary", "primary", "secondary"]));
        let tied = !back && sibling.is_none() && self.rng.percent(25);
        let chain = self.line_chain(depth, tied, 4);
        Query {
            path: false,
            range: self.range(),
            back,
            single_color: self.rng.percent(15),
            focus: None,
            max: None,
            nestban: !back && self.rng.percent(15),
            first_match: self.rng.percent(14),
            sibling,
            last_position: self.rng.percent(20),
            words: words(self.rng, &["quiet"]),
            chain,
        }
    }

    fn line_chain(&mut self, depth: usize, tied: bool, longest: usize) -> Chain {
        let length = 1 + self.rng.below(longest);
        let mut all: Vec<Chain> = (0..length).map(|_| self.line_part(depth, tied)).collect();
        if all.len() == 1 { all.remove(0) } else { Chain::Sequence(all) }
    }

    fn line_part(&mut self, depth: usize, tied: bool) -> Chain {
        let chain = if depth > 0 && self.rng.percent(20) {
            match self.line_chain(depth - 1, tied, 3) {
                all @ Chain::Sequence(_) => all,
                one => Chain::Sequence(vec![one]),
            }
        } else {
            let filter = if tied && self.rng.percent(60) { self.tied() } else { self.filter(depth, false) };
            Chain::One(Atom::Position(filter))
        };
        let first = self.rng.percent(45);
        let chain = if first { self.repeated(chain, false) } else { chain };
        if first && self.rng.percent(10) { self.repeated(chain, false) } else { chain }
    }

    /// Returns a chain with a random suffix, or the chain itself if it cannot have one.
    fn repeated(&mut self, of: Chain, spaced: bool) -> Chain {
        let is_plus = matches!(&of, Chain::Repeat { min: 1, max: None, suffix, .. } if suffix.ends_with('+'));
        if of.can_be_empty() {
            return of;
        }
        let suffixes = [
            suffix("*", 0, None),
            suffix("?", 0, Some(1)),
            suffix("+", 1, None),
            suffix("+", 1, None),
            suffix("{2}", 2, Some(2)),
            suffix("{3}", 3, Some(3)),
            suffix("{,2}", 0, Some(2)),
            suffix("{2,}", 2, None),
            suffix("{1,3}", 1, Some(3)),
            suffix("{2,4}", 2, Some(4)),
            suffix("{0,2}", 0, Some(2)),
        ];
        let allowed = if is_plus { 2 } else { suffixes.len() };
        let (mut text, min, max) = suffixes[self.rng.below(allowed)].clone();
        if spaced && self.rng.percent(50) {
            text.insert(0, ' ');
        }
        Chain::Repeat { of: Box::new(of), min, max, suffix: text }
    }

    fn path(&mut self, depth: usize) -> Query {
        let focus = match self.rng.below(10) {
            0 => Some(Focus::SingleColor),
            1 | 2 => Some(Focus::Pieces { capture: self.rng.percent(30), of: self.designator() }),
            _ => None,
        };
        let max = self.rng.percent(16).then(|| self.amount(true));
        let mut words = words(self.rng, &["quiet", "keepallbest", "verbose", "title \"t\""]);
        if focus.is_some() && self.rng.percent(8) {
            words.push("piecepath");
        }
        Query {
            path: true,
            range: self.range(),
            back: false,
            single_color: false,
            sibling: (focus.is_none() && self.rng.percent(10)).then_some("primary"),
            focus,
            first_match: max.is_none() && self.rng.percent(14),
            max,
            nestban: self.rng.percent(15),
            last_position: self.rng.percent(20),
            words,
            chain: Chain::Sequence(self.path_parts(depth)),
        }
    }

    fn path_parts(&mut self, depth: usize) -> Vec<Chain> {
        let mut out = Vec::new();
        if self.rng.percent(20) {
            out.push(Chain::One(Atom::Test(self.filter(depth, true))));
        }
        for _ in 0..1 + self.rng.below(3) {
            let is_group = depth > 0 && self.rng.percent(22);
            let of = match is_group {
                true => Chain::Sequence(self.path_parts(depth - 1)),
                false => Chain::One(Atom::Move(self.dash(depth))),
            };
            let is_repeated = self.rng.percent(if is_group { 60 } else { 40 }) && !of.can_be_empty();
            out.push(if is_repeated { self.repeated(of, true) } else { of });
            // After a move without a suffix, the parser would read this filter as the target of the move.
            if (is_group || is_repeated) && self.rng.percent(15) {
                out.push(Chain::One(Atom::Test(self.filter(depth, true))));
            }
        }
        out
    }

    fn range(&mut self) -> Option<(i32, i32)> {
        self.rng.percent(12).then(|| {
            let low = self.rng.within(1, 4);
            (low, if self.rng.percent(40) { low } else { low + self.rng.within(1, 6) })
        })
    }

    fn game(&mut self) -> &Game {
        let games = self.games;
        self.rng.pick(games)
    }

    fn dash(&mut self, depth: usize) -> Dash {
        let game = self.game().clone();
        let child = self.rng.below(game.nodes.len());
        let edge = game.nodes[child].edge.clone();
        let before = game.nodes[child].parent;
        let captures = edge.as_ref().is_some_and(|edge| edge.captured.is_some());
        let capture = self.rng.percent(if captures { 45 } else { 6 });
        let part = edge.as_ref().map(|edge| *self.rng.pick(&edge.parts));
        let letter =
            |square: Square| before.and_then(|node| game.nodes[node].piece(square)).map(|it| it.char());
        let side = |rng: &mut Rng, square: Square, piece: Option<char>| {
            let squares = match rng.below(10) {
                0..=5 => Bitboard::FULL,
                6 | 7 => Bitboard::from(square),
                _ => Bitboard::from(square.rank()) | Bitboard::from(square),
            };
            let pieces = match (piece, rng.below(10)) {
                (Some(piece), 0..=5) => vec![piece],
                (Some(piece), 6..=8) => vec![if piece.is_ascii_uppercase() { 'A' } else { 'a' }],
                _ => vec![],
            };
            Designator { pieces, squares }
        };
        let (mut from, mut to) = (None, None);
        if let Some((whence, whither, _)) = part {
            from = self.rng.percent(60).then(|| side(self.rng, whence, letter(whence)));
            to = self.rng.percent(40).then(|| side(self.rng, whither, letter(whither)));
        }
        let promoted = edge.as_ref().and_then(|edge| edge.promotion).map(|role| role.upper_char());
        let promotion = match promoted {
            Some(letter) if self.rng.percent(60) => Some(*self.rng.pick(&[letter, letter, 'A', 'a', 'Q'])),
            _ => self.rng.percent(2).then_some('Q'),
        };
        let count = [0, 0, 0, 0, 0, 1, 1, 1, 2][self.rng.below(9)];
        let targets = (0..count).map(|_| self.filter(depth, true)).collect();
        Dash { capture, from, to, promotion, targets }
    }

    /// Returns a designator for a piece that occurs in one of the games.
    pub fn designator(&mut self) -> Designator {
        let game = self.game().clone();
        let node = self.rng.below(game.nodes.len());
        let occupied: Vec<Square> = game.occupied(node).into_iter().collect();
        let square = *self.rng.pick(&occupied);
        let letter = game.nodes[node].piece(square).expect("it is occupied").char();
        let other = if letter.is_ascii_uppercase() {
            letter.to_ascii_lowercase()
        } else {
            letter.to_ascii_uppercase()
        };
        let mut pieces = match self.rng.below(10) {
            0..=5 => vec![letter],
            6 => vec![letter, other],
            7 => vec![if letter.is_ascii_uppercase() { 'A' } else { 'a' }],
            8 => vec![letter, *self.rng.pick(&['Q', 'q', 'N', 'n'])],
            _ => vec!['_'],
        };
        pieces.sort_unstable();
        pieces.dedup();
        let squares = match self.rng.below(10) {
            0..=3 => Bitboard::FULL,
            4..=6 => Bitboard::from(square),
            7 => Bitboard::from(square.file()),
            8 => Bitboard::from(square.rank()),
            _ => Bitboard::from(square) | Bitboard::from(Square::new(self.rng.below(64) as u32)),
        };
        Designator { pieces, squares }
    }

    fn amount(&mut self, in_path: bool) -> Amount {
        match self.rng.below(if in_path { 5 } else { 4 }) {
            0 => Amount::Ply,
            1 | 2 => Amount::Count(self.designator()),
            3 => Amount::Power(self.designator()),
            _ => Amount::PathCount,
        }
    }

    /// Returns a filter for a single position.
    fn filter(&mut self, depth: usize, in_path: bool) -> Filter {
        let word = match self.rng.below(if depth > 0 { 26 } else { 22 }) {
            0..=4 => "true",
            5 | 6 => return Filter::ToMove(Color::White),
            7 | 8 => return Filter::ToMove(Color::Black),
            9 | 10 => "check",
            11 => *self.rng.pick(&["mate", "initial", "terminal", "terminal"]),
            12 if self.variations => *self.rng.pick(&["primary", "secondary", "mainline"]),
            12..=16 => return Filter::Holds(self.designator()),
            17..=21 => {
                let number = Amount::Number(self.rng.within(0, 12));
                let amount = self.amount(in_path);
                return if self.rng.percent(50) {
                    Filter::Less(amount, number)
                } else {
                    Filter::Less(number, amount)
                };
            }
            22 | 23 => return Filter::Not(Box::new(self.filter(depth - 1, in_path))),
            24 => {
                let sides = [self.filter(depth - 1, in_path), self.filter(depth - 1, in_path)];
                let [a, b] = sides.map(Box::new);
                return Filter::Or(a, b);
            }
            _ => {
                let mut query = if self.rng.percent(60) { self.path(0) } else { self.line(0) };
                query.nestban = false;
                return Filter::Chain(Box::new(query));
            }
        };
        Filter::Word(word)
    }

    /// Returns a filter about the move played from a position.
    fn tied(&mut self) -> Filter {
        if self.variations && self.rng.percent(20) {
            return Filter::MoveSecondary;
        }
        let word = *self.rng.pick(&["from", "from", "to", "capture"]);
        let dash = self.dash(0);
        let of = match word {
            "from" => dash.from,
            _ => dash.to,
        };
        let of = of.unwrap_or_else(|| self.designator());
        let filter = Filter::Move(word, of);
        if self.rng.percent(20) { Filter::Not(Box::new(filter)) } else { filter }
    }
}
