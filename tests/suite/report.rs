//! Tests the code that writes hits.

use orbit_core::board::Bitboard;
use orbit_core::game::MoveNumbers;
use orbit_core::text::decode;
use orbit_engine::{Answers, HitValues, Hits, Values};
use orbit_pgn::{ParseOptions, Sources};
use orbit_reel::{Block, BlockBuilder};
use orbit_search::choice::Choice;
use orbit_search::found::{Found, Names};
use orbit_search::report::words::push_squares;
use orbit_search::report::{
    Column, Columns, Extras, Format, HitTotals, Layout, Report, ReportedGame, Rows, Stitcher,
};
use orbit_search::stats::{Grouping, Stats};

fn block(pgn: &[u8]) -> Block {
    let mut builder = BlockBuilder::new();
    let mut sources = Sources::from_bytes("test", pgn.to_vec());
    while let Some(chunk) = sources.next_chunk() {
        chunk.parse(&ParseOptions::default(), &mut |source, game| builder.push(source, game));
    }
    builder.finish()
}

/// Returns values for the first slots (positions) of a block (group of games).
fn at_slots<T>(values: impl IntoIterator<Item = T>) -> HitValues<T> {
    values.into_iter().enumerate().collect()
}

/// Returns hits (matches) at the slots (positions) of a block for which `test` is true.
fn hits(block: &Block, values: Values, test: impl Fn(usize) -> bool) -> Hits {
    let mut bits = vec![0; block.segments()];
    (0..block.slots()).filter(|&slot| test(slot)).for_each(|slot| bits[slot / 32] |= 1 << (slot % 32));
    Hits { bits, values, main_lines: false }
}

fn lines(format: Format, block: &Block, hits: &Hits) -> Vec<String> {
    let answers = Answers::new(hits.clone(), None);
    let names = Names { sources: vec![String::from("a.pgn")], ..Names::default() };
    let found = Found::new(block, &answers, &names);
    let report = format.report(&found, 0..block.games_len());
    String::from_utf8(report.text).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn moves_are_numbered_from_the_counters_of_the_start() {
    for (pgn, clock, labels) in [
        (&b"1. e4 e5 2. Nf3 *"[..], 0, "start 1. 1... 2."),
        (b"[FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 7 23\"]\n\nKd7 e4 *", 7, "start 23... 24."),
        (b"[fen \"4k3/8/8/8/8/8/4P3/4K3 w - - 7 23\"]\n\ne4 Kd7 *", 7, "start 23. 23..."),
        (b"[FEN \"4k3/8/8/8/8/8/4P3/4K3 b - -\"]\n\nKd7 e4 *", 0, "start 1... 2."),
        (b"[FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 0 0\"]\n\nKd7 e4 *", 0, "start 1... 2."),
        (b"[FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - -1 99999999999\"]\n\nKd7 *", 0, "start 1..."),
        (b"4k3/8/8/8/8/8/4P3/4K3 b - - hmvc 3; fmvn 40;\n", 3, "start"),
    ] {
        let block = block(pgn);
        let game = block.game(0);
        let numbers = MoveNumbers::from_header(&game);
        let labels_found: Vec<String> = (0..game.positions() as u32)
            .map(|ply| {
                let mut out = Vec::new();
                numbers.push_label(ply, &mut out);
                String::from_utf8(out).unwrap()
            })
            .collect();
        assert_eq!((labels_found.join(" ").as_str(), numbers.clock), (labels, clock), "{}", decode(pgn));
    }
    let epd = block(b"4k3/8/8/8/8/8/4P3/4K3 b - - fmvn 40;\n");
    assert_eq!(MoveNumbers::from_header(&epd.game(0)).full(0), 40);
}

/// A game's header, and the game's four groups: by year, by White's rating, by opening, and by White's name.
type Facts = (&'static [u8], [&'static str; 4]);

/// Headers with unusual values. All code that reads these values must interpret them in the same way.
const HEADERS: [Facts; 6] = [
    (b"[Date \"2015.03.07\"][WhiteElo \"2700\"][ECO \"B90\"][White \"Ann\"]", ["2015", "2700", "B90", "Ann"]),
    (
        b"[Date \" 2015-3-7\"][WhiteElo \" 2700 (FIDE)\"][ECO \"b90n\"][White \" Ann \"]",
        ["2015", "2700", "B90", "Ann"],
    ),
    (
        b"[UTCDate \"2015.03.07\"][Date \"????.??.??\"][WhiteElo \"1500?\"][ECO \"?\"][White \"-\"]",
        ["2015", "1500", "?", "?"],
    ),
    (b"[Date \"20150307\"][WhiteElo \"10000\"][ECO \"B9\"][White \"?\"]", ["?"; 4]),
    (
        b"[date \"2015\"][WHITEELO \"1\"][eco \"A00\"][white \"R\xe9ti \x96 \x80\"]",
        ["2015", "1", "A00", "Réti – €"],
    ),
    (b"[Event \"A\"]", ["?"; 4]),
];

#[test]
fn conditions_groups_and_tables_agree() {
    let groupings = ["year", "whiteelo:1", "eco", "white"];
    for (header, facts) in HEADERS {
        let block = block(&[header, &b"\n\n1. e4 *\n"[..]].concat());
        let all = Answers::new(hits(&block, Values::None, |_| true), None);
        let names = Names::default();
        let found = Found::new(&block, &all, &names);
        let counts = Stats::new(Grouping::list(&groupings.join(",")).unwrap()).count(&found);
        for (name, fact) in groupings.into_iter().zip(facts) {
            let [row] = &counts.rows(&name.parse().unwrap())[..] else { panic!("{facts:?}: one game") };
            assert_eq!(row.keys[0].to_string(), fact, "{name}");
            let name = name.split(':').next().unwrap();
            let holds = |condition: String| {
                let choice = Choice { conditions: vec![condition.parse().unwrap()], ..Choice::default() };
                choice.games(&block).unwrap()[0]
            };
            match fact {
                "?" if name.ends_with("elo") || name == "year" => {
                    assert!(!holds(format!("{name}>=1")), "{name}")
                }
                "?" => {}
                _ => assert!(holds(format!("{name}={fact}")), "{name}={fact}"),
            }
        }
        let [year, elo, _, white] = facts.map(|fact| if fact == "?" { "" } else { fact });
        let columns = Columns::new(&[Column::WhiteElo, Column::Year, Column::White]);
        let csv = &lines(Format::Csv { rows: Rows::Games, columns }, &block, &all.hits)[0];
        assert_eq!(*csv, format!("{elo},{year},{white}"));
        let text = &lines(
            Format::Text { runs_max: 1, layout: Layout::Fitted, moves_max: None, styled: false, cut: true },
            &block,
            &all.hits,
        )[0];
        let rating = if elo.is_empty() { String::new() } else { format!(" ({elo})") };
        // A game without player names is listed under its event.
        let player = if white.is_empty() { "?" } else { white };
        let who = if header == b"[Event \"A\"]" { "A".to_string() } else { format!("{player}{rating} - ?") };
        assert!(text.contains(&format!("  {who}  *  {year}")), "{text}");
    }
}

#[test]
fn squares_are_written_as_cql_does() {
    let cases =
        [(0, "[]"), (1, "a1"), (1 << 63, "h8"), (0x81, "[a1,h1]"), (1 << 8 | 1 << 7 | 1 << 57, "[h1,a2,b8]")];
    for (squares, text) in cases {
        let mut out = Vec::new();
        push_squares(&mut out, Bitboard(squares));
        assert_eq!(String::from_utf8(out).unwrap(), text);
    }
}

#[test]
fn fens_count_as_shakmaty_does() {
    use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _, fen::Fen, san::San};
    let start = "r3k2r/1P6/8/4p3/3p3n/6N1/2P4P/R3K2R w KQkq - 11 30";
    let moves = ["c4", "dxc3", "O-O", "Kd8", "Nf5", "Nxf5", "bxa8=Q+", "Kc7", "Qxh8", "Ng3", "hxg3", "c2"];
    let pgn = format!("[FEN \"{start}\"]\n\n{} *", moves.join(" "));
    let block = block(pgn.as_bytes());
    let all = hits(&block, Values::None, |_| true);
    let found: Vec<String> = lines(
        Format::JsonLines { rows: Rows::Hits, columns: Columns::with_object_defaults(Extras::default()) },
        &block,
        &all,
    )
    .iter()
    .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["fen"].as_str().unwrap().to_owned())
    .collect();
    let mut chess: Chess = start.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap();
    let mut expected = vec![Fen::from_position(&chess, EnPassantMode::Legal).to_string()];
    for san in moves {
        chess.play_unchecked(san.parse::<San>().unwrap().to_move(&chess).unwrap());
        expected.push(Fen::from_position(&chess, EnPassantMode::Legal).to_string());
    }
    assert_eq!(found, expected);
}

#[test]
fn values_are_listed_where_there_are_any() {
    let block = block(b"1. e4 e5 *");
    let some = |values| hits(&block, values, |slot| slot != 1);
    let (numbers, sets) = (Values::Numbers(at_slots([-7, 0, i32::MIN])), Values::Sets(at_slots([1, 0, 3])));
    for (values, lines_expected) in [
        (Values::None, &["1 0 true", "1 2 true"][..]),
        (numbers, &["1 0 -7", "1 2 -2147483648"]),
        (sets, &["1 0 a1", "1 1 []", "1 2 [a1,b1]"]),
    ] {
        assert_eq!(lines(Format::Values { all: true }, &block, &some(values.clone())), lines_expected);
        assert_eq!(lines(Format::Plain, &block, &some(values)), ["1 0", "1 2"]);
    }
    let chosen = hits(&block, Values::Sets(at_slots([1, 2, 3])), |slot| slot == 2);
    assert_eq!(lines(Format::Values { all: false }, &block, &chosen), ["1 2 [a1,b1]"]);
    let none = Hits { bits: vec![0], values: Values::Sets(HitValues::default()), main_lines: false };
    assert_eq!(lines(Format::Values { all: true }, &block, &none), ["1 0 []", "1 1 []", "1 2 []"]);
    assert!(lines(Format::Plain, &block, &none).is_empty());
}

#[test]
fn text_shortens_lists_and_shows_values_where_they_change() {
    let block = block(b"[White \"W\"]\n[Black \"?\"]\n[BlackElo \"1\"]\n\n1. e4 e5 2. Nf3 1-0\n");
    let all = hits(&block, Values::Numbers(at_slots([5, 5, 6, 6])), |_| true);
    let text = |runs_max| {
        lines(
            Format::Text { runs_max, layout: Layout::Fitted, moves_max: None, styled: false, cut: true },
            &block,
            &all,
        )
    };
    assert_eq!(text(12), ["1  W - ? (1)  1-0  start to 1. e4, value 5; 1... e5 to 2. Nf3, value 6  (4)"]);
    assert_eq!(text(1), ["1  W - ? (1)  1-0  start to 1. e4, value 5; +2  (4)"]);
}

#[test]
fn text_is_aligned() {
    let pgn = "[White \"棋\"]\n[Date \"2001.??.??\"]\n[Event \"E\"]\n\n1. e4 1-0\n\n\
               [White \"Ä\"]\n[Date \"????.??.??\"]\n[Event \"Exactly thirty-three letters long\"]\n\n1. e4 1/2-1/2\n";
    let block = block(pgn.as_bytes());
    let all = hits(&block, Values::None, |slot| slot % 2 == 0);
    let expected = [
        "1  棋 - ?  1-0      2001  E                                 start, next e4  (1)",
        "2  Ä - ?   1/2-1/2        Exactly thirty-three letters lo…  start, next e4  (1)",
    ];
    assert_eq!(
        lines(
            Format::Text { runs_max: 12, layout: Layout::Fitted, moves_max: None, styled: false, cut: true },
            &block,
            &all
        ),
        expected
    );
}

#[test]
fn a_run_is_stitched() {
    let game = |end, hits, source, first_of_source| ReportedGame {
        end,
        hits,
        is_found: hits > 0,
        source,
        first_of_source,
    };
    let reports = [
        Report {
            text: b"1\n2\n3\n".to_vec(),
            games: vec![game(2, 1, 0, 1), game(4, 2, 0, 1), game(6, 3, 2, 3)],
        },
        Report::default(),
        Report { text: b"4\n5\n".to_vec(), games: vec![game(2, 4, 2, 3), game(4, 5, 1, 5)] },
    ];
    let names = || Some(["a", "b", "c"].map(String::from).to_vec());
    for (headings, skip, games_max, text, games, positions) in [
        (None, 0, None, "1\n2\n3\n4\n5\n", 5, 15),
        (None, 0, Some(2), "1\n2\n", 2, 3),
        (None, 2, Some(2), "3\n4\n", 2, 7),
        (None, 4, None, "5\n", 1, 5),
        (None, 5, None, "", 0, 0),
        (names(), 3, None, "c (its first game is 3)\n4\n\nb (its first game is 5)\n5\n", 2, 9),
        (
            names(),
            0,
            None,
            "a (its first game is 1)\n1\n2\n\nc (its first game is 3)\n3\n4\n\nb (its first game is 5)\n5\n",
            5,
            15,
        ),
        (names(), 0, Some(4), "a (its first game is 1)\n1\n2\n\nc (its first game is 3)\n3\n4\n", 4, 10),
    ] {
        let (mut stitcher, mut out) = (Stitcher::new(headings, games_max).skipping(skip), Vec::new());
        let stopped = reports.iter().any(|report| stitcher.write(report, &mut out).unwrap().is_break());
        assert_eq!(String::from_utf8(out).unwrap(), text);
        assert_eq!((stopped, stitcher.hit_totals()), (games_max.is_some(), HitTotals { games, positions }));
    }
}

const TABLE: &[u8] = b"[Event \"A, \"\"B\"\"\"]\n[Site \"https://lichess.org/abcdefgh\"]\n[White \"M\xfcller\"]\n[Black \"Lee\"]\n\
    [WhiteElo \"2000\"]\n[BlackElo \"?\"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n1. d4 *\n";

#[test]
fn csv_has_a_head_and_a_row_for_each_hit_or_game() {
    let block = block(TABLE);
    let some =
        hits(&block, Values::Sets(at_slots([3, 0, 1 << 63, 0, 0, 1, 0])), |slot| matches!(slot, 0 | 2 | 5));
    let read = |rows| {
        let columns = Columns::with_table_defaults(Extras::default());
        let format = Format::Csv { rows, columns };
        let text = [format.head(), lines(format, &block, &some).join("\n").into_bytes()].concat();
        let mut reader = csv::Reader::from_reader(&text[..]);
        let names: Vec<&str> = columns.list().iter().map(|column| column.name()).collect();
        assert_eq!(reader.headers().unwrap(), &names[..]);
        let column = |name| names.iter().position(|column| *column == name).unwrap();
        let names = [
            "game",
            "white",
            "white_elo",
            "black_elo",
            "result",
            "ply",
            "move",
            "next",
            "value",
            "squares",
            "squares_count",
            "hits",
            "url",
        ];
        let records = reader.records().map(|record| {
            let record = record.unwrap();
            names.map(|name| record[column(name)].to_owned()).join("|")
        });
        records.collect::<Vec<String>>()
    };
    let rows = [
        "1|Müller|2000||1-0|0||e4||a1 b1|2|2|https://lichess.org/abcdefgh#0",
        "1|Müller|2000||1-0|2|1... e5|Nf3||h8|1|2|https://lichess.org/abcdefgh#2",
        "2||||*|0||d4||a1|1|1|",
    ];
    assert_eq!(read(Rows::Hits), rows);
    assert_eq!(read(Rows::Games), [rows[0], rows[2]]);
}

#[test]
fn positions_are_listed_with_what_is_known_of_them() {
    let block = block(TABLE);
    let some = hits(&block, Values::None, |slot| matches!(slot, 1 | 4));
    let board = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";
    let last = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq -";
    assert_eq!(
        lines(Format::Fen(Rows::Hits), &block, &some),
        [format!("{board} 0 1"), format!("{last} 2 3")]
    );
    let epd = lines(Format::Epd(Rows::Hits), &block, &some);
    let id = "id \"Müller - Lee, A, ''B''\"; c0 \"game 1, ply";
    assert_eq!(
        epd,
        [
            format!("{board} sm e5; hmvc 0; fmvn 1; {id} 1\"; c1 \"1. e4\";"),
            format!("{last} hmvc 2; fmvn 3; {id} 4\"; c1 \"2... Nc6\";"),
        ]
    );
    // The written positions must be read back unchanged.
    let again = self::block(epd.join("\n").as_bytes());
    let fens: Vec<String> = again.games().map(|game| game.start().to_fen()).collect();
    assert_eq!(fens.len(), 2);
    assert!(fens[0].starts_with(board) && fens[1].starts_with(last), "{fens:?}");
    assert_eq!(again.game(1).tag("c0"), Some(&b"game 1, ply 4"[..]));
    assert_eq!(MoveNumbers::from_header(&again.game(1)).full(0), 3);
}
