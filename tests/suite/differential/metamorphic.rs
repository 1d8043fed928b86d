//! Tests laws of the query language, without a second engine. A law is a pair of queries with placeholders that must have the
//! same results, whatever filters replace the placeholders. In addition, a query with a transform must have the same results for
//! a game and for the transformed game.

use std::fmt::Write as _;

use orbit_database::StreamOptions;
use orbit_engine::{Answer, PreparedQuery};
use orbit_plan::PlanOptions;
use orbit_reel::Block;
use shakmaty::{
    Board, CastlingMode, Chess, Color, EnPassantMode, Move, Position as _, Square, fen::Fen, san::SanPlus,
};

use super::{
    Rng,
    game_queries::GameQueries,
    games::{games, pool},
};
use crate::{common::length::trials, common::pgn_blocks_with, runners::Runner};
use evaluators::chains::game::Game;

/// The games for which a law holds.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Holds {
    /// All games, including those with side lines.
    Everywhere,
    /// Only games in which each position has at most one child, that is, games without side lines.
    InLists,
}

/// The results that must be equal for both queries of a law.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Same {
    Hits,
    Values,
}

use Holds::{Everywhere, InLists};
use Same::{Hits, Values};

/// Pairs of queries in which `$A` and `$B` stand for conditions, `$S` for a set, `$N` for a number and `$E` for a move.
const LAWS: &[(Holds, Same, &str, &str)] = &[
    (InLists, Hits, "line --> $A --> $B", "{$A child:$B}"),
    (InLists, Hits, "line --> $A --> true --> $B", "{$A child:child:$B}"),
    (Everywhere, Hits, "line <-- $A <-- $B", "{$A parent:$B}"),
    (Everywhere, Hits, "line --> .* --> $A", "find $A"),
    (Everywhere, Hits, "line <-- .* <-- $A", "find <-- $A"),
    (Everywhere, Hits, "line --> $A", "$A"),
    (
        Everywhere,
        Values,
        "line --> {$A true}{2,3} --> $B",
        "line --> {$A true} --> {$A true} --> {$A true}? --> $B",
    ),
    (Everywhere, Values, "line --> {$A true}+ --> $B", "line --> {$A true} --> {$A true}* --> $B"),
    (Everywhere, Values, "line primary --> {$A true}+", "line --> {$A true} --> {primary $A true}*"),
    (Everywhere, Hits, "line --> {$A true} --> .+", "{$A --}"),
    (Everywhere, Hits, "$E", "path $E"),
    // If the target of `--` is a set, then `--` as a condition tests that the target is not empty at some child, and `--` as a set
    // has the value of the target at the first child.
    (Everywhere, Hits, "{--($A) true}", "path -- {$A true}"),
    (InLists, Hits, "--($A)", "child:$A"),
    (InLists, Hits, "$E", "child:(currentmove $E)"),
    (InLists, Hits, "parent:($E)", "currentmove $E"),
    (InLists, Hits, "parent:($E($A))", "currentmove $E($A)"),
    (Everywhere, Hits, "$E", "(countmoves $E)>0"),
    (Everywhere, Values, "{path -- {3}} + 1", "line --> .{4}"),
    (Everywhere, Values, "{path -- *} + 1", "{line --> . --> .+} + 0"),
    (Everywhere, Values, "path -- {$A true} * --", "path (-- {$A true}) * --"),
    (Everywhere, Values, "path -- {$A true} {1,2} $E", "path -- {$A true} (-- {$A true}) ? $E"),
    (
        Everywhere,
        Values,
        "path singlecolor -- {$A true} +",
        "if wtm then {path focus A -- {$A true} +} else {path focus a -- {$A true} +}",
    ),
    (Everywhere, Values, "path max pathcount -- {$A true} +", "path -- {$A true} +"),
    (InLists, Values, "path max ply -- {$A true} +", "{path -- {$A true} +} + ply"),
    (Everywhere, Values, "path focus [Aa] -- {$A true} +", "path -- {$A true} +"),
    (InLists, Hits, "path focus $S --", "{-- #($S & child:from)>0}"),
    (Everywhere, Hits, "path firstmatch -- +", "path --"),
    (
        InLists,
        Values,
        "find count $A",
        "(if $A then 1 else 0) + (if child then child:(find count $A) else 0)",
    ),
    (InLists, Hits, "echo(ss tt) {ss[<]tt $A}", "child:(find $A)"),
    (Everywhere, Hits, "echo(ss tt) in all $A", "{$A or echo(ss tt) $A}"),
    (Everywhere, Hits, "echo(ss tt) {parent==ss $A}", "{--($A) true}"),
    (Everywhere, Values, "#(piece XX in $S true)", "#($S & [Aa])"),
    (Everywhere, Values, "piece XX in $S {XX & $S}", "$S & [Aa]"),
    (Everywhere, Hits, "piece all XX in $S $A", "{($S & [Aa])==[] or $A}"),
    (Everywhere, Values, "piece XX in $S {XX--}", "piece XX in $S {path focus XX --}"),
    (Everywhere, Values, "{xx=$N xx}", "$N"),
    (Everywhere, Values, "{xx=$S xx}", "$S"),
    (Everywhere, Values, "{xx=$N {{xx+=1 $A false} or true} xx}", "$N+1"),
    (Everywhere, Values, "{xx=$N {not {xx+=1 false}} xx}", "$N+1"),
    (Everywhere, Values, "sort \"n\" $N", "$N"),
    (Everywhere, Values, "{$A comment(\"x\" ply) $S}", "{$A $S}"),
    (Everywhere, Hits, "{pp=parent pp:$A}", "parent:$A"),
    (Everywhere, Values, "function ff(xx){xx+ply} ff($N)", "$N+ply"),
    (InLists, Values, "position (positionid+1):$N", "child:$N"),
    (Everywhere, Hits, "lca(parent currentposition)==parent", "not initial"),
    (Everywhere, Values, "distance(initialposition currentposition)", "ply"),
    (Everywhere, Values, "find <-- all secondary", "depth>0"),
    (Everywhere, Values, "local dictionary DD DD[ply]=$N DD[ply]", "$N"),
];

/// Returns the runners (engines with options) for a query: `reference`, and also `cpu` if the query has a plan.
fn runners(text: &str) -> Vec<Runner> {
    let query = orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).query;
    let prepared = PreparedQuery::new(query, PlanOptions::default());
    let is_planned = prepared.is_ok_and(|prepared| prepared.planner.refusal().is_none());
    [Runner::reference()].into_iter().chain(is_planned.then(|| Runner::cpu(0))).collect()
}

fn answers(runner: &Runner, text: &str, block: &Block) -> Vec<Answer> {
    runner.answers(text, block).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The results for one law: the numbers of positions at which its queries match and do not match, and messages about different
/// results.
#[derive(Default)]
struct Seen {
    hits: usize,
    misses: usize,
    faults: Vec<String>,
}

impl Seen {
    fn compare(&mut self, same: Same, [a, b]: [&str; 2], [found, other]: [&[Answer]; 2], name: &str) {
        assert_eq!(found.len(), other.len());
        let is_same = |a: &Answer, b: &Answer| match same {
            Hits => a.is_hit() == b.is_hit(),
            Values => a == b,
        };
        if let Some(node) = found.iter().zip(other).position(|(a, b)| !is_same(a, b)) {
            self.faults
                .push(format!("{name}, position {node}: {:?}: {a}\n  {:?}: {b}", found[node], other[node]));
        }
        let hits = found.iter().filter(|answer| answer.is_hit()).count();
        self.hits += hits;
        self.misses += found.len() - hits;
    }
}

#[test]
fn laws_hold_on_generated_queries() {
    let mut faults = Vec::new();
    for (index, &(holds, same, left, right)) in LAWS.iter().enumerate() {
        let mut seen = Seen::default();
        for k in trials(60, 6).map(|k| k as u64) {
            let mut rng = Rng::new(1000 * index as u64 + k);
            // In one part of a long run, all trial numbers have the same remainder modulo 4. So the choice of side lines must not
            // depend on this remainder alone.
            let variations = holds == Everywhere && (k / 4 + k) % 2 == 0;
            let (games, block) = games(&mut rng, variations);
            let parts = GameQueries::new(&mut rng, &games).parts();
            let header = if variations { "cql(variations) " } else { "" };
            let [a, b] = [left, right].map(|text| {
                let filled =
                    parts.iter().fold(text.to_string(), |text, (name, part)| text.replace(name, part));
                format!("{header}{{{filled}}}")
            });
            let reference = answers(&Runner::reference(), &a, &block);
            for text in [&a, &b] {
                for runner in runners(text) {
                    let found = answers(&runner, text, &block);
                    seen.compare(same, [&a, text], [&reference, &found], &runner.name);
                }
            }
        }
        faults.extend(seen.faults.first().map(|fault| format!("{left}  is  {right}\n  {fault}")));
        assert!(seen.hits > 0, "{left} never hits, {} misses", seen.misses);
    }
    assert!(faults.is_empty(), "{} laws fail:\n{}", faults.len(), faults.join("\n"));
}

// ---- images of games

/// A transformation of games: a function on squares, and true if it swaps the colours.
type Image = (fn(Square) -> Square, bool);

const IMAGES: [(&str, Image); 2] = [
    ("flipvertical", (|square| square.flip_horizontal(), false)),
    ("flipcolor", (|square| square.flip_vertical(), true)),
];

fn image_of(chess: &Chess, (square, swap): Image) -> Option<Chess> {
    let mut board = Board::empty();
    for at in chess.board().occupied() {
        let mut piece = chess.board().piece_at(at)?;
        piece.color = if swap { !piece.color } else { piece.color };
        board.set_piece_at(square(at), piece);
    }
    let mut setup = chess.to_setup(EnPassantMode::Legal);
    setup.board = board;
    setup.turn = if swap { !setup.turn } else { setup.turn };
    setup.ep_square = setup.ep_square.map(square);
    setup.position(CastlingMode::Standard).ok()
}

fn image_of_move(chess: &Chess, mv: Move, (square, _): Image) -> Option<Move> {
    let (from, to) = (square(mv.from()?), square(mv.to()));
    chess
        .legal_moves()
        .into_iter()
        .find(|other| other.from() == Some(from) && other.to() == to && other.promotion() == mv.promotion())
}

/// Returns games that start from positions without castling rights, each as PGN followed by the PGN of the transformed game.
fn games_and_images(rng: &mut Rng, image: Image) -> [String; 2] {
    let mut out = [String::new(), String::new()];
    let starts: Vec<&Game> = pool().iter().collect();
    for _ in 0..40 {
        let game = rng.pick(&starts);
        let mut setup = game.nodes[rng.below(game.nodes.len())].chess.to_setup(EnPassantMode::Legal);
        setup.castling_rights = shakmaty::Bitboard::EMPTY;
        let Ok(mut chess) = setup.position::<Chess>(CastlingMode::Standard) else { continue };
        let Some(mut other) = image_of(&chess, image) else { continue };
        let fens = [&chess, &other].map(|chess| Fen::from_position(chess, EnPassantMode::Legal).to_string());
        let mut texts = fens.map(|fen| format!("[Event \"a\"]\n[SetUp \"1\"]\n[FEN \"{fen}\"]\n\n"));
        for _ in 0..rng.below(24) {
            let moves = chess.legal_moves();
            if moves.is_empty() {
                break;
            }
            let mv = *rng.pick(&moves);
            let Some(moved) = image_of_move(&other, mv, image) else { break };
            for (text, (chess, mv)) in texts.iter_mut().zip([(&chess, mv), (&other, moved)]) {
                let dots = if chess.turn() == Color::White { "." } else { "..." };
                let san = SanPlus::from_move(chess.clone(), mv);
                write!(text, "{}{dots} {san} ", chess.fullmoves()).unwrap();
            }
            chess.play_unchecked(mv);
            other.play_unchecked(moved);
        }
        out.iter_mut().zip(&texts).for_each(|(out, text)| writeln!(out, "{text}*\n").unwrap());
    }
    out
}

/// A query with a transform that is its own inverse must have the same results for a game and for the transformed game.
#[test]
fn orbits_answer_alike_on_images_of_games() {
    let (mut hits, mut faults) = (0, Vec::new());
    for seed in trials(600, 60) {
        let mut rng = Rng::new(7_000 + seed as u64);
        let (word, image) = IMAGES[(seed / 4 + seed) % 2];
        let texts = games_and_images(&mut rng, image);
        let blocks = texts.map(|text| pgn_blocks_with(&text, StreamOptions::default()).remove(0));
        let (games, _) = games(&mut rng, false);
        let chain = GameQueries::new(&mut rng, &games).chain();
        let text = format!("{word} {chain}");
        if orbit_query::parse(&text).is_err() {
            continue;
        }
        for runner in runners(&text) {
            let (found, other) = (answers(&runner, &text, &blocks[0]), answers(&runner, &text, &blocks[1]));
            hits += found.iter().filter(|answer| answer.is_hit()).count();
            if let Some(node) = found.iter().zip(&other).position(|(a, b)| a != b) {
                faults.push(format!(
                    "{text} on {}: slot {node}: {:?}, image {:?}",
                    runner.name, found[node], other[node]
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(hits > 100, "{hits}");
}
