//! Tests random text. The parser must not panic, and its errors must refer to places in the text. Every query that it accepts
//! must be plannable and runnable.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use orbit_core::{board::Position, visible::line};
use orbit_database::StreamOptions;
use orbit_engine::{
    Answers, BlockRequest, Engine, EngineError, Interrupt, PreparedQuery, Wants, reference::Bulk,
};
use orbit_pgn::Game;
use orbit_plan::PlanOptions;
use orbit_query::{
    Dialect,
    tree::{ConditionKeyword, ConditionOp, Ref, SquaresOp},
    words::{self, WordStatus},
};
use orbit_reel::Block;

use crate::{
    common::{
        block_of_games, data,
        length::{PARTS, length},
        pgn_blocks_with, position,
    },
    differential::{Generator, Rng, query_texts},
    runners::answer,
};

/// Tokens of CQL 6 queries, except keywords and signs.
pub const TOKENS: &[&str] = &[
    "[RN]",
    "[Aa]",
    "a1",
    "Ra1",
    "[a1,h8]",
    "a-h1-8",
    "Pd-e4-5",
    "♖a1",
    "♖♗",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "0",
    "1",
    "7",
    "-3",
    "2147483647",
    "\"\"",
    "\"R\"",
    "\"Karpov\"",
    "s",
    "xx",
    "yy",
    "(o-o)",
    "(castle)",
    "1-0",
    "1/2-1/2",
    "\"8/8/8/8/8/8/8/K6k\"",
    "cql(input x)",
    "(position",
    ",",
    ";",
    "//",
    "/*",
    "*/",
    "\\",
    "\\n",
    "\n",
    "\t",
    "\"",
    "$",
    "ä",
    "\u{feff}",
    "－",
    "",
];

/// Tokens of CQL 5 lists, except keywords and signs.
const LIST_TOKENS: &[&str] = &[
    "(position",
    "(match",
    "(",
    ")",
    ")",
    ")",
    "♖a1",
    "[♖♗]",
    "[Rk.?]",
    "[a-c1,f6]",
    "[ah12]",
    "[]",
    "♕[",
    "]",
    "?1",
    "◑f6",
    "_",
    "Rah8",
    "!:check",
    ":!mate",
    "1-0",
    "1/2-1/2",
    "unlimited",
    "1",
    "3",
    "-2",
    ">2",
    ">=",
    "99999999999",
    ":nonsense",
    ":",
    "!",
    ";",
    "/*",
    "&",
    "and",
    "flip",
    "ä",
    "\n",
];

/// The tokens from which texts in a dialect are made: first the implemented keywords and the tokens that are not keywords, then the
/// keywords that are not implemented.
pub struct Tokens {
    built: Vec<String>,
    unbuilt: Vec<String>,
}

impl Tokens {
    pub fn new(dialect: Dialect, others: &[&str]) -> Tokens {
        let mut tokens =
            Tokens { built: others.iter().map(|token| token.to_string()).collect(), unbuilt: vec![] };
        for word in words::words(dialect) {
            let list = match word.status {
                WordStatus::Here | WordStatus::Within(_) => &mut tokens.built,
                WordStatus::NotYet | WordStatus::Refused(_) => &mut tokens.unbuilt,
            };
            let colon = if word.takes_colon(dialect) { ":" } else { "" };
            list.extend(word.spellings.iter().map(|spelling| format!("{colon}{spelling}")));
        }
        tokens
    }

    /// Returns a random token. Unimplemented keywords are rare, because they end the parsing.
    pub fn pick(&self, rng: &mut Rng) -> &str {
        let list = if rng.percent(3) { &self.unbuilt } else { &self.built };
        &list[rng.below(list.len())]
    }
}

/// The maximum number of steps of a query in one game. It is needed because a random query may contain an endless loop.
const STEPS_MAX: u64 = 30_000;

/// The maximum number of times that the CPU engine may check its interrupt. This engine has no step limit, so the test interrupts
/// it. The engine makes thousands of steps between two checks.
const LOOKS_MAX: u64 = 200;

/// Returns how often the reference engine checks its interrupt before it reaches its step limit.
fn looks_of_steps(block: &Block) -> u64 {
    block.slots() as u64 + 40 * block.games_len() as u64
}

/// Parses a text, prints the messages about it, plans the query and runs it. If one of these steps panics, the test panics with a
/// message that contains the text. Increments one of the four counts in `seen`: texts that are rejected, texts that are accepted
/// but not run, texts that the CPU engine runs, and texts that only the reference engine can run.
pub fn survives(text: &str, block: &Block, seen: &mut [u64; 4]) {
    seen[kind(text, block, PlanOptions::default(), |_, _, _| ())] += 1;
}

/// Does the same as [`survives`], with plan options. If the CPU engine runs the query, the reference engine also runs it and must
/// have the same results.
pub fn agrees(text: &str, block: &Block, options: PlanOptions, seen: &mut [u64; 4]) {
    seen[kind(text, block, options, compare)] += 1;
}

/// Panics if the results of the reference engine and the fast engine differ. The comparison is skipped if the reference engine
/// takes too many steps.
fn compare(prepared: &PreparedQuery, reference: Bulk, (fast, block): (&Answers, &Block)) {
    let slow = match within_looks(&reference, looks_of_steps(block), block, Wants::VALUES) {
        Err(EngineError::Query { diagnostic, .. }) if diagnostic.message.contains("too many steps") => return,
        slow => slow.expect("the fast engine answers"),
    };
    for slot in 0..block.slots() {
        let [fast, slow] = [fast, &slow].map(|it| answer(&it.hits, slot, prepared.query.body.ty()));
        assert_eq!(fast, slow, "slot {slot}");
    }
    assert_eq!(prepared.cpu().unwrap().info().copies[0], reference.info().copies[0]);
}

/// Returns the results of an engine, which is interrupted after `looks_max` checks of its interrupt.
fn within_looks(
    engine: &dyn Engine,
    looks_max: u64,
    block: &Block,
    outputs: Wants,
) -> Result<Answers, EngineError> {
    let looks = AtomicU64::new(0);
    let interrupt = Interrupt::from_test(move || looks.fetch_add(1, Ordering::Relaxed) >= looks_max);
    let outputs = [outputs];
    let request = BlockRequest { interrupt: Some(&interrupt), ..BlockRequest::all(&outputs) };
    let mut answers = engine.scan(&[block], &request)?;
    Ok(answers.remove(0).remove(0))
}

/// Returns the index of the count in `seen` (see [`survives`]) that a text increments. If the CPU engine runs the query, calls
/// `look` with its results.
fn kind(
    text: &str,
    block: &Block,
    options: PlanOptions,
    look: impl Fn(&PreparedQuery, Bulk, (&Answers, &Block)),
) -> usize {
    let outcome = catch_unwind(AssertUnwindSafe(|| match orbit_query::parse(text) {
        Err(error) => {
            assert!(error.span.start <= error.span.end && error.span.end <= text.len(), "{:?}", error.span);
            assert!(text.is_char_boundary(error.span.start) && text.is_char_boundary(error.span.end));
            assert!(!error.message.is_empty() && !error.label.is_empty());
            let first = error.message.lines().next().expect("it is not empty");
            assert!(error.render(text, "query", false).contains(&*line(first)));
            error.render(text, "query", true);
            0
        }
        Ok(parsed) => {
            for remark in &parsed.remarks {
                assert!(remark.span.start <= remark.span.end && remark.span.end <= text.len());
                remark.render(text, "query", false);
            }
            let mut copies = 1u64;
            parsed.query.body.walk(&mut |node| {
                let times = match node {
                    Ref::Condition(f) if matches!(f.op(), ConditionOp::Form(ConditionKeyword::Lists(..))) => {
                        30
                    }
                    Ref::Condition(f) if matches!(f.op(), ConditionOp::SquareAll { .. }) => 8,
                    Ref::Squares(f) if matches!(f.op(), SquaresOp::SquareLoop { .. }) => 8,
                    _ if node.is_transform() => 8,
                    _ => 1,
                };
                copies = copies.saturating_mul(times);
            });
            if copies > 512 {
                return 1;
            }
            // As in a search, only main lines are evaluated if the query does not search side lines.
            let main_lines = (!parsed.query.variations).then(|| block.clone().into_main_lines(true));
            let block = main_lines.as_ref().unwrap_or(block);
            let Ok(prepared) = PreparedQuery::new(parsed.query, options) else { return 1 };
            let reference = || prepared.reference().unwrap().with_steps_max(STEPS_MAX);
            let told_by_reference =
                |outputs| within_looks(&reference(), looks_of_steps(block), block, outputs);
            let (answered, kind) = match prepared.planner.refusal() {
                None => match within_looks(&prepared.cpu().unwrap(), LOOKS_MAX, block, Wants::VALUES) {
                    // A query that would take too long is interrupted. It still counts as one that the CPU engine runs.
                    Err(EngineError::Interrupted) => return 2,
                    // The reference engine must find the error that ended the run.
                    Err(EngineError::Stopped) => {
                        let told = told_by_reference(Wants::VALUES);
                        assert!(matches!(told, Err(EngineError::Query { .. })), "{told:?}");
                        (told, 2)
                    }
                    answered => {
                        if let Ok(answers) = &answered {
                            look(&prepared, reference(), (answers, block));
                        }
                        (answered, 2)
                    }
                },
                Some(_) => (told_by_reference(Wants::VALUES | Wants::COMMENTARY), 3),
            };
            match answered {
                // The run ends with a message if a variable has no value, an assertion fails or the run takes too many steps.
                Ok(_) | Err(EngineError::Query { .. }) => kind,
                Err(error) => panic!("{error}"),
            }
        }
    }));
    outcome.unwrap_or_else(|_| panic!("this text brings it down: {text:?}"))
}

/// Returns a block (group of games) with three positions, and with a game that has a side line.
fn block() -> Block {
    let positions =
        [Position::STANDARD, position("r3k2r/1P6/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1"), Position::default()];
    let mut trees = StreamOptions::default();
    (trees.parse.variations, trees.parse.annotations) = (true, true);
    let tree = pgn_blocks_with("1. e4 e5 (1... d5 2. exd5) 2. Nf3 {book} *", trees);
    let alone = positions.map(|start| Game { start: Some(start), ..Game::default() });
    block_of_games(alone.into_iter().chain([tree[0].game(0).to_game()]))
}

/// Runs random texts. Each of the four counts of [`survives`] must be at least the one in `least`. `text` returns the text for a
/// trial (piece of work), given its number and the random generator of its part of the trials.
fn survive(seed: u64, trials: usize, least: [u64; 4], mut text: impl FnMut(&mut Rng, usize) -> String) {
    let block = block();
    for part in length().parts() {
        let (mut rng, mut seen) = (Rng::new(seed + 100 * part as u64), [0; 4]);
        for number in 0..trials / PARTS {
            survives(&text(&mut rng, number), &block, &mut seen);
        }
        eprintln!("{seen:?}");
        assert!(seen.iter().zip(least).all(|(seen, least)| *seen >= least / PARTS as u64), "{seen:?}");
    }
}

#[test]
fn tokens_in_any_order() {
    let tokens = Tokens::new(Dialect::Cql6, TOKENS);
    survive(17, 60_000, [1_000, 0, 1_000, 200], |rng, _| {
        let count = 1 + rng.below(12);
        let text: Vec<&str> = (0..count).map(|_| tokens.pick(rng)).collect();
        text.join(if rng.percent(85) { " " } else { "" })
    });
}

#[test]
fn tokens_of_lists_in_any_order() {
    let tokens = Tokens::new(Dialect::Cql5, LIST_TOKENS);
    survive(19, 40_000, [1_000, 0, 1_000, 0], |rng, _| {
        let count = 1 + rng.below(8);
        let mut text: Vec<&str> = vec!["(position"];
        text.extend((0..count).map(|_| tokens.pick(rng)));
        if rng.percent(80) {
            let open = text.iter().filter(|token| token.starts_with('(')).count();
            let closed = text.iter().filter(|token| **token == ")").count();
            text.extend(std::iter::repeat_n(")", open.saturating_sub(closed)));
        }
        text.join(if rng.percent(95) { " " } else { "" })
    });
}

#[test]
fn queries_with_a_few_changes() {
    let tokens = Tokens::new(Dialect::Cql6, TOKENS);
    let vectors: Vec<String> = data("vectors.tsv")
        .lines()
        .chain(data("golden-otb.tsv").lines().skip(1).map(|line| &line[4..]))
        .map(|line| line.split('\t').next().expect("a line has a column").to_string())
        .collect();
    let of_games: Vec<String> = data("game-vectors.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('\t').nth(1).expect("a line has a query").to_string())
        .chain(query_texts(4).lines().map(String::from))
        .collect();
    survive(18, 20_000, [1_000, 0, 1_000, 8], |rng, number| {
        let mut text = match number % 3 {
            0 => rng.pick(&vectors).clone(),
            1 => rng.pick(&of_games).clone(),
            _ => Generator::new(rng).query().text(),
        };
        for _ in 0..rng.within(1, 3) {
            change(rng, &mut text, &tokens);
        }
        text
    });
}

/// Removes, duplicates, inserts or replaces a piece of a text.
fn change(rng: &mut Rng, text: &mut String, tokens: &Tokens) {
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let (a, b) = (rng.below(ends.len()), (rng.below(6)));
    let (from, to) = (ends[a], ends[(a + b).min(ends.len() - 1)]);
    match rng.below(4) {
        0 => text.replace_range(from..to, ""),
        1 => {
            let piece = text[from..to].to_string();
            text.insert_str(to, &piece);
        }
        2 => text.insert_str(from, tokens.pick(rng)),
        _ => text.replace_range(from..to, tokens.pick(rng)),
    }
}

/// Long or deeply nested queries must neither exhaust the stack nor take forever.
#[test(part = 3)]
fn long_and_deep_queries() {
    let (mut seen, block) = ([0; 4], block());
    for n in [10, 150, 250, 999, 5000, 60_000] {
        for (open, middle, close) in [
            ("(", "R", ")"),
            ("{", "R", "}"),
            ("not ", "R", ""),
            ("~", "R", ""),
            ("- ", "1", ""),
            ("up ", "R", ""),
            ("flip ", "R", ""),
            ("notransform ", "R", ""),
            ("if ", "R", " then R else R"),
            ("#{#", "R", " == 1 R}"),
            ("R and ", "R", ""),
            ("R or ", "R", ""),
            ("R | ", "R", ""),
            ("R & ", "R", ""),
            ("1 + ", "1", ""),
            ("1 < ", "1", ""),
            ("R -> ", "R", ""),
            ("R attacks ", "R", ""),
            ("R ", "R", ""),
            ("square s in . ", "R", ""),
            ("max(1 ", "1", ")"),
            ("xx=", "R", ""),
            ("(position ", "R", ")"),
            ("(position :not ", "(R)", ")"),
            ("(position R) ", "", ""),
            ("(position ", ":flip", ""),
            ("(", "position R", ")"),
        ] {
            survives(&(open.repeat(n) + middle + &close.repeat(n)), &block, &mut seen);
        }
    }
    for n in [10, 90, 200, 5000] {
        survives(&format!("(position {})", "R ".repeat(n)), &block, &mut seen);
        survives(&format!("(position :or ({}))", "R ".repeat(n)), &block, &mut seen);
        survives(&format!("(position :ray ({}))", "R ".repeat(n)), &block, &mut seen);
        survives(&format!("(position :or {})", "(R) ".repeat(n)), &block, &mut seen);
    }
    // Each pair of parentheses contains a long list before the next pair.
    let list = "R or ".repeat(1000);
    survives(&(format!("({list}").repeat(95) + "R" + &")".repeat(95)), &block, &mut seen);
    assert!(seen[0] > 20 && seen[2] > 20, "{seen:?}");
}
