//! Dispatches operations that need more of a game than one position to the modules that evaluate them. These operations concern
//! moves, lines, other positions, variables, strings and comments.

use shakmaty::Bitboard;

use super::{copies::ExplicitForm, eval::Evaluation};
use orbit_core::diagnostic::Span;
use orbit_query::tree::{
    Elsewhere, GameCondition, GameNumber, GamePosition, GameSquares, GameText, Number, Position, Squares,
    Text,
};

impl Evaluation<'_> {
    pub(super) fn game_condition(&mut self, op: &GameCondition<ExplicitForm>, span: Span) -> bool {
        use GameCondition as C;
        match op {
            C::At { at, of } => self.at(at, |there| there.matches(of)).unwrap_or(false),
            C::Edge { edge, target } => self.edge_condition(edge, target.as_ref()),
            C::Move(of) => self.move_condition(of),
            C::Sibling(sibling) => self.is_sibling(*sibling),
            C::Arrived(special) => self.arrived_by(*special),
            C::NullMove => self.arrived_by_null_move(),
            C::Mainline => self.is_mainline(),
            C::Variation => !self.is_mainline(),
            C::VirtualMainline => self.is_virtual_mainline(span),
            C::Try => self.is_try(span),
            C::Ancestor { ancestor, of } => self.is_ancestor(ancestor, of),
            C::Echo(echo) => self.echo_condition(echo),
            C::BindPiece { var, of } => self.bind_piece(*var, of),
            C::PieceAll { var, domain, body } => {
                let pieces = self.pieces_to_try(domain);
                self.all_over(*var, pieces, body, span)
            }
            C::AssignSome { var, of } => self.assign_some(*var, of),
            C::SetEntry { dictionary, key, value } => self.set_entry(*dictionary, key, value),
            C::SetSlice { var, from, to, value } => {
                self.set_slice(*var, from.as_ref(), to.as_ref(), value, span)
            }
            C::Unbind(var) => self.unbind(*var),
            C::Forget { dictionary, key } => self.forget(*dictionary, key.as_ref()),
            C::IsBound { var, bound } => self.state.cells.is_bound(*var) == *bound,
            C::Assert(of) => self.assert(of, span),
            C::Loop(of) => self.repeat(of, span),
            C::While { condition, body } => self.repeat_while(condition, body, span),
            C::WhileMatch { text, pattern, body } => self.repeat_while_match(text, pattern, body, span),
            C::KeyLoop { dictionary, var, body } => self.key_loop(*dictionary, *var, body, span),
            C::Comment(of) => self.comment(of),
            C::Message { quiet, of } => self.message(*quiet, of),
            C::SetTag { name, value } => self.set_tag(name, value),
            C::RemoveComment => self.remove_comment(),
            C::WriteFile { name, value } => self.write_file(name, value, span),
            C::Equal(a, b) => self.equal(a, b),
            C::Glyph(glyph) => self.has_glyph(*glyph, span),
            C::Abort => self.abort(span),
        }
    }

    pub(super) fn game_squares(&mut self, op: &GameSquares<ExplicitForm>, span: Span) -> Bitboard {
        use GameSquares as S;
        match op {
            S::Elsewhere(Elsewhere::At { at, of }) => {
                self.at(at, |there| there.squares(of)).unwrap_or(Bitboard::EMPTY)
            }
            S::Elsewhere(Elsewhere::Edge { edge, target }) => self.edge_squares(edge, target),
            S::Entry { dictionary, key } => self.entry_squares(*dictionary, key),
            S::From => self.squares_left(),
            S::To => self.squares_reached(),
            S::EnPassantSquare => self.en_passant_square(),
            S::Move(of) => self.move_squares(of),
            S::Piece(var) => self.piece_squares(*var, span),
            S::PieceLoop { var, domain, body } => {
                let pieces = self.pieces_to_try(domain);
                self.loop_over(*var, pieces, body, span)
            }
            S::SameContents(a, b) => self.same_contents(a, b),
            S::SquareOf(text) => self.square_of(text),
        }
    }

    pub(super) fn game_number(&mut self, op: &GameNumber<ExplicitForm>, span: Span) -> Option<i32> {
        use GameNumber as N;
        match op {
            N::Elsewhere(of) => self.elsewhere_number(of),
            N::Entry { dictionary, key } => self.entry_number(*dictionary, key),
            N::Sort { sort, of } => self.sort_number(*sort, of),
            N::CountMoves { edge, target } => Some(self.count_moves(edge, target.as_ref())),
            N::Move(of) => Some(self.move_count(of)),
            N::Line(line) => self.line_length(line),
            N::Path(path) => self.path_value(path),
            N::PathCount => self.path_count(),
            N::PathCountUnfocused => self.path_count_unfocused(),
            N::PositionId => Some(self.here.at as i32),
            N::Depth => Some(self.depth()),
            N::Distance(a, b) => self.distance(a, b, span),
            N::ConsecutiveMoves { first, second, quiet, range } => {
                self.consecutive_moves(*first, *second, *quiet, range.as_ref(), span)
            }
            N::Echo(echo) => self.echo_number(echo),
            N::PieceId(of) => self.piece_id(of),
            N::Size(dictionary) => Some(self.size(*dictionary)),
            N::Length(of) => self.text(of).map(|text| text.len() as i32),
            N::IndexOf(needle, text) => self.index_of(needle, text),
            N::ToNumber(of) => self.number_in(of),
            N::CodeOf(of) => self.code_of(of),
            N::GroupStart(group) => self.group_start(*group, span),
            N::LastGameNumber => self.state.last_game.and_then(|number| i32::try_from(number).ok()),
        }
    }

    pub(super) fn game_text(&mut self, op: &GameText<ExplicitForm>, span: Span) -> Option<Vec<u8>> {
        use GameText as T;
        match op {
            T::Elsewhere(of) => self.elsewhere_text(of),
            T::Entry { dictionary, key } => self.entry_text(*dictionary, key),
            T::Sort { sort, of } => self.sort_text(*sort, of),
            T::Joined(a, b) => self.joined(a, b, span),
            T::Written(of) => match &of[..] {
                [one] => self.value_text(one),
                of => Some(self.written(of)),
            },
            T::Slice { of, from, to } => self.slice(of, from.as_ref(), to.as_ref()),
            T::Letter { of, at } => self.letter(of, at),
            T::Case { upper, of } => self.in_case(*upper, of),
            T::Fen => Some(self.fen()),
            T::OriginalComment => self.original_comment(span),
            T::Match { text, pattern } => self.search(text, pattern, span),
            T::Group(group) => self.group(*group, span),
            T::OfCode(of) => self.of_code(of),
            T::Extremum { largest, of } => self.extremum(*largest, of),
            T::ReadFile(name) => self.read_file(name, span),
            T::CurrentTransform(names) => Some(format!("<{}>", names.join(" ")).into_bytes()),
        }
    }

    /// Evaluates a filter whose value is a position. Returns the number of the position within the game.
    pub(super) fn game_position(&mut self, op: &GamePosition<ExplicitForm>, span: Span) -> Option<i32> {
        use GamePosition as P;
        match op {
            P::Elsewhere(of) => self.elsewhere_position(of),
            P::Entry { dictionary, key } => self.entry_position(*dictionary, key),
            P::Current => Some(self.here.at as i32),
            P::Parent => self.parent(),
            P::Child(of) => self.child(of),
            P::Numbered(of) => self.numbered(of),
            P::LastCommonAncestor(a, b) => self.last_common_ancestor(a, b, span),
            P::Compare { by, left, right } => self.compared_positions(*by, left, right),
            P::LineEnd(line) => self.line_end(line),
            P::PathEnd(path) => self.path_end(path),
            P::PathStart => self.path_start(),
            P::PathLast => self.path_last(),
        }
    }

    fn elsewhere_number(&mut self, of: &Elsewhere<ExplicitForm, Number<ExplicitForm>>) -> Option<i32> {
        match of {
            Elsewhere::At { at, of } => self.at(at, |there| there.number(of))?,
            Elsewhere::Edge { edge, target } => self.edge_value(edge, |there| there.number(target)),
        }
    }

    fn elsewhere_text(&mut self, of: &Elsewhere<ExplicitForm, Text<ExplicitForm>>) -> Option<Vec<u8>> {
        match of {
            Elsewhere::At { at, of } => self.at(at, |there| there.text(of))?,
            Elsewhere::Edge { edge, target } => self.edge_value(edge, |there| there.text(target)),
        }
    }

    fn elsewhere_position(&mut self, of: &Elsewhere<ExplicitForm, Position<ExplicitForm>>) -> Option<i32> {
        match of {
            Elsewhere::At { at, of } => self.at(at, |there| there.position(of))?,
            Elsewhere::Edge { edge, target } => self.edge_value(edge, |there| there.position(target)),
        }
    }

    /// Calls `evaluate` at the position that a position filter returns. Returns `None` if the filter has no value.
    fn at<T>(&mut self, at: &Position<ExplicitForm>, evaluate: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let at = self.position(at)?;
        Some(self.apart(at as usize, evaluate))
    }

    /// Returns true if a set filter, evaluated at another position, matches. A `--` filter matches if its target is non-empty after
    /// any move that satisfies its operands. Its value, however, is the target's value after the first of these moves.
    pub(super) fn elsewhere_matches(&mut self, of: &Elsewhere<ExplicitForm, Squares<ExplicitForm>>) -> bool {
        match of {
            Elsewhere::At { at, of } => self.at(at, |there| there.matches(of)).unwrap_or(false),
            Elsewhere::Edge { edge, target } => {
                self.edge_value(edge, |there| there.matches(target).then_some(())).is_some()
            }
        }
    }
}
