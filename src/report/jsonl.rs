//! One JSON object for each position that hits.

use serde_json::{Map, Value, json};

use super::labels::MoveNumbers;
use super::words::{decode, push_number};
use crate::board::{Bitboard, MoveKind, Position, Role};
use crate::engine::{Hits, Values};
use crate::reel::GameRow;

/// Appends the hits of a game; returns how many there are.
pub(super) fn write(game: &GameRow, hits: &Hits, sources: &[String], out: &mut Vec<u8>) -> usize {
    let first = game.first_slot();
    let mut slots = hits.slots(first..game.end_slot()).peekable();
    if slots.peek().is_none() {
        return 0;
    }
    let numbers = MoveNumbers::of(game);
    // What all positions of a game share is written once.
    let head = head(game, sources);
    let tags = Value::Object(tags(game)).to_string();
    let mut walk = Walk { position: game.start(), clock: numbers.clock, ply: 0 };
    let mut count = 0;
    for slot in slots {
        let ply = (slot - first) as u32;
        walk.to(ply, game);
        out.extend_from_slice(head.as_bytes());
        push_number(out, ply);
        out.extend_from_slice(b",\"move\":\"");
        numbers.push_label(ply, out);
        out.extend_from_slice(b"\",\"fen\":\"");
        push_fen(&walk, numbers.full(ply), out);
        out.extend_from_slice(b"\",");
        push_value(&hits.values, slot, out);
        out.extend_from_slice(b",\"tags\":");
        out.extend_from_slice(tags.as_bytes());
        out.extend_from_slice(b"}\n");
        count += 1;
    }
    count
}

fn head(game: &GameRow, sources: &[String]) -> String {
    let source = sources.get(game.source() as usize).map_or("", String::as_str);
    format!(
        "{{\"game\":{},\"source\":{},\"number_in_source\":{},\"offset\":{},\"ply\":",
        game.number(),
        json!(source),
        game.number_in_source(),
        game.offset()
    )
}

/// Of several tags of one name the first counts, as in queries.
fn tags(game: &GameRow) -> Map<String, Value> {
    let mut tags = Map::new();
    for (name, value) in game.tags() {
        tags.entry(decode(name)).or_insert_with(|| Value::String(decode(value).into_owned()));
    }
    tags
}

/// No character of a FEN needs an escape.
fn push_fen(walk: &Walk, full: u32, out: &mut Vec<u8>) {
    let fen = walk.position.to_fen();
    let fields: Vec<&str> = fen.split(' ').collect();
    match fields[..] {
        [board, turn, castling, passed, ..] => {
            for field in [board, turn, castling, passed] {
                out.extend_from_slice(field.as_bytes());
                out.push(b' ');
            }
            push_number(out, walk.clock);
            out.push(b' ');
            push_number(out, full);
        }
        _ => out.extend_from_slice(fen.as_bytes()),
    }
}

fn push_value(values: &Values, slot: usize, out: &mut Vec<u8>) {
    match values {
        Values::None => out.extend_from_slice(b"\"value\":true"),
        Values::Numbers(numbers) => {
            out.extend_from_slice(b"\"value\":");
            push_number(out, numbers[slot]);
        }
        Values::Sets(sets) => {
            let names: Vec<String> =
                Bitboard(sets[slot]).into_iter().map(|square| square.to_string()).collect();
            out.extend_from_slice(format!("\"squares\":{}", json!(names)).as_bytes());
        }
    }
}

/// A walk along the moves of a game, with the halfmove clock that packed positions lack.
struct Walk {
    position: Position,
    clock: u32,
    ply: u32,
}

impl Walk {
    fn to(&mut self, ply: u32, game: &GameRow) {
        for &mv in &game.moves()[self.ply as usize..ply as usize] {
            let board = &self.position.board;
            let pawn = board.at(mv.from()).piece().is_some_and(|piece| piece.role == Role::Pawn);
            // Castling is packed as king takes rook, so what stands on `to` says nothing then.
            let taken = board.at(mv.to()).piece().is_some();
            let is_reset = match mv.kind() {
                MoveKind::EnPassant => true,
                MoveKind::Piece(_) => pawn || taken,
                MoveKind::Castle | MoveKind::Null | MoveKind::Start => false,
            };
            self.clock = if is_reset { 0 } else { self.clock + 1 };
            self.position.play(mv);
        }
        self.ply = ply;
    }
}
