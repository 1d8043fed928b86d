//! Tests the comments and sort keys of queries. An engine that evaluates whole games computes them together with the
//! hits. If a plan finds the hits, they are computed afterwards, for the games with hits.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use orbit_database::{BlockStream, MemoryBudget};
use orbit_engine::{Commentary, Hits, MatchSpan, Rank, Wants};
use orbit_reel::Block;
use orbit_search::choice::Choice;
use orbit_search::executor::{EngineChoice, EngineOptions, Executor};
use orbit_search::found::{BlockResult, Names};

use crate::common::{data, length::stride};
use crate::database::SAMPLE;
use crate::game_trees::with_variations;

/// Queries that write comments or sort games. They are tested in addition to the queries of the table.
const QUERIES: &[&str] = &[
    "check comment(\"check by \" (A attacks k))",
    "flipcolor {Q attacks k comment(\"of \" currenttransform)}",
    "shift {Nd4 kf3} comment(ply)",
    "{ply==10 comment(\"tenth\") check}",
    "x=ply check comment(x)",
    "x=0 {x+=1 check comment(x)}",
    "check {if mate comment(\"mate\") else comment(\"no mate\")}",
    "line --> check comment(\"one\") --> . --> check comment(\"three\")",
    "line nestban --> check --> . --> check comment(\"three\")",
    "initial find check comment(\"found\")",
    "piece X in Q X attacks k comment(X)",
    "consecutivemoves (A B) K",
    "sort \"men\" #A check",
    "check sort \"men\" #A",
    "(sort \"ply\" ply) and check",
    "x=#A check sort \"men\" x",
    "piece X in Q X attacks k sort min \"rank\" rank X",
    "cql(quiet) check find mate sort \"moves\" {comment(\"mate soon\") #A}",
    "piece X in [RQ] sort \"moves\" path focus X max pathcountunfocused -- not check -- check comment(pathcount)",
    "piece X in [RQ] sort \"moves\" path focus X max pathcount -- -- comment(pathstart:X)",
    "check {sort \"men\" #a} or {sort \"others\" #A > 9}",
    "sort min \"men\" #A check comment(\"check\")",
    "{sort \"ply\" ply check}",
    "flipcolor {sort \"attackers\" #(A attacks kf8) mate}",
    "20<=sort \"ply\" ply mate comment(\"late\")",
    "sort \"white\" player white mate",
    "sort \"a\" #A sort min \"b\" ply check",
    "cql(sort matchcount) sort \"men\" #A check",
    "cql(matchcount 2 5) sort \"men\" #A check comment(\"check\")",
    "mate settag(\"Theme\" \"mate\") comment(\"set\")",
    "check removecomment comment(\"anew\")",
    "if check message(\"check\") mate comment(\"mate\")",
    "find all --> check",
    "cql(quiet) move from P comment(\"p\") check",
    "move capture A comment(\"takes\") & Q",
    "cql(quiet) move legal count<4 comment(\"few\")",
    "cql(quiet) path title \"t\" -- check",
    "cql(silent) find check",
    "cql(matchstring \"*\") check",
    "path -- check -- mate",
    "piece X in R line --> {X attacks k comment(X)} --> true* --> {X attacks q comment(\"and \" X)}",
    "piece X in [RBNQ] piece Y in [RBQ] {Y attacks X sort \"length\" path focus capture X|Y max pathcountunfocused \
     X-- .[x]X comment(\"takes \" X) Y-- comment(pathcount)}",
    "x=#A find {#A+9<x comment(x)}",
    "x=#A check comment(\"of \" x) echo (s t) {t>s x-9>t:#A}",
    "{if initial x=0 if check x=#A line --> {#A==x comment(x)} --> check}",
];

/// Returns the games of the tables, and some games of the sample.
fn games() -> Vec<u8> {
    let sample = std::fs::read_to_string(SAMPLE).unwrap();
    let sample: Vec<&str> = sample.split_inclusive("\n\n[Event ").take(60).collect();
    let tables = ["main", "vars", "comm", "rep"].map(|name| data(&format!("games/{name}.pgn")));
    format!("{}\n{}", tables.join("\n"), sample.concat().trim_end_matches("[Event ")).into_bytes()
}

/// All results of a search for one block.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) block: Arc<Block>,
    pub(crate) hits: Hits,
    pub(crate) commentary: Commentary,
    /// The sort keys of the games that the query finds.
    pub(crate) ranks: Vec<Rank>,
    /// The span of each hit, if it has one.
    pub(crate) spans: Vec<Option<Arc<MatchSpan>>>,
    /// True if a plan expresses the query.
    pub(crate) is_planned: bool,
}

/// Returns the results of a search with an engine for each block of some games. Returns `None` if the engine refuses
/// the query or fails.
pub(crate) fn told(text: &str, games: Vec<u8>, engine: EngineChoice) -> Option<Vec<Told>> {
    let mut options = EngineOptions::default();
    options.engine = engine;
    let scan = Executor::with_query(orbit_query::parse(text).ok()?, &options).ok()?.threads(1);
    let mut opened = with_variations();
    opened.pgn.chunk_bytes = 20_000;
    let mut all = Vec::new();
    let work = |result: BlockResult<'_>, _: &MemoryBudget| {
        let (found, answers) = (result.first(), &result.answers[0]);
        let ranks =
            |game: usize| scan.sorts_games().then(|| answers.games.as_ref().unwrap()[game].rank.clone());
        let (mut all_ranks, mut spans) = (Vec::new(), Vec::new());
        for game in found.block.games() {
            all_ranks.extend(answers.finds(&game).then(|| ranks(game.index())).flatten());
            let slots = answers.hits.slots(game.first_slot()..game.end_slot());
            let nodes = slots.map(|slot| (slot - game.first_slot()) as u32);
            spans.extend(nodes.map(|node| found.span(&game, node)));
        }
        Told {
            block: result.block.clone(),
            commentary: answers.commentary.clone().unwrap_or_default(),
            hits: answers.hits.clone(),
            ranks: all_ranks,
            spans,
            is_planned: scan.queries()[0].planner.refusal().is_none(),
        }
    };
    let take = |_, told| {
        all.push(told);
        ControlFlow::Continue(())
    };
    let database = BlockStream::from_pgn_bytes("games", games, opened);
    let wants = [Wants::COMMENTARY | Wants::RANKS | Wants::VALUES | Wants::SPANS];
    scan.for_each_block(database, &wants, &Choice::default(), &Names::default(), work, take).ok()?;
    Some(all)
}

#[test]
fn games_get_the_same_comments_and_ranks_from_all_engines() {
    let (table, endings) = (data("game-vectors.tsv"), data("endings.cql"));
    let vectors: BTreeSet<&str> = table.lines().filter_map(|line| line.split('\t').nth(1)).collect();
    let vectors = stride(2, 20).of(vectors.into_iter());
    let (mut compared, mut comments, mut ranks) = (0, 0, BTreeSet::new());
    for text in QUERIES.iter().copied().chain([&*endings]).chain(vectors) {
        let Some(slow) = told(text, games(), EngineChoice::Reference) else { continue };
        let fast = told(text, games(), EngineChoice::Auto).unwrap_or_else(|| panic!("{text}"));
        let texts = |told: &[Told]| -> Vec<(Commentary, Vec<Rank>)> {
            told.iter().map(|told| (told.commentary.clone(), told.ranks.clone())).collect()
        };
        assert!(texts(&slow) == texts(&fast), "{text}");
        compared += 1;
        for Told { commentary, ranks: of_games, .. } in slow {
            comments += commentary.games.iter().map(|game| game.comments.len()).sum::<usize>();
            ranks.extend(of_games);
        }
    }
    assert!(
        compared >= QUERIES.len() && comments > 2_000 && ranks.len() > 60,
        "{compared} {comments} {}",
        ranks.len()
    );
}
