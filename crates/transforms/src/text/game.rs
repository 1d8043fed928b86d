//! Writes operations that need more of a game than one position, such as moves, variations and paths, as CQL text.
//!
//! Dictionaries are named `dict0`, `dict1`, ..., and sorts `sort0`, `sort1`, ... Their declarations are written with the query, not
//! with its filters.

use std::fmt::Write as _;

use super::{designator, infix, list, literal, name, prefix, text, tight};
use crate::{Expanded, Filter, FilterRef, Number, Squares};
use orbit_core::board::{Code, PieceSet};
use orbit_query::tree::{
    Assigned, Chain, DictionaryId, Echo, Edge, Elsewhere, Focus, GameCondition, GameNumber, GamePosition,
    GameSquares, GameText, Kind, Line, LineStep, Move, MoveOf, MoveValue, NumberOp, Path, PathStep, Pieces,
    PositionOrder, Promotion, Ref, Sibling, SortId, Special,
};

/// For an operation that needs more of a game than one position, returns true if its text can be an operand without parentheses.
/// Returns `None` for all other operations.
pub(super) fn stands_alone(filter: FilterRef) -> Option<bool> {
    use orbit_query::tree::{ConditionOp, PositionOp, SquaresOp, TextOp};
    Some(match filter {
        Ref::Condition(f) => match f.op() {
            ConditionOp::Game(op) => matches!(
                op,
                GameCondition::Sibling(_)
                    | GameCondition::Arrived(_)
                    | GameCondition::NullMove
                    | GameCondition::Mainline
                    | GameCondition::Variation
                    | GameCondition::VirtualMainline
                    | GameCondition::Try
                    | GameCondition::Ancestor { .. }
                    | GameCondition::RemoveComment
                    | GameCondition::SetTag { .. }
                    | GameCondition::WriteFile { .. }
                    | GameCondition::Equal(..)
                    | GameCondition::Abort
            ),
            _ => return None,
        },
        Ref::Squares(f) => match f.op() {
            SquaresOp::Game(op) => matches!(
                op,
                GameSquares::From
                    | GameSquares::To
                    | GameSquares::EnPassantSquare
                    | GameSquares::Piece(_)
                    | GameSquares::Entry { .. }
            ),
            _ => return None,
        },
        Ref::Number(f) => match f.op() {
            NumberOp::Game(op) => matches!(
                op,
                GameNumber::PathCount
                    | GameNumber::PathCountUnfocused
                    | GameNumber::PositionId
                    | GameNumber::Depth
                    | GameNumber::Distance(..)
                    | GameNumber::IndexOf(..)
                    | GameNumber::GroupStart(_)
                    | GameNumber::LastGameNumber
                    | GameNumber::Entry { .. }
            ),
            _ => return None,
        },
        Ref::Text(f) => match f.op() {
            TextOp::Game(op) => {
                matches!(op, GameText::Entry { .. } | GameText::Written(_) | GameText::Group(_))
            }
            _ => return None,
        },
        Ref::Position(f) => match f.op() {
            PositionOp::Game(op) => matches!(
                op,
                GamePosition::Entry { .. }
                    | GamePosition::Current
                    | GamePosition::Parent
                    | GamePosition::Child(_)
                    | GamePosition::LastCommonAncestor(..)
                    | GamePosition::PathStart
                    | GamePosition::PathLast
            ),
            _ => return None,
        },
    })
}

pub(super) fn condition(op: &GameCondition<Expanded>) -> String {
    use GameCondition as C;
    match op {
        C::At { at, of } => format!("{}:{}", tight(at), tight(of)),
        C::Edge { edge: of, target } => edge(of, target.as_ref()),
        C::Move(of) => moves(of),
        C::Sibling(of) => sibling(*of).into(),
        C::Arrived(of) => special(*of).into(),
        C::NullMove => "nullmove".into(),
        C::Mainline => "mainline".into(),
        C::Variation => "variation".into(),
        C::VirtualMainline => "virtualmainline".into(),
        C::Try => "try".into(),
        C::Ancestor { ancestor, of } => list("ancestor(", [ancestor, of], ")"),
        C::Echo(of) => echo(of),
        C::BindPiece { var, of } => format!("piece {}={}", name(*var), tight(of)),
        C::PieceAll { var, domain, body } => {
            format!("piece all {} in {} {}", name(*var), tight(domain), tight(body))
        }
        C::AssignSome { var, of } => format!("{}=?{}", name(*var), tight(of)),
        C::SetEntry { dictionary, key, value } => format!("{}={}", entry(*dictionary, key), assigned(value)),
        C::SetSlice { var, from, to, value } => {
            format!("{}{}={}", name(*var), slice(from.as_ref(), to.as_ref()), tight(value))
        }
        C::Unbind(var) => format!("unbind {}", name(*var)),
        C::Forget { dictionary, key: Some(key) } => format!("unbind {}", entry(*dictionary, key)),
        C::Forget { dictionary, key: None } => format!("unbind {}", dictionary_name(*dictionary)),
        C::IsBound { var, bound } => {
            format!("{} {}", if *bound { "isbound" } else { "isunbound" }, name(*var))
        }
        C::Assert(of) => prefix("assert", of),
        C::Loop(of) => prefix("loop", of),
        C::While { condition, body } => format!("while ({}) {}", text(condition.node()), tight(body)),
        C::WhileMatch { text, pattern, body } => {
            format!("while ({} ~~ {}) {}", tight(text), literal(pattern), tight(body))
        }
        C::KeyLoop { dictionary, var, body } => {
            format!("{}[element]{} {}", name(*var), dictionary_name(*dictionary), tight(body))
        }
        C::Comment(of) => list("comment(", of, ")"),
        C::Message { quiet, of } => list(if *quiet { "message quiet(" } else { "message(" }, of, ")"),
        C::SetTag { name, value } => format!("settag({} {})", literal(name), tight(value)),
        C::RemoveComment => "removecomment".into(),
        C::WriteFile { name, value } => list("writefile(", [name, value], ")"),
        C::Equal(a, b) => list("equal(", [a, b], ")"),
        C::Glyph(glyph) => format!("originalcomment \"${glyph}\""),
        C::Abort => "cql_abort".into(),
    }
}

pub(super) fn squares(op: &GameSquares<Expanded>) -> String {
    use GameSquares as S;
    match op {
        S::Elsewhere(of) => elsewhere(of),
        S::Entry { dictionary, key } => entry(*dictionary, key),
        S::From => "from".into(),
        S::To => "to".into(),
        S::EnPassantSquare => "enpassantsquare".into(),
        S::Move(of) => moves(of),
        S::Piece(var) => name(*var),
        S::PieceLoop { var, domain, body } => {
            format!("piece {} in {} {}", name(*var), tight(domain), tight(body))
        }
        S::SameContents(a, b) => infix("&", a, b),
        S::SquareOf(of) => prefix("makesquare", of),
    }
}

pub(super) fn number(op: &GameNumber<Expanded>) -> String {
    use GameNumber as N;
    match op {
        N::Elsewhere(of) => elsewhere(of),
        N::Entry { dictionary, key } => entry(*dictionary, key),
        N::Sort { sort, of } => sorted(*sort, of),
        N::CountMoves { edge: of, target } => format!("countmoves {}", edge(of, target.as_ref())),
        N::Move(of) => moves(of),
        N::Line(of) => line(of, false),
        N::Path(of) => path(of, false),
        N::PathCount => "pathcount".into(),
        N::PathCountUnfocused => "pathcountunfocused".into(),
        N::PositionId => "positionid".into(),
        N::Depth => "depth".into(),
        N::Distance(a, b) => list("distance(", [a, b], ")"),
        N::ConsecutiveMoves { first, second, quiet, range: within } => {
            let quiet = if *quiet { "quiet " } else { "" };
            format!("consecutivemoves {quiet}{}({} {})", range(within.as_ref()), name(*first), name(*second))
        }
        N::Echo(of) => echo(of),
        N::PieceId(of) => prefix("pieceid", of),
        N::Size(dictionary) => format!("#{}", dictionary_name(*dictionary)),
        N::Length(of) => format!("#{}", tight(of)),
        N::IndexOf(a, b) => list("indexof(", [a, b], ")"),
        N::ToNumber(of) => prefix("int", of),
        N::CodeOf(of) => prefix("ascii", of),
        N::GroupStart(group) => format!("\\-{group}"),
        N::LastGameNumber => "lastgamenumber".into(),
    }
}

pub(super) fn string(op: &GameText<Expanded>) -> String {
    use GameText as T;
    match op {
        T::Elsewhere(of) => elsewhere(of),
        T::Entry { dictionary, key } => entry(*dictionary, key),
        T::Sort { sort, of } => sorted(*sort, of),
        T::Joined(a, b) => infix("+", a, b),
        T::Written(of) => list("str(", of, ")"),
        T::Slice { of, from, to } => format!("{}{}", tight(of), slice(from.as_ref(), to.as_ref())),
        T::Letter { of, at } => format!("{}[{}]", tight(of), text(at.node())),
        T::Case { upper, of } => prefix(if *upper { "uppercase" } else { "lowercase" }, of),
        T::Fen => "fen".into(),
        T::OriginalComment => "originalcomment".into(),
        T::Match { text, pattern } => format!("{} ~~ {}", tight(text), literal(pattern)),
        T::Group(group) => format!("\\{group}"),
        T::OfCode(of) => prefix("ascii", of),
        T::Extremum { largest, of } => list(if *largest { "max(" } else { "min(" }, of, ")"),
        T::ReadFile(of) => prefix("readfile", of),
        T::CurrentTransform(_) => "currenttransform".into(),
    }
}

pub(super) fn position(op: &GamePosition<Expanded>) -> String {
    use GamePosition as P;
    match op {
        P::Elsewhere(of) => elsewhere(of),
        P::Entry { dictionary, key } => entry(*dictionary, key),
        P::Current => "currentposition".into(),
        P::Parent => "parent".into(),
        P::Child(index) => format!("child({})", text(index.node())),
        P::Numbered(number) => prefix("position", number),
        P::LastCommonAncestor(a, b) => list("lca(", [a, b], ")"),
        P::Compare { by, left, right } => {
            let sign = match by {
                PositionOrder::Number(cmp) => cmp.sign(),
                PositionOrder::Before => "[<]",
                PositionOrder::NotAfter => "[<=]",
                PositionOrder::After => "[>]",
                PositionOrder::NotBefore => "[>=]",
            };
            infix(sign, left, right)
        }
        P::LineEnd(of) => line(of, true),
        P::PathEnd(of) => path(of, true),
        P::PathStart => "pathstart".into(),
        P::PathLast => "pathlastposition".into(),
    }
}

// ---- state

fn dictionary_name(dictionary: DictionaryId) -> String {
    format!("dict{}", dictionary.0)
}

pub(super) fn assigned(value: &Assigned<Expanded>) -> String {
    match value {
        Assigned::Squares(f) => tight(f),
        Assigned::Number(f) => tight(f),
        Assigned::Text(f) => tight(f),
        Assigned::Position(f) => tight(f),
    }
}

fn entry(dictionary: DictionaryId, key: &Assigned<Expanded>) -> String {
    format!("{}[{}]", dictionary_name(dictionary), assigned(key))
}

fn sorted(sort: SortId, of: &impl Kind<Expanded>) -> String {
    format!("sort \"sort{}\" {}", sort.0, tight(of))
}

fn slice(from: Option<&Number>, to: Option<&Number>) -> String {
    let bound = |bound: Option<&Number>| bound.map_or(String::new(), tight);
    format!("[{}:{}]", bound(from), bound(to))
}

fn echo<F: Kind<Expanded>>(of: &Echo<F>) -> String {
    let quiet = if of.quiet { "quiet " } else { "" };
    let all = if of.in_all { " in all" } else { "" };
    format!("echo {quiet}({} {}){all} {}", name(of.source), name(of.target), tight(&of.body))
}

// ---- moves

fn elsewhere<F: Kind<Expanded>>(of: &Elsewhere<Expanded, F>) -> String {
    match of {
        Elsewhere::At { at, of } => format!("{}:{}", tight(at), tight(of)),
        Elsewhere::Edge { edge: of, target } => edge(of, Some(target)),
    }
}

fn edge<F: Kind<Expanded>>(of: &Edge<Expanded>, target: Option<&F>) -> String {
    let target = target.map_or(String::new(), |target| format!("({})", text(target.node())));
    format!("{}{}{target}", if of.entering { "currentmove " } else { "" }, dash(of))
}

/// Returns the text of a move filter such as `L--R=P`: the left set, the dash, the right set and the promotion, without blanks.
fn dash(of: &Edge<Expanded>) -> String {
    let from = of.from.as_ref().map_or(String::new(), tight);
    let to = of.to.as_ref().map_or(String::new(), reached);
    let promotion = match &of.promotion {
        None => String::new(),
        Some(Promotion::Pieces(pieces)) => format!("={}", promoted(*pieces)),
        Some(Promotion::Letters(letters)) => format!("={}", tight(letters)),
    };
    format!("{from}{}{to}{promotion}", if of.capture { "[x]" } else { "--" })
}

/// Returns the text of the set on the right of `--` or `[x]`. A parenthesis there would mean a target, so braces are used instead.
pub(super) fn reached(set: &Squares) -> String {
    braced(set)
}

/// Returns the text of an operand. If it needs parentheses, it gets braces instead.
fn braced(filter: &impl Kind<Expanded>) -> String {
    let tight = tight(filter);
    if tight.starts_with('(') { format!("{{{}}}", text(filter.node())) } else { tight }
}

fn promoted(pieces: PieceSet) -> String {
    let white = (1..=6).map(Code).filter(|&code| pieces.contains(code));
    designator(Pieces::listed(white.fold(PieceSet::NONE, |all, code| all.union(PieceSet::only(code)))), FULL)
}

const FULL: shakmaty::Bitboard = shakmaty::Bitboard::FULL;

fn sibling(of: Sibling) -> &'static str {
    match of {
        Sibling::Primary => "primary",
        Sibling::Secondary => "secondary",
    }
}

fn special(of: Special) -> &'static str {
    match of {
        Special::Any => "",
        Special::Castle => "castle",
        Special::KingSide => "o-o",
        Special::QueenSide => "o-o-o",
        Special::EnPassant => "enpassant",
    }
}

/// Returns the text of the filter `move`. The word that determines its value is written first.
fn moves(of: &Move<Expanded>) -> String {
    let set = |word: &str, set: &Option<Squares>| set.as_ref().map(|set| prefix(word, set));
    let mut others = vec![
        match of.of {
            MoveOf::Played => None,
            MoveOf::Previous => Some("previous".into()),
            MoveOf::Legal => {
                Some(String::from(if of.value == MoveValue::Count { "legal count" } else { "legal" }))
            }
            MoveOf::Pseudolegal => Some(String::from(if of.value == MoveValue::Count {
                "pseudolegal count"
            } else {
                "pseudolegal"
            })),
        },
        of.promote.map(|pieces| format!("promote {}", promoted(pieces))),
        set("enpassantsquare", &of.en_passant_square),
        Some(special(of.only).to_string()).filter(|word| !word.is_empty()),
        of.null.then(|| "null".into()),
        of.sibling.map(|of| sibling(of).into()),
        of.comment.as_ref().map(|parts| list("comment(", parts, ")")),
    ];
    let mut sets = vec![set("from", &of.from), set("to", &of.to), set("capture", &of.capture)];
    let first = match of.value {
        MoveValue::From => sets[0].take(),
        MoveValue::To => sets[1].take(),
        MoveValue::Capture => sets[2].take(),
        MoveValue::Whether | MoveValue::Count => None,
    };
    let parts = [Some("move".into()), first].into_iter().chain(others.drain(..)).chain(sets);
    parts.flatten().collect::<Vec<String>>().join(" ")
}

// ---- line and path

fn range(range: Option<&[Number; 2]>) -> String {
    range.map_or(String::new(), |[lo, hi]| format!("{} {} ", text(lo.node()), text(hi.node())))
}

/// Returns all words whose flag is true, each followed by a blank.
fn said(words: &[(bool, &str)]) -> String {
    words.iter().filter(|(said, _)| *said).fold(String::new(), |out, (_, word)| out + word + " ")
}

fn repeated(min: u32, max: Option<u32>) -> String {
    match max {
        None => format!("{{{min},}}"),
        Some(max) if max == min => format!("{{{min}}}"),
        Some(max) => format!("{{{min},{max}}}"),
    }
}

fn line(of: &Line<Expanded>, lasts: bool) -> String {
    let arrow = if of.back { "<--" } else { "-->" };
    let options = said(&[
        (of.single_color, "singlecolor"),
        (of.nestban, "nestban"),
        (of.first_match, "firstmatch"),
        (lasts, "lastposition"),
        (of.quiet, "quiet"),
    ]);
    let sibling = of.sibling.map_or(String::new(), |of| format!("{} ", sibling(of)));
    let chain = match &of.chain {
        Chain::Sequence(all) => positions(all, arrow),
        other => line_part(other, arrow),
    };
    format!("line {}{options}{sibling}{arrow} {chain}", range(of.range.as_ref()))
}

fn positions(all: &[Chain<LineStep<Expanded>>], arrow: &str) -> String {
    let parts: Vec<String> = all.iter().map(|part| line_part(part, arrow)).collect();
    parts.join(&format!(" {arrow} "))
}

fn line_part(chain: &Chain<LineStep<Expanded>>, arrow: &str) -> String {
    match chain {
        Chain::One(step) => braced(&step.filter),
        Chain::Sequence(all) => format!("({})", positions(all, arrow)),
        Chain::Repeat { of, min, max } => {
            let inner = line_part(of, arrow);
            let inner = if let Chain::Repeat { .. } = **of { format!("({inner})") } else { inner };
            inner + &repeated(*min, *max)
        }
    }
}

fn path(of: &Path<Expanded>, lasts: bool) -> String {
    let mut out = format!("path {}", range(of.range.as_ref()));
    match &of.focus {
        None => {}
        Some(Focus::SideToMove) => out += "singlecolor ",
        Some(Focus::Pieces { capture, of }) => {
            write!(out, "focus {}{} ", if *capture { "capture " } else { "" }, tight(of))
                .expect("a string takes what is written to it");
        }
    }
    if let Some(of) = &of.max {
        out += &prefix("max", of);
        out.push(' ');
    }
    out += &said(&[
        (of.primary, "primary"),
        (of.nestban, "nestban"),
        (of.first_match, "firstmatch"),
        (lasts, "lastposition"),
        (of.keep_all_best, "keepallbest"),
        (of.piece_path, "piecepath"),
        (of.verbose, "verbose"),
        (of.quiet, "quiet"),
    ]);
    if let Some(title) = &of.title {
        out += &format!("title {} ", literal(title));
    }
    match &of.chain {
        Chain::Sequence(all) => out + &moves_in_row(all),
        other => out + &path_part(other, false),
    }
}

fn moves_in_row(all: &[Chain<PathStep<Expanded>>]) -> String {
    let mut parts = Vec::new();
    let mut behind_move = false;
    for part in all {
        parts.push(path_part(part, behind_move));
        behind_move = matches!(part, Chain::One(PathStep::Edge { .. }));
    }
    parts.join(" ")
}

/// Returns the text of a part of a path. A filter directly after a move is put in parentheses, since it would otherwise be parsed
/// as part of the move.
fn path_part(chain: &Chain<PathStep<Expanded>>, behind_move: bool) -> String {
    match chain {
        Chain::One(PathStep::Filter(filter)) if behind_move => format!("({})", asked(filter)),
        Chain::One(PathStep::Filter(filter)) => asked(filter),
        Chain::One(PathStep::Edge { edge, targets }) => {
            targets.iter().fold(dash(edge), |out, target| out + " " + &asked(target))
        }
        Chain::Sequence(all) => format!("({})", moves_in_row(all)),
        Chain::Repeat { of, min, max } => {
            let inner = path_part(of, false);
            let is_move = matches!(**of, Chain::One(PathStep::Edge { .. }) | Chain::Sequence(_));
            let inner = if is_move { inner } else { format!("({inner})") };
            inner + &repeated(*min, *max)
        }
    }
}

/// Returns the text of a filter in a path, in braces so that it is not parsed as an option or a move.
fn asked(filter: &Filter) -> String {
    let is_number = matches!(filter, Filter::Number(f) if matches!(f.op(), NumberOp::Int(_)));
    match text(filter.node()) {
        text if filter.node().is_braces() => text,
        text if is_number => format!("{{({text})}}"),
        text => format!("{{{text}}}"),
    }
}

#[cfg(test)]
mod tests {
    use crate::{AsText, expand};
    use orbit_query::parse;

    fn printed(text: &str) -> String {
        AsText(&expand(&parse(text).unwrap().query.body).unwrap()).to_string()
    }

    /// Checks the printed text of operations, and that parsing this text yields the same operations.
    #[test]
    fn printed_operations_read_back_as_themselves() {
        for (text, wanted) in [
            // A filter directly before or after `--` or `[x]` is an operand.
            ("P|N--", "(P | N)--"),
            ("~P--up 1 2 k", "(~P)--{up 1 2 k}"),
            ("♘――♞――", "{(N--n) (--)}"),
            ("P--h8=N(check)", "P--h8=N(check)"),
            ("{-- (check)}", "{(--) check}"),
            ("--=\"NQ\"", "--=\"NQ\""),
            ("[x]f5(to==f6)", "[x]f5(to == f6)"),
            ("currentmove P--(ply)", "currentmove P--(ply)"),
            ("countmoves --(check wtm)", "countmoves --({check wtm})"),
            ("x=--(from)", "v0=(--(from))"),
            ("#R--(to)", "#(R--(to))"),
            ("legal --(o-o)", "legal --(o-o)"),
            ("legal --{P|N}", "legal --{P | N}"),
            // The first word after `move` determines the value of the filter.
            ("move capture p from P", "move capture p from P"),
            ("move secondary from P", "move secondary from P"),
            ("move legal count from K", "move legal count from K"),
            // Positions.
            ("parent:child:ply", "parent:(child(0):ply)"),
            ("currentposition:K & e1", "(currentposition:K) & e1"),
            ("find check:k", "(find check):k"),
            ("~(currentposition & parent)", "~(currentposition & parent)"),
            ("position 2 [<] currentposition", "(position 2) [<] currentposition"),
            ("descendant(parent child)", "ancestor(child(0) parent)"),
            // Lines.
            ("line --> .* --> check", "line --> .{0,} --> check"),
            ("line 3 singlecolor <-- not check+", "line 3 3 singlecolor <-- {not check}{1,}"),
            (
                "line --> (wtm --> btm){2} --> (check or mate)",
                "line --> (wtm --> btm){2} --> {check or mate}",
            ),
            ("line --> true{2}+", "line --> (true{2}){1,}"),
            ("line lastposition --> (find <-- check)", "line lastposition --> {find <-- check}"),
            // In a path, a repetition such as `{2,}` applies to a move and the filters after it. All filters that follow belong to
            // the path.
            ("path -- check wtm {2,} mate", "path -- {check} {wtm}{2,} {mate}"),
            ("path -- (check)", "path -- ({check})"),
            ("path (-- wtm)+ P--", "path -- {wtm}{1,} P--"),
            ("path wtm or btm --", "path {wtm or btm} --"),
            ("path focus capture R|r max ply -- + >3", "(path focus capture (R | r) max ply --{1,}) > 3"),
            ("path -- x=to x--", "path -- {v0=to} v0--"),
            ("path (P|N)--e4", "path (P | N)--e4"),
            ("path -- ply == 1 {+}", "path -- {ply == 1}{1,}"),
            ("path -- ply+\n\ncheck", "{(path -- {ply}{1,}) check}"),
            ("path -- path -- check", "path -- {path -- {check}}"),
        ] {
            let once = printed(text);
            assert_eq!(once, wanted, "{text}");
            assert_eq!(printed(&once), once, "{text}");
        }
    }

    #[test]
    fn copies_are_printed_with_their_squares() {
        let copies = printed("flip path focus R a1-- --h8");
        assert!(copies.contains("path focus R h1-- --a8"), "{copies}");
    }
}
