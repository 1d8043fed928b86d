//! The words for properties of the whole position, for numbers, for text, and for a game's tags and result.

use shakmaty::Color;

use super::{Cql6Rows, Parameter, WordReading::*, WordValue::*, here, leaf, refused};
use crate::parser::{C, N};

#[rustfmt::skip]
pub(super) const GROUPS: &[Cql6Rows] = &[
    Cql6Rows { title: "The position", about: "", words: &[
        here(&["true"], "", Condition, leaf!(C::Bool(true)), "matches every position", "true"),
        here(&["false"], "", Condition, leaf!(C::Bool(false)), "matches no position", "not false"),
        here(&["check"], "", Condition, leaf!(C::Check), "the side to move is in check", "check"),
        here(&["mate"], "", Condition, leaf!(C::Mate), "the side to move is mated; `N--(mate)` is a move of a knight that mates", "mate"),
        here(&["stalemate"], "", Condition, leaf!(C::Stalemate), "the side to move is stalemated", "not stalemate"),
        here(&["initial"], "", Condition, leaf!(C::Initial), "the position before the first move of the game", "initial"),
        here(&["terminal"], "", Condition, leaf!(C::Terminal), "the position after the last move of the game", "terminal"),
        here(&["wtm"], "", Condition, leaf!(C::ToMove(Color::White)), "White is to move", "wtm"),
        here(&["btm"], "", Condition, leaf!(C::ToMove(Color::Black)), "Black is to move", "btm"),
        here(&["fen"], "[TEXT]", Condition, Filter(|p, _| p.fen_word()),
            "the board equals that of this FEN, in which `A`, `a`, `_` and `.` mean the same as in designators; without TEXT, the position as FEN", "fen \"......k./8/8/8/8/8/8/.......K\" or Kg1"),
    ] },
    Cql6Rows { title: "Numbers", about:
        "A filter whose value is a number sometimes has no value, for example `rank R` if there are two rooks. Then the filter does \
         not match, and neither does a comparison with it, except by `!=`.",
        words: &[
        here(&["white"], "", Number, leaf!(N::ColorValue(Color::White)), "1, the value of `sidetomove` for White", "sidetomove == white"),
        here(&["black"], "", Number, leaf!(N::ColorValue(Color::Black)), "-1, the value of `sidetomove` for Black", "sidetomove == black"),
        here(&["sidetomove"], "", Number, leaf!(N::SideToMove), "1 if White is to move, -1 if Black is", "sidetomove == 1"),
        here(&["ply"], "", Number, leaf!(N::Ply), "the half-moves played so far, 0 at the start", "ply == 20"),
        here(&["movenumber"], "", Number, leaf!(N::MoveNumber), "the number of the move, 1 at the start of the game", "movenumber == 12"),
        here(&["gamenumber"], "", Number, leaf!(N::GameNumber), "the number of the game in the database, from 1", "gamenumber <= 3")
            .and_parameter(Parameter::Games),
        here(&["year"], "", Number, leaf!(N::Year), "the year of the game's date", "year >= 2000"),
        here(&["elo"], "[white | black]", Number, Filter(|p, _| p.elo()), "the rating of White or Black; without a colour, the higher of the two", "elo white > 2400"),
        here(&["#"], "S, @ T, @ NAME", Number, Sign, "the number of squares of a set, of bytes of a string, or of keys of a dictionary", "#N == 2"),
        here(&["power"], "S", Number, Filter(|p, _| p.of_set(N::Power)),
            "the value of the pieces on S: queens 9, rooks 5, bishops and knights 3, pawns 1", "power A > power a"),
        here(&["rank"], "S", Number, Filter(|p, _| p.of_set(N::Rank)), "the rank of S, 1 to 8, if S is one square", "rank K > 4"),
        here(&["file"], "S", Number, Filter(|p, _| p.of_set(N::File)), "the file of S, 1 to 8, if S is one square", "file K == file k"),
        here(&["type"], "S", Number, Filter(|p, _| p.of_set(|of| N::ContentType { signed: false, of })),
            "the kind of piece on S, if S is one square: 0 none, 1 pawn, 2 knight, 3 bishop, 4 rook, 5 queen, 6 king", "type e4 == 2"),
        here(&["colortype"], "S", Number, Filter(|p, _| p.of_set(|of| N::ContentType { signed: true, of })),
            "`type`, negative for a black piece", "colortype e5 == -2"),
        here(&["similar"], "TEXT", Number, BeforeText(|p, _| p.similar()),
            "the number of pieces and pawns that stand as in this FEN; `A` and `a` are any of one colour, `_` an empty square; digits, `.`, `?` do not count (not in CQL)",
            "flipcolor similar \"5rk1/5ppp/8/8/8/8/8/8\" >= 5"),
        here(&["+"], "N @ N, T @ T", AsF, Sign, "the sum of two numbers, or two strings joined", "#R + #r == 3"),
        here(&["-"], "N @ N, @ N", Number, Sign, "the difference; with one number, its negative", "#P - #p > 1"),
        here(&["*"], "N @ N", Number, Sign, "the product", "#R * #r == 4"),
        here(&["/"], "N @ N", Number, Sign, "the quotient, rounded towards 0; no value if the right number is 0", "ply / 10 == 4"),
        here(&["%"], "N @ N", Number, Sign, "the remainder, with the sign of the left number; no value if the right one is 0", "movenumber % 10 == 0"),
        here(&["abs"], "N", Number, Filter(|p, _| p.of_number(N::Abs)), "the number without its sign", "abs (#P - #p) > 1"),
        here(&["sqrt"], "N", Number, Filter(|p, _| p.of_number(N::Sqrt)), "the square root, rounded down; no value for a negative number", "sqrt #A == 2"),
        here(&["max"], "@(N N ...) | @(T T ...)", AsF, Filter(|p, _| p.extremum(true)), "the largest of the numbers or strings that have a value", "max(#R #r) == 0"),
        here(&["min"], "@(N N ...) | @(T T ...)", AsF, Filter(|p, _| p.extremum(false)), "the smallest of the numbers or strings that have a value", "min(#N #n) == 2"),
    ] },
    Cql6Rows { title: "The game and its tags", about:
        "If the form of a filter in this table contains `[TEXT]`, the filter without TEXT is a string: `player` is the name of a \
         player. With TEXT, it is a condition: `player \"Carlsen\"` matches if the name contains `Carlsen`.",
        words: &[
        here(&["result"], "1-0 | 0-1 | 1/2-1/2", Condition, Filter(|p, _| p.result()), "the result of the game", "result 1-0")
            .and_parameter(Parameter::Result),
        here(&["player"], "[white | black] [TEXT]", Text, Filter(|p, _| p.player()), "the name of White or Black; without a colour, both names", "player white \"A\""),
        here(&["event"], "[TEXT]", Text, Filter(|p, _| p.tag("Event")), "the tag Event", "event \"Bundesliga\""),
        here(&["site"], "[TEXT]", Text, Filter(|p, _| p.tag("Site")), "the tag Site", "site \"GER\""),
        here(&["date"], "[TEXT]", Text, Filter(|p, _| p.tag("Date")), "the tag Date", "date \"2014\""),
        here(&["eventdate"], "[TEXT]", Text, Filter(|p, _| p.tag("EventDate")), "the tag EventDate", "eventdate \"2011\""),
        here(&["eco"], "[TEXT]", Text, Filter(|p, _| p.tag("ECO")), "the tag ECO, the code of the opening", "eco \"B\""),
        here(&["tag"], "TEXT", Text, Filter(|p, _| p.any_tag()), "the value of a tag", "tag \"Round\" == \"1\""),
        here(&["lastgamenumber"], "", Number, Filter(|p, _| p.last_game_number()), "the number of the last game of the database; games in PGN are counted before the search", "gamenumber != lastgamenumber"),
        here(&["settag"], "@(TEXT T)", Condition, Filter(|p, _| p.set_tag()), "sets a tag of the game in the output", "settag(\"Theme\" \"check\")"),
        here(&["hhdb"], "[special] prize | hm | commendation | award", Number, Filter(|p, _| p.study_award()),
            "the place of a study's award (2 for second prize), read from the tag Event (`2.p`, `sp.hm`); 1 if it names no place, 0 for a special award",
            "hhdb prize == 2"),
    ] },
    Cql6Rows { title: "Text", about:
        "Text in quotation marks is used as it is, backslashes included. Outside quotation marks, `\\n`, `\\t`, `\\r`, `\\\"` \
         and `\\\\` are strings of one character. If T is a string, `T[0]` is its first letter, `T[1]` its second letter, and \
         `T[1:3]` consists of its second and third letters. Negative numbers count from the end of the string.", words: &[
        here(&["typename"], "S", Text, Filter(|p, word| p.letter(word)),
            "the letter of the piece on S, if S is one square: `K`, ..., `P`, or `_` for an empty square", "typename e4 == \"N\""),
        here(&["piecename"], "S", Text, Filter(|p, word| p.letter(word)), "`typename`, with small letters for black pieces", "piecename e5 == \"n\""),
        here(&["str"], "@(F ...) | @ F", Text, Filter(|p, _| p.str()), "the values of the filters as one string", "str(\"ply \" ply) == \"ply 3\""),
        here(&["int"], "T", Number, Filter(|p, _| p.int()), "the number that the string stands for", "int date[8:] == 13"),
        here(&["ascii"], "N | T", AsF, Filter(|p, _| p.ascii()), "the letter with this code, or the code of this letter", "ascii 66 == \"B\""),
        here(&["uppercase"], "T", Text, Filter(|p, word| p.case(word)), "the string in capital letters", "\"CARLSEN\" in uppercase player white"),
        here(&["lowercase"], "T", Text, Filter(|p, word| p.case(word)), "the string in small letters", "\"carlsen\" in lowercase player white"),
        here(&["indexof"], "@(T T)", Number, Filter(|p, _| p.index_of()), "the place of the first string in the second, counted from 0", "indexof(\"r\" player white) > 2"),
        here(&["string"], "NAME in NAME F", Condition, Filter(|p, _| p.string_loop()), "evaluates F for each key of a dictionary; in F, the first NAME is the key", "local dictionary D D[fen] = ply string s in D {D[s] == 3}"),
        here(&["~~"], "T @ TEXT", Text, Sign, "the part of the string that a regular expression finds; then `\\1` is the string of its first group, and `\\-1` the place of that string", "player white ~~ \"^(.*),\" \\1 == \"Carlsen\""),
        refused(&["substring"], "CQL 6.2 reserves this word and does not use it; `TEXT in T` matches if a string contains another"),
    ] },
];
