//! Encodes positions as numbers for machine learning: one row for each hit, without any text.

use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, FixedSizeListBuilder, Int8Builder, Int16Builder, Int32Builder, UInt8Builder,
    UInt32Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::{ArrowBlock, ArrowRows};
use crate::found::Found;
use crate::report::NodeWalk;
use orbit_core::board::{MoveKind, PackedMove, Position, Role, Square};
use orbit_core::game::Rating;
use orbit_engine::Answer;
use orbit_engine::Wants;
use orbit_pgn::Outcome;

/// Rows that describe positions, with these columns:
///
/// | column | type | content |
/// |---|---|---|
/// | `game` | `uint32` | the number of the game |
/// | `node` | `uint32` | the number of the position in the game; on the main line its ply |
/// | `board` | 64 of `uint8` | a1, b1, ... h8: 0 empty, 1 to 6 pawn, knight, bishop, rook, queen, king; plus 8 for a black man |
/// | `black_to_move` | `bool` | true if Black is to move |
/// | `castling` | `uint8` | the sum of 1 (White, king's side), 2 (White, queen's side), 4 and 8 (the same for Black) |
/// | `en_passant` | `int8` | the square that a pawn has just passed over, from 0 (a1) to 63; -1 for none |
/// | `result` | `int8` | 1 White won, 0 draw, -1 Black won; null if unknown |
/// | `white_elo`, `black_elo` | `int16` | the ratings; null if unknown |
/// | `move_from`, `move_to` | `uint8` | the squares of the next move, for castling those of the king; null at the end of a line |
/// | `promotion` | `uint8` | the piece that the pawn becomes, 2 to 5; 0 for no promotion; null if there is no next move |
/// | `value` | `int32` | the value of the query, if it is a number |
pub struct PositionRows;

#[derive(Default)]
struct Builders {
    game: UInt32Builder,
    node: UInt32Builder,
    black_to_move: BooleanBuilder,
    castling: UInt8Builder,
    en_passant: Int8Builder,
    result: Int8Builder,
    white_elo: Int16Builder,
    black_elo: Int16Builder,
    move_from: UInt8Builder,
    move_to: UInt8Builder,
    promotion: UInt8Builder,
    value: Int32Builder,
}

fn board_field() -> Arc<Field> {
    Arc::new(Field::new_list_field(DataType::UInt8, false))
}

impl ArrowRows for PositionRows {
    fn wants(&self) -> Wants {
        Wants::TAGS | Wants::VALUES
    }

    fn schema(&self) -> SchemaRef {
        let fields = [
            ("game", DataType::UInt32, false),
            ("node", DataType::UInt32, false),
            ("board", DataType::FixedSizeList(board_field(), 64), false),
            ("black_to_move", DataType::Boolean, false),
            ("castling", DataType::UInt8, false),
            ("en_passant", DataType::Int8, false),
            ("result", DataType::Int8, true),
            ("white_elo", DataType::Int16, true),
            ("black_elo", DataType::Int16, true),
            ("move_from", DataType::UInt8, true),
            ("move_to", DataType::UInt8, true),
            ("promotion", DataType::UInt8, true),
            ("value", DataType::Int32, true),
        ];
        let fields: Vec<Field> = fields.map(|(name, ty, nullable)| Field::new(name, ty, nullable)).into();
        Arc::new(Schema::new(fields))
    }

    fn block(&self, found: &Found, games_max: usize) -> ArrowBlock {
        let mut columns = Builders::default();
        let mut boards = FixedSizeListBuilder::new(UInt8Builder::new(), 64).with_field(board_field());
        let (mut games, mut rows) = (Vec::new(), 0);
        for game in found.games_found().take(games_max) {
            let (first, begin) = (game.first_slot(), rows);
            let result = match game.outcome() {
                Outcome::WhiteWins => Some(1),
                Outcome::BlackWins => Some(-1),
                Outcome::Draw => Some(0),
                Outcome::Unknown => None,
            };
            let elo = |rating: Rating| rating.of_game(&game).and_then(|elo| i16::try_from(elo).ok());
            let (white_elo, black_elo) = (elo(Rating::White), elo(Rating::Black));
            let mut walk = NodeWalk::from_game(&game);
            for slot in found.answers.hits.slots(first..game.end_slot()) {
                let node = (slot - first) as u32;
                walk.to(node);
                let position = walk.position();
                for square in Square::ALL {
                    boards.values().append_value(position.board.at(square).0);
                }
                boards.append(true);
                columns.game.append_value(game.number());
                columns.node.append_value(node);
                columns.result.append_option(result);
                columns.white_elo.append_option(white_elo);
                columns.black_elo.append_option(black_elo);
                columns.push(&position, game.move_from(node));
                let value =
                    if let Answer::Num(value) = found.answers.hits.answer(slot) { value } else { None };
                columns.value.append_option(value);
                rows += 1;
            }
            games.push((game.index() as u32, begin..rows));
        }
        let Builders { mut game, mut node, mut black_to_move, mut castling, mut en_passant, .. } = columns;
        let Builders { mut result, mut white_elo, mut black_elo, .. } = columns;
        let Builders { mut move_from, mut move_to, mut promotion, mut value, .. } = columns;
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(game.finish()),
            Arc::new(node.finish()),
            Arc::new(boards.finish()),
            Arc::new(black_to_move.finish()),
            Arc::new(castling.finish()),
            Arc::new(en_passant.finish()),
            Arc::new(result.finish()),
            Arc::new(white_elo.finish()),
            Arc::new(black_elo.finish()),
            Arc::new(move_from.finish()),
            Arc::new(move_to.finish()),
            Arc::new(promotion.finish()),
            Arc::new(value.finish()),
        ];
        let batch = RecordBatch::try_new(self.schema(), arrays).expect("the columns are those of the schema");
        ArrowBlock { batch, games }
    }
}

impl Builders {
    fn push(&mut self, position: &Position, next: Option<PackedMove>) {
        let state = position.state;
        self.black_to_move.append_value(state.turn().is_black());
        let rights = [orbit_core::board::Color::White, orbit_core::board::Color::Black];
        let rights = rights.into_iter().flat_map(|color| [(color, true), (color, false)]).enumerate();
        let castling = rights
            .filter(|&(_, (color, king_side))| state.castling_rook(color, king_side).is_some())
            .map(|(bit, _)| 1 << bit)
            .sum();
        self.castling.append_value(castling);
        self.en_passant.append_value(state.en_passant().map_or(-1, |square| square as i8));
        let next = next.filter(|next| !matches!(next.kind(), MoveKind::Null | MoveKind::Start));
        self.move_from.append_option(next.map(|next| next.from() as u8));
        self.move_to.append_option(next.map(|next| arrival(next) as u8));
        self.promotion.append_option(next.map(|next| promotion(position, next)));
    }
}

/// Returns the square where a move ends; for castling, the square where the king lands.
fn arrival(mv: PackedMove) -> Square {
    match mv.kind() {
        MoveKind::Castle => {
            let first_of_rank = 8 * (mv.from() as u32 / 8);
            Square::new(first_of_rank + if mv.to() > mv.from() { 6 } else { 2 })
        }
        _ => mv.to(),
    }
}

/// Returns the piece to which a pawn is promoted, or 0 if the move is not a promotion.
fn promotion(position: &Position, mv: PackedMove) -> u8 {
    let role = |piece: Option<orbit_core::board::Piece>| piece.map(|piece| piece.role);
    let is_pawn = role(position.board.at(mv.from()).piece()) == Some(Role::Pawn);
    match mv.kind() {
        MoveKind::Piece(code) => {
            role(code.piece()).filter(|&role| is_pawn && role != Role::Pawn).map_or(0, |role| role as u8)
        }
        _ => 0,
    }
}
