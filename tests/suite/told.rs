//! Tests the comments and sort keys of queries. An engine that evaluates whole games computes them together with the hits. If a
//! plan (code for the fast engines) finds the hits, the comments and sort keys are computed afterwards, only for games with hits.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use orbit_database::{BlockStream, MemoryBudget};
use orbit_engine::comments::CommentSearch;
use orbit_engine::reference::Bulk;
use orbit_engine::{BlockRequest, Commentary, Engine as _, Hits, Interrupt, MatchSpan, Rank, Wants};
use orbit_query::TypedQuery;
use orbit_query::tree::Node;
use orbit_reel::Block;
use orbit_search::choice::Choice;
use orbit_search::executor::{EngineChoice, EngineOptions, Executor};
use orbit_search::found::{BlockResult, Names};

use crate::common::{
    data,
    length::{least, stride},
    some_and_small,
};
use crate::database::SAMPLE;
use crate::game_trees::with_variations;

/// Queries that write comments or sort games. They are tested in addition to the table's queries.
const QUERIES: &[&str] = &[
    "check comment(\"check by \" (A attacks k))",
    "flipcolor {Q attacks k comment(\"of \" currenttransform)}",
    "shift {Nd4 kf3} comment(ply)",
    "{ply==10 comment(\"tenth\") check}",
    "x=ply check comment(x)",
    "x=0 {x+=1 check comment(x)}",
    "check {if mate comment(\"mate\") else comment(\"no mate\")}",
    "line --> {check comment(\"one\")} --> . --> {check comment(\"three\")}",
    "line nestban --> check --> . --> check comment(\"three\")",
    "initial find check comment(\"found\")",
    "piece X in Q {X attacks k comment(X)}",
    "cql(variations) echo (s t) {s<t consecutivemoves(s t)>1 comment(\"again\")}",
    "sort \"men\" #A check",
    "check sort \"men\" #A",
    "(sort \"ply\" ply) and check",
    "x=#A check sort \"men\" x",
    "piece X in Q {X attacks k sort min \"rank\" rank X}",
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
    "cql(sort matchcount 1) sort \"men\" #A check",
    "cql(matchcount 2 5) sort \"men\" #A check comment(\"check\")",
    "mate settag(\"Theme\" \"mate\") comment(\"set\")",
    "check removecomment comment(\"anew\")",
    "if check message(\"check\") mate comment(\"mate\")",
    "find all -- check",
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
    "{mate comment(\"mate\")} or {check comment(\"check\")} or {#A>9 wtm comment(ply)} or {Qd1 comment(\"at home\")}",
    "ply<60 {check or {#a>9 comment(\"many\")} or {terminal comment(\"end\")} or A attacks k or {btm comment(\"last\")}}",
    "(flipcolor {check comment(#A)}) or (find mate or {flip Rd1 comment(\"rook\")}) or ({Q attacks q sort \"n\" #A} or terminal)",
    "{x=A check} or {wtm x attacks k comment(x)} or {Qd1 comment(x)} or {#x<9 comment(\"few\")}",
    "x=#A find {#A+9<x comment(x)}",
    "check comment(\"check\" \", again\") comment(\"second\")",
    "flipcolor {check comment(\"check\")}",
    "flipcolor {Qd1 comment(\"at home\")}",
    "cql(quiet) flip {Ra1 comment(\"corner\") comment(\"again\")} and {check or not check comment(\"none\")}",
    "{if wtm comment(\"white\") if check {comment(\"check\") ply} #A>8}",
    "{mate comment(\"mate\")} or {check comment(\"check\")}",
    "{flipcolor {Qd1 comment(\"queen\")}} or {flip {Kg1 comment(\"king\")}} or {btm comment(\"black\")}",
    "flipcolor {{Qd1 comment(\"queen\")} or {Ke1 comment(\"king\")}} comment(\"home\")",
    "cql(silent) {mate comment(\"mate\")} or {check comment(\"check\")}",
    "notransform (check or mate or wtm or comment(ply))",
    "(notransform (check or mate)) or wtm or comment(ply)",
    "(notransform (check or {mate comment(\"mate\")})) or {Qh5 comment(\"queen\")} or {Qa4 comment(ply)} or {ply==4 comment(ply \"!\")} \
     or ply==5",
    "check or mate or false or {terminal find <-- check}",
    "cql(quiet) {check comment(\"check\")} or mate or {wtm comment(\"white\")} or {terminal parent:comment(\"before\")}",
    "cql(variations) {check comment(\"check\")} or mate or {wtm comment(\"white\")} or {terminal comment(parent)}",
    "cql(matchcount 0 3) {mate comment(\"mate\")} or {check comment(\"check\")}",
    "{comment(\"before\") not comment(\"never\")} or {comment(\"then\") check}",
    "{mate comment(\"mate\")} or {check comment(ply)} or {#A>9 wtm comment(\"men\")} or {Qd1 comment(\"home\")}",
    "x=#A check comment(\"of \" x) echo (s t) {t>s x-9>t:#A}",
    "{if initial x=0 if check x=#A line --> {#A==x comment(x)} --> check}",
];

/// Returns the games of the tables, and some sample games.
fn games() -> Vec<u8> {
    let sample = std::fs::read_to_string(SAMPLE).unwrap();
    let sample: Vec<&str> = sample.split_inclusive("\n\n[Event ").take(60).collect();
    let tables = ["main", "vars", "comm", "rep"].map(|name| data(&format!("games/{name}.pgn")));
    format!("{}\n{}", tables.join("\n"), sample.concat().trim_end_matches("[Event ")).into_bytes()
}

/// All results of a search for one block (group of games).
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) block: Arc<Block>,
    pub(crate) hits: Hits,
    pub(crate) commentary: Commentary,
    /// The sort keys of the games that the query finds.
    pub(crate) ranks: Vec<Rank>,
    /// The span (the moves of the match) of each hit, if it has one.
    pub(crate) spans: Vec<Option<Arc<MatchSpan>>>,
    /// True if the query has a plan.
    pub(crate) is_planned: bool,
}

/// Returns the results of a search for each block of some games. Returns `None` if the engine rejects the query or fails.
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
fn a_plan_finds_the_comments_of_hits() {
    let blocks = [false, true].map(|variations| some_and_small(variations, 0, stride(2, 5)));
    let (mut lists, mut evaluated, endings) = (BTreeSet::new(), BTreeSet::new(), data("endings.cql"));
    for text in QUERIES.iter().copied().chain([&*endings]) {
        let query = orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}")).query;
        if !query.writes_at_hits() {
            continue;
        }
        let Some(comments) = CommentSearch::new(&query) else { continue };
        let engine = |body: Node| Bulk::new([&TypedQuery { body, ..query.clone() }]).unwrap();
        let alone: Vec<Bulk> =
            query.body.alternatives().into_iter().map(|alternative| engine(alternative.clone())).collect();
        for block in &blocks[usize::from(query.variations)] {
            let answers = |engine: &Bulk, wanted: Wants| {
                engine.scan(&[block], &BlockRequest::all(&[wanted])).unwrap().remove(0).remove(0)
            };
            let all = answers(&engine(query.body.clone()), Wants::COMMENTARY);
            // A query that only marks its hits is evaluated without comments.
            let Some(told) = &all.commentary else { continue };
            let alone = Vec::from_iter(alone.iter().map(|engine| answers(engine, Wants::HITS).hits));
            let known = comments.at(block, &all.hits, (None, &Interrupt::default())).unwrap();
            for game in &told.games {
                let row = block.game(game.index as usize);
                // A filter that is evaluated at one hit may write at the position of another one.
                let is_known = all.hits.slots(row.slots()).all(|slot| known.is_known(slot));
                for slot in all.hits.slots(row.slots()) {
                    if !known.is_known(slot) {
                        let (number, first) =
                            (known.alternative(slot), alone.iter().position(|hits| hits.contains(slot)));
                        assert_eq!(Some(number), first, "{text}, slot {slot}");
                        evaluated.insert((text, number));
                        continue;
                    }
                    if !is_known {
                        continue;
                    }
                    let node = (slot - row.first_slot()) as u32;
                    let here = game.comments.iter().filter(|(at, _)| *at == node);
                    let mut expected: Vec<&[u8]> = here.map(|(_, text)| &text[..]).collect();
                    if query.header.mark().is_some() {
                        assert_eq!(expected.pop().map(<[u8]>::to_vec), query.header.mark().map(Into::into));
                    }
                    let mut written: Vec<Vec<u8>> = Vec::new();
                    known.write(slot, &mut |text| written.push(text.to_vec()));
                    assert_eq!(written, expected, "{text}, slot {slot}");
                    lists.insert((text, written));
                }
            }
        }
    }
    assert!(
        lists.len() >= least(45, 25) && evaluated.len() >= least(8, 4),
        "{} {}",
        lists.len(),
        evaluated.len()
    );
}

#[test]
fn games_get_the_same_comments_and_ranks_from_all_engines() {
    let (table, endings) = (data("game-vectors.tsv"), data("endings.cql"));
    let vectors: BTreeSet<&str> = table.lines().filter_map(|line| line.split('\t').nth(1)).collect();
    let vectors = stride(2, 20).of(vectors.into_iter());
    let (mut compared, mut comments, mut ranks) = (0, 0, BTreeSet::new());
    let ours = QUERIES.iter().copied().chain([&*endings]).map(|text| (text, true));
    for (text, is_ours) in ours.chain(vectors.map(|text| (text, false))) {
        let Some(slow) = told(text, games(), EngineChoice::Reference) else {
            assert!(!is_ours, "{text} is refused");
            continue;
        };
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
