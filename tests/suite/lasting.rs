//! Tests queries that keep values from one game to the next. The answers of flat programs, and the values after the last game, are
//! compared with those of the reference engine.

use orbit_engine::{
    Answers, BlockRequest, Engine, EngineError, FindSpan as _, GameEnds, PreparedQuery, Values, Wants,
    lasting::Lasting,
};
use orbit_plan::PlanOptions;
use orbit_reel::Block;

use crate::common::{corpus_blocks, every_nth_game, harness, length::stride};

/// Queries with persistent variables.
const VARIABLES: &[&str] = &[
    "{persistent nn+=1 nn%7==0}",
    "{persistent nn if check nn+=1 nn}",
    "{persistent nn if initial nn+=1 nn%3==1}",
    // The filters before the last one store values, even at positions at which the last one fails.
    "{persistent nn=ply check}",
    "{persistent nn persistent mm nn+=1 {check mm=nn} false}",
    "{persistent nn check {nn+=1 false} or mate}",
    "{persistent ss|=to #ss}",
    "{persistent ss if check ss=(to & [QRqr]) ss}",
    "{persistent nn if terminal nn+=1 if nn==5 unbind nn if isunbound nn nn=20 nn%4==0}",
    "{persistent nn=ply if terminal unbind nn check isbound nn}",
    "{persistent tt if terminal tt=player white if initial tt==player white}",
    "{persistent tt if check tt=typename to tt==\"Q\"}",
    "{persistent tt+=\"\" if terminal tt=str(tt[0:20] player black) #tt}",
    "{persistent tt+=\"\" persistent uu+=\"\" if terminal {uu=tt tt=fen} uu!=tt initial}",
    "{persistent nn flipcolor {Rd1-8 nn+=1 true} nn%5==0}",
    "flip {a2 persistent nn+=1 nn%3==0}",
    "flipcolor count {K persistent nn+=1 nn%2==0}",
    "{persistent mm echo(s t){s<t sidetomove==s:sidetomove mm=~(s&t) #mm==2}}",
    "{persistent nn echo(s t){s<t check s:check nn+=1 nn%4==0}}",
    "{persistent nn line --> {check nn+=1 true} --> not check --> check}",
    "piece X in Q {path X-- {persistent nn+=1 true} check}",
    "{persistent nn square xx in A {xx attacks k nn+=1 nn%3==0}}",
    "{persistent nn find {check nn+=1 nn%9==0}}",
    "{persistent nn=0 while(nn<ply%5) nn+=1 nn}",
    "{persistent pp+=power A sort \"p\" pp check}",
    "{persistent nn+=1 --({nn+=1 if(nn>900) Q else (P & a8)})}",
    "{persistent nn+=1 find 1 nn {check nn=1}}",
    "{persistent nn if check nn+=1 comment(\"check \" nn) mate}",
    "{persistent tt if check tt=fen terminal tt}",
    "cql(matchcount 0 3) {persistent nn if check nn+=1 nn%4==0}",
    "cql(matchcount 2 9) {persistent nn if check nn+=1 nn%3==0 comment(nn)}",
];

/// Queries with dictionaries that outlast games.
const DICTIONARIES: &[&str] = &[
    "{dictionary D if D[fen] nn=1 else nn=0 D[fen]=1 ply>3 nn==1}",
    "{dictionary D if terminal {if D[ply] D[ply]=D[ply]+1 else D[ply]=1} D[ply]>1}",
    "{dictionary D D[typename to]=ply string s in D {D[s]+9<ply}}",
    "{dictionary D D[to]=from D[from]}",
    "{dictionary D if initial D[0]=K persistent nn+=1 D[{nn+=1 nn%5*7}]}",
    "{dictionary D if terminal D[player white]=player black initial D[player white]!=player black}",
    "{dictionary D if terminal D[player white]=str(D[player white] player black) initial #D[player white]>20}",
    "{dictionary D D[typename to]=fen if check unbind D[\"N\"] if mate unbind D tt=D[\"N\"] #tt}",
    "{dictionary D local dictionary E E[ply%9]=1 D[ply%50]=#E #D+#E}",
    "{dictionary D persistent nn+=0 D[str(ply%7)]=nn if check nn+=1 tt=\"\" string s in D {tt=str(tt D[s])} #tt}",
];

/// A query with an error in the fortieth game.
const FAULTY: &str = "{persistent nn if initial nn+=1 if nn==40 unbind nn nn>2 check}";

/// Returns three blocks of games.
fn blocks(number: usize) -> Vec<Block> {
    let stride = stride(200, 500);
    let corpus = corpus_blocks("otb.pgn");
    (0..3).map(|k| every_nth_game(&corpus, (stride.first + number * 7 + k * 11) % 150, stride.step)).collect()
}

/// Returns three blocks of about 25 games.
fn few_games() -> Vec<Block> {
    let corpus = corpus_blocks("otb.pgn");
    (0..3).map(|k| every_nth_game(&corpus, k * 11, 500)).collect()
}

fn prepared(text: &str) -> PreparedQuery {
    let query = orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}")).query;
    let prepared = PreparedQuery::new(query, PlanOptions::default()).unwrap();
    assert!(prepared.lasts(), "{text}: {:?}", prepared.planner.refusal());
    prepared
}

fn lasting(prepared: &PreparedQuery) -> Lasting {
    Lasting::new(prepared, prepared.cpu().unwrap()).unwrap()
}

/// Passes the blocks to an engine, one after the other.
fn scanned(engine: &dyn Engine, blocks: &[Block], wants: Wants) -> Result<Vec<Answers>, EngineError> {
    blocks.iter().map(|block| engine.answer(block, wants)).collect()
}

/// Checks the answers of `cpu`, of the engine that combines `cpu` and `reference`, and the kept values.
fn compare(text: &str, blocks: &[Block]) -> u64 {
    let prepared = prepared(text);
    let mut hits = 0;
    let outputs = [
        Wants::VALUES | Wants::ALL_COPIES,
        Wants::VALUES | Wants::COMMENTARY | Wants::RANKS | Wants::SPANS | Wants::LOWEST_COPY,
    ];
    for (number, wants) in outputs.into_iter().enumerate() {
        let (reference, both, cpu) =
            (prepared.reference().unwrap(), lasting(&prepared), prepared.cpu().unwrap());
        let due = scanned(&reference, blocks, wants).unwrap();
        let found = scanned(&both, blocks, wants).unwrap();
        let of_cpu = scanned(&cpu, blocks, wants).unwrap();
        assert_eq!(both.info().persistent, reference.info().persistent, "{text}, {wants:?}");
        assert!(both.info().in_order && cpu.info().in_order);
        for (((block, due), found), of_cpu) in blocks.iter().zip(&due).zip(&found).zip(&of_cpu) {
            assert_eq!(due.hits.bits, of_cpu.hits.bits, "{text}, {wants:?}, cpu");
            assert_eq!(due.hits.bits, found.hits.bits, "{text}, {wants:?}");
            let has_texts = matches!(due.hits.values, Values::Texts(_));
            assert!(has_texts || due.hits.values == of_cpu.hits.values, "{text}, {wants:?}, cpu");
            assert_eq!(due.hits.values, found.hits.values, "{text}, {wants:?}");
            assert_eq!((&due.copies, &due.copies), (&found.copies, &of_cpu.copies), "{text}, {wants:?}");
            assert_eq!(due.commentary, found.commentary, "{text}, {wants:?}");
            let ranks = |answers: &Answers| {
                let games = answers.games.iter().flatten().zip(block.games());
                let found = games.filter(|(_, game)| due.finds(game));
                found.map(|(answer, _)| answer.clone()).collect::<Vec<_>>()
            };
            if number > 0 {
                assert_eq!(ranks(due), ranks(found), "{text}, {wants:?}");
                let ends = GameEnds::from_block(block);
                assert_eq!(due.count_games(&ends), found.count_games(&ends), "{text}, {wants:?}");
            }
            let spans = |answers: &Answers| {
                let all = answers.spans.as_ref();
                let slots = due.hits.slots(0..block.slots());
                let span = |slot: usize| {
                    let game = block.game(block.game_of_slot(slot));
                    all?.span(answers, &game, (slot - game.first_slot()) as u32)
                };
                slots.map(span).collect::<Vec<_>>()
            };
            assert_eq!(spans(due), spans(found), "{text}, {wants:?}");
            hits += due.hits.count();
        }
    }
    hits
}

#[table(in_parts)]
fn kept_values_are_those_of_the_reference_engine() -> Vec<harness::Row> {
    let row = |(number, &text): (usize, &&'static str)| {
        harness::Row::new(text, move || {
            let hits = compare(text, &blocks(number));
            assert_eq!(hits == 0, text.ends_with(" false}"), "{text} has {hits} hits");
        })
    };
    VARIABLES.iter().chain(DICTIONARIES).enumerate().map(row).collect()
}

/// If a game exceeds a limit of flat programs, the reference engine evaluates its block. The flat program then evaluates the next
/// block.
#[test]
fn a_block_beyond_the_limits_is_left_to_the_reference_engine() {
    let text = "{persistent kk persistent nn if initial {kk+=1 if kk==4 {tt=\"abcdefgh\" mm=0 while(mm<20) {tt+=tt mm+=1} \
                while(mm<28) {uu=tt+str(mm) mm+=1}}} if check nn+=1 nn%3==0}";
    let prepared = prepared(text);
    let blocks = few_games();
    let (reference, both, cpu) = (prepared.reference().unwrap(), lasting(&prepared), prepared.cpu().unwrap());
    assert_eq!(scanned(&cpu, &blocks, Wants::HITS).unwrap_err(), EngineError::Stopped);
    let hits = |engine: &dyn Engine| -> Vec<Vec<u32>> {
        scanned(engine, &blocks, Wants::HITS).unwrap().into_iter().map(|answers| answers.hits.bits).collect()
    };
    assert_eq!(hits(&both), hits(&reference));
    assert_eq!(both.info().persistent, reference.info().persistent);
    assert_ne!(both.info().persistent[1].1, b"0");
}

/// Once a dictionary has very many entries, the reference engine evaluates the rest of the games.
#[test]
fn many_entries_are_left_to_the_reference_engine() {
    let text = "{dictionary D persistent kk if initial {kk+=1 mm=0 while(mm<3000) {D[kk*3000+mm]=kk mm+=1}} \
                if check D[ply]=kk D[9]}";
    let prepared = prepared(text);
    let blocks = few_games();
    let (reference, both) = (prepared.reference().unwrap(), lasting(&prepared));
    for block in &blocks {
        let [due, found] =
            [&reference as &dyn Engine, &both].map(|it| it.answer(block, Wants::VALUES).unwrap());
        assert_eq!((due.hits.bits, due.hits.values), (found.hits.bits, found.hits.values));
        assert_eq!(both.info().persistent, reference.info().persistent);
    }
}

/// An error in the second block must be reported at the place at which the reference engine reports it.
#[test]
fn errors_are_those_of_the_reference_engine() {
    let prepared = prepared(FAULTY);
    let blocks = few_games();
    let (reference, both) = (prepared.reference().unwrap(), lasting(&prepared));
    let due = scanned(&reference, &blocks, Wants::HITS).unwrap_err();
    assert!(matches!(due, EngineError::Query { .. }), "{due}");
    assert_eq!(scanned(&both, &blocks, Wants::HITS).unwrap_err(), due);
}

/// After a failed request, the engine must still have the values from before the first block of this request.
#[test]
fn a_scan_that_fails_keeps_no_value() {
    let prepared = prepared(FAULTY);
    let cpu = prepared.cpu().unwrap();
    let blocks = few_games();
    let before = cpu.runs();
    cpu.scan(&blocks.iter().collect::<Vec<_>>(), &BlockRequest::all(&[Wants::HITS])).unwrap_err();
    assert_eq!(cpu.runs(), before);
    cpu.answer(&blocks[0], Wants::HITS).unwrap();
    assert_ne!(cpu.runs(), before);
}
