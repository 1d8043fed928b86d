//! Tests flat programs, which evaluate queries with variables and other state. Their results are compared with those of the
//! reference engine on real games and on games with side lines (variations).

use orbit_database::StreamOptions;
use orbit_engine::{BlockRequest, Engine as _, EngineError, PreparedQuery, Wants, settled::SettledHits};
use orbit_plan::PlanOptions;
use orbit_reel::Block;

use crate::{
    common::{
        Samples, corpus_blocks, every_nth_game,
        length::{Length, length},
        pgn_blocks_with,
    },
    game_trees,
    runners::{NONE, Runner},
};

/// Queries that together use every construct of flat programs. Each has hits in real games.
const QUERIES: &[&str] = &[
    // Variables that keep their values from one position to the next.
    "{if initial nn=0 if check nn+=1 nn}",
    "{if initial nn=0 {if move previous capture . nn+=1} nn%3==1}",
    "{if initial seen=[] seen|=to #seen}",
    "{if initial {seen=[] last=currentposition} if check last=currentposition distance(last currentposition)}",
    "{if initial nn=0 {check nn+=5 false} or nn>3}",
    // Operands that are evaluated later change variables that were evaluated before.
    "{nn=1 find nn 50 {nn+=1 check}}",
    "{nn=9 find 1 nn {check nn=1}}",
    "{if initial nn=1 ss={nn=nn*3%1000 R}->{nn+=5 q}->{nn=nn%7 k} nn%7==0}",
    "{if initial nn=1 ss={nn=nn*3%1000 R}<-{nn+=5 q}<-{nn=nn%7 k} nn}",
    "{if initial low=900 low=min(low power A) low}",
    "{if initial best=0 best=max(best #(A attacks a)) best}",
    "{if initial {aa=0 bb=0} if wtm aa+=1 else bb+=2 aa-bb}",
    "{if initial nn=0 flipcolor {nn+=#(Ra-h7)} nn}",
    "{if initial nn=0 flip count {nn+=1 Kg1}}",
    "{if initial nn=0 flipcolor {Rd1-8 nn+=1 true}}",
    "{if isunbound nn nn=ply if check unbind nn else nn+=1 isbound nn}",
    // Variables that are used only within one position.
    "{nn=0 while(nn*nn<ply) nn+=1 nn}",
    "{nn=0 loop{nn<#A nn+=3} nn}",
    "{ss=?(A attacks k) ss}",
    "{if ply%2==0 ss=A ss&=(A attackedby a) square xx in ss {xx attacks a}}",
    "{nn=#A find {nn>#A}}",
    "{nn=#A find all {#A==nn}}",
    "{nn=ply find <-- {check nn-ply<9}}",
    "{pp=parent pp:(check) (pp & currentposition)}",
    "{nn=3 position (nn+ply%2):to}",
    "{if ply%2==0 nn=#(A attacks a) (ancestor(parent currentposition)) nn-3}",
    "{ss=to ss--}",
    "{ss=from|to countmoves --ss}",
    "{nn=power A --(power A>=nn)}",
    "{ss=K {ss--(from)} | {--ss(to)}}",
    "{ss=Q currentmove --(ss & to)}",
    "{if ply%2==0 ss=[Nn] ss attacks .}",
    "{if ply%2==0 ss=[Kk] (up 1 ss) | (right 1 2 ss)}",
    "{if ply%2==0 ss=R xray(ss _ [rq])}",
    "{if ply%2==0 ss=R between(ss K)}",
    "{if ply%2==0 ss=[Nn] between([Bb] ss)}",
    "{if ply%2==0 ss=P ss attacks a}",
    "{if ply%2==0 ss=[Pp] [Aa] attackedby ss}",
    "{if ply%2==0 ss=[Kk] [BbNnQq] attacks ss}",
    "{if ply%2==0 ss=[Aa] [Bb] attackedby ss}",
    "{if ply%2==0 ss=[BbQq] ss->[Aa]->[Kk]}",
    "{if ply%2==0 ss=[Aa] [RrQq]->ss->_->[Kk]}",
    "{if ply%2==0 ss=[Kk] ss<-[Aa]<-[BRQbrq]}",
    "{if ply%2==0 ss=[Aa] ray(ss [Pp] k)}",
    "{if ply%2==0 ss=[Kk] ray horizontal (ss _ [Aa])}",
    "{if ply%2==0 ss=[Aa] pin from ss}",
    "{if ply%2==0 ss=[Aa] pin through ss}",
    "{if ply%2==0 ss=[Aa] pin to _ through ss}",
    "{if ply%2==0 ss=[QRBqrb] pin from ss through [Pp] to [NBRQnbrq]}",
    "{if ply%2==0 ss=[Kk]d-e1-8 pin through [NnBb] to ss}",
    "{if ply%2==0 ss=[Nn] pin to . from [Bb] through ss}",
    "{if ply%2==0 ss=[Aa] #(pin from ss through {ss=[Nn] ss})>0}",
    // The second operand assigns a variable that is also the first operand.
    "{if ply%2==0 ss=A #(ss & {ss=[Rr] ss})==1}",
    "{if ply%2==0 ss=a dark ss}",
    "{if ply%2==0 ss=P power ss - power p}",
    "{if ply%2==0 ss=[Qq] type ss}",
    "{if ply%2==0 ss=to colortype ss}",
    "{if ply%2==0 nn=ply%8+1 makesquare(nn nn) & A}",
    "{if ply%2==0 ss=R file ss}",
    "equal({ss=A #ss} #a)",
    "{if ply%2==0 nn=1 nn+{nn=ply nn}==ply+1}",
    "{if ply%3==0 pp=currentposition pp<{pp=currentposition pp}}",
    // Variables that hold pieces.
    "#(piece X in [Rr] find X==d5)",
    "{initial piece X in P find X--=A}",
    "{initial piece X in N {find X==f7 find X==d5}}",
    "#(piece X in P initialposition:X & e2)",
    "{initial piece X in R not find X--}",
    "piece X in [Qq] {find <-- X==[d1,d8] X[x]}",
    "piece all X in K {9<find all {X--}}",
    "{initialposition:{piece X=Nb1} #(X attacks .)}",
    "{initialposition:{piece X=Rh1} X & f1}",
    "{initialposition:{piece X=ra8} X--}",
    "{initial piece X=K piece Y=k pieceid X - pieceid Y}",
    "{initial piece X in [Pp] {find terminal:#X==1 find (Q|q)&X}}",
    "piece X in A {--X(X)}",
    "piece X in a {not find X==[] child:X--}",
    "piece X in [Rr] {square s in (X attacks .) (s--X)}",
    "{if check nn=1 else nn=2 (parent:{nn==1 check} or #A==8) ply}",
    // Filters that do not depend on the loop around them, and filters that only seem independent of it.
    "piece X in [Rr] {square y in [Aa] {square z in [Pp] {z!=y X attacks z #(X attacks .)>4 ply>9}}}",
    "{if ply%2==0 mm=1 mm==1 nn=ply%5 square x in P {nn<5 nn+=1 true} nn}",
    "{if ply%2==0 mm=1 mm==1 nn=ply%5 square x in P {nn+=1 nn<5} nn}",
    "{if ply%2==0 mm=1 mm==1 nn=ply%5 square x in [Pp] {square y in [Nn] {nn>2 x attacks y}}}",
    "{if ply%2==0 mm=1 mm==1 nn=ply%5 square all x in [Qq] {nn>2 x attacks a-h1-8}}",
    "{if ply%2==0 mm=1 mm==1 kk=ply%5 nn=0 (square x in [Pp] {{nn+=1 kk>2} x attacks [Nn]} or true) nn}",
    "{if ply%2==0 mm=1 mm==1 nn=ply%5 piece all X in _ {nn>2 X attacks k} #a>9}",
    "{if ply%2==0 mm=1 mm==1 nn=ply%5 piece X in [Qq] {square y in X {#y==1 (square all z in [] {nn>2 z attacks y}) X attacks [Aa]}}}",
    // Pairs of positions, by `echo`.
    "echo(s t){s<t sidetomove==s:sidetomove (s&t)==.}",
    "echo(s t){t>s sidetomove==s:sidetomove ~(s&t)<=2 ply-s:ply}",
    "echo(s t) in all {check s:(not check) #A==s:#A}",
    "echo(s t){s:K==K s:k==k s!=t #(s&t)}",
    "echo(s t){mate s:check}",
    "echo(s t){s>t nn=#A nn==s:#a check}",
    "echo(s t){s<t s:Q==h8 Q==h8}",
    "echo(s t){t<s ply+2==s:ply from==s:to}",
    "{nn=2 echo(s t){s<t distance(s t)==nn castle}}",
    "find echo(s t){t<s (s&t)==.}",
    "echo(s t){piece X in Q {s:X==X X--}}",
    "echo(s t){s<t sidetomove==s:sidetomove mm=~(s&t) mm #mm==2}",
    "echo(s t){s<t ply<s:ply+3 mm=(a & s:A) mm==to}",
    "echo(s t){s<t (_ & s:Q)==s:Q Q}",
    "{mm=[] echo(s t){s<t mm=~(s&t) #mm==4} #mm}",
    "{mm=[] echo(s t){s<t #mm<9 mm=~(s&t) #mm>2}}",
    "{piece X in [Rr] echo(s t){s<t s:X==X ply==s:ply+4 a1==s:X}}",
    "{piece X in R piece Y in r echo(s t){s<t X==s:Y Y==s:X}}",
    "{piece X in N piece Y in n echo(s t){s<t X==s:Y}}",
    "{piece X in N echo(s t){s<t X==s:X piece X=Qd1}}",
];

pub(crate) fn tree_blocks() -> Vec<Block> {
    let mut options = StreamOptions::default();
    options.parse.variations = true;
    let games = if length() == Length::Sample { 4 } else { 5 };
    let games: String = (0..3).map(|seed| game_trees::made(500 + seed, games).text).collect();
    pgn_blocks_with(&games, options)
}

/// Does the same as [`compared`], but fails if the query's plan has no flat program (the form for queries with state).
pub(crate) fn program_compared(text: &str, block: &Block) -> usize {
    let parsed = orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}")).query;
    assert!(PreparedQuery::new(parsed, PlanOptions::default()).unwrap().planner.is_program(), "{text}");
    compared(text, block)
}

/// Runs a query on every engine that supports it. Panics if a result differs from that of the reference engine. Returns the
/// number of hits.
pub(crate) fn compared(text: &str, block: &Block) -> usize {
    assert!(!Runner::cpu(0).refuses(text), "no plan says {text}");
    let reference =
        Runner::reference().answers(text, block).unwrap_or_else(|error| panic!("{text}: {error}"));
    // A graphics card computes only the operands of a flat program. Other tests cover the operands, so only every fifth query runs
    // on the card.
    let card = if text.len().is_multiple_of(5) { Runner::gpu(0) } else { None };
    for runner in [Runner::cpu(0), Runner::cpu(NONE)].into_iter().chain(card) {
        let found = runner.answers(text, block).unwrap_or_else(|error| panic!("{text}: {error}"));
        if let Some(slot) = (0..block.slots()).find(|&slot| found[slot] != reference[slot]) {
            panic!("{text}, {}: slot {slot}: {:?}, due {:?}", runner.name, found[slot], reference[slot]);
        }
    }
    reference.iter().filter(|answer| answer.is_hit()).count()
}

#[test(part = 3)]
fn programs_answer_as_the_reference_engine() {
    let samples = Samples::from_blocks(&corpus_blocks("otb.pgn"), 7, 60, 120);
    let without = samples.without_hits(QUERIES, program_compared);
    assert!(5 * without.len() <= QUERIES.len(), "no hits of {without:?}");
}

#[test(part = 2)]
fn programs_answer_as_the_reference_engine_in_side_lines() {
    let blocks = tree_blocks();
    let mut hits = 0;
    for text in QUERIES {
        let text = format!("cql(variations) {text}");
        hits += blocks.iter().map(|block| program_compared(&text, block)).sum::<usize>();
    }
    assert!(hits > 2_000, "{hits} hits");
}

/// The copies (transformed patterns) of the query need a set for each square and each type of piece. This exceeds the maximum
/// number of operands of a flat program.
#[test]
fn many_operands_answer_as_the_reference_engine() {
    let block = every_nth_game(&corpus_blocks("otb.pgn"), 50, 10);
    let text = "flip shift flipcolor {square x in Na1 {square y in qb3 {x attacks y}}}";
    let query = orbit_query::parse(text).unwrap().query;
    assert!(PreparedQuery::new(query, PlanOptions::default()).unwrap().planner.is_program());
    let [due, found] =
        [Runner::reference(), Runner::cpu(0)].map(|runner| runner.answers(text, &block).unwrap());
    assert!(due.iter().any(|answer| answer.is_hit()) && found == due);
}

/// With side lines, the value of a `--` depends on fewer moves than its match. If its target stores values, the query has no plan.
#[test]
fn values_stored_after_one_of_several_moves_are_those_of_the_reference_engine() {
    let text = "{if initial nn=0 --({nn+=1 if(nn>9) Q else (P & a8)})}";
    let refusal = |text: &str| {
        let query = orbit_query::parse(text).unwrap().query;
        PreparedQuery::new(query, PlanOptions::default()).unwrap().planner.refusal().is_some()
    };
    assert!(!refusal(text) && refusal(&format!("cql(variations) {text}")));
    assert!(!refusal("cql(variations) {if initial nn=0 nn+=1 --(if(nn>9) Q else (P & a8))}"));
}

/// Queries that cause an error at some position of a game.
const FAULTY: &[&str] = &[
    "{if check nn=1 nn}",
    "{if check ss=A ss attacks a}",
    "{if check piece X=K X--}",
    "{if isunbound nn nn=0 nn+=1 assert nn<30 true}",
    "{if check cql_abort true}",
    "{nn=0 while(true) nn+=1}",
    r#"{check \1=="a"}"#,
    r#"{"a" ~~ "a" \1=="a"}"#,
];

#[test]
fn errors_are_those_of_the_reference_engine() {
    let blocks = corpus_blocks("otb.pgn");
    let block = every_nth_game(&blocks, 50, 6);
    for text in FAULTY {
        let parsed = orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}")).query;
        let prepared = PreparedQuery::new(parsed, PlanOptions::default()).unwrap();
        assert!(prepared.planner.refusal().is_none(), "no plan says {text}");
        let reference = prepared.reference().unwrap();
        let due = reference.answer(&block, Wants::HITS).unwrap_err();
        assert!(matches!(due, EngineError::Query { .. }), "{text}: {due}");
        assert_eq!(
            prepared.cpu().unwrap().answer(&block, Wants::HITS).unwrap_err(),
            EngineError::Stopped,
            "{text}"
        );
        let settled = SettledHits::new(Box::new(prepared.cpu().unwrap()), reference);
        let found = settled.scan(&[&block], &BlockRequest::all(&[Wants::HITS])).unwrap_err();
        assert_eq!(found, due, "{text}");
    }
}
