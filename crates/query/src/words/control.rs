//! Words that join filters: conditions, sets, comparisons, variables, loops.

use super::{Cql6Rows, WordReading::*, WordValue::*, here, leaf, refused};
use crate::{parser::C, tree::GameCondition};

#[rustfmt::skip]
pub(super) const GROUPS: &[Cql6Rows] = &[
    Cql6Rows { title: "Joining conditions", about:
        "Any filter can be used as a condition: a set matches if it is not empty, and a number matches if it has a value. But \
         a literal number, such as `3`, is refused. Braces contain several filters: `{F G}` matches if both F and G match, \
         and its value is that of the last filter. Parentheses contain one filter.",
        words: &[
        here(&["and"], "F @ F", Condition, Inside, "both match", "check and wtm"),
        here(&["or"], "F @ F", Condition, Inside, "at least one of the two matches", "Qd8 or qd1"),
        here(&["not"], "F", Condition, Filter(|p, _| p.not()), "F does not match", "not Qa-h8"),
        here(&["if"], "F [then] F [else F]", AsF, Filter(|p, _| p.condition()),
            "the second filter if the first matches, otherwise the third; true if there is no third", "if wtm then Qh5 else qh4"),
        here(&["then"], "if F @ F [else F]", NoValue, Inside, "may stand before the second filter of `if`", "if wtm then Qh5 else qh4"),
        here(&["else"], "if F [then] F @ F", NoValue, Inside, "stands before the third filter of `if`", "if wtm then Qh5 else qh4"),
        here(&["in"], "S @ S, T @ T", Condition, Inside, "all squares of the left set are in the right set, or the left string is a part of the right string", "R in a-h1"),
        here(&["=="], "S @ S, N @ N, T @ T", Condition, Sign, "both are equal; if a set is compared with a number, its squares are counted", "R == 1"),
        here(&["!=", "≠"], "S @ S, N @ N, T @ T", Condition, Sign, "the two differ, or one of them has no value", "#B != #b"),
        here(&["<"], "N @ N, T @ T", Number, Sign, "less than; the value is the left operand, as in all comparisons of numbers or strings except `!=`", "#P < 4"),
        here(&["<=", "≤"], "N @ N, T @ T", Number, Sign, "at most", "#P <= 4"),
        here(&[">"], "N @ N, T @ T", Number, Sign, "more than", "#P > 7"),
        here(&[">=", "≥"], "N @ N, T @ T", Number, Sign, "at least", "#Q >= 1"),
        here(&["equal"], "@(F F)", Condition, Filter(|p, _| p.equal()), "both have the same value", "equal(#R #r)"),
        here(&["assert"], "F", Condition, Filter(|p, _| p.assert()), "ends the run at a position where F does not match (or, if F is a variable, where the variable has no value)", "assert K == 1"),
        here(&["cql_abort"], "", Condition, leaf!(C::Game(GameCondition::Abort)), "ends the run", "if K == 9 then cql_abort"),
        here(&["cql_assertvariations"], "TEXT", Condition, Filter(|p, _| p.assert_variations()),
            "refuses the query with this message if side lines are not searched", "cql(variations) cql_assertvariations \"side lines are needed\""),
    ] },
    Cql6Rows { title: "Joining sets", about: "", words: &[
        here(&["|", "∪"], "S @ S", Squares, Sign, "the squares of either set", "(Q | q) == []"),
        here(&["&", "∩"], "S @ S", Squares, Sign, "the squares of both sets", "R & a-h7"),
        here(&["~"], "S", Squares, Sign, "the squares that are not in S", "~A == 56"),
    ] },
    Cql6Rows { title: "Variables and loops", about:
        "The value of a variable is a set of squares, a number, a string or a position. All values of a variable have the same \
         type as its first value. A variable keeps its value from position to position until the game ends.",
        words: &[
        here(&["="], "NAME @ S | N | T | P", Condition, Sign, "assigns a value to a variable; matches if the right side has a value", "{men = #A men == 4}"),
        here(&["+="], "NAME @ N | T", Condition, Sign, "adds to a variable", "{men = #A men += #a men == 7}"),
        here(&["-="], "NAME @ N", Condition, Sign, "subtracts from a variable", "{men = #P men -= #p men == 1}"),
        here(&["*="], "NAME @ N", Condition, Sign, "multiplies a variable", "{men = #R men *= 2 men == 2}"),
        here(&["/="], "NAME @ N", Condition, Sign, "divides a variable", "{men = #A men /= 2 men == 4}"),
        here(&["%="], "NAME @ N", Condition, Sign, "sets a variable to its remainder after division by N", "{men = #A men %= 10 men == 0}"),
        here(&["|="], "NAME @ S", Condition, Sign, "adds squares to a variable", "{both = Q both |= q both == 1}"),
        here(&["&="], "NAME @ S", Condition, Sign, "keeps the squares of a variable that are in S", "{men = R men &= a-h7 men}"),
        here(&["=?"], "NAME @ S", Condition, Sign, "assigns S to the variable if S is not empty; otherwise assigns nothing and does not match", "{men =? Qa-h8 #men == 1}"),
        here(&["square"], "[all] NAME in S F", Squares, Filter(|p, _| p.square_word()),
            "the squares of S for which F matches, where NAME is the square in F; with `all`, a condition: F matches for every square of S", "square s in P {up 1 s & p}"),
        here(&["[element]", "∊", "∈"], "NAME @ S F", Squares, Sign, "short form of `square NAME in S F`", "s [element] P {up 1 s & p}"),
        here(&["[forall]", "∀"], "@ NAME ∊ S F", Condition, Sign, "short form of `square all NAME in S F`", "[forall] s ∊ R {s attacks R}"),
        here(&["loop"], "F", Condition, Filter(|p, _| p.loop_word()), "repeats F until it does not match; matches if F matched at least once", "{x = 0 loop {x < #R x += 1} x == 2}"),
        here(&["while"], "(F) F", Condition, Filter(|p, _| p.while_word()),
            "repeats the second filter while the first one matches; if the first is `T ~~ TEXT`, evaluates the second once for each match in T", "{x = 0 while (x < #R) x += 1 x == 2}"),
        here(&["function"], "NAME(NAME ...) {F ...}", NoValue, Filter(|p, word| p.misplaced_declaration(word)),
            "defines a filter with parameters; each call of the function is replaced by this filter", "function twice(s) {#s == 2} twice(R)"),
        here(&["dictionary"], "NAME", NoValue, Filter(|p, word| p.misplaced_declaration(word)),
            "declares a table that lasts until the run ends: `D[k] = v` sets the value of a key, `D[k]` reads it, `#D` counts the keys", "dictionary D D[ply] = K #D == 1"),
        here(&["local"], "dictionary NAME", NoValue, Filter(|p, word| p.misplaced_declaration(word)),
            "a dictionary that is emptied before each game", "local dictionary D D[ply] = K #D == 1"),
        here(&["persistent"], "[quiet] NAME = F", Condition, Filter(|p, _| p.persistent()),
            "a variable that keeps its value from game to game, begins as 0, \"\" or [], and is printed at the end", "{persistent x += 1 x == 3}"),
        here(&["atomic"], "NAME = F", Condition, Filter(|p, _| p.atomic()), "a variable that keeps only the changes made on the `path` that is found; others are undone when the search abandons a way", "{atomic x = #R x == 2}"),
        here(&["isbound"], "NAME", Condition, Filter(|p, word| p.is_bound(word)), "the variable has a value", "{x = 1 isbound x}"),
        here(&["isunbound"], "NAME", Condition, Filter(|p, word| p.is_bound(word)), "the variable has no value", "{if isunbound x {x = 0} x += 1 x == 3}"),
        here(&["unbind"], "NAME | NAME[F]", Condition, Filter(|p, _| p.unbind()),
            "removes the value of a variable, one entry of a dictionary, or all entries of a dictionary", "{x = 1 unbind x isunbound x}"),
        here(&["piece"], "[all] NAME in S F, NAME = S", Squares, Filter(|p, _| p.piece_word()),
            "like `square`, but NAME follows a piece through the game; `NAME = S` sets it to the only piece on S; `◭X ∊ S F` and `◭X = S` are short forms",
            "piece X in Nb1 {find X & f3}"),
        here(&["pieceid"], "S", Number, Filter(|p, _| p.piece_id()),
            "the number, from 0, of the piece on S among the pieces of the game's first position", "pieceid Ke1 == 4"),
        refused(&["forall"], "write `[forall]`, `∀` or `square all`"),
        refused(&["transform"], "CQL 6.2 reserves this word and does not use it; each transform has its own name, such as `flip`"),
        refused(&["any"], "a word of CQL 5; CQL 6.2 has `--` for any move and `true` for any position"),
        refused(&["extension"], "CQL 6.2 reserves this word and does not use it"),
    ] },
    Cql6Rows { title: "Counting", about: "", words: &[
        here(&["count"], "TRANSFORM @ F, find @ F", Number, Inside, "the number of copies that match; in `find`, the number of positions that match", "flip count Ra1 > 0"),
        here(&["all"], "find @ F, square @ NAME in S F", NoValue, Inside, "in `find`: counts all positions that match; in `square`: F must match for all squares of S", "square all s in R {s attacks R}"),
    ] },
];
