//! The reference engine against the vectors of the language.

use orbit_chess::{
    board::{Bitboard, Position, Square},
    engine::{
        Answer, GameFacts, Outcome, Spot,
        reference::{Reference, ReferenceError},
    },
    query,
};
use shakmaty::fen::Fen;

/// One line: query, FEN or `startpos`, `bool` or `set` or `num`, value, who says so.
struct Row<'a> {
    line: usize,
    query: &'a str,
    fen: &'a str,
    reading: &'a str,
    expected: &'a str,
}

fn rows() -> Vec<Row<'static>> {
    let table = include_str!("data/vectors.tsv");
    table
        .lines()
        .enumerate()
        .map(|(index, line)| {
            let columns: Vec<&str> = line.split('\t').collect();
            let &[query, fen, reading, expected, _source] = columns.as_slice() else {
                panic!("line {}: {} columns", index + 1, columns.len());
            };
            Row { line: index + 1, query, fen, reading, expected }
        })
        .collect()
}

/// Why a row is not run, or how its expectation is known to differ from ours.
fn exception(row: &Row) -> Option<&'static str> {
    match (row.query, row.fen) {
        (query, _) if query.starts_with("(position") => Some("CQL 5, another front end"),
        ("flip count find Ra1", _) => Some("game level: `find`"),
        ("legal --(castle)", "r3k2r/8/8/8/8/8/8/R3K2R w - - 0 1") => Some(
            "the peer derives castling from the moves played; the FEN grants no right, so nobody castles",
        ),
        ("legal --(enpassant)", "rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3") => {
            Some("the peer derives en passant from the moves played; the FEN names d6, so exd6 is legal")
        }
        _ => None,
    }
}

#[derive(Default, Clone)]
struct Facts {
    outcome: Outcome,
    tags: Vec<(&'static str, &'static str)>,
}

impl GameFacts for Facts {
    fn number(&self) -> u32 {
        7
    }

    fn outcome(&self) -> Outcome {
        self.outcome
    }

    fn tag(&self, name: &str) -> Option<&[u8]> {
        self.tags.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_bytes())
    }
}

fn position(fen: &str) -> Position {
    match fen {
        "startpos" => Position::standard(),
        fen => Position::from_setup(&fen.parse::<Fen>().expect("vectors hold FENs").into_setup()),
    }
}

fn spot<'a>(fen: &str, game: &'a Facts) -> Spot<'a> {
    Spot { position: position(fen), ply: 0, initial: true, terminal: true, game }
}

fn reference(text: &str) -> Reference {
    let parsed = query::parse(text).unwrap_or_else(|error| panic!("{text}: {}", error.message));
    Reference::new(&parsed.query).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn answer(text: &str, fen: &str) -> Answer {
    reference(text).answer(&spot(fen, &Facts::default()))
}

/// Prints an answer as the table does.
fn print(answer: Answer, reading: &str) -> String {
    match (reading, answer) {
        ("bool", answer) => if answer.is_hit() { "T" } else { "F" }.into(),
        ("set", Answer::Set(squares)) => {
            let names: Vec<String> = squares.into_iter().map(|square| square.to_string()).collect();
            if names.len() > 1 { format!("[{}]", names.join(",")) } else { names.concat() }
        }
        ("num", Answer::Num(Some(value))) => value.to_string(),
        ("num", Answer::Num(None)) => "nomatch".into(),
        (reading, answer) => format!("{answer:?} where {reading} is expected"),
    }
}

#[test]
fn vectors() {
    let (mut run, mut faults) = (0, Vec::new());
    for row in rows() {
        if exception(&row).is_some() {
            continue;
        }
        run += 1;
        let outcome = match query::parse(row.query) {
            Err(error) => format!("error: {}", error.message),
            Ok(parsed) => match Reference::new(&parsed.query) {
                Err(error) => format!("error: {error}"),
                Ok(engine) => print(engine.answer(&spot(row.fen, &Facts::default())), row.reading),
            },
        };
        if outcome != row.expected {
            faults.push(format!(
                "line {}: {} on {}: {outcome}, expected {}",
                row.line, row.query, row.fen, row.expected
            ));
        }
    }
    assert!(faults.is_empty(), "{} of {run} rows:\n{}", faults.len(), faults.join("\n"));
    assert_eq!(run, 360, "rows that were run");
}

#[test]
fn exceptions_are_listed_and_no_more_than_needed() {
    let mut listed = std::collections::BTreeMap::<&str, usize>::new();
    for row in rows() {
        if let Some(reason) = exception(&row) {
            *listed.entry(reason).or_default() += 1;
        }
    }
    let mut counts: Vec<usize> = listed.into_values().collect();
    counts.sort_unstable();
    assert_eq!(counts, [1, 1, 1, 57]);
    // The two deviations, with our value in place of the peer's.
    assert_eq!(answer("legal --(castle)", "r3k2r/8/8/8/8/8/8/R3K2R w - - 0 1"), Answer::Set(Bitboard::EMPTY));
    let en_passant = "rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3";
    assert_eq!(answer("legal --(enpassant)", en_passant), Answer::Set(Square::D6.into()));
}

/// Rows that the table of vectors lacks, in its notation.
#[test]
fn further_rows() {
    let rows = [
        // Rays: an empty square that is a member may be met or passed over.
        ("ray right (R _ k)", "8/8/8/8/8/8/8/R3k2K w - - 0 1", "set", "e1"),
        ("ray right (R _)", "8/8/8/8/8/8/8/R3k2K w - - 0 1", "set", "[b1,c1,d1]"),
        ("ray right (R . k)", "8/8/8/8/8/8/8/Rk5K w - - 0 1", "set", ""),
        ("ray right (R [_k] .)", "8/8/8/8/8/8/8/R1k4K w - - 0 1", "set", "[c1,d1,e1,f1,g1,h1]"),
        ("ray right (. N)", "8/8/8/8/8/8/8/1N1R3K w - - 0 1", "set", "b1"),
        ("ray (N k)", "8/8/8/8/8/8/8/N1k4K w - - 0 1", "set", "c1"),
        ("xray (N k)", "8/8/8/8/8/8/8/N1k4K w - - 0 1", "set", ""),
        ("xray (B k)", "8/8/8/8/8/8/8/B1k4K w - - 0 1", "set", ""),
        ("B->n->k", "7k/8/8/8/3n4/8/8/B6K w - - 0 1", "set", "a1"),
        ("R->n->k", "7k/8/8/8/3n4/8/8/R6K w - - 0 1", "set", ""),
        ("B->n->k", "7k/6p1/8/8/3n4/8/8/B6K w - - 0 1", "set", ""),
        ("k<-n<-B", "7k/8/8/8/3n4/8/8/B6K w - - 0 1", "set", "h8"),
        // Pins: behind the pinned piece may be an empty square or an enemy of the slider.
        ("pin to _", "8/8/8/8/4r3/8/4N3/8 w - - 0 1", "set", "e1"),
        ("pin through N to .", "8/8/8/8/4r3/8/4N3/4K3 w - - 0 1", "set", "e2"),
        ("pin to n", "8/8/8/8/4r3/8/4N3/4n3 w - - 0 1", "set", ""),
        ("pin", "4k3/8/8/8/4r3/4N3/4N3/4K3 w - - 0 1", "set", ""),
        ("pin", "4k3/8/8/8/4b3/8/4N3/4K3 w - - 0 1", "set", ""),
        // Attacks.
        ("P attacks .", "8/8/8/8/8/8/P7/8 w - - 0 1", "set", "a2"),
        (". attackedby P", "8/8/8/8/8/8/P7/8 w - - 0 1", "set", "b3"),
        (". <- b", "8/8/8/8/8/2P5/8/b7 w - - 0 1", "set", "[b2,c3]"),
        // Values.
        ("max(1/0 2)", "startpos", "num", "2"),
        ("max(1/0 rank R)", "startpos", "num", "nomatch"),
        ("sqrt -4", "startpos", "num", "nomatch"),
        ("-2147483647-2", "startpos", "num", "2147483647"),
        ("(-2147483647-1)/-1", "startpos", "num", "-2147483648"),
        ("abs (-2147483647-1)", "startpos", "num", "-2147483648"),
        ("1/0 != 2", "startpos", "bool", "F"),
        ("if btm then 1", "startpos", "bool", "T"),
        ("if wtm then [] else R", "startpos", "set", ""),
        ("#{btm R}", "startpos", "num", "0"),
        ("square all s in [] false", "startpos", "bool", "T"),
        ("square s in . {up 1 s & P}", "startpos", "set", "[a1,b1,c1,d1,e1,f1,g1,h1]"),
        ("flip 5 6 Ra1", "startpos", "num", "nomatch"),
        ("typename a1 == \"R\"", "startpos", "bool", "T"),
        ("flipcolor piecename a1 == \"R\"", "startpos", "bool", "T"),
        ("reversecolor piecename a1 == \"R\"", "startpos", "bool", "F"),
        ("makesquare(9 1)", "startpos", "set", ""),
        ("shift count flip {Ra1 or btm}", "startpos", "num", "6"),
        // An orbit runs in declaration order and shares its variables: the last copy that
        // assigns is the reflection in a1-h8.
        ("{xx=[] xx==[] if flip {Ra8 xx=a1} xx else []}", "startpos", "set", "a1"),
        // Placements that cannot be played.
        ("check", "8/8/8/8/8/8/8/8 w - - 0 1", "bool", "F"),
        ("stalemate", "8/8/8/8/8/8/8/8 w - - 0 1", "bool", "F"),
        ("stalemate", "8/8/8/8/8/p7/P7/K1K5 w - - 0 1", "bool", "F"),
        ("stalemate", "8/8/8/8/2q5/8/8/K7 w - - 0 1", "bool", "F"),
        ("stalemate", "8/8/8/8/8/1r6/2q5/K7 w - - 0 1", "bool", "T"),
        ("mate", "8/8/8/8/8/2n5/1q6/K7 w - - 0 1", "bool", "F"),
        ("mate", "8/8/8/8/8/1b6/1q6/K3K3 w - - 0 1", "bool", "F"),
        ("mate", "8/8/8/8/8/2b5/1q6/K7 w - - 0 1", "bool", "T"),
        ("check", "k7/8/8/8/4r3/8/8/K3K3 w - - 0 1", "bool", "T"),
        ("countmoves legal --", "8/8/8/8/8/8/P7/8 w - - 0 1", "num", "2"),
        ("legal --(castle)", "4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1", "set", "[c1,g1]"),
        ("legal --(o-o)", "4k3/8/8/8/5r2/8/8/R3K2R w KQ - 0 1", "set", ""),
        ("pseudolegal --(o-o)", "4k3/8/8/8/5r2/8/8/R3K2R w KQ - 0 1", "set", "g1"),
        ("pseudolegal --(o-o-o)", "4k3/8/8/8/8/8/8/RN2K2R w KQ - 0 1", "set", ""),
        ("pseudolegal --(enpassant)", "8/8/8/3pP3/8/8/8/K6k w - d6 0 1", "set", "d6"),
        ("pseudolegal --(enpassant)", "8/8/8/4P3/8/8/8/K6k w - d6 0 1", "set", ""),
        ("pseudolegal --(enpassant)", "8/3r4/8/3pP3/8/8/8/K6k w - d6 0 1", "set", ""),
        ("countmoves legal --a8", "8/P6k/8/8/8/8/8/K7 w - - 0 1", "num", "1"),
    ];
    let faults: Vec<String> = rows
        .into_iter()
        .map(|(query, fen, reading, expected)| (query, fen, expected, print(answer(query, fen), reading)))
        .filter(|(_, _, expected, found)| expected != found)
        .map(|(query, fen, expected, found)| format!("{query} on {fen}: {found}, expected {expected}"))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn facts_of_a_game() {
    let game = Facts {
        outcome: Outcome::BlackWins,
        tags: vec![
            ("White", "Karpov, A"),
            ("WhiteElo", "1500"),
            ("Black", "Fischer, R"),
            ("BlackElo", "2100?"),
            ("Date", "1970.??.??"),
            ("Result", "1-0"),
        ],
    };
    let ask = |text: &str, game: &Facts| print_any(reference(text).answer(&spot("startpos", game)));
    for (text, expected) in [
        ("result 1-0", "F"),
        ("result 0-1", "T"),
        ("flipcolor result 1-0", "T"),
        ("reversecolor result 0-1", "F"),
        ("flipcolor result 1/2-1/2", "F"),
        ("elo", "2100"),
        ("elo white", "1500"),
        ("flipcolor elo white", "2100"),
        ("reversecolor elo white", "2100"),
        ("flipcolor player white \"Fischer\"", "T"),
        ("player white \"Fischer\"", "F"),
        ("player \"Fischer\"", "T"),
        ("player \"fischer\"", "F"),
        ("flipcolor {tag \"White\" == \"Fischer, R\"}", "T"),
        ("reversecolor player \"Fischer\"", "T"),
        ("player == \"Karpov, A\"", "F"),
        ("year", "1970"),
        ("gamenumber", "7"),
        ("tag \"Annotator\"", "F"),
        ("tag \"Annotator\" != \"me\"", "F"),
        ("flipcolor count elo white > 2000", "1"),
    ] {
        assert_eq!(ask(text, &game), expected, "{text}");
    }
    let nameless = Facts {
        outcome: Outcome::Unknown,
        tags: vec![("WhiteElo", "0"), ("BlackElo", "?"), ("Date", "19.??.??")],
    };
    for text in ["elo", "elo white", "elo black", "year"] {
        assert_eq!(ask(text, &nameless), "nomatch", "{text}");
    }
    for text in ["result 1-0", "result 0-1", "result 1/2-1/2", "player white", "player", "player white \"\""]
    {
        assert_eq!(ask(text, &nameless), "F", "{text}");
    }
}

/// Prints an answer in the reading of its own type.
fn print_any(answer: Answer) -> String {
    let reading = match answer {
        Answer::Bool(_) => "bool",
        Answer::Set(_) => "set",
        Answer::Num(_) => "num",
    };
    print(answer, reading)
}

#[test]
fn move_numbers_count_from_the_start_of_the_game() {
    let game = Facts::default();
    let number = |fen: &str, ply: u32| {
        let spot = Spot { position: position(fen), ply, initial: ply == 0, terminal: false, game: &game };
        reference("movenumber").answer(&spot)
    };
    let (white, black) = ("4k3/8/8/8/8/8/8/4K3 w - - 0 40", "4k3/8/8/8/8/8/8/4K3 b - - 0 40");
    for (ply, expected) in [(0, 1), (1, 1), (2, 2), (3, 2), (4, 3)] {
        assert_eq!(number(if ply % 2 == 0 { white } else { black }, ply), Answer::Num(Some(expected)));
    }
    for (ply, expected) in [(0, 1), (1, 2), (2, 2), (3, 3), (4, 3)] {
        assert_eq!(number(if ply % 2 == 0 { black } else { white }, ply), Answer::Num(Some(expected)));
    }
}

#[test]
fn copies_come_in_declaration_order() {
    let game = Facts::default();
    let hits = |text: &str| reference(text).copy_hits(&spot("startpos", &game));
    assert_eq!(hits("flip Ra1"), [true, true, false, false]);
    assert_eq!(hits("{{flip count Ra1}}"), [true, true, false, false]);
    assert_eq!(hits("rotate90 ra1"), [false, false, true, true]);
    assert_eq!(hits("flipcolor ra8"), [true, true]);
    assert_eq!(hits("shiftvertical P[a2,b2]"), [false, true, false, false, false, false, false, false]);
    assert_eq!(hits("Ra1"), [true]);
    assert_eq!(reference("shift flip {Nd4 kf3}").copies(), 336);
    assert_eq!(reference("flipcolor shift flip {Nd4 kf3}").copies(), 672);
    assert_eq!(reference("notransform flip Ra1").copies(), 1);
}

#[test]
fn what_cannot_be_transformed_is_refused() {
    let error = |text: &str| Reference::new(&query::parse(text).expect("it is well formed").query).err();
    assert_eq!(error("rotate45 Ra1"), Some(ReferenceError::Rotate45Squares));
    assert_eq!(error("rotate45 light ."), Some(ReferenceError::Rotate45Shade));
    assert_eq!(error("rotate45 shift R"), None);
    let towers = "shift count {a1 b1 ".repeat(6) + "c1" + &"}".repeat(6);
    assert!(matches!(error(&towers), Some(ReferenceError::TooManyCopies { .. })));
}
