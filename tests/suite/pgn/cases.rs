//! Tests PGN with unusual constructs that occur in real files.

use orbit_pgn::{GameStatus, Outcome};

use super::*;

/// Returns a one-line summary of a game: its offset, result, number of half-moves, and problems.
fn summary(game: &Game) -> String {
    let outcome = match game.outcome {
        Outcome::Unknown => "*",
        Outcome::WhiteWins => "1-0",
        Outcome::BlackWins => "0-1",
        Outcome::Draw => "1/2",
    };
    let mut out = format!("@{} {outcome} {}", game.offset, game.moves.len());
    match &game.status {
        GameStatus::Whole => {}
        GameStatus::Cut(fault) => {
            assert_eq!(fault.ply as usize, game.moves.len());
            out += &format!(" cut@{}: {}", fault.offset, fault.reason);
        }
        GameStatus::Skipped(fault) => out += &format!(" skipped: {}", fault.reason),
    }
    for note in game.notes.iter().filter(|note| !is_of_end(note)) {
        out += &format!(" note: {}", note.reason);
    }
    out
}

const ONE_BEFORE_NULL: &str = "[FEN \"4k3/8/8/8/8/8/4Q3/4K3 b - - 0 1\"]\n";

/// PGN texts, each with the summaries of its games.
pub(super) const GAMES: &[(&str, &[&str])] = &[
    // Empty texts, and almost empty ones.
    ("", &[]),
    (" \r\n\t\n\0\n", &[]),
    ("\u{feff}", &[]),
    ("{only a comment}\n", &[]),
    ("% escaped 1. e4 *\n; rest of line 1. d4 *\n", &[]),
    ("Dear reader,\nhere is prose without any game.\n", &[]),
    ("*", &["@0 * 0"]),
    ("[White \"a\"]", &["@0 * 0"]),
    // Rows about game offsets.
    ("[Event \"a\"]\n\n[Event \"b\"]\n\n", &["@0 * 0", "@13 * 0"]),
    ("[Event \"a\"]\n[Event \"b\"]\n", &["@0 * 0", "@12 * 0"]),
    (
        "[Site \"s\"]\n[Event \"a\"]\n\n1. e4 1-0\n\n[Site \"s\"]\n[Event \"b\"]\n\n1. d4 *",
        &["@0 1-0 1", "@35 * 1"],
    ),
    ("[White \"a\"]\n\n1. e4\n\n[White \"b\"]\n\n1. d4", &["@0 * 1", "@20 * 1"]),
    ("[White \"a\"]\n\n[White \"b\"]\n", &["@0 * 0", "@13 * 0"]),
    ("[White \"a\"]\n\n[Black \"b\"]\n\n1. e4 *\n", &["@0 * 1"]),
    ("[White \"a\"] [Black \"b\"] 1. e4 e5 * [White \"c\"] 1. d4 *", &["@0 * 2", "@35 * 1"]),
    ("1. e4 e5 1-0\n1. d4 0-1\n\nc4 1/2-1/2", &["@0 1-0 2", "@13 0-1 1", "@24 1/2 1"]),
    ("1. e4 e5\n\n1. d4 d5\n", &["@0 * 2", "@10 * 2"]),
    ("1. e4\n\n1... e5 *", &["@0 * 1", "@7 * 0 cut@12: e5 is illegal here"]),
    ("1. e4 e5\n\n2. d4 *", &["@0 * 3"]),
    ("garbage before\n\n[White \"a\"]\n1. e4 *", &["@16 * 1"]),
    ("{heading}\n\n[ECO \"A00\"]\n\n1. b4 *", &["@11 * 1"]),
    ("1. e4 * and then some junk 3-5\n\n[White \"b\"]\n*", &["@0 * 1", "@32 * 0"]),
    ("\u{feff}[Event \"a\"]\n\n1. e4 *\n\n\u{feff}[Event \"b\"]\n\n1. d4 *", &["@3 * 1", "@28 * 1"]),
    ("[Event \"a\"]\r\r1. e4 *\r\r[Event \"b\"]\r\r1. d4 d5 *\r", &["@0 * 1", "@22 * 2"]),
    ("[Event \"a\"]\r\n\r\n1. e4 *\r\n\r\n[Event \"b\"]\r\n\r\n*", &["@0 * 1", "@26 * 0"]),
    // Tags.
    ("[A \"b\\\"\"] [B \"\\\"A]][\\\"\"] [C \"A]]\"]\n1. e4 *", &["@0 * 1"]),
    ("[White \"no bracket\"\n[Black \"b\"]\n\n1. e4 *", &["@0 * 1"]),
    ("[White \"no quote]\n[Black \"b\"]\n\n1. e4 *", &["@0 * 1"]),
    ("[white Kasparov]\n[black \"\"]\n\n1. e4 *", &["@0 * 1"]),
    ("[ White  \"spaces\" ]\n\n[ Round\"13\"]\n\n1. e4 *", &["@0 * 1"]),
    ("[White \"Paul \"Bob\" Smith\"]\n1. e4 *", &["@0 * 1"]),
    ("[Site \"C:\\\"]\n1. e4 *", &["@0 * 1"]),
    // Comments, variations, annotations.
    ("1. e4 {two\n\n[White \"x\"]\nlines} e5 ; 2. d4\n2. Nf3 *", &["@0 * 3"]),
    ("1. e4 {open\n[Event \"b\"]\n\n1. d4 *", &["@0 * 1 cut@6: comment is not closed", "@12 * 1"]),
    ("1. e4 * {open\n[Event \"b\"]\n\n1. d4 *", &["@0 * 1 note: comment is not closed", "@14 * 1"]),
    ("1. e4 {open", &["@0 * 1 cut@6: comment is not closed"]),
    ("{open\n[Event \"b\"]\n*", &["@0 * 0 skipped: comment is not closed", "@6 * 0"]),
    ("1. e4 (1. d4 (1. c4 {)} e5) d5 1-0) 1... e5 0-1", &["@0 0-1 2"]),
    ("1. e4 (1. d4 d5 1-0\n\n[White \"b\"]\n*", &["@0 1-0 1 cut@6: variation is not closed", "@21 * 0"]),
    ("1. e4 ) e5 } *", &["@0 * 2"]),
    ("1. e4 {a {b} c} e5 1-0", &["@0 1-0 1 cut@13: c is no move"]),
    ("1. e4 [1. d4 d5\n2. c4] e5 *", &["@0 * 2"]),
    ("1. e4 [%csl Ra1] e5 [D] *", &["@0 * 2"]),
    ("1.e4$1e5$2 2.Nf3!?{x}Nc6(2...d6)3.Bb5 D +/- $13 *", &["@0 * 5"]),
    ("1. e4\n%1... c5\ne5 *", &["@0 * 2"]),
    // Moves in various notations.
    ("1 e4 e5 2 Nf3 1/2", &["@0 1/2 3"]),
    ("1...e4 1. ... e5 2.Nf3…", &["@0 * 3"]),
    ("e2e4 e7-e5 Ng1f3 Nb8-c6 f1b5 a7a6 e1g1 *", &["@0 * 7"]),
    ("1. e4 d5 2. ed5 Nf6 3. Nc3 Nd5 4. Nd5 *", &["@0 * 7"]),
    ("1. e4 d5 2. e5 f5 3. exf6ep Kf7 *", &["@0 * 6"]),
    ("1. e4 d5 2. e5 f5 3. exf6 e.p. exf6 *", &["@0 * 6"]),
    ("1. ♘f3 ♞f6 *", &["@0 * 2"]),
    ("1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. 0-0 o-o *", &["@0 * 8"]),
    (
        "[FEN \"8/P6k/8/8/8/8/p6K/8 w - - 0 1\"]\na8Q a1(N) *",
        &["@0 * 2 note: an unusual form of a promotion is read as the promotion"],
    ),
    ("[FEN \"8/P6k/8/8/8/8/p6K/8 w - - 0 1\"]\na8=B+ a2a1r *", &["@0 * 2"]),
    ("[FEN \"8/P6k/8/8/8/8/p6K/8 w - - 0 1\"]\na8 *", &["@0 * 0 cut@38: a8 is illegal here"]),
    ("1. e4 e5 2. Nf30-1", &["@0 0-1 3"]),
    ("1. e4 ½–½", &["@0 1/2 1 note: an unusual form of a result is read as the result"]),
    // Rows about Unicode blanks. The next test covers the no-break space of Latin-1.
    (
        "1.\u{a0}e4\u{a0}e5 2.\u{202f}Nf3\u{2009}Nc6\u{3000}3.\u{2028}Bb5\u{feff}a6\u{200b} *",
        &["@0 * 6 note: an unusual blank is read as a blank"],
    ),
    ("[Event\u{a0}\"a\"]\n\n1. e4 e5\u{85}1-0", &["@0 1-0 2 note: an unusual blank is read as a blank"]),
    (
        "1. e4 (1. d4\u{a0}d5\u{a0}1-0) e5\u{a0}(\u{a0}1... c5\u{a0}) 0-1",
        &["@0 0-1 2 note: an unusual blank is read as a blank"],
    ),
    // Dashes.
    (
        "1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. 0–0 O—O 5. d3 1–0",
        &["@0 1-0 9 note: an unusual dash is read as `-`"],
    ),
    ("1. e2–e4 e7−e5 2. Ng1‑f3 –– 3. Bc4 *", &["@0 * 5 note: an unusual dash is read as `-`"]),
    ("1. e4 ½‐½", &["@0 1/2 1 note: an unusual form of a result is read as the result"]),
    ("1. e4 1⁄2–1⁄2", &["@0 1/2 1 note: an unusual form of a result is read as the result"]),
    ("1. e4 e5 2. Nf30–1", &["@0 0-1 3 note: an unusual form of a result is read as the result"]),
    // Rows in which no blank separates castling from the next token.
    (
        "1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. O-OO-O 5. d3 *",
        &["@0 * 9 note: castling that touches the next token is read as a move of its own"],
    ),
    (
        "1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. 0-00-0 5. d3 *",
        &["@0 * 9 note: castling that touches the next token is read as a move of its own"],
    ),
    (
        "1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. O-Od6 5. d3 O–O6. Nc3 *",
        &["@0 * 11 note: castling that touches the next token is read as a move of its own"],
    ),
    (
        "1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. 0-00-1",
        &["@0 0-1 7 note: castling that touches the next token is read as a move of its own"],
    ),
    ("1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. 0-0-0-0 *", &["@0 * 6 cut@34: 0-0-0-0 is no move"]),
    ("1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. OO-O *", &["@0 * 6 cut@34: OO-O is no move"]),
    ("1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. O-OO *", &["@0 * 6 cut@34: O-OO is no move"]),
    // Rows in which a digit and a dash precede a move.
    ("[Event \"a\"]\n\n2-e3 e5 *", &["@0 * 0 cut@13: 2-e3 is no move"]),
    ("1. e4 e5 2. N1-f3 *", &["@0 * 3"]),
    // Rows in which a result inside a side line ends a game.
    ("1. e4 e5 (1... c5 1-0)\n\n1. d4 d5 *", &["@0 1-0 2", "@24 * 2"]),
    ("1. e4 e5 (1... c5 1-0)\n\n[White \"a\"]\n\n1. d4 *", &["@0 1-0 2", "@24 * 1"]),
    (
        "1. e4 e5 (1... c5 1-0)\n\n1. note\n\n1. d4 *",
        &["@0 1-0 2", "@24 * 0 cut@27: note is no move", "@33 * 1"],
    ),
    // Promotions with other characters between their parts.
    (
        "[FEN \"8/P6k/8/8/8/8/p6K/8 w - - 0 1\"]\na8 = Q a1 (N) *",
        &["@0 * 2 note: an unusual form of a promotion is read as the promotion"],
    ),
    (
        "[FEN \"8/P6k/8/8/8/8/p6K/8 w - - 0 1\"]\na8= Q+ {x} a1/\u{a0}N *",
        &["@0 * 2 note: an unusual form of a promotion is read as the promotion"],
    ),
    (
        "[FEN \"8/P6k/8/8/8/8/p6K/8 w - - 0 1\"]\na8=(Q) a2a1 =R# *",
        &["@0 * 2 note: an unusual form of a promotion is read as the promotion"],
    ),
    (
        "[FEN \"8/P6k/8/8/8/8/p6K/8 w - - 0 1\"]\n1. a8=♕ a1:N *",
        &["@0 * 2 note: an unusual form of a promotion is read as the promotion"],
    ),
    (
        "[FEN \"8/P6k/8/8/8/8/p6K/8 w - - 0 1\"]\n1. a8 Q a1 B 2. Qb8 (Qc8) 1-0",
        &["@0 1-0 3 note: an unusual form of a promotion is read as the promotion"],
    ),
    ("[FEN \"8/P6k/8/8/8/8/p6K/8 w - - 0 1\"]\na8 =\nQ *", &["@0 * 0 cut@38: a8 is illegal here"]),
    ("[FEN \"4k3/8/8/8/8/8/R7/4K3 w - - 0 1\"]\n1. Ra8+ (1. Ra1) Kd7 *", &["@0 * 2"]),
    // Results with other characters around them.
    ("1. e4 1-0.", &["@0 1-0 1 note: an unusual form of a result is read as the result"]),
    (
        "1. e4 0-1,\n\n1. d4 \"1-0\"",
        &[
            "@0 0-1 1 note: an unusual form of a result is read as the result",
            "@12 1-0 1 note: an unusual form of a result is read as the result",
        ],
    ),
    ("1. e4 1/2-1/2`", &["@0 1/2 1 note: an unusual form of a result is read as the result"]),
    ("1. e4 ½.", &["@0 1/2 1 note: an unusual form of a result is read as the result"]),
    ("1. e4 1–0!", &["@0 1-0 1 note: an unusual form of a result is read as the result"]),
    ("1. e4 ‘0-1’", &["@0 0-1 1 note: an unusual form of a result is read as the result"]),
    ("1. e4 e5 2. Nf31-0.", &["@0 1-0 3 note: an unusual form of a result is read as the result"]),
    ("1. e4½1-0", &["@0 1-0 1"]),
    ("1. e4 (1. d4 1-0.)", &["@0 1-0 1"]),
    ("1. e4 (1. d4 2.1-0..)", &["@0 1-0 1"]),
    ("1. e4 (1. d4 Nf61-0.)", &["@0 1-0 1"]),
    ("1. e4 1-2. *", &["@0 * 1 cut@6: 1-2. is no move"]),
    // Results with blanks around the dash, and in fullwidth characters.
    ("1. e4 1 - 0", &["@0 1-0 1 note: an unusual form of a result is read as the result"]),
    (
        "1. e4 0 – 1.\n\n1. d4 1- 0",
        &[
            "@0 0-1 1 note: an unusual form of a result is read as the result",
            "@16 1-0 1 note: an unusual form of a result is read as the result",
        ],
    ),
    ("[White \"a\"]\n\n0\u{a0}-1 {x}", &["@0 0-1 0 note: an unusual form of a result is read as the result"]),
    ("1. e4 1/2 - 1/2", &["@0 1/2 1"]),
    ("1. e4 １－０", &["@0 1-0 1 note: an unusual form of a result is read as the result"]),
    ("1. e4 ０ - １", &["@0 0-1 1 note: an unusual form of a result is read as the result"]),
    ("1. e4 １／２－１／２", &["@0 1/2 1 note: an unusual form of a result is read as the result"]),
    ("1. e4 1 -\n0", &["@0 * 1"]),
    ("1. e4 e5 1 - 2", &["@0 * 2"]),
    ("1. e4 (1. d4 1 - 0)", &["@0 * 1"]),
    ("1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. 0 - 0-0 *", &["@0 * 7"]),
    // Rows in which an incomplete header is followed by the header of the next game.
    (
        "[Event \"a\"]\n[TimeControl \"66.687+0.6[Event \"b\"]\n[White \"C\"]\n\n1. e4 e5 1-0",
        &["@0 * 0", "@36 1-0 2"],
    ),
    ("[Event \"a\"]\n[TimeCo[Event \"b\"]\n\n1. e4 *", &["@0 * 0", "@19 * 1"]),
    ("[Event \"a\"]\n[[Event \"b\"]\n\n1. e4 *", &["@0 * 0", "@13 * 1"]),
    ("[Event \"a[Event \"b\"]\n\n1. e4 *", &["@0 * 0", "@9 * 1"]),
    ("[Event \"a\"\u{20}[Event \"b\"]\n\n1. e4 *", &["@0 * 0", "@11 * 1"]),
    ("[White \"a[White \"b\"]\n\n1. e4 *", &["@0 * 0", "@9 * 1"]),
    ("[Event \"a\"]\n[White \"x[Black \"y\"]\n\n1. e4 *", &["@0 * 1"]),
    ("[Event \"a\"] [White \"x\"] [Black \"y\"]\n\n1. e4 *", &["@0 * 1"]),
    // Tokens that are not moves.
    ("1. Nf3 Nc6 2. Nf9 d5 1-0", &["@0 1-0 2 cut@14: Nf9 is no move"]),
    ("1. e4 Qh5 0-1", &["@0 0-1 1 cut@6: Qh5 is illegal here"]),
    ("1. Nf3 d5 2. d3 Nf6 3. Nd2 *", &["@0 * 4 cut@23: Nd2 is ambiguous (b1, f3)"]),
    ("1. e4 0-0-0 *", &["@0 * 1 cut@6: 0-0-0 is illegal here"]),
    // Castling is written with the Cyrillic letter О.
    ("1. e4 e5 2. Nf3 Nf6 3. Bc4 Bc5 4. О-О О-О 5. d3 1-0", &["@0 1-0 6 cut@34: О-О is no move"]),
    ("1. e4 国 2. d4 *", &["@0 * 1 cut@6: 国 is no move"]),
    ("1. e4 ± ⩲ e5 □ ∞ *", &["@0 * 2"]),
    // Null moves.
    ("1. e4 -- 2. d4 Z0 3. Nf3 @@@@ 4. Nc3 <> *", &["@0 * 8"]),
    ("1. e4 e5 2. Qh5 -- 3. Qxf7 -- 4. Nf3 -- *", &["@0 * 8"]),
    ("1. e4 e5 2. Qh5 -- 3. Qxf7 -- 4. Qxe8 *", &["@0 * 6 cut@33: Qxe8 is illegal here"]),
    // Results.
    ("[Result \"1-0\"]\n\n1. e4 *", &["@0 * 1"]),
    ("[Result \"1-0\"]\n\n1. e4", &["@0 * 1"]),
    // Start positions and variants.
    (
        "[Variant \"Chess960\"]\n[FEN \"?\"]\n\n1. e4 *",
        &["@0 * 0 skipped: a Chess960 game has no FEN to start from"],
    ),
    ("[Variant \"chess 960\"]\n\n*", &["@0 * 0 skipped: a Chess960 game has no FEN to start from"]),
    ("[variant \"crazyhouse\"]\n\n1. e4 1-0", &["@0 1-0 0 skipped: variant crazyhouse is not supported"]),
    ("[Variant \"Standard Chess\"]\n\n1. e4 *", &["@0 * 1"]),
    ("[Variant \"Chess (Standard)\"]\n\n1. e4 *", &["@0 * 1"]),
    ("[Variant \"chess classic\"]\n\n1. e4 *", &["@0 * 1"]),
    (
        "[Variant \"Fischer Random Chess\"]\n\n*",
        &["@0 * 0 skipped: a Chess960 game has no FEN to start from"],
    ),
    ("[Variant \"Shuffle Chess\"]\n\n1. e4 *", &["@0 * 0 skipped: variant Shuffle Chess is not supported"]),
    ("[Variant \"From Position\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n1. e4 *", &["@0 * 1"]),
    (
        "[Variant \"Chess960\"]\n[FEN \"nrk1brnb/pp1ppppp/8/2p5/3P4/1N1Q1N2/1PP1PPPP/1RK1BR1B w KQkq - 2 10\"]\n\n1. O-O-O *",
        &["@0 * 1"],
    ),
    ("[FEN \"1rk2r2/pppppppp/8/8/8/8/PPPPPPPP/1RK2R2 w BFbf - 0 1\"]\n\n1. O-O O-O-O *", &["@0 * 2"]),
    ("[FEN \"nonsense\"]\n\n1. e4 1-0", &["@0 1-0 0 skipped: the FEN's placement cannot be read"]),
    ("[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n\n*", &["@0 * 0"]),
    (
        "[FEN \"8/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n1. e4 1-0",
        &["@0 1-0 0 cut@42: e4 cannot be played: a king is missing"],
    ),
    ("[FEN \"k3K3/8/8/8/8/8/8/K7 w - - 0 1\"]\n\n*", &["@0 * 0"]),
    (
        "[FEN \"4k3/8/8/8/8/8/4Q3/4K3 w - - 0 1\"]\n\n1. Qxe8 *",
        &["@0 * 0 cut@44: Qxe8 cannot be played: the side to move could take the king"],
    ),
    (
        "[FEN \"4k3/8/8/8/8/8/8/4K2R w KQkq - 0 1\"]\n\n1. O-O *",
        &["@0 * 1 note: impossible ones of the FEN's castling rights KQkq were dropped"],
    ),
    (
        "[FEN \"4k3/8/8/8/8/8/8/R4RK1 w Qk - 0 1\"]\n\n1. Kh1 *",
        &["@0 * 1 note: the FEN's castling rights Qk were dropped"],
    ),
    (
        "[FEN \"4k3/8/8/8/4P3/8/8/4K3 b - e6 0 1\"]\n\n1... Kd7 *",
        &["@0 * 1 note: the FEN's en passant square e6 was dropped"],
    ),
    ("[FEN \"4k3/8/8/8/4P3/8/8/4K3 b\"]\n\n1... Kd7 *", &["@0 * 1"]),
    // Lists of positions.
    (
        "# comment\n4k3/8/8/8/8/8/8/4K3 w - - 0 1\n\n4k3/8/8/8/8/8/8/4K3 b - - bm Kd7; id \"x; y\";\n4k3/8/8/8/8/8/8/4K3\n",
        &["@10 * 0", "@41 * 0", "@86 * 0"],
    ),
    (
        "4k3/8/8/8/8/8/8/4K3 w - -\nnonsense here\n",
        &["@0 * 0", "@26 * 0 skipped: the FEN's placement cannot be read"],
    ),
];

#[test]
fn odd_texts_come_to_what_they_should() {
    let mut wrong = Vec::new();
    for (text, wanted) in GAMES {
        for chunk_bytes in [1, 16, 1 << 20] {
            let games = games_with(text.as_bytes(), chunk_bytes, 64 << 20);
            let found: Vec<String> = games.iter().map(summary).collect();
            if found != *wanted {
                wrong.push(format!(
                    "{text:?} in chunks of {chunk_bytes}\n  found  {found:?}\n  wanted {wanted:?}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A note about unusual text has the place of the first such text in the main line, with and without side lines.
#[test]
fn notes_of_unusual_text_have_its_place() {
    for (text, at) in [
        ("1. e4 e5 2.\u{a0}Nf3\u{a0}*", (11, 2)),
        ("1. e4 (1. d4\u{a0}d5) e5 1\u{2013}0", (21, 2)),
        ("1. e4 e5\u{a0}(1... c5 2. Nf3) 2. Nf3 {x} *", (8, 2)),
        ("1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. O-OO-O *", (34, 6)),
        ("[FEN \"8/P6k/8/8/8/8/p6K/8 w - - 0 1\"]\n1. a8 = Q *", (41, 0)),
    ] {
        for variations in [false, true] {
            let mut found = Vec::new();
            let parse = ParseOptions { variations, ..ParseOptions::default() };
            let mut sources = Sources::from_bytes_with("a", text.as_bytes().to_vec(), Options::default());
            let mut take = |_, game: &Game| {
                found.extend(game.notes.iter().map(|note| (note.offset, note.ply)));
            };
            while let Some(chunk) = sources.next_chunk() {
                chunk.parse(&parse, &mut take);
            }
            assert_eq!(found, [at], "{text}, {variations}");
        }
    }
}

/// If a file's last game has moves but no result, or ends within a tag pair, a note is added, because the file may have been cut
/// off.
#[test]
fn the_last_game_of_a_file_without_a_result_is_noted() {
    for (text, at) in [
        ("1. e4 e5", Some((8, 2))),
        ("1. e4 e5 \r\n\n", Some((8, 2))),
        ("1. e4 *\n\n[White \"a\"]\n\n1. d4 d5 2. c4 {x} (2. Nf3)\n", Some((49, 3))),
        ("[White \"a\"]\n\n1. e4\n\n[White \"b\"]\n\n1. d4 1-0", None),
        ("1. e4 e5 *", None),
        ("1. e4 e5 1-0 {never again", None),
        // In these texts, the game already has a problem that says that something is missing, so no note about a missing result
        // is added.
        ("1. e4 e5 2. Nx", None),
        ("1. e4 {x", None),
        ("1. e4 (1. d4", None),
        // The last game has no moves.
        ("1. e4 *\n\n[White \"a\"]\n", None),
        // The last tag pair is open.
        ("1. e4 *\n\n[Event \"a\"]\n [White \"Carl", Some((22, 0))),
        ("[White\n", Some((0, 0))),
        ("[White \"a\"]\n\n[%csl Ra1", None),
        ("[White \"a\"]\n\n1.", None),
        ("[Variant \"Atomic\"]\n\n1. e4", None),
    ] {
        for chunk_bytes in [1, 20, 1 << 20] {
            let games = games_with(text.as_bytes(), chunk_bytes, 64 << 20);
            let notes = |game: &Game| game.notes.iter().filter(|note| is_of_end(note)).cloned().collect();
            let notes: Vec<Vec<ReadFault>> = games.iter().map(notes).collect();
            let (last, before) = notes.split_last().unwrap();
            assert!(before.iter().all(Vec::is_empty), "{text}");
            let found = last.first().map(|note| (note.offset, note.ply));
            assert_eq!(
                (found, last.len()),
                (at, usize::from(at.is_some())),
                "{text}, chunks of {chunk_bytes}"
            );
            assert!(at.is_none() || games.last().unwrap().status == GameStatus::Whole);
        }
    }
    // An incomplete file is always reported. Here, half of the gzip trailer is missing although all moves are present.
    let packed = gzip(b"1. e4 e5 2. Nf3 Nc6 3. Bb5 a6");
    let sources = Sources::from_bytes_with("cut", packed[..packed.len() - 4].to_vec(), Options::default());
    let mut noted = 0;
    let sources = each_game(sources, &mut |_, game| noted += game.notes.len());
    assert_eq!((noted, sources.failures().len()), (0, 1));
}

fn tags(text: &str) -> Vec<(String, String)> {
    let game = games(text.as_bytes()).swap_remove(0);
    let string = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    game.tags.iter().map(|tag| (string(&tag.name), string(&tag.value))).collect()
}

#[test]
fn tags_are_kept_as_found() {
    let rows: &[(&str, &[(&str, &str)])] = &[
        ("[White \"O\\\"Neill\"]", &[("White", "O\"Neill")]),
        ("[White \"Paul \"Bob\" Smith\"]", &[("White", "Paul \"Bob\" Smith")]),
        ("[A \"x\"] [b \"\"][C\"\\\\\"]", &[("A", "x"), ("b", ""), ("C", "\\")]),
        ("[A \"x\"\n[B \"y]\n[C z w ]\n[D \"a]]\"]", &[("A", "x"), ("B", "y"), ("C", "z w"), ("D", "a]]")]),
        ("[A \"x\" [B \"y\"]", &[("A", "x"), ("B", "y")]),
        ("[A \"x [B \"y\"]", &[("A", "x"), ("B", "y")]),
        ("[A \"x\" z [B \"y\"]", &[("A", "x")]),
        ("[A \"x [b \"y\"]", &[("A", "x [b \"y")]),
        ("[A \"x [B\"]\n[C  \"y [D\"]", &[("A", "x [B"), ("C", "y [D")]),
        ("[A \"x [B \\\"y\\\"] z\"]", &[("A", "x [B \"y\"] z")]),
        ("[A\u{a0}\"x\"]\n[B \u{2009}\"y\"\u{a0}]", &[("A", "x"), ("B", "y")]),
        ("[Site \"C:\\\"]\n[A \"\\n\"]", &[("Site", "C:\\"), ("A", "\\n")]),
        (
            "4k3/8/8/8/8/8/8/4K3 b - - bm Kd7; id \"x; y\"; c0 \"z\"",
            &[("bm", "Kd7"), ("Event", "x; y"), ("c0", "z")],
        ),
        (
            r#"4k3/8/8/8/8/8/8/4K3 b - - id "x \"y\"; \\"; c0 "z"; c1 "C:\""#,
            &[("Event", r#"x "y"; \"#), ("c0", "z"), ("c1", r"C:\")],
        ),
    ];
    for (text, wanted) in rows {
        let found = tags(text);
        let found: Vec<_> = found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(found, *wanted, "{text}");
    }
    let bytes = b"[White \"M\xfcller\"]\n*";
    assert_eq!(games(bytes)[0].tags[0].value, b"M\xfcller");
}

/// Tests Windows-1252 bytes in movetext that are not valid UTF-8. Some rows have UTF-8 letters whose last byte is one of these
/// bytes.
#[test]
fn bytes_of_windows_1252_are_read() {
    let rows: &[(&[u8], &str)] = &[
        (b"1.\xa0e4\xa0e5 2. Nf3\xa01-0", "@0 1-0 3 note: an unusual blank is read as a blank"),
        (
            b"1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. 0\x960 O\x97O 1\x960",
            "@0 1-0 8 note: an unusual dash is read as `-`",
        ),
        (b"1. e4 1\x85e5 \xbd-\xbd", "@0 1/2 2 note: an unusual form of a result is read as the result"),
        (b"1. e4 e5 1\x970?!", "@0 1-0 2 note: an unusual form of a result is read as the result"),
        (b"1. e4 e5\xe2\xa0Nf3 *", "@0 * 3 note: an unusual blank is read as a blank"),
        (b"1. e4 N\xc3\xa0f6 *", "@0 * 1 cut@6: N\u{e0}f6 is no move"),
    ];
    for (text, wanted) in rows {
        let found: Vec<String> = games(text).iter().map(summary).collect();
        assert_eq!(found, [*wanted], "{}", text.escape_ascii());
    }
}

#[test]
fn a_side_in_check_may_pass_and_play_goes_on() {
    let text = format!("{ONE_BEFORE_NULL}1... -- 2. Kd1 Kd7 3. Qe3 *");
    let game = games(text.as_bytes()).swap_remove(0);
    assert_eq!((game.moves.len(), &game.status), (4, &GameStatus::Whole));
    let text = format!("{ONE_BEFORE_NULL}1... -- 2. Qxe8 *");
    assert_eq!(
        summary(&games(text.as_bytes())[0]),
        format!("@0 * 1 cut@{}: Qxe8 is illegal here", text.len() - 6)
    );
}

#[test]
fn a_game_beyond_the_limit_is_cut_there_and_the_next_is_found() {
    let filler = "Nf3 Nf6 Ng1 Ng8 ".repeat(40);
    let text = format!("[White \"a\"]\n\n{filler}1-0\n[Black \"x\"]\n\n1. e4 *\n");
    let next = text.find("[Black").unwrap();
    for chunk_bytes in [1, 64, 333, 1 << 20] {
        let games = games_with(text.as_bytes(), chunk_bytes, 333);
        let found: Vec<String> = games.iter().map(summary).collect();
        let wanted = ["@0 * 80 cut@333: game is longer than 333 bytes".to_owned(), format!("@{next} * 1")];
        assert_eq!(found, wanted, "chunks of {chunk_bytes}");
    }
}

#[test]
fn games_without_line_ends_between_them_are_all_found() {
    let text = "1. e4 e5 * ".repeat(500);
    for chunk_bytes in [1, 100, 1 << 20] {
        let games = games_with(text.as_bytes(), chunk_bytes, 50);
        assert_eq!(games.len(), 500, "chunks of {chunk_bytes}");
        assert!(games.iter().all(|game| game.status == GameStatus::Whole && game.moves.len() == 2));
    }
}

#[test]
fn a_long_text_without_games_is_left() {
    let mut options = Options::default();
    options.chunk_bytes = 100;
    options.game_bytes_max = 1000;
    let text = "no game here\n".repeat(1000).into_bytes();
    let sources =
        each_game(Sources::from_bytes_with("prose", text, options), &mut |_, game| panic!("{game:?}"));
    assert_eq!(sources.failures().len(), 1);
    assert!(sources.failures()[0].reason.contains("it is no PGN"));
}
