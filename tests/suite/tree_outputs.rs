//! Tests output for games with side lines (variations): rows are compared with the positions that pgn-reader and shakmaty compute
//! from the same text, games are written and read back, and statistics by ply are compared with a second count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::PathBuf;

use orbit_database::{BlockStream, MemoryBudget};
use orbit_engine::{Answers, Hits, PreparedQuery, Values, Wants};
use orbit_pgn::Game;
use orbit_plan::PlanOptions;
use orbit_reel::Block;
use orbit_search::choice::{Choice, Order, SortKey};
use orbit_search::executor::{EngineChoice, EngineOptions, Executor};
use orbit_search::found::{BlockResult, Found, Names};
use orbit_search::report::{Columns, Extras, Format, Layout, MoveToken, PgnWriter, Rows, game_pgn, movetext};
use orbit_search::stats::{Grouping, ManyCounts, Stats};
use pgn_reader::{Reader, Skip, Visitor};
use serde_json::Value;
use shakmaty::{
    CastlingMode, Chess, EnPassantMode, Position as _,
    fen::Fen,
    san::{San, SanPlus},
};

use crate::common::{corpus, data, pgn_blocks_with};
use crate::game_trees::{made, with_variations};

/// A position of a game, computed by pgn-reader and shakmaty.
struct Node {
    chess: Chess,
    /// The move that leads to the position, in SAN.
    san: String,
    parent: Option<usize>,
    /// The indices of the positions after this one. The first one continues the line.
    next: Vec<usize>,
}

/// The positions of a game, in the order of the text.
struct Played {
    nodes: Vec<Node>,
    here: usize,
    around: Vec<usize>,
}

struct Play;

impl Visitor for Play {
    type Tags = Option<Fen>;
    type Movetext = Played;
    type Output = Vec<Node>;

    fn begin_tags(&mut self) -> ControlFlow<Vec<Node>, Option<Fen>> {
        ControlFlow::Continue(None)
    }

    fn tag(
        &mut self,
        fen: &mut Option<Fen>,
        name: &[u8],
        value: pgn_reader::RawTag<'_>,
    ) -> ControlFlow<Vec<Node>> {
        if name == b"FEN" {
            *fen = Some(Fen::from_ascii(value.as_bytes()).unwrap());
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, fen: Option<Fen>) -> ControlFlow<Vec<Node>, Played> {
        let setup = fen.map(Fen::into_setup).unwrap_or_default();
        let chess = setup.position::<Chess>(CastlingMode::Standard);
        let chess = chess.or_else(shakmaty::PositionError::ignore_invalid_ep_square).unwrap();
        let root = Node { chess, san: String::new(), parent: None, next: Vec::new() };
        ControlFlow::Continue(Played { nodes: vec![root], here: 0, around: Vec::new() })
    }

    fn san(&mut self, played: &mut Played, san: SanPlus) -> ControlFlow<Vec<Node>> {
        let Played { nodes, here, .. } = played;
        let mut chess = nodes[*here].chess.clone();
        let san = if san.san == San::Null {
            chess = passed(&chess);
            String::from("--")
        } else {
            let mv = san.san.to_move(&chess).unwrap();
            SanPlus::from_move_and_play_unchecked(&mut chess, mv).to_string()
        };
        let node = nodes.len();
        nodes[*here].next.push(node);
        nodes.push(Node { chess, san, parent: Some(*here), next: Vec::new() });
        *here = node;
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, played: &mut Played) -> ControlFlow<Vec<Node>, Skip> {
        played.around.push(played.here);
        played.here = played.nodes[played.here].parent.unwrap();
        ControlFlow::Continue(Skip(false))
    }

    fn end_variation(&mut self, played: &mut Played) -> ControlFlow<Vec<Node>> {
        played.here = played.around.pop().unwrap();
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, played: Played) -> Vec<Node> {
        played.nodes
    }
}

/// Returns the position after a null move, which counts as a half-move.
fn passed(chess: &Chess) -> Chess {
    let mut setup = chess.to_setup(EnPassantMode::Always);
    setup.swap_turn();
    setup.halfmoves += 1;
    setup.fullmoves = setup.fullmoves.saturating_add(u32::from(setup.turn.is_white()));
    setup.position(CastlingMode::Standard).unwrap()
}

/// The columns of an output row that describe a node.
#[derive(PartialEq, Debug)]
struct Said {
    node: u64,
    ply: u64,
    line: Option<String>,
    mv: Option<String>,
    san: Option<String>,
    fen: String,
    next: Option<String>,
}

/// Returns the expected output columns that describe a game's nodes, in the order of the output.
fn said(nodes: &[Node]) -> Vec<Said> {
    let mut out = Vec::new();
    say(nodes, 0, 0, &mut Vec::new(), &mut out);
    out
}

fn numbered(chess: &Chess) -> String {
    let dots = if chess.turn().is_white() { "." } else { "..." };
    format!("{}{dots}", chess.fullmoves())
}

/// Appends a line, starting with its first node. The side lines of its nodes follow, starting with those of the last node.
fn say(nodes: &[Node], first: usize, ply: u64, names: &mut Vec<String>, out: &mut Vec<Said>) {
    let mut line = vec![first];
    line.extend(std::iter::successors(nodes[first].next.first().copied(), |&at| {
        nodes[at].next.first().copied()
    }));
    for (&at, ply) in line.iter().zip(ply..) {
        let Node { chess, san, parent, next } = &nodes[at];
        out.push(Said {
            node: out.len() as u64,
            ply,
            line: Some(names.join(" ")).filter(|name| !name.is_empty()),
            mv: parent.map(|parent| format!("{} {san}", numbered(&nodes[parent].chess))),
            san: parent.map(|_| san.clone()),
            fen: Fen::from_position(chess, EnPassantMode::Legal).to_string(),
            next: next.first().map(|&next| nodes[next].san.clone()),
        });
    }
    for (at, ply) in line.into_iter().zip(ply..).collect::<Vec<_>>().into_iter().rev() {
        let mut seen: Vec<&str> = Vec::new();
        for &side in nodes[at].next.iter().skip(1) {
            let san = &*nodes[side].san;
            seen.push(san);
            let again = match seen.iter().filter(|other| **other == san).count() {
                1 => String::new(),
                count => format!("[{count}]"),
            };
            names.push(format!("{}{san}{again}", numbered(&nodes[at].chess)));
            say(nodes, side, ply + 1, names, out);
            names.pop();
        }
    }
}

fn played(pgn: &[u8]) -> Vec<Vec<Said>> {
    let mut reader = Reader::new(Cursor::new(pgn));
    std::iter::from_fn(|| reader.read_game(&mut Play).unwrap()).map(|nodes| said(&nodes)).collect()
}

fn all(block: &Block, test: impl Fn(usize) -> bool) -> Hits {
    let mut bits = vec![0; block.segments()];
    (0..block.slots()).filter(|&slot| test(slot)).for_each(|slot| bits[slot / 32] |= 1 << (slot % 32));
    Hits { bits, values: Values::None, main_lines: false }
}

fn lines(format: Format, block: &Block, hits: &Hits) -> Vec<String> {
    let answers = Answers::new(hits.clone(), None);
    let names = Names { sources: vec![String::from("a.pgn")], ..Names::default() };
    let found = Found::new(block, &answers, &names);
    let report = format.report(&found, 0..block.games_len());
    String::from_utf8(report.text).unwrap().lines().map(str::to_owned).collect()
}

/// Returns the columns that describe nodes, from the output rows for all positions.
fn rows(blocks: &[Block]) -> Vec<Vec<Said>> {
    let columns = Columns::with_object_defaults(Extras { nodes: true, ..Extras::default() });
    let format = Format::JsonLines { rows: Rows::Hits, columns };
    let mut out: Vec<Vec<Said>> = Vec::new();
    for line in blocks.iter().flat_map(|block| lines(format, block, &all(block, |_| true))) {
        let row: Value = serde_json::from_str(&line).unwrap();
        let text = |name: &str| row[name].as_str().map(str::to_owned);
        out.resize_with(row["game"].as_u64().unwrap() as usize, Vec::new);
        out.last_mut().unwrap().push(Said {
            node: row["node"].as_u64().unwrap(),
            ply: row["ply"].as_u64().unwrap(),
            line: text("line"),
            mv: text("move"),
            san: text("san"),
            fen: text("fen").unwrap(),
            next: text("next"),
        });
    }
    out
}

fn blocks(pgn: &[u8]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let database = BlockStream::from_pgn_bytes("test", pgn.to_vec(), with_variations());
    let summary = database.for_each_block(2, Block::clone, |_, block| {
        blocks.push(block);
        ControlFlow::Continue(())
    });
    summary.unwrap();
    blocks
}

#[track_caller]
fn check_rows(pgn: &[u8]) -> usize {
    let blocks = blocks(pgn);
    let (found, expected) = (rows(&blocks), played(pgn));
    assert_eq!(found.len(), expected.len());
    for (game, (found, expected)) in (1..).zip(found.iter().zip(&expected)) {
        assert_eq!(found.len(), expected.len(), "game {game}");
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found, expected, "game {game}");
        }
    }
    // The second PGN reader also reads the PGN that is written from blocks (groups of games) without the original text.
    let mut writer = PgnWriter::new(Vec::new());
    blocks.iter().flat_map(Block::games).for_each(|game| writer.write(&game_pgn(&game)).unwrap());
    assert_eq!(played(&writer.finish().unwrap()), expected);
    expected.iter().map(Vec::len).sum()
}

#[test]
fn rows_are_what_shakmaty_plays() {
    assert_eq!(check_rows(data("games/vars.pgn").as_bytes()), 34);
    let twice = "1. e4 e5 (1... c5) (1... c5 2. Nf3 (2. Nc3) (2. Nc3 d6)) (1... e5 2. d4) 2. Nf3 *\n";
    assert_eq!(check_rows(twice.as_bytes()), 12);
}

#[test]
fn rows_of_studies_are_what_shakmaty_plays() {
    let studies = fs::read(corpus().join("dev-studies-annotated/cql/sample.pgn")).unwrap();
    assert_eq!(check_rows(&studies), 24_277);
}

const TREE: &str = "[White \"A\"]\n[Black \"B\"]\n[Site \"https://lichess.org/abcdefgh\"]\n\n{Hello} 1. e4 e5 $1 {good} \
    ({or} 1... c5 $5 2. Nf3 (2. Nc3 Nc6) 2... d6 {end}) (1... e6) 2. Nf3 1-0\n";

/// Returns the block of the game [`TREE`]. Its nodes are 0-3 (main line), 4-6 (1...c5), 7-8 (2.Nc3) and 9 (1...e6).
fn tree() -> Block {
    pgn_blocks_with(TREE, with_variations()).remove(0)
}

#[test]
fn every_format_names_the_node() {
    let block = tree();
    let some = all(&block, |slot| matches!(slot, 1 | 3 | 4 | 6 | 8 | 9));
    let text = |runs_max| {
        lines(
            Format::Text { runs_max, layout: Layout::Fitted, moves_max: None, styled: false, cut: true },
            &block,
            &some,
        )
    };
    assert_eq!(
        text(12),
        [
            "1  A - B  1-0  1. e4, next e5; 2. Nf3; (1...c5: 1... c5, next Nf3; 2... d6); (1...c5 2.Nc3: 2... Nc6); \
          (1...e6: 1... e6)  (6)"
        ]
    );
    assert_eq!(text(3), ["1  A - B  1-0  1. e4, next e5; 2. Nf3; (1...c5: 1... c5, next Nf3); +3  (6)"]);
    assert_eq!(lines(Format::Plain, &block, &some), ["1 1", "1 3", "1 4", "1 6", "1 8", "1 9"]);
    let fens = [
        "rnbqkbnr/pp2pppp/3p4/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 0 3",
        "r1bqkbnr/pp1ppppp/2n5/2p5/4P3/2N5/PPPP1PPP/R1BQKBNR w KQkq - 2 3",
    ];
    assert_eq!(lines(Format::Fen(Rows::Hits), &block, &some)[3..5], fens);
    assert_eq!(
        lines(Format::Epd(Rows::Hits), &block, &some)[3..5],
        [
            "rnbqkbnr/pp2pppp/3p4/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - hmvc 0; fmvn 3; id \"A - B\"; \
             c0 \"game 1, ply 4 of (1...c5), node 6\"; c1 \"2... d6\";",
            "r1bqkbnr/pp1ppppp/2n5/2p5/4P3/2N5/PPPP1PPP/R1BQKBNR w KQkq - hmvc 2; fmvn 3; id \"A - B\"; \
             c0 \"game 1, ply 4 of (1...c5 2.Nc3), node 8\"; c1 \"2... Nc6\";"
        ]
    );
    for nodes in [false, true] {
        let columns = Columns::with_table_defaults(Extras { nodes, ..Extras::default() });
        let format = Format::Csv { rows: Rows::Hits, columns };
        let table = [format.head(), lines(format, &block, &some).join("\n").into_bytes()].concat();
        let mut reader = csv::Reader::from_reader(&table[..]);
        let names = reader.headers().unwrap().clone();
        assert_eq!(names.len(), if nodes { 33 } else { 31 });
        let column = |name: &str| names.iter().position(|found| found == name);
        let cells = |record: csv::StringRecord| {
            ["ply", "next", "url", "node", "line"]
                .map(|name| column(name).map_or("-", |at| &record[at]).to_owned())
                .join("|")
        };
        let records: Vec<String> = reader.records().map(|record| cells(record.unwrap())).collect();
        let place = |node: &str, line: &str| if nodes { format!("{node}|{line}") } else { "-|-".into() };
        assert_eq!(records[1], format!("3||https://lichess.org/abcdefgh#3|{}", place("3", "")));
        // Lichess does not show side lines, so the URLs of positions in side lines contain no ply.
        assert_eq!(records[2], format!("2|Nf3|https://lichess.org/abcdefgh|{}", place("4", "1...c5")));
        assert_eq!(records[4], format!("4||https://lichess.org/abcdefgh|{}", place("8", "1...c5 2.Nc3")));
    }
}

#[test]
fn a_tree_is_written_with_what_is_said_of_it() {
    let text = "[White \"A\"]\n[Black \"B\"]\n[Site \"https://lichess.org/abcdefgh\"]\n\n{Hello} 1. e4 e5 $1 {good} ({or} \
        1... c5 $5 2. Nf3 (2. Nc3 Nc6) 2... d6 {end})\n(1... e6) 2. Nf3 1-0";
    let block = tree();
    assert_eq!(String::from_utf8(game_pgn(&block.game(0))).unwrap(), text);
    let tokens = movetext(&block.game(0));
    assert_eq!(tokens.iter().filter(|token| **token == MoveToken::Open).count(), 3);
    // Without side lines, the output must be the plain text of the game.
    let block = block.into_main_lines(false);
    let text = game_pgn(&block.game(0));
    assert!(text.ends_with(b"\n\n1. e4 e5 2. Nf3 1-0"), "{}", String::from_utf8_lossy(&text));
}

/// Returns the properties of a game, except its main-line moves, that writing and reading must not change.
fn essence(game: &Game) -> [String; 4] {
    let Game { start, lines, annotations, outcome, .. } = game;
    [format!("{start:?}"), format!("{lines:?}"), format!("{annotations:?}"), format!("{outcome:?}")]
}

/// Writes the games of a PGN text from their blocks, and reads them back. Returns the numbers of side lines and annotations.
fn round_trip(name: &str, pgn: &[u8]) -> (usize, usize) {
    let before = blocks(pgn);
    let mut writer = PgnWriter::new(Vec::new());
    before.iter().flat_map(Block::games).for_each(|game| writer.write(&game_pgn(&game)).unwrap());
    let after = blocks(&writer.finish().unwrap());
    let games = |blocks: &[Block]| {
        blocks.iter().flat_map(Block::games).map(|game| game.to_game()).collect::<Vec<_>>()
    };
    let (before, after) = (games(&before), games(&after));
    assert_eq!(before.len(), after.len(), "{name}");
    for (number, (before, after)) in (1..).zip(before.iter().zip(&after)) {
        assert_eq!(before.moves, after.moves, "{name}, game {number}");
        for (before, after) in essence(before).into_iter().zip(essence(after)) {
            assert_eq!(before, after, "{name}, game {number}");
        }
    }
    before.iter().fold((0, 0), |sum, game| (sum.0 + game.lines.len(), sum.1 + game.annotations.len()))
}

#[test]
fn trees_that_are_written_are_read_again() {
    assert_eq!(round_trip("tree", TREE.as_bytes()), (3, 6));
    let odd = "[Event \"a\"]\n\n{first} $7 1. e4 ;has } in it\n({} $3 {two\nlines} $4 1. d4 {x} $1 {} d5 ; a } here\n) \
        (1. -- Nf6 -- ) 1... -- {a {brace} (1... Nc6 $255) 2. Nf3 *\n\n\
        [Event \"b\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 3 9\"]\n\n9... Kd7 (9... Ke7 (9... Kf7 10. e4) 10. e3) 10. e4 {%} 1/2-1/2\n";
    assert_eq!(round_trip("odd", odd.as_bytes()), (5, 14));
    let mut lines = 0;
    for seed in 200..220 {
        lines += round_trip("made", made(seed, 50).text.as_bytes()).0;
    }
    assert!(lines > 2000, "{lines}");
}

/// Returns the PGN files of studies and annotated games.
fn studies() -> Vec<PathBuf> {
    let mut folders = vec![corpus().join("dev-studies-annotated")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("pgn")) => {
                    files.push(path)
                }
                false => {}
            }
        }
    }
    files.sort();
    files
}

#[test(part = 2)]
fn trees_of_real_files_that_are_written_are_read_again() {
    let (mut lines, mut annotations) = (0, 0);
    for path in studies() {
        let (more, said) = round_trip(&path.display().to_string(), &fs::read(&path).unwrap());
        (lines, annotations) = (lines + more, annotations + said);
    }
    assert!(lines > 2_000 && annotations > 10_000, "{lines} {annotations}");
}

/// For each ply, the games that have a position at this ply and the number of these positions, first for all positions, then for
/// hits.
type ByPly = BTreeMap<i64, [(BTreeSet<u32>, u64); 2]>;

#[test]
fn positions_of_side_lines_count_by_their_plies() {
    let blocks = pgn_blocks_with(&made(301, 120).text, with_variations());
    let stats = Stats::new(Grouping::list("ply:1,ply:7,ply:1*result,value*ply:7").unwrap());
    let names = Names::default();
    let (mut counts, mut expected) = (stats.none(), [ByPly::new(), ByPly::new()]);
    for block in &blocks {
        let hits = all(block, |slot| slot % 5 < 2);
        let answers = Answers::new(hits.clone(), None);
        counts.add(stats.count(&Found::new(block, &answers, &names))).unwrap();
        for game in block.games() {
            for node in 0..game.positions() as u32 {
                let is_hit = hits.contains(game.first_slot() + node as usize);
                for (by, step) in expected.iter_mut().zip([1, 7]) {
                    let sums = by.entry(i64::from(game.ply_of(node) / step * step)).or_default();
                    for sum in &mut sums[..1 + usize::from(is_hit)] {
                        sum.0.insert(game.number());
                        sum.1 += 1;
                    }
                }
            }
        }
    }
    for (name, expected) in ["ply:1", "ply:7"].iter().zip(&expected) {
        let rows = counts.rows(&name.parse().unwrap());
        assert_eq!(rows.len(), expected.len());
        for (row, (ply, sums)) in rows.iter().zip(expected) {
            let found = [row.all, row.hit].map(|tally| (tally.games, tally.positions));
            let sums = sums.each_ref().map(|sum| (sum.0.len() as u64, sum.1));
            assert_eq!((row.keys[0].to_string(), found), (ply.to_string(), sums), "{name}");
        }
    }
    let total = counts.total();
    assert_eq!(total.all.positions, blocks.iter().map(|block| block.slots() as u64).sum::<u64>());
    let by_value = counts.rows(&"value*ply:7".parse().unwrap());
    assert_eq!(by_value.iter().map(|row| row.hit.positions).sum::<u64>(), total.hit.positions);
}

/// If a query searches only main lines, its percentages are relative to main-line positions.
#[test]
fn each_query_has_shares_of_its_own_positions() {
    let text = made(302, 150).text;
    let stats = Stats::new(Grouping::list("ply:5,result").unwrap());
    let prepared = |text: &str| {
        PreparedQuery::new(orbit_query::parse(text).unwrap().query, PlanOptions::default()).unwrap()
    };
    let mut options = EngineOptions::default();
    options.engine = EngineChoice::Cpu;
    let counted = |queries: &[&str]| {
        let scan = Executor::new(queries.iter().map(|text| prepared(text)).collect(), &options).unwrap();
        let mut database = with_variations();
        database.pgn.chunk_bytes = 8 << 10;
        let database = BlockStream::from_pgn_bytes("a", text.clone().into_bytes(), database);
        let names = Names::default();
        let work = |result: BlockResult<'_>, _: &MemoryBudget<'_>| {
            let block = &result.block;
            let found = |answers| Found::new(block, answers, &names);
            stats.count_many(&result.answers.iter().map(found).collect::<Vec<_>>())
        };
        let mut sum: Option<ManyCounts> = None;
        let outputs = vec![Wants::HITS; queries.len()];
        let take = |_, counts| {
            match &mut sum {
                Some(sum) => sum.add(counts).unwrap(),
                None => sum = Some(counts),
            }
            ControlFlow::Continue(())
        };
        scan.for_each_block(database, &outputs, &Choice::default(), &Names::default(), work, take).unwrap();
        sum.unwrap().into_counts()
    };
    let queries =
        ["check", "cql(variations) check", "cql(variations) wtm", "btm", "cql(variations) terminal"];
    let together = counted(&queries);
    for (text, together) in queries.iter().zip(&together) {
        let alone = counted(&[text]).remove(0);
        assert_eq!(together.total(), alone.total(), "{text}");
        for grouping in stats.groupings() {
            assert_eq!(together.rows(grouping), alone.rows(grouping), "{text}: {grouping}");
        }
    }
    assert!(together[1].total().all.positions > together[0].total().all.positions + 1000);
}

#[test]
fn choosing_goes_by_nodes() {
    let block = tree();
    let mut some = all(&block, |slot| matches!(slot, 3 | 4 | 8));
    let choice = Choice { first: true, ..Choice::default() };
    choice.apply(&block, None, &mut some);
    assert_eq!(lines(Format::Plain, &block, &some), ["1 3"]);
    // Two games with different side lines are not equal.
    let other = pgn_blocks_with(&TREE.replace("2. Nc3 Nc6", "2. Nc3 a6"), with_variations()).remove(0);
    let ranks = |order: Order| {
        let names = Names::default();
        [&block, &other].map(|block| {
            let all = Answers::new(all(block, |_| true), None);
            order.rank(&block.game(0), &Found::new(block, &all, &names))
        })
    };
    let [ours, theirs] = ranks(Order::Sampled { seed: 1 });
    assert_ne!(ours, theirs);
    let [ours, theirs] = ranks(Order::Sorted { key: SortKey::Date, reverse: false });
    assert_eq!(ours, theirs);
}
