//! Generates random queries about games. Each query is about one construct, and refers to pieces and moves that occur
//! in the games on which it runs.

mod chains;
pub mod kinds;
mod positions;
mod state;

use std::collections::BTreeSet;

use shakmaty::Square;

use super::{
    rng::Rng,
    term::{Term, Ty},
};
use crate::second_chains::game::Game;

/// A construct: a part of the language with a name, and a function that generates a filter with it. The argument of the
/// function is the maximum depth.
pub struct Construct {
    pub name: &'static str,
    ty: Ty,
    make: fn(&mut GameQueries<'_>, usize) -> Term,
}

/// Returns all constructs that depend on more than one position.
pub fn constructs() -> Vec<&'static Construct> {
    [MOVES, positions::CONSTRUCTS, chains::CONSTRUCTS, state::CONSTRUCTS].into_iter().flatten().collect()
}

pub struct GameQueries<'a> {
    pub rng: &'a mut Rng,
    pub games: &'a [Game],
    /// The constructs that were used so far.
    pub used: BTreeSet<&'static str>,
    names: usize,
    /// True if variables, dictionaries and functions are not allowed, because the filter is under a transform or in the
    /// body of a search.
    stateless: bool,
}

const TRANSFORMS: [&str; 10] = [
    "flip",
    "flip",
    "flipcolor",
    "flipcolor",
    "flipcolor",
    "rotate90",
    "fliphorizontal",
    "flipvertical",
    "shifthorizontal",
    "shift",
];
pub const COMPARISONS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];

fn new(ty: Ty, template: impl Into<String>, subs: Vec<Term>) -> Term {
    Term::new(ty, template, subs)
}

impl<'a> GameQueries<'a> {
    pub fn new(rng: &'a mut Rng, games: &'a [Game]) -> GameQueries<'a> {
        GameQueries { rng, games, used: BTreeSet::new(), names: 0, stateless: false }
    }

    /// Returns a whole query about a construct, in some cases under a transform.
    pub fn query(&mut self, about: &Construct, transformed: bool, variations: bool) -> Term {
        let depth = 1 + self.rng.below(2);
        let mut term = self.of_construct(about, depth);
        if self.rng.percent(20) && term.ty != Ty::Position {
            let ty = term.ty;
            term = new(ty, "{@ @}", vec![self.bool(0), term]);
        }
        if transformed {
            let word = *self.rng.pick(&TRANSFORMS);
            let count = if self.rng.percent(25) { "count " } else { "" };
            let ty = match (count, term.ty) {
                ("", Ty::Position | Ty::Str) => Ty::Bool,
                ("", ty) => ty,
                _ => Ty::Num,
            };
            // A filter without a piece designator does not change under transforms, so a designator is added.
            if !term.text().contains(|c: char| "KQRBNPkqrbnpAa".contains(c)) || self.rng.percent(50) {
                let (ty, with) = (term.ty, self.designator());
                term = new(ty, "{@ @}", vec![with, term]);
            }
            term = new(ty, format!("{word} {count}@"), vec![term]);
        }
        let header = if variations { "cql(variations) " } else { "" };
        new(term.ty, format!("{header}@"), vec![term])
    }

    /// Returns a filter for each placeholder in a law (a pair of equivalent queries): two conditions, a set, a number
    /// and a move.
    pub fn parts(&mut self) -> [(&'static str, String); 5] {
        self.stateless = true;
        let [a, b] = [self.bool(1), self.bool(1)];
        let (set, number) = (self.designator(), self.num(1).into_condition());
        let edge = Term::leaf(Ty::Bool, self.edge_text());
        [("$A", a), ("$B", b), ("$S", set), ("$N", number), ("$E", edge)]
            .map(|(name, term)| (name, term.text()))
    }

    /// Returns a `line` or a `path` whose filters can be transformed by every transform.
    pub fn chain(&mut self) -> String {
        let all: Vec<&Construct> = chains::CONSTRUCTS.iter().filter(|it| it.ty == Ty::Num).collect();
        let construct = *self.rng.pick(&all);
        self.of_construct(construct, 0).text()
    }

    fn of_construct(&mut self, construct: &Construct, depth: usize) -> Term {
        self.used.insert(construct.name);
        (construct.make)(self, depth)
    }

    /// Returns a filter of the given type about any construct.
    fn any_construct(&mut self, ty: Ty, depth: usize) -> Option<Term> {
        let tables = [MOVES, positions::CONSTRUCTS, chains::CONSTRUCTS, state::CONSTRUCTS];
        let tables = if self.stateless { &tables[..3] } else { &tables[..] };
        let all: Vec<&'static Construct> =
            tables.iter().copied().flatten().filter(|construct| construct.ty == ty).collect();
        if all.is_empty() {
            return None;
        }
        let construct = *self.rng.pick(&all);
        Some(self.of_construct(construct, depth))
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    // ---- filters of each type

    fn any(&mut self, depth: usize) -> Term {
        match self.rng.below(6) {
            0 | 1 => self.set(depth),
            2 => self.num(depth).into_condition(),
            _ => self.bool(depth),
        }
    }

    fn bool(&mut self, depth: usize) -> Term {
        if depth > 0
            && self.rng.percent(45)
            && let Some(term) = self.any_construct(Ty::Bool, depth - 1)
        {
            return term;
        }
        let d = depth.saturating_sub(1);
        match self.rng.below(if depth > 0 { 17 } else { 12 }) {
            0 => Term::leaf(Ty::Bool, "check"),
            1 => Term::leaf(Ty::Bool, *self.rng.pick(&["true", "terminal", "initial", "mate"])),
            2 | 3 => Term::leaf(Ty::Bool, *self.rng.pick(&["wtm", "btm"])),
            4..=6 => self.compare(0),
            7 => Term { ty: Ty::Bool, ..self.edge() },
            8..=11 => Term { ty: Ty::Bool, ..self.designator() },
            12 => new(Ty::Bool, "(@ and @)", vec![self.any(d), self.any(d)]),
            13 => new(Ty::Bool, "(@ or @)", vec![self.any(d), self.any(d)]),
            14 => new(Ty::Bool, "(not @)", vec![self.any(d)]),
            15 => new(Ty::Bool, "{@ @}", vec![self.any(d), self.any(d)]),
            _ => self.compare(d),
        }
    }

    fn compare(&mut self, depth: usize) -> Term {
        let sign = *self.rng.pick(&COMPARISONS);
        let left = self.num(depth);
        let number = self.rng.within(0, 14).to_string();
        new(Ty::Bool, format!("(@ {sign} {number})"), vec![left])
    }

    fn num(&mut self, depth: usize) -> Term {
        if depth > 0
            && self.rng.percent(45)
            && let Some(term) = self.any_construct(Ty::Num, depth - 1)
        {
            return term;
        }
        match self.rng.below(if depth > 0 { 7 } else { 5 }) {
            0 | 1 => Term::leaf(Ty::Num, "ply"),
            2 => new(Ty::Num, "(power @)", vec![self.designator()]),
            3 => Term::leaf(Ty::Num, self.rng.within(0, 9).to_string()),
            4 | 5 => new(Ty::Num, "(#@)", vec![self.set(depth.saturating_sub(1))]),
            _ => {
                let sign = *self.rng.pick(&["+", "-", "*", "%"]);
                let subs = vec![self.num(depth - 1), self.num(depth - 1)];
                new(Ty::Num, format!("(@ {sign} @)"), subs)
            }
        }
    }

    fn set(&mut self, depth: usize) -> Term {
        if depth > 0
            && self.rng.percent(35)
            && let Some(term) = self.any_construct(Ty::Set, depth - 1)
        {
            return term;
        }
        let d = depth.saturating_sub(1);
        match self.rng.below(if depth > 0 { 11 } else { 6 }) {
            0..=5 => self.designator(),
            6 => new(Ty::Set, "(@ & @)", vec![self.set(d), self.set(d)]),
            7 => new(Ty::Set, "(@ | @)", vec![self.set(d), self.set(d)]),
            8 => new(Ty::Set, "(@ attacks @)", vec![self.set(d), self.set(d)]),
            9 => new(Ty::Set, "(~@)", vec![self.set(d)]),
            _ => new(Ty::Set, "(square s9 in @ (s9 attacks @))", vec![self.set(d), self.designator()]),
        }
    }

    fn text(&mut self, depth: usize) -> Term {
        if depth > 0
            && !self.stateless
            && self.rng.percent(50)
            && let Some(term) = self.any_construct(Ty::Str, depth - 1)
        {
            return term;
        }
        let texts =
            ["\"\"", "\"a\"", "\"1\"", "\"[e4]\"", "\"abcdef\"", "(player white)", "(tag \"Event\")", "fen"];
        Term::leaf(Ty::Str, *self.rng.pick(&texts))
    }

    /// Returns a designator of a piece that is on the board at some time in one of the games.
    fn designator(&mut self) -> Term {
        let games = self.games;
        let game = self.rng.pick(games);
        let node = self.rng.below(game.nodes.len());
        let occupied: Vec<Square> = game.occupied(node).into_iter().collect();
        let square = *self.rng.pick(&occupied);
        let letter = game.nodes[node].piece(square).expect("it is occupied").char();
        let side = if letter.is_ascii_uppercase() { 'A' } else { 'a' };
        let pieces = match self.rng.below(12) {
            0..=6 => letter.to_string(),
            7 => format!("[{}{}]", letter.to_ascii_uppercase(), letter.to_ascii_lowercase()),
            8 => format!("[{letter}{}]", self.rng.pick(&['Q', 'q', 'N', 'n', 'P', 'p'])),
            9 => side.to_string(),
            10 => "_".into(),
            _ => String::new(),
        };
        let squares = match self.rng.below(10) {
            0..=3 if !pieces.is_empty() => String::new(),
            0..=5 => square.to_string(),
            6 => format!("{}1-8", square.file()),
            7 => format!("a-h{}", square.rank()),
            8 => format!("[{square},{}]", Square::new(self.rng.below(64) as u32)),
            _ => format!("c-f{}", square.rank()),
        };
        Term::leaf(Ty::Set, pieces + &squares)
    }

    /// Returns the number of a random position of a random game.
    fn node(&mut self) -> usize {
        let games = self.games;
        let game = self.rng.pick(games);
        self.rng.below(game.nodes.len())
    }

    // ---- moves

    /// Returns the two sides of a dash filter for a move that was played. One or both sides may be empty.
    fn sides(&mut self) -> (String, String, bool) {
        let games = self.games;
        let game = self.rng.pick(games);
        let child = self.rng.below(game.nodes.len());
        let node = &game.nodes[child];
        let (Some(edge), Some(before)) = (&node.edge, node.parent) else {
            return ("A".into(), String::new(), false);
        };
        let (from, to, _) = *self.rng.pick(&edge.parts);
        let side = |rng: &mut Rng, square: Square| {
            let piece = game.nodes[before].piece(square).map(|piece| piece.char());
            let side = |piece: char| if piece.is_ascii_uppercase() { 'A' } else { 'a' };
            match (piece, rng.below(9)) {
                (Some(piece), 0..=3) => piece.to_string(),
                (Some(piece), 4 | 5) => side(piece).to_string(),
                (Some(piece), 6) => format!("{piece}{square}"),
                (_, 7) => format!("[{square},e4,d5]"),
                _ => square.to_string(),
            }
        };
        let from = if self.rng.percent(65) { side(self.rng, from) } else { String::new() };
        let to = if self.rng.percent(45) { side(self.rng, to) } else { String::new() };
        (from, to, edge.captured.is_some())
    }

    /// Returns `L--R` or `L[x]R`.
    fn edge_text(&mut self) -> String {
        let (from, to, captures) = self.sides();
        let sign = if self.rng.percent(if captures { 40 } else { 5 }) { "[x]" } else { "--" };
        format!("{from}{sign}{to}")
    }

    fn edge(&mut self) -> Term {
        Term::leaf(Ty::Bool, format!("({})", self.edge_text()))
    }

    /// Returns a dash filter with a target of the given type.
    fn edge_to(&mut self, prefix: &str, ty: Ty, depth: usize) -> Term {
        let edge = self.edge_text();
        let target = match ty {
            Ty::Set => match self.rng.below(3) {
                0 => Term::leaf(ty, "from"),
                1 => Term::leaf(ty, "to"),
                _ => self.set(depth),
            },
            Ty::Num => self.num(depth),
            Ty::Position => self.position(depth),
            _ => self.bool(depth),
        };
        new(ty, format!("({prefix}{edge}(@))"), vec![target])
    }

    /// Returns `move` with some of its parameters.
    fn move_filter(&mut self, first: &str, last: &str) -> Term {
        let mut template = format!("(move {first}");
        let mut subs = Vec::new();
        if first.is_empty() || matches!(first, "from " | "to " | "capture ") {
            if !first.is_empty() {
                template += "@ ";
                subs.push(self.designator());
            }
            for word in ["from", "to", "capture"] {
                let chance = if first.is_empty() && word == "from" { 70 } else { 15 };
                if first.trim() != word && self.rng.percent(chance) {
                    template += &format!("{word} @ ");
                    subs.push(self.designator());
                }
            }
            if template == "(move " {
                template += "to @ ";
                subs.push(self.designator());
            }
        }
        new(Ty::Bool, format!("{template}{last})"), subs)
    }
}

fn pick_leaf(make: &mut GameQueries<'_>, ty: Ty, words: &[&str]) -> Term {
    Term::leaf(ty, *make.rng.pick(words))
}

const MOVES: &[Construct] = &[
    Construct { name: "--", ty: Ty::Bool, make: |g, _| g.edge() },
    Construct { name: "--(condition)", ty: Ty::Bool, make: |g, d| g.edge_to("", Ty::Bool, d) },
    Construct { name: "--(set)", ty: Ty::Set, make: |g, d| g.edge_to("", Ty::Set, d) },
    Construct { name: "--(number)", ty: Ty::Num, make: |g, d| g.edge_to("", Ty::Num, d) },
    Construct { name: "--(position)", ty: Ty::Position, make: |g, d| g.edge_to("", Ty::Position, d) },
    Construct {
        name: "[x]",
        ty: Ty::Bool,
        make: |g, _| {
            let (from, to, _) = g.sides();
            // If the move is a capture, R is the captured piece.
            let to = if g.rng.percent(50) { String::new() } else { to };
            Term::leaf(Ty::Bool, format!("({from}[x]{to})"))
        },
    },
    Construct {
        name: "--=P",
        ty: Ty::Bool,
        make: |g, _| {
            let (of, by) = (g.rng.pick(&["", "P", "p", "A"]), *g.rng.pick(&["Q", "A", "a", "N", "\"QN\""]));
            Term::leaf(Ty::Bool, format!("(find {of}--={by})"))
        },
    },
    Construct {
        name: "currentmove",
        ty: Ty::Bool,
        make: |g, d| {
            let word = *g.rng.pick(&["currentmove ", "currentmove ", "previous "]);
            g.edge_to(word, Ty::Bool, d)
        },
    },
    Construct {
        name: "currentmove(number)",
        ty: Ty::Num,
        make: |g, d| g.edge_to("currentmove ", Ty::Num, d),
    },
    Construct {
        name: "countmoves --",
        ty: Ty::Num,
        make: |g, d| {
            let edge = g.edge_text();
            match g.rng.percent(50) {
                true => new(Ty::Num, format!("(countmoves {edge}(@))"), vec![g.bool(d)]),
                false => Term::leaf(Ty::Num, format!("(countmoves {edge})")),
            }
        },
    },
    Construct {
        name: "legal --",
        ty: Ty::Set,
        make: |g, _| {
            let (from, to, _) = g.sides();
            let word = *g.rng.pick(&["legal", "legal", "pseudolegal"]);
            let of = *g.rng.pick(&["", "", "", "(castle)", "(o-o)", "(enpassant)"]);
            let to = if of.is_empty() { to } else { String::new() };
            Term::leaf(Ty::Set, format!("({word} {from}--{to}{of})"))
        },
    },
    Construct {
        name: "countmoves legal --",
        ty: Ty::Num,
        make: |g, _| {
            let (from, to, _) = g.sides();
            let word = *g.rng.pick(&["legal", "legal", "pseudolegal"]);
            Term::leaf(Ty::Num, format!("(countmoves {word} {from}--{to})"))
        },
    },
    Construct { name: "move", ty: Ty::Bool, make: |g, _| g.move_filter("", "") },
    Construct {
        name: "move from",
        ty: Ty::Set,
        make: |g, _| {
            let word = *g.rng.pick(&["from ", "to ", "capture "]);
            Term { ty: Ty::Set, ..g.move_filter(word, "") }
        },
    },
    Construct { name: "move previous", ty: Ty::Bool, make: |g, _| g.move_filter("", "previous") },
    Construct {
        name: "move legal",
        ty: Ty::Set,
        make: |g, _| {
            let (first, word) = (*g.rng.pick(&["from ", "to "]), *g.rng.pick(&["legal", "pseudolegal"]));
            let of = g.designator();
            new(Ty::Set, format!("(move {first}@ {word})"), vec![of])
        },
    },
    Construct {
        name: "move legal count",
        ty: Ty::Num,
        make: |g, _| {
            let (word, of) = (*g.rng.pick(&["legal", "pseudolegal"]), g.designator());
            new(Ty::Num, format!("(move {word} count from @)"), vec![of])
        },
    },
    Construct {
        name: "move castle",
        ty: Ty::Bool,
        make: |g, _| {
            pick_leaf(
                g,
                Ty::Bool,
                &[
                    "(find move castle)",
                    "(find move o-o)",
                    "(find <-- move o-o-o)",
                    "(move primary)",
                    "(find move enpassant)",
                    "(move secondary)",
                    "(find move null)",
                    "(find move promote Q)",
                ],
            )
        },
    },
    Construct {
        name: "from",
        ty: Ty::Set,
        make: |g, _| {
            let of = g.designator();
            let word = *g.rng.pick(&["from", "to", "to"]);
            if g.rng.percent(30) {
                Term::leaf(Ty::Set, word)
            } else {
                new(Ty::Set, format!("({word} & @)"), vec![of])
            }
        },
    },
    Construct {
        name: "castle",
        ty: Ty::Bool,
        make: |g, _| {
            pick_leaf(
                g,
                Ty::Bool,
                &[
                    "(find <-- castle)",
                    "(find o-o)",
                    "(find <-- enpassant)",
                    "(find enpassantsquare)",
                    "(find <-- o-o-o)",
                    "(find nullmove)",
                    "(find castle)",
                ],
            )
        },
    },
    Construct {
        name: "primary",
        ty: Ty::Bool,
        make: |g, _| {
            pick_leaf(
                g,
                Ty::Bool,
                &["primary", "secondary", "(not primary)", "(find secondary)", "(find <-- secondary)"],
            )
        },
    },
];
