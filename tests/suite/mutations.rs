//! Changes game queries and scripts in a few places. No changed query may crash the parser, the planner or an engine. A step
//! limit ensures that none runs forever. The results of all engines must agree.
//!
//! The queries are those of the tables, of the generator and of the keyword list. `ORBIT_SCRIPTS` names a folder with the scripts
//! that come with CQL 6.2, which are also changed.

use std::{
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use orbit_database::StreamOptions;
use orbit_plan::PlanOptions;
use orbit_query::Dialect;
use orbit_reel::Block;

use crate::{
    common::{
        block_of_games, data,
        length::{PARTS, least, trials},
        pgn_blocks_with,
    },
    differential::{Rng, query_texts},
    runners,
    soup::{TOKENS, Tokens, agrees},
};

/// The numbers of query texts that a full run and a sample change. They are limited because a single deeply nested text may use
/// up all steps that an evaluation is allowed.
const MUTATIONS: usize = 100_000;
const MUTATIONS_OF_A_SAMPLE: usize = 2_000;

/// A function that changes a query text.
type Change = fn(&mut Changed<'_>);

/// The changes, with names. Each is applied to about the same number of query texts.
const CHANGES: [(&str, Change); 13] = [
    ("drop", |text| text.drop_token()),
    ("double", |text| text.double()),
    ("swap", |text| text.swap()),
    ("replace", |text| text.replace()),
    ("unbalance", |text| text.unbalance()),
    ("break the encoding", |text| text.break_encoding()),
    ("enlarge a number", |text| text.enlarge()),
    ("nest", |text| text.nest()),
    ("delete a subtree", |text| text.delete_subtree()),
    ("copy a subtree", |text| text.copy_subtree()),
    ("swap operands", |text| text.swap_subtrees()),
    ("rename", |text| text.rename()),
    ("bind", |text| text.bind()),
];

/// Delimiters that occur in pairs.
const BRACES: [&str; 10] = ["{", "}", "(", ")", "[", "]", "\"", "/*", "*/", "cql("];

/// Integers at the limits of their range and beyond.
const NUMBERS: [&str; 11] = [
    "0",
    "65",
    "-2147483647",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967296",
    "18446744073709551616",
    "1000000",
    "-1",
    "99999999999999999999999999999999999999999999",
];

/// Filters that can be nested to any depth, each as the text before and after the inner filter.
const NESTS: [(&str, &str); 28] = [
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
    ("find all {", "}"),
    ("find <-- ", ""),
    ("sort ", ""),
    ("sort min {", "}"),
    ("comment(", ")"),
    ("str(", ")"),
    ("parent:{", "}"),
    ("max(1 ", ")"),
    ("piece all YY in a {", "}"),
    ("function Ff(xx) {", "} Ff(1)"),
    ("{persistent zz=1 zz+=", "}"),
    ("while (", ") {false}"),
];

/// Ways to bind the name `zz`, each as the text before and after a filter.
const BINDINGS: [(&str, &str); 8] = [
    ("(zz=", ")"),
    ("{zz=?", "}"),
    ("{if initial zz=0 zz+=", "}"),
    ("{piece zz=", "}"),
    ("piece zz in ", " true"),
    ("square all zz in ", " zz"),
    ("{function zz(xx) {xx}", "}"),
    ("{dictionary zz zz[\"a\"]=", "}"),
];
/// Ways to use the name `zz` elsewhere in the query.
const USES: [&str; 8] = ["zz", "#zz", "zz(1)", "zz[\"a\"]", "zz:true", "zz==zz", "zz+=1", "zz--zz"];

/// A query text to which random changes are made.
struct Changed<'a> {
    rng: &'a mut Rng,
    /// The tokens that may be inserted.
    tokens: &'a Tokens,
    /// The text, split into words, strings, blanks and single signs.
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

    /// Returns the index of a random nonblank token for which `fits` is true.
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
        // The copied range has one to six tokens.
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

    /// Returns the range of a random pair of brackets with the text between them, or of a few tokens. This approximates a subtree
    /// of the query.
    fn subtree(&mut self) -> Option<Range<usize>> {
        let is_open = |piece: &[u8]| matches!(piece, b"(" | b"{" | b"[");
        let open = if self.rng.percent(70) { self.place(is_open) } else { None };
        let Some(begin) = open else {
            let at = self.place(|_| true)?;
            return Some(at..(at + 1 + self.rng.below(6)).min(self.pieces.len()));
        };
        let mut depth = 0;
        let end = self.pieces[begin..].iter().position(|piece| {
            match &piece[..] {
                b"(" | b"{" | b"[" => depth += 1,
                b")" | b"}" | b"]" => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        Some(begin..end.map_or(self.pieces.len(), |end| begin + end + 1))
    }

    fn delete_subtree(&mut self) {
        let Some(range) = self.subtree() else { return };
        self.pieces.drain(range);
    }

    /// Inserts a copy of one subtree before another, or replaces the other with the copy.
    fn copy_subtree(&mut self) {
        let (Some(from), Some(to)) = (self.subtree(), self.subtree()) else { return };
        let copy = [&[b" ".to_vec()], &self.pieces[from], &[b" ".to_vec()]].concat();
        let end = if self.rng.percent(50) { to.start } else { to.end };
        self.pieces.splice(to.start..end, copy);
    }

    /// Swaps two subtrees that do not overlap.
    fn swap_subtrees(&mut self) {
        let (Some(a), Some(b)) = (self.subtree(), self.subtree()) else { return };
        let (first, second) = if a.start <= b.start { (a, b) } else { (b, a) };
        if first.end <= second.start {
            let copies = [first.clone(), second.clone()].map(|range| self.pieces[range].to_vec());
            let [one, other] = copies;
            self.pieces.splice(second, one);
            self.pieces.splice(first, other);
        }
    }

    /// Replaces a word with another one, at one place or everywhere.
    fn rename(&mut self) {
        let is_word = |piece: &[u8]| piece[0].is_ascii_alphabetic();
        let (Some(old), Some(new)) = (self.place(is_word), self.place(is_word)) else { return };
        let (old, new) = (self.pieces[old].clone(), self.pieces[new].clone());
        let are_all = self.rng.percent(60);
        for piece in &mut self.pieces {
            if *piece == old && (are_all || self.rng.percent(40)) {
                piece.clone_from(&new);
            }
        }
    }

    /// Binds a name around one subtree, and uses the name elsewhere.
    fn bind(&mut self) {
        let (Some(bound), Some(used)) = (self.subtree(), self.place(|_| true)) else { return };
        let ((open, close), word) = (*self.rng.pick(&BINDINGS), *self.rng.pick(&USES));
        let word = format!(" {word} ").into_bytes();
        if used < bound.start || used >= bound.end {
            self.pieces[used] = word;
        } else {
            self.pieces.push(word);
        }
        self.pieces[bound.end - 1].extend_from_slice(close.as_bytes());
        self.pieces.insert(bound.start, open.into());
    }

    /// Nests some pieces deeply in others.
    fn nest(&mut self) {
        let Some(at) = self.place(|_| true) else { return };
        let end = (at + 1 + self.rng.below(8)).min(self.pieces.len());
        let (open, close) = *self.rng.pick(&NESTS);
        let depth = *self.rng.pick(&[1, 1, 2, 3, 5, 30, 199, 250, 3_000]);
        self.pieces.insert(end, close.repeat(depth).into());
        self.pieces.insert(at, format!(" {}", open.repeat(depth)).into());
    }
}

/// Returns the texts to change: a list of queries and a list of scripts. The lists are separate, so that the choice of queries
/// does not depend on the presence of scripts.
fn texts() -> [Vec<String>; 2] {
    let query = |table: &str| -> Vec<String> {
        let text = data(table);
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.map(|line| line.split('\t').nth(1).expect("a query").to_owned()).collect()
    };
    let tables =
        ["game-vectors.tsv", "golden-game-otb.tsv", "golden-game-fen.tsv", "golden-game-variations.tsv"];
    let words =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/language.md")).unwrap();
    let example =
        |row: &str| Some(row.split(" | ").nth(4)?.strip_prefix('`')?.strip_suffix('`')?.replace("\\|", "|"));
    let examples: Vec<String> = words.lines().filter_map(example).collect();
    assert!(examples.len() > 200, "{} examples", examples.len());
    let made = query_texts(4).lines().map(String::from).collect();
    let queries = [tables.map(query).concat(), examples, made].concat();
    [queries, scripts()]
}

fn scripts() -> Vec<String> {
    let Some(folder) = std::env::var_os("ORBIT_SCRIPTS") else { return Vec::new() };
    let entries = std::fs::read_dir(Path::new(&folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut scripts: Vec<_> = entries.filter(|path| path.extension().is_some_and(|it| it == "cql")).collect();
    scripts.sort();
    assert!(scripts.len() > 20, "{} scripts", scripts.len());
    scripts.iter().map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()).collect()
}

/// Returns a block (group of games) with a few small games that have side lines, promotions and repetitions.
fn block() -> Block {
    let mut options = StreamOptions::default();
    (options.parse.variations, options.parse.annotations) = (true, true);
    let texts = ["vars.pgn", "fens.pgn", "rep.pgn"].map(|name| data(&format!("games/{name}")));
    let blocks = texts.iter().flat_map(|text| pgn_blocks_with(text, options.clone()));
    let games: Vec<_> =
        blocks.flat_map(|block| block.games().map(|row| row.to_game()).collect::<Vec<_>>()).collect();
    block_of_games(games.into_iter().filter(|game| game.moves.len() < 20))
}

#[test]
fn changed_game_queries_are_refused_or_run() {
    let ([queries, scripts], block) = (texts(), block());
    let tokens = Tokens::new(Dialect::Cql6, TOKENS);
    let (mut seen, mut changes, mut faults) = ([0; 4], [0; CHANGES.len()], Vec::new());
    for k in trials(MUTATIONS, MUTATIONS_OF_A_SAMPLE) {
        let mut rng = Rng::new(k as u64);
        // This arithmetic ensures that each part of a long run applies each change to queries and to scripts.
        let text = match k / PARTS / CHANGES.len() % 4 {
            3 if !scripts.is_empty() => rng.pick(&scripts),
            _ => rng.pick(&queries),
        };
        let mut changed = Changed::new(&mut rng, &tokens, text);
        for step in 0..1 + changed.rng.below(3) {
            let kind = if step == 0 { k / PARTS % CHANGES.len() } else { changed.rng.below(CHANGES.len()) };
            (CHANGES[kind].1)(&mut changed);
            changes[kind] += 1;
        }
        // The program rejects files that are not UTF-8, so the text must be valid UTF-8 too.
        let pieces = changed.pieces.concat();
        let text = String::from_utf8_lossy(&pieces);
        let options = if rng.percent(25) { runners::without(runners::NONE) } else { PlanOptions::default() };
        let run = || agrees(&text, &block, options, &mut seen);
        if catch_unwind(AssertUnwindSafe(run)).is_err() {
            faults.push(format!("{k}: {text:?}"));
        }
    }
    let [refused, not_run, planned, interpreted] = seen;
    eprintln!(
        "{refused} refused, {not_run} not run, {planned} planned, {interpreted} interpreted; {changes:?}"
    );
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    let due = least(MUTATIONS, MUTATIONS_OF_A_SAMPLE);
    for ((name, _), count) in CHANGES.iter().zip(changes) {
        assert!(count >= due / CHANGES.len() - 4, "{name}: {count}");
    }
    let due = due as u64;
    assert!(10 * refused > due && 20 * planned > due && 1000 * interpreted > due, "{seen:?}");
}
