//! Words that join filters: conditions, sets, comparisons, variables, loops.

use super::{Reading::*, Rows, Value::*, here, later, later_as, refused};

#[rustfmt::skip]
pub(super) const GROUPS: &[Rows] = &[
    Rows { title: "Joining conditions", about:
        "Any filter is a condition: a set matches if it has a square, a number if it has a value. Filters in braces, `{F G}`, all match; \
         the value is that of the last. Parentheses hold one filter.",
        words: &[
        here(&["and"], "F @ F", Condition, Inside, "both match", "check and wtm"),
        here(&["or"], "F @ F", Condition, Inside, "one of both matches", "Qd8 or qd1"),
        here(&["not"], "F", Condition, Filter(|p, _| p.not()), "F does not match", "not Qa-h8"),
        here(&["if"], "F [then] F [else F]", AsF, Filter(|p, _| p.condition()),
            "the second filter if the first matches, else the third, or true where there is none", "if wtm then Qh5 else qh4"),
        here(&["then"], "if F @ F [else F]", NoValue, Inside, "may stand before the second filter of `if`", "if wtm then Qh5 else qh4"),
        here(&["else"], "if F [then] F @ F", NoValue, Inside, "stands before the third filter of `if`", "if wtm then Qh5 else qh4"),
        here(&["in"], "S @ S, T @ T", Condition, Inside, "all squares of the left set are in the right one; a text is a part of another", "R in a-h1"),
        here(&["=="], "S @ S, N @ N, T @ T", Condition, Sign, "both are equal; a set beside a number counts its squares", "R == 1"),
        here(&["!=", "≠"], "S @ S, N @ N, T @ T", Condition, Sign, "both differ", "#B != #b"),
        here(&["<"], "N @ N, T @ T", Number, Sign, "less than; the value is the left number, as of `==` and the others", "#P < 4"),
        here(&["<=", "≤"], "N @ N, T @ T", Number, Sign, "at most", "#P <= 4"),
        here(&[">"], "N @ N, T @ T", Number, Sign, "more than", "#P > 7"),
        here(&[">=", "≥"], "N @ N, T @ T", Number, Sign, "at least", "#Q >= 1"),
        later(&["equal"], "@(F F)", Condition, "both have the same value"),
        later(&["assert"], "F", Condition, "ends the run where F does not match"),
        later(&["cql_abort"], "", Condition, "ends the run"),
        later(&["cql_assertvariations"], "TEXT", Condition, "ends the run where side lines are not read"),
    ] },
    Rows { title: "Joining sets", about: "", words: &[
        here(&["|", "∪"], "S @ S", Squares, Sign, "the squares of either set", "(Q | q) == []"),
        here(&["&", "∩"], "S @ S", Squares, Sign, "the squares of both sets", "R & a-h7"),
        here(&["~"], "S", Squares, Sign, "the squares that are not in S", "~A == 56"),
    ] },
    Rows { title: "Variables and loops", about:
        "A variable holds a set of squares or a number, and keeps the type of its first value.",
        words: &[
        here(&["="], "NAME @ S | N", Condition, Sign, "gives a variable a value; matches if there is one", "{men = #A men == 4}"),
        here(&["+="], "NAME @ N", Condition, Sign, "adds to a variable", "{men = #A men += #a men == 7}"),
        here(&["-="], "NAME @ N", Condition, Sign, "subtracts from a variable", "{men = #P men -= #p men == 1}"),
        here(&["*="], "NAME @ N", Condition, Sign, "multiplies a variable", "{men = #R men *= 2 men == 2}"),
        here(&["/="], "NAME @ N", Condition, Sign, "divides a variable", "{men = #A men /= 2 men == 4}"),
        here(&["%="], "NAME @ N", Condition, Sign, "the remainder of a variable", "{men = #A men %= 10 men == 0}"),
        here(&["|="], "NAME @ S", Condition, Sign, "adds squares to a variable", "{both = Q both |= q both == 1}"),
        here(&["&="], "NAME @ S", Condition, Sign, "keeps the squares of a variable that are in S", "{men = R men &= a-h7 men}"),
        later_as("the conditional assignment `=?`", "x =? R", &["=?"], "NAME @ S", Condition, "assigns if S has a square"),
        here(&["square"], "[all] NAME in S F", Squares, Filter(|p, _| p.square_word()),
            "the squares of S for which F matches, with NAME as the square; with `all`: F matches for every square of S", "square s in P {up 1 s & p}"),
        here(&["[element]", "∊", "∈"], "NAME @ S F", Squares, Sign, "`square NAME in S F` in short", "s [element] P {up 1 s & p}"),
        here(&["[forall]", "∀"], "@ NAME ∊ S F", Condition, Sign, "`square all NAME in S F` in short", "[forall] s ∊ R {s attacks R}"),
        later(&["loop"], "F", Condition, "repeats F until it does not match"),
        later(&["while"], "(F) F", Condition, "repeats the second filter while the first matches"),
        later(&["function"], "NAME(NAME ...) {F ...}", NoValue, "names a filter with parameters"),
        later(&["dictionary"], "NAME", NoValue, "names a table from keys to values"),
        later(&["local"], "dictionary NAME", NoValue, "a dictionary that is emptied before each game"),
        later(&["persistent"], "[quiet] NAME ...", NoValue, "variables that keep their values from game to game"),
        later(&["atomic"], "NAME = F", NoValue, "a variable that goes with the best path"),
        later(&["isbound"], "NAME", Condition, "the variable has a value"),
        later(&["isunbound"], "NAME", Condition, "the variable has no value"),
        later(&["unbind"], "NAME", Condition, "takes the value from a variable"),
        later(&["piece"], "[all] NAME in S F, NAME = S", Squares, "a variable that follows one piece through the game"),
        later(&["pieceid"], "S", Number, "the number of a piece among those of the game's first position"),
        refused(&["forall"], "write `[forall]`, `∀` or `square all`"),
        refused(&["transform"], "reserved by CQL 6.2 and without a use; transforms have names of their own, as `flip`"),
        refused(&["any"], "reserved by CQL 6.2 and without a use"),
        refused(&["extension"], "reserved by CQL 6.2 and without a use"),
    ] },
    Rows { title: "Counting", about: "", words: &[
        here(&["count"], "TRANSFORM @ F, find @ F", Number, Inside, "how many copies, or positions of the game, match", "flip count Ra1 > 0"),
        here(&["all"], "find @ F, square @ NAME in S F", NoValue, Inside, "all positions of the game, all squares of a set", "square all s in R {s attacks R}"),
    ] },
];
