//! The words of CQL 5 position lists. The table has the same form as that of the CQL 6 words.
//!
//! It also contains the words that the program CQL-S added. Most of them concern moves, the game, or text.

use std::sync::LazyLock;

use shakmaty::Color;

use super::{
    Cql5Result,
    parser::{Cql5Parser, Join},
};
use crate::{
    Dialect,
    parser::C,
    tree::{Dirs, ListTransform, Node, Pieces},
    vocabulary::{
        self, DialectWords, Spellings, WordStatus,
        WordValue::{self, *},
        here,
    },
};
use orbit_core::{
    board::{Code, PieceSet},
    diagnostic::Span,
};

/// The role of a word in a CQL 5 list. It determines how the parser reads the word.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KeywordReading {
    /// The word is the keyword of a transform, which applies to the whole list.
    Transform(ListTransform),
    /// The word is the keyword of a condition. The function reads the rest of the condition.
    Condition(fn(&mut Cql5Parser, &str, Span) -> Cql5Result<Node>),
    /// The word begins a condition that is not supported yet.
    Unbuilt,
    /// The word is a piece symbol in designators.
    Piece(Pieces),
}

use KeywordReading::{Condition as Test, Piece, Transform as Change, Unbuilt};

type KeywordRow = vocabulary::WordRow<KeywordReading>;
type KeywordRows = vocabulary::WordRows<KeywordReading>;

/// The words of CQL 5.
pub(crate) static TABLE: LazyLock<DialectWords<KeywordReading>> =
    LazyLock::new(|| DialectWords::new(Dialect::Cql5, &[GROUPS]));

/// Returns the [`KeywordReading`] of a sign that names two kinds of pieces. Each argument is a [`Code`], or 0 for an empty
/// square.
const fn men(first: u8, second: u8) -> KeywordReading {
    Piece(Pieces { list: PieceSet::only(Code(first)).union(PieceSet::only(Code(second))), ..Pieces::NONE })
}

const fn man(code: u8) -> KeywordReading {
    men(code, code)
}

const fn line(dirs: u8, attack: bool) -> (Dirs, bool) {
    (Dirs(dirs), attack)
}

/// Expands to the [`KeywordReading`] of a condition that consists of its keyword alone.
macro_rules! leaf {
    ($op:expr) => {
        Test(|parser, name, span| parser.leaf($op, name, span))
    };
}

/// Expands to the [`KeywordReading`] of a keyword that counts lines of squares, such as `:ray`.
macro_rules! ray {
    ($dirs:expr, $attack:expr) => {
        Test(|parser, name, span| parser.ray(name, line($dirs, $attack), span))
    };
}

const COUNTED: &str = "D RANGE";
const RAY: &str = "(D D ...) [RANGE]";

#[rustfmt::skip]
const GROUPS: &[KeywordRows] = &[
    KeywordRows { title: "CQL 5: pieces", about:
        "A query in CQL 5 is a list, such as `(position Ra7)`. This table shows the signs for pieces in lists. `K Q R B N P k q r b \
         n p` and their figurines mean the same as in CQL 6; some other signs, such as `.`, have a different meaning.",
        words: &[
        here(&["K", "♔"], "", Squares, man(6), "the white king", "(position Kg1)"),
        here(&["Q", "♕"], "", Squares, man(5), "a white queen", "(position Q)"),
        here(&["R", "♖"], "", Squares, man(4), "a white rook", "(position Ra7)"),
        here(&["B", "♗"], "", Squares, man(3), "a white bishop", "(position Bg2)"),
        here(&["N", "♘"], "", Squares, man(2), "a white knight", "(position Ne5)"),
        here(&["P", "♙"], "", Squares, man(1), "a white pawn", "(position Pe5)"),
        here(&["k", "♚"], "", Squares, man(14), "the black king", "(position kg8)"),
        here(&["q", "♛"], "", Squares, man(13), "a black queen", "(position q)"),
        here(&["r", "♜"], "", Squares, man(12), "a black rook", "(position ra2)"),
        here(&["b", "♝"], "", Squares, man(11), "a black bishop", "(position bg7)"),
        here(&["n", "♞"], "", Squares, man(10), "a black knight", "(position ne4)"),
        here(&["p", "♟"], "", Squares, man(9), "a black pawn", "(position pe4)"),
        here(&["A", "○"], "", Squares, Piece(Pieces { all_white: true, ..Pieces::NONE }), "a white piece of any kind", "(position Ae5)"),
        here(&["a", "●"], "", Squares, Piece(Pieces { all_black: true, ..Pieces::NONE }), "a black piece of any kind", "(position ae4)"),
        here(&["U", "◑"], "", Squares, Piece(Pieces { all_white: true, all_black: true, ..Pieces::NONE }), "a piece of any kind and colour", "(position Ue4)"),
        here(&["M", "△"], "", Squares, men(4, 5), "a white queen or rook", "(position Md7)"),
        here(&["m", "▲"], "", Squares, men(12, 13), "a black queen or rook", "(position md2)"),
        here(&["I", "▽"], "", Squares, men(2, 3), "a white bishop or knight", "(position Ie5)"),
        here(&["i", "▼"], "", Squares, men(10, 11), "a black bishop or knight", "(position ie4)"),
        here(&["."], "", Squares, man(0), "an empty square", "(position .e1)"),
        here(&["?"], "", Squares, Piece(Pieces::UNNAMED), "anything, a piece or nothing", "(position ?e1 Qa1)"),
    ] },
    KeywordRows { title: "CQL 5: conditions", about:
        "All conditions of a CQL 5 list must match. In the column *form*, D is a piece designator, LIST is a list in \
         parentheses, and RANGE is one number, two numbers, a number and `unlimited` (such as `1 unlimited`), or a comparison \
         sign and a number (such as `>=1`). A condition with RANGE matches if its number is in the range. A `!` before a \
         condition negates it: `!:check`.",
        words: &[
        here(&["wtm"], "", Condition, leaf!(C::ToMove(Color::White)), "White is to move", "(position :wtm)"),
        here(&["btm"], "", Condition, leaf!(C::ToMove(Color::Black)), "Black is to move", "(position :btm)"),
        here(&["check"], "", Condition, leaf!(C::Check), "the side to move is in check", "(position :check)"),
        here(&["mate"], "", Condition, leaf!(C::Mate), "the side to move is mated", "(position :mate)"),
        here(&["stalemate"], "", Condition, leaf!(C::Stalemate), "the side to move is stalemated", "(position !:stalemate)"),
        here(&["initial"], "", Condition, leaf!(C::Initial), "the position before the first move of the game", "(position :initial)"),
        here(&["terminal"], "", Condition, leaf!(C::Terminal), "the position after the last move of the game", "(position :terminal)"),
        here(&["result"], "1-0 | 0-1 | 1/2-1/2", Condition, Test(|p, _, span| p.result(span)), "the result of the game", "(position :result 1-0)"),
        here(&["and"], "LIST ...", Condition, Test(|p, name, _| p.lists(name, Join::All)), "all of the lists match", "(position :and ((Ra1) (kg8)))"),
        here(&["or"], "LIST ...", Condition, Test(|p, name, _| p.lists(name, Join::Any)), "one of the lists matches", "(position :or ((Ra7) (ra2)))"),
        here(&["not"], "LIST", Condition, Test(|p, name, span| p.not(name, span)), "the list does not match", "(position :not (Q))"),
        here(&["attackcount"], "D D RANGE", Condition, Test(|p, name, span| p.attackcount(name, span)),
            "the number of pairs in which a piece of the first designator attacks one of the second", "(position :attackcount N k 1)"),
        here(&["piececount"], COUNTED, Condition, Test(|p, name, span| p.counted(name, span)), "the number of the designator's pieces", "(position :piececount R 1)"),
        here(&["power"], COUNTED, Condition, Test(|p, name, span| p.counted(name, span)),
            "the value of the designator's pieces: queens 9, rooks 5, bishops and knights 3, pawns 1", "(position :power A >38)"),
        here(&["powerdifference"], COUNTED, Condition, Test(|p, name, span| p.counted(name, span)),
            "the value of the designator's white pieces minus that of its black ones", "(position :powerdifference U >=3)"),
        here(&["ray"], RAY, Condition, ray!(0xff, false), "the number of lines with these pieces in this order and nothing else between them", "(position :ray (R q k))"),
        here(&["rayattack"], RAY, Condition, ray!(0xff, true), "`:ray` whose first piece slides along the line", "(position :rayattack (B q))"),
        here(&["raydiagonal"], RAY, Condition, ray!(0xaa, false), "`:ray` on diagonals", "(position :raydiagonal (B q))"),
        here(&["rayorthogonal"], RAY, Condition, ray!(0x55, false), "`:ray` on ranks and files", "(position :rayorthogonal (R q))"),
        here(&["rayhorizontal"], RAY, Condition, ray!(0x11, false), "`:ray` on ranks", "(position :rayhorizontal (R r))"),
        here(&["rayvertical"], RAY, Condition, ray!(0x44, false), "`:ray` on files", "(position :rayvertical (R r))"),
    ] },
    KeywordRows { title: "CQL 5: transforms", about:
        "In CQL 5, a transform is an element of the list that it transforms. The list matches if one of its transformed \
         images matches. A shift moves the squares of the list. If a shift leads away from an edge, a square at this edge \
         moves, and its old place also stays in the list.",
        words: &[
        here(&["flip", "flipdihedral"], "", Condition, Change(ListTransform::Flip), "all rotations and reflections of the board", "(position Ra1 kh8 :flip)"),
        here(&["fliphorizontal"], "", Condition, Change(ListTransform::FlipHorizontal), "the mirror image 1<->8", "(position Qd1 :fliphorizontal)"),
        here(&["flipvertical"], "", Condition, Change(ListTransform::FlipVertical), "the mirror image a<->h", "(position Kc1 :flipvertical)"),
        here(&["flipdiagonal"], "", Condition, Change(ListTransform::FlipDiagonal), "the mirror image in the diagonal a1-h8", "(position Ra2 :flipdiagonal)"),
        here(&["flipoffdiagonal"], "", Condition, Change(ListTransform::FlipOffDiagonal), "the mirror image in the diagonal h1-a8", "(position Ra2 :flipoffdiagonal)"),
        here(&["flipcolor"], "", Condition, Change(ListTransform::FlipColor), "the mirror image 1<->8 with swapped colours", "(position Ra7 :flipcolor)"),
        here(&["shift"], "", Condition, Change(ListTransform::Shift), "all shifts", "(position Nd4 kf3 :shift)"),
        here(&["shifthorizontal"], "", Condition, Change(ListTransform::ShiftHorizontal), "shifts to the left and to the right", "(position Pb2 Pb3 :shifthorizontal)"),
        here(&["shiftvertical"], "", Condition, Change(ListTransform::ShiftVertical), "shifts up and down", "(position Pb4 pb5 :shiftvertical)"),
        here(&["shiftmaindiagonal"], "", Condition, Change(ListTransform::ShiftMainDiagonal), "shifts along the direction a1-h8", "(position Pb2 Pc3 :shiftmaindiagonal)"),
        here(&["shiftoffdiagonal"], "", Condition, Change(ListTransform::ShiftOffDiagonal), "shifts along the direction h1-a8", "(position Pg2 Pf3 :shiftoffdiagonal)"),
        here(&["shiftdiagonal"], "", Condition, Change(ListTransform::ShiftDiagonal), "shifts along both diagonal directions", "(position Pg2 Pf3 :shiftdiagonal)"),
    ] },
    KeywordRows { title: "CQL 5: other keywords", about:
        "These tables list the other keywords of CQL 5, and those that the program CQL-S added. `orbit` recognises all of these \
         keywords, but supports only the two in the first table so far.", words: &[
        later(&["accumulate", "accumulate*"], "LIST", Condition, "counts the hits of lists together"),
        later(&["between"], "D D LIST", Condition, "the squares between two squares"),
        later(&["blackcannotwin"], "", Condition, "Black does not have enough men to win"),
        later(&["blackelo"], "RANGE", Condition, "Black's rating"),
        later(&["castling"], "", Condition, "the next move is castling"),
        later(&["checkcount"], "RANGE", Condition, "the number of checks so far"),
        later(&["comment"], "TEXT", Condition, "text in the comment of the move"),
        later(&["cond"], "LIST LIST", Condition, "one list, if another list matches"),
        later(&["contactcheck"], "", Condition, "check from a square next to the king"),
        later(&["cut"], "", Condition, "ends the search of a game"),
        later(&["date"], "TEXT", Condition, "the date of the game"),
        later(&["doublecheck"], "", Condition, "check from two pieces"),
        later(&["echo"], "LIST LIST", Condition, "two positions of the game that resemble each other"),
        later(&["eco"], "TEXT", Condition, "the code of the opening"),
        later(&["elo"], "RANGE", Condition, "the rating of a player"),
        later(&["endgame"], "", Condition, "few men are left"),
        later(&["endgameevaluation"], "RANGE", Condition, "the evaluation of an endgame table"),
        later(&["enpassant"], "", Condition, "the next move captures en passant"),
        later(&["event"], "TEXT", Condition, "the event of the game"),
        later(&["evaluation"], "RANGE", Condition, "the evaluation of an engine"),
        later(&["fen"], "TEXT", Condition, "the board of a FEN"),
        later(&["forany"], "NAME LIST", Condition, "one of several pieces under a name"),
        later(&["forced"], "", Condition, "there is one legal move"),
        later(&["gameisover"], "", Condition, "the game has ended"),
        later(&["gamenumber"], "RANGE", Condition, "the number of the game"),
        later(&["gappedsequence"], "LIST ...", Condition, "lists that match one after the other, with gaps"),
        later(&["goodbishop"], "D", Condition, "a bishop whose own pawns stand on the other colour"),
        later(&["halfmoveclocklimit"], "RANGE", Condition, "half-moves since a capture or a pawn's move"),
        later(&["halfmovenumber"], "RANGE", Condition, "half-moves played"),
        later(&["inside"], "D D", Condition, "a piece inside a region of squares"),
        later(&["insidevariation"], "", Condition, "the position lies in a side line"),
        later(&["markall"], "", Condition, "marks all hits"),
        later(&["matchcount"], "RANGE", Condition, "the number of positions of a game that match"),
        later(&["matingmaterial"], "", Condition, "a side has enough men to mate"),
        later(&["maxswapevaluation"], "RANGE", Condition, "the material that the best exchange wins"),
        later(&["moveevaluation"], "RANGE", Condition, "the evaluation of a move"),
        later(&["movefrom"], "D", Condition, "the piece that moves next"),
        later(&["movenumber"], "RANGE", Condition, "the number of the move"),
        later(&["moveto"], "D", Condition, "the square that the next move reaches"),
        later(&["mustcapture"], "", Condition, "all legal moves capture"),
        later(&["nextcount"], "RANGE", Condition, "the number of next positions that match"),
        later(&["noannotate"], "", Condition, "marks no hits"),
        later(&["nocheck"], "", Condition, "neither side is in check"),
        later(&["noenpassant"], "", Condition, "the next move does not capture en passant"),
        later(&["opposition"], "", Condition, "the kings stand in opposition"),
        within(&["output"], "FILE", "in a match list: the file for hits; has no effect", "(match :output x.pgn (position :mate))"),
        later(&["pattern"], "TEXT", Condition, "the structure of the pawns"),
        later(&["pawncount"], "D RANGE", Condition, "the number of pawns"),
        later(&["pawncountdifference"], "RANGE", Condition, "the number of white pawns minus that of black ones"),
        within(&["pgn"], "FILE", "in a match list: the file with the games; has no effect", "(match :pgn x.pgn (position :mate))"),
        later(&["player"], "TEXT", Condition, "the name of a player"),
        later(&["promote"], "D", Condition, "the next move promotes"),
        later(&["relation"], "LIST", Condition, "two positions that are equal except for named features"),
        later(&["repetitioncount"], "RANGE", Condition, "the number of times that the position has occurred"),
        later(&["sequence"], "LIST ...", Condition, "lists that match one after the other"),
        later(&["silent"], "", Condition, "writes no comments"),
        later(&["site"], "TEXT", Condition, "the place of the game"),
        later(&["skip"], "RANGE", Condition, "skips games"),
        later(&["startposition"], "", Condition, "the game begins with the usual position"),
        later(&["sumrange"], "RANGE", Condition, "the sum of several counts"),
        later(&["tagmatch"], "TEXT TEXT", Condition, "the value of a tag"),
        later(&["takeslastpiece"], "", Condition, "the next move captures the last piece"),
        later(&["variations"], "", Condition, "side lines are searched as well"),
        later(&["white"], "TEXT", Condition, "the name of White"),
        later(&["whiteelo"], "RANGE", Condition, "White's rating"),
        later(&["xor"], "LIST LIST", Condition, "one of two lists matches, not both"),
        later(&["year"], "RANGE", Condition, "the year of the game"),
    ] },
];

/// Returns the table row of a keyword that is not supported yet.
const fn later(
    spellings: Spellings,
    arguments: &'static str,
    value: WordValue,
    meaning: &'static str,
) -> KeywordRow {
    here(spellings, arguments, value, Unbuilt, meaning, spellings[0]).with_status(WordStatus::NotYet)
}

/// Returns the table row of a keyword that is allowed only in match lists. In a position list, the parser rejects it as not
/// supported.
const fn within(
    spellings: Spellings,
    arguments: &'static str,
    meaning: &'static str,
    example: &'static str,
) -> KeywordRow {
    let row = here(spellings, arguments, Condition, Unbuilt, meaning, example);
    row.with_status(WordStatus::Within("the keyword of position lists"))
}

/// Returns the role of a word in a CQL 5 list, or `None` if the word is unknown.
pub(super) fn reading(word: &str) -> Option<KeywordReading> {
    TABLE.find(word).map(|row| row.reading)
}

/// Returns the pieces that a sign represents in a designator.
pub(super) fn piece(sign: char) -> Option<Pieces> {
    match reading(sign.encode_utf8(&mut [0; 4]))? {
        Piece(pieces) => Some(pieces),
        _ => None,
    }
}

/// Returns the transform that a keyword names.
pub(super) fn transform(name: &str) -> Option<ListTransform> {
    match reading(name)? {
        Change(transform) => Some(transform),
        _ => None,
    }
}

/// Returns true if the word is a keyword of CQL 5.
pub(super) fn is_keyword(name: &str) -> bool {
    reading(name).is_some_and(|reading| !matches!(reading, Piece(_)))
}

/// Returns true if the keyword is known but not supported yet.
pub(super) fn is_unbuilt(name: &str) -> bool {
    matches!(reading(name), Some(Unbuilt))
}

/// Returns the keyword that is most similar to a misspelt one. Supported keywords take precedence over keywords that are not
/// supported yet.
pub(crate) fn nearest(misspelt: &str) -> Option<&'static str> {
    TABLE.nearest(
        misspelt,
        &[|reading| matches!(reading, Change(_) | Test(_)), |reading| matches!(reading, Unbuilt)],
    )
}
