//! Words about the board: pieces, transforms, directions, sets of squares.

use super::{Cql6Rows, WordReading, WordReading::*, WordValue::*, here, leaf, refused};
use crate::{
    parser::{S, T},
    tree::{Dirs, GameText, PawnKind, Pieces, PureKind, TransformKind},
};
use orbit_core::board::{Code, PieceSet};

/// Returns the [`WordReading`] of a symbol for one kind of piece. `code` is the number of a [`Code`].
const fn man(code: u8) -> WordReading {
    Piece(Pieces { list: PieceSet::only(Code(code)), ..Pieces::NONE })
}

const EVERY: &str = "[count | RANGE] F";

#[rustfmt::skip]
pub(super) const GROUPS: &[Cql6Rows] = &[
    Cql6Rows { title: "Pieces", about:
        "A *designator* names one kind of piece, or several kinds in brackets, followed by squares: `R`, `Ra1`, `[RN]a-h8`, \
         `♖♘[a1,h8]`. A designator without pieces is a set of squares; a designator without squares covers the whole board. The \
         value of a designator is a set: those of its squares on which a piece of one of its kinds stands.",
        words: &[
        here(&["K", "♔"], "", Squares, man(6), "white kings", "Kg1"),
        here(&["Q", "♕"], "", Squares, man(5), "white queens", "Qa-h8"),
        here(&["R", "♖"], "", Squares, man(4), "white rooks", "Ra7"),
        here(&["B", "♗"], "", Squares, man(3), "white bishops", "Bg2"),
        here(&["N", "♘"], "", Squares, man(2), "white knights", "Ne5"),
        here(&["P", "♙"], "", Squares, man(1), "white pawns", "Pa-h7"),
        here(&["k", "♚"], "", Squares, man(14), "black kings", "kg8"),
        here(&["q", "♛"], "", Squares, man(13), "black queens", "qa5"),
        here(&["r", "♜"], "", Squares, man(12), "black rooks", "ra-h2"),
        here(&["b", "♝"], "", Squares, man(11), "black bishops", "b[b7,g7]"),
        here(&["n", "♞"], "", Squares, man(10), "black knights", "ne4"),
        here(&["p", "♟"], "", Squares, man(9), "black pawns", "pa-h2"),
        here(&["A", "△"], "", Squares, Piece(Pieces { all_white: true, ..Pieces::NONE }), "white pieces of any kind", "Aa-h8"),
        here(&["a", "▲"], "", Squares, Piece(Pieces { all_black: true, ..Pieces::NONE }), "black pieces of any kind", "#a < 4"),
        here(&["_", "□"], "", Squares, Piece(Pieces { list: PieceSet::EMPTY, ..Pieces::NONE }), "empty squares", "_e1"),
        here(&["◭"], "", Squares, Piece(Pieces { all_white: true, all_black: true, ..Pieces::NONE }),
            "pieces of any kind and colour, `[Aa]`", "◭e5"),
        here(&[".", "▦"], "", Squares, Sign, "all squares of the board; it is not a designator, so transforms do not change it", "Q attacks ."),
        here(&["[]"], "", Squares, Sign, "no square", "Q == []"),
    ] },
    Cql6Rows { title: "Transforms", about:
        "A transform makes copies of the filter to its right, such as mirrored or shifted ones; equal copies count once. If \
         the value of the filter is a set, the value of the transform is the union of the copies' sets; if it is a number, \
         the largest of the copies' numbers. If the filter is a condition, the transform matches if any copy matches. With \
         `count`, the value of the transform is the number of copies that match. With a range, the value is also the number \
         of copies that match; if this number is outside the range, the transform has no value.",
        words: &[
        here(&["flip", "✵", "flipdihedral", "dihedral"], EVERY, AsF, Transform(TransformKind::Flip),
            "F under all eight rotations and reflections of the board", "flip {Ra1 kh8}"),
        here(&["flipvertical"], EVERY, AsF, Transform(TransformKind::FlipVertical),
            "F and its mirror image in the line between the d- and the e-file, a<->h", "flipvertical Kc1"),
        here(&["fliphorizontal"], EVERY, AsF, Transform(TransformKind::FlipHorizontal),
            "F and its mirror image in the line between the ranks 4 and 5, 1<->8", "fliphorizontal Qd1"),
        here(&["rotate90"], EVERY, AsF, Transform(TransformKind::Rotate90), "F rotated by 0, 90, 180 and 270 degrees", "rotate90 {Ra1 ra8}"),
        here(&["rotate45"], EVERY, AsF, Transform(TransformKind::Rotate45),
            "F rotated by all multiples of 45 degrees, which changes only directions: F must not name squares", "rotate45 {up 1 K & r}"),
        here(&["flipcolor", "⬓"], EVERY, AsF, Transform(TransformKind::FlipColor),
            "F, and its mirror image 1<->8 with swapped colours", "flipcolor {Ra7 ka8}"),
        here(&["reversecolor"], "F", AsF, Transform(TransformKind::ReverseColor),
            "the mirror image 1<->8 of F with swapped colours, without F itself", "reversecolor Qh5"),
        here(&["shift"], EVERY, AsF, Transform(TransformKind::Shift),
            "F moved by any number of files and ranks, as long as each of its designators keeps a square on the board", "shift {Pa2 Pa3}"),
        here(&["shifthorizontal"], EVERY, AsF, Transform(TransformKind::ShiftHorizontal),
            "F moved to the left and to the right", "shifthorizontal {Pa2 Pa3}"),
        here(&["shiftvertical"], EVERY, AsF, Transform(TransformKind::ShiftVertical),
            "F moved up and down", "shiftvertical {Pa2 Pa3}"),
        here(&["notransform"], "F", AsF, Filter(|p, _| p.notransform()),
            "F as it is written: transforms around it do not change it", "flip {Ra1 notransform kg8}"),
        here(&["currenttransform"], "", Text, Filter(|p, _| Ok(p.leaf(T::Game(GameText::CurrentTransform(Vec::new()))))),
            "the names of the transforms that made this copy, the outermost first, such as `<reflect_v>`; `<>` for F as it is written",
            "flipvertical {Ra1 currenttransform == \"<reflect_v>\"}"),
    ] },
    Cql6Rows { title: "Directions", about:
        "The value of `up S` is the set of squares that lie above a square of S, whatever stands in between. A range limits the \
         distance: `up 1 S` contains the squares directly above a square of S, and `up 2 4 S` the squares two to four ranks \
         above a square of S. The numbers in a range can be from -7 to 7. Negative numbers go in the opposite direction, and 0 \
         is the square itself. The other directions work in the same way.",
        words: &[
        here(&["up"], "[RANGE] S", Squares, Direction(Dirs(4)), "the squares above S, towards rank 8", "up 1 P & p"),
        here(&["down"], "[RANGE] S", Squares, Direction(Dirs(64)), "the squares below S, towards rank 1", "down 1 p & P"),
        here(&["left"], "[RANGE] S", Squares, Direction(Dirs(16)), "the squares to the left of S, towards the a-file", "left 1 R & R"),
        here(&["right"], "[RANGE] S", Squares, Direction(Dirs(1)), "the squares to the right of S, towards the h-file", "right 1 R & R"),
        here(&["northeast"], "[RANGE] S", Squares, Direction(Dirs(2)), "the squares towards h8", "northeast 1 P & k"),
        here(&["northwest"], "[RANGE] S", Squares, Direction(Dirs(8)), "the squares towards a8", "northwest 1 P & k"),
        here(&["southeast"], "[RANGE] S", Squares, Direction(Dirs(128)), "the squares towards h1", "southeast 1 p & K"),
        here(&["southwest"], "[RANGE] S", Squares, Direction(Dirs(32)), "the squares towards a1", "southwest 1 p & K"),
        here(&["vertical"], "[RANGE] S", Squares, Direction(Dirs(4 | 64)), "up and down", "vertical 1 R & R"),
        here(&["horizontal"], "[RANGE] S", Squares, Direction(Dirs(1 | 16)), "left and right", "horizontal 1 Q & q"),
        here(&["orthogonal"], "[RANGE] S", Squares, Direction(Dirs(1 | 4 | 16 | 64)), "up, down, left and right", "orthogonal 1 k & Q"),
        here(&["diagonal"], "[RANGE] S", Squares, Direction(Dirs(2 | 8 | 32 | 128)), "the four diagonal directions", "diagonal 2 K & k"),
        here(&["maindiagonal"], "[RANGE] S", Squares, Direction(Dirs(2 | 32)), "both directions parallel to the diagonal a1-h8", "maindiagonal 1 B & k"),
        here(&["offdiagonal"], "[RANGE] S", Squares, Direction(Dirs(8 | 128)), "both directions parallel to the diagonal h1-a8", "offdiagonal 1 B & k"),
        here(&["anydirection"], "[RANGE] S", Squares, Direction(Dirs(255)), "all eight directions", "anydirection 1 k & Q"),
    ] },
    Cql6Rows { title: "Lines and attacks", about: "", words: &[
        here(&["attacks", "attack"], "S @ S", Squares, Inside,
            "the squares of the left set whose piece attacks a square of the right one", "N attacks k"),
        here(&["attackedby"], "S @ S", Squares, Inside,
            "the squares of the left set that are attacked by a piece on a square of the right one", "q attackedby N"),
        here(&["attacked"], "S @ by S", Squares, Inside, "`attackedby` in two words", "q attacked by N"),
        here(&["by"], "S attacked @ S", Squares, Inside, "the second word of `attacked by`", "q attacked by N"),
        here(&["->", "→"], "S @ S [@ S ...]", Squares, Sign,
            "`attacks`; with three or more sets, the sliding pieces of the first set on lines that meet the other sets in order, with nothing else on the way", "B -> n -> k"),
        here(&["<-", "←"], "S @ S [@ S ...]", Squares, Sign, "`attackedby`; chains work like those of `->`, read from right to left", "k <- n <- B"),
        here(&["between"], "@(S S)", Squares, Filter(|p, _| p.between()),
            "the squares between a square of one set and a square of the other that lie on one line", "between(Q k) & n"),
        here(&["ray"], "[DIRECTION ...] (S S ...)", Squares, Filter(|p, _| p.ray(false)),
            "the last squares of lines that begin in the first set and meet the other sets in order, with nothing else on the way", "ray diagonal (Q k)"),
        here(&["xray"], "[DIRECTION ...] (S S ...)", Squares, Filter(|p, _| p.ray(true)),
            "`ray` whose first piece slides along the line; the same as `ray attack`", "xray (R q k)"),
        here(&["pin"], "[from S] [through S] [to S]", Squares, Filter(|p, _| p.pin()),
            "pins: `from` is the pinning piece, `through` the pinned one, `to` the one behind it (default: a king); the value is the part written first, or else `through`",
            "pin through n to k"),
        here(&["through"], "pin @ S", NoValue, Inside, "in `pin`: the pinned pieces", "pin through q to k"),
        here(&["light"], "S", Squares, Filter(|p, _| p.shade(true)), "the light squares of S", "light B"),
        here(&["dark"], "S", Squares, Filter(|p, _| p.shade(false)), "the dark squares of S", "not dark B"),
        here(&["makesquare"], "@(N N) | @ TEXT", Squares, Filter(|p, _| p.makesquare()),
            "the square with this file and rank (numbers from 1 to 8) or this name; empty if there is no such square", "makesquare(5 4) & N"),
    ] },
    Cql6Rows { title: "Pawns and mates", about:
        "Transforms do not change the filters in this table. A *man* is a piece or a pawn. [Pure mates](mates.md) has the \
         exact rules for mates and stalemates.", words: &[
        here(&["passedpawns"], "", Squares, leaf!(S::Pawns(PawnKind::Passed)),
            "pawns of either side with no enemy pawn before them on their file or the adjacent ones", "passedpawns & Pa-h6"),
        here(&["isolatedpawns"], "", Squares, leaf!(S::Pawns(PawnKind::Isolated)),
            "pawns without a pawn of their side on an adjacent file", "isolatedpawns & d4"),
        here(&["doubledpawns"], "", Squares, leaf!(S::Pawns(PawnKind::Doubled)),
            "pawns with another pawn of their side on the same file", "doubledpawns & P"),
        here(&["connectedpawns"], "", Squares, leaf!(S::Pawns(PawnKind::Connected)),
            "pawns with a pawn of their side on an adjacent file, on any rank", "connectedpawns == []"),
        here(&["puremate"], "", Squares, leaf!(pure(PureKind::Pure, true)),
            "the squares of the men that take part in a mate in which only one reason keeps the king from each square next to it", "puremate"),
        here(&["modelmate"], "", Squares, leaf!(pure(PureKind::Model, true)),
            "`puremate` in which all queens, rooks, bishops and knights of the side that gives mate take part", "modelmate"),
        here(&["idealmate"], "", Squares, leaf!(pure(PureKind::Ideal, true)),
            "`puremate` in which all men on the board take part", "not idealmate"),
        here(&["purestalemate"], "", Squares, leaf!(pure(PureKind::Pure, false)),
            "the squares of the men that take part in a stalemate in which only one reason keeps the king from each square next to it", "not purestalemate"),
        here(&["modelstalemate"], "", Squares, leaf!(pure(PureKind::Model, false)),
            "`purestalemate` in which all queens, rooks, bishops and knights of the side that gives stalemate take part", "not modelstalemate"),
        here(&["idealstalemate"], "", Squares, leaf!(pure(PureKind::Ideal, false)),
            "`purestalemate` in which all men on the board take part", "not idealstalemate"),
        refused(&["arrow"], "CQL 6.2 reserves this word and does not use it; write `->` for attacks"),
    ] },
];

const fn pure(kind: PureKind, mate: bool) -> S {
    S::Pure { kind, mate }
}
