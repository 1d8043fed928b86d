//! Scripts with a few changes: nothing of them brings the parser, the planner or an engine down, and nothing runs forever,
//! which is counted in steps.
//!
//! `ORBIT_SCRIPTS` names a folder with scripts that come with CQL 6.2. Without it the queries of the tables are changed.

use std::path::Path;

use orbit_chess::internals::{database::DatabaseOptions, query::Dialect, reel::Block};

use crate::{
    common::{block_of_games, data, pgn_blocks_with},
    differential::Rng,
    soup::{TOKENS, Tokens, survives},
};

/// Changed texts.
const MUTATIONS: usize = 10_000;

/// What changes a text.
type Change = fn(&mut Changed<'_>);

/// What a change does, each to so many texts at least: a hundred of 1,000.
const CHANGES: [(&str, Change); 8] = [
    ("drop", |text| text.drop_token()),
    ("double", |text| text.double()),
    ("swap", |text| text.swap()),
    ("replace", |text| text.replace()),
    ("unbalance", |text| text.unbalance()),
    ("break the encoding", |text| text.break_encoding()),
    ("enlarge a number", |text| text.enlarge()),
    ("nest", |text| text.nest()),
];

/// Signs that come in pairs.
const BRACES: [&str; 10] = ["{", "}", "(", ")", "[", "]", "\"", "/*", "*/", "cql("];

/// Numbers at the ends of what numbers may be, and beyond.
const NUMBERS: [&str; 8] = [
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967296",
    "18446744073709551616",
    "1000000",
    "-1",
    "99999999999999999999999999999999999999999999",
];

/// What a filter may stand in, as often as one likes.
const NESTS: [(&str, &str); 16] = [
    ("{", "}"),
    ("(", ")"),
    ("not ", ""),
    ("~", ""),
    ("find ", ""),
    ("flip ", ""),
    ("shift {", "}"),
    ("line --> {", "}"),
    ("line --> (", ")+"),
    ("path -- {", "}"),
    ("path (-- ", ")*"),
    ("echo(es et) {", "}"),
    ("piece XX in A {", "}"),
    ("square sx in . {", "}"),
    ("if ", " then true"),
    ("loop {", "}"),
];

/// A text in pieces: words, strings, blanks and single signs.
struct Changed<'a> {
    rng: &'a mut Rng,
    tokens: &'a Tokens,
    pieces: Vec<Vec<u8>>,
}

impl<'a> Changed<'a> {
    fn new(rng: &'a mut Rng, tokens: &'a Tokens, text: &str) -> Changed<'a> {
        let kind = |byte: u8| match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => 0,
            b if b.is_ascii_whitespace() => 1,
            other => i32::from(other) + 2,
        };
        let same = |a: &u8, b: &u8| kind(*a) == kind(*b) && kind(*a) < 2;
        let pieces = text.as_bytes().chunk_by(same).map(<[u8]>::to_vec).collect();
        Changed { rng, tokens, pieces }
    }

    /// The place of a piece that is not blank and fits.
    fn place(&mut self, fits: fn(&[u8]) -> bool) -> Option<usize> {
        let piece =
            |(at, piece): (usize, &Vec<u8>)| (!piece.trim_ascii().is_empty() && fits(piece)).then_some(at);
        let places: Vec<usize> = self.pieces.iter().enumerate().filter_map(piece).collect();
        (!places.is_empty()).then(|| *self.rng.pick(&places))
    }

    fn drop_token(&mut self) {
        let Some(at) = self.place(|_| true) else { return };
        self.pieces.remove(at);
    }

    fn double(&mut self) {
        let Some(at) = self.place(|_| true) else { return };
        // Some pieces, or one of them alone.
        let end = (at + 1 + self.rng.below(6)).min(self.pieces.len());
        let copy = [vec![b" ".to_vec()], self.pieces[at..end].to_vec()].concat();
        self.pieces.splice(end..end, copy);
    }

    fn swap(&mut self) {
        let (Some(a), Some(b)) = (self.place(|_| true), self.place(|_| true)) else { return };
        self.pieces.swap(a, b);
    }

    fn replace(&mut self) {
        let Some(at) = self.place(|_| true) else { return };
        self.pieces[at] = format!(" {} ", self.tokens.pick(self.rng)).into_bytes();
    }

    fn unbalance(&mut self) {
        let is_brace = |piece: &[u8]| BRACES.iter().any(|brace| brace.as_bytes() == piece);
        match self.place(is_brace) {
            Some(at) if self.rng.percent(50) => drop(self.pieces.remove(at)),
            _ => {
                let (at, brace) = (self.rng.below(self.pieces.len() + 1), *self.rng.pick(&BRACES));
                self.pieces.insert(at, brace.into());
            }
        }
    }

    fn break_encoding(&mut self) {
        let Some(at) = self.place(|_| true) else { return };
        let (within, byte) = (self.rng.below(self.pieces[at].len() + 1), 0x80 + self.rng.below(0x80) as u8);
        self.pieces[at].insert(within, byte);
    }

    fn enlarge(&mut self) {
        let number = *self.rng.pick(&NUMBERS);
        match self.place(|piece| piece.iter().all(u8::is_ascii_digit)) {
            Some(at) => self.pieces[at] = number.into(),
            None => {
                let at = self.rng.below(self.pieces.len() + 1);
                self.pieces.insert(at, format!(" {number} ").into());
            }
        }
    }

    /// Puts some pieces deep into others.
    fn nest(&mut self) {
        let Some(at) = self.place(|_| true) else { return };
        let end = (at + 1 + self.rng.below(8)).min(self.pieces.len());
        let (open, close) = *self.rng.pick(&NESTS);
        let depth = *self.rng.pick(&[1, 1, 2, 3, 5, 30, 199, 250, 3_000]);
        self.pieces.insert(end, close.repeat(depth).into());
        self.pieces.insert(at, format!(" {}", open.repeat(depth)).into());
    }
}

/// The texts that are changed.
fn texts() -> Vec<String> {
    let Some(folder) = std::env::var_os("ORBIT_SCRIPTS") else {
        let query = |table: &str, column: usize| -> Vec<String> {
            let text = data(table);
            let lines = text.lines().filter(|line| !line.starts_with('#'));
            lines.map(|line| line.split('\t').nth(column).expect("a query").to_owned()).collect()
        };
        return [query("game-vectors.tsv", 1), query("golden-game-otb.tsv", 1)].concat();
    };
    let entries = std::fs::read_dir(Path::new(&folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut scripts: Vec<_> = entries.filter(|path| path.extension().is_some_and(|it| it == "cql")).collect();
    scripts.sort();
    assert!(scripts.len() > 20, "{} scripts", scripts.len());
    scripts.iter().map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()).collect()
}

/// A few small games with side lines, promotions and repetitions.
fn block() -> Block {
    let mut options = DatabaseOptions::default();
    (options.parse.variations, options.parse.annotations) = (true, true);
    let texts = ["vars.pgn", "fens.pgn", "rep.pgn"].map(|name| data(&format!("games/{name}")));
    let blocks = texts.iter().flat_map(|text| pgn_blocks_with(text, options.clone()));
    let games: Vec<_> =
        blocks.flat_map(|block| block.games().map(|row| row.to_game()).collect::<Vec<_>>()).collect();
    block_of_games(games.into_iter().filter(|game| game.moves.len() < 20))
}

#[test]
fn changed_scripts_are_refused_or_run() {
    let (texts, block) = (texts(), block());
    let tokens = Tokens::new(Dialect::Cql6, TOKENS);
    let (mut rng, mut seen, mut changes) = (Rng::new(15), [0; 4], [0; CHANGES.len()]);
    for k in 0..MUTATIONS {
        let mut changed = Changed::new(&mut rng, &tokens, &texts[k % texts.len()]);
        for step in 0..1 + changed.rng.below(3) {
            let kind = if step == 0 { k % CHANGES.len() } else { changed.rng.below(CHANGES.len()) };
            (CHANGES[kind].1)(&mut changed);
            changes[kind] += 1;
        }
        // The program refuses files of another encoding; whoever has a text has characters.
        survives(&String::from_utf8_lossy(&changed.pieces.concat()), &block, &mut seen);
    }
    let [refused, not_run, planned, interpreted] = seen;
    eprintln!(
        "{refused} refused, {not_run} not run, {planned} planned, {interpreted} interpreted; {changes:?}"
    );
    for ((name, _), count) in CHANGES.iter().zip(changes) {
        assert!(count >= MUTATIONS / CHANGES.len(), "{name}: {count}");
    }
    let due = MUTATIONS as u64;
    assert!(10 * refused > due && 20 * (planned + interpreted) > due, "{seen:?}");
}
