// Computes positions from moves. An invocation replays a segment of 32 slots from its key position. by_segment.wgsl or
// by_word.wgsl reads the key positions and the moves.
//
// The CPU implementation is in crates/reel/src/replay.rs and in `Position::play`.

const SEGMENT_SLOTS = 32u;

// The move codes that are not piece codes.
const CASTLE = 0u;
const EN_PASSANT = 7u;
const NULL_MOVE = 8u;
const START = 15u;

struct Params {
    // The segments of this dispatch, from `first` up to but not including `end`. In the second pass, these are indices
    // in the list of entries (segments with hits).
    first: u32,
    end: u32,
    // The number of segments in the upload (a batch of blocks). This is also the number of words that the hits of one
    // query occupy.
    segments: u32,
    // The slots of each segment that are evaluated: all slots unless SOME_SLOTS is true. The bits of the other slots do
    // not change.
    slots: u32,
}

struct Key {
    planes: array<Bits, 4>,
    state: u32,
    ply: u32,
    first_game: u32,
    first_start: u32,
}

struct Start {
    planes: array<Bits, 4>,
    state: u32,
    ply: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(3) var<storage, read> starts: array<Start>;
// For each game and each column (a condition or number that is constant within a game), two words: the column's mask and its
// number.
@group(0) @binding(4) var<storage, read> columns: array<u32>;
// The concatenated tables of the plan's loops, each stored row by row.
@group(0) @binding(5) var<storage, read> tables: array<Bits>;
// The concatenated columns that stages (programs that run before the rest of the plan) propagated along games. A mask
// has one word for each segment, and any other column two words for each slot.
@group(0) @binding(6) var<storage, read> carried: array<u32>;

struct Board {
    p0: Bits,
    p1: Bits,
    p2: Bits,
    p3: Bits,
}

// The current position while a segment is replayed.
struct At {
    board: Board,
    // The state, as stored in packed games: bit 0 is set if Black is to move; bits 8-15 are the en passant square (64:
    // none); bits 16-31 are the castling rights.
    state: u32,
    ply: u32,
    game: u32,
    // The index of the next entry in the table of start positions.
    start: u32,
    // The move that is played in the position.
    mv: u32,
    segment: u32,
    slot: u32,
}

fn is_last_of_line(at: At) -> bool {
    return (at.mv >> 12u) == START;
}

// Returns the code of the piece on a square.
fn content(board: Board, square: Bits) -> u32 {
    return select(0u, 1u, !is_empty(board.p0 & square)) | select(0u, 2u, !is_empty(board.p1 & square))
        | select(0u, 4u, !is_empty(board.p2 & square)) | select(0u, 8u, !is_empty(board.p3 & square));
}

fn put(board: Board, gone: Bits, code: u32, to: Bits) -> Board {
    let keep = ~gone;
    return Board(
        (board.p0 & keep) | select(NONE, to, (code & 1u) != 0u),
        (board.p1 & keep) | select(NONE, to, (code & 2u) != 0u),
        (board.p2 & keep) | select(NONE, to, (code & 4u) != 0u),
        (board.p3 & keep) | select(NONE, to, (code & 8u) != 0u),
    );
}

fn plane_after(plane: Bits, keep: Bits, to: Bits, mv: u32, code_bit: u32) -> Bits {
    let holds = spread(mv, 12u + code_bit);
    return (plane & keep) | (to & pair(holds, holds));
}

// Returns the board after a move. The move must not be a start mark, which is stored in the last slot of a line. A null move does
// not change the board.
fn play(board: Board, mv: u32) -> Board {
    let code = mv >> 12u;
    let moves = code != NULL_MOVE;
    let to = square_of(mv, 6u, moves);
    let keep = ~(square_of(mv, 0u, moves) | to);
    var out = Board(
        plane_after(board.p0, keep, to, mv, 0u),
        plane_after(board.p1, keep, to, mv, 1u),
        plane_after(board.p2, keep, to, mv, 2u),
        plane_after(board.p3, keep, to, mv, 3u),
    );
    // At this point, castling has removed both king and rook, and a pawn that captured en passant has a code that no
    // piece has. Both are corrected here.
    if (code == CASTLE || code == EN_PASSANT) {
        let origin = mv & 63u;
        let goal = (mv >> 6u) & 63u;
        let rank = origin & 56u;
        if (code == CASTLE) {
            let side = goal > origin;
            let king = bit(rank + select(2u, 6u, side));
            let both = king | bit(rank + select(3u, 5u, side));
            out.p1 |= king;
            out.p2 |= both;
            out.p3 |= select(NONE, both, origin >= 32u);
        } else {
            let keep = ~bit(rank | (goal & 7u));
            out.p0 &= keep;
            out.p1 &= keep & ~to;
            out.p2 &= keep & ~to;
            out.p3 = (out.p3 & keep) | select(NONE, to, goal < origin);
        }
    }
    return out;
}

// Returns the castling rights (bits of a state) without the right of the rook on the given square, if it has one.
fn without_right(rights: u32, square: u32) -> u32 {
    let edge = square < 8u || square >= 56u;
    let shift = select(24u, 16u, square < 8u);
    let right_nibble = 8u | (square & 7u);
    let king_side = select(0u, 15u << shift, ((rights >> shift) & 15u) == right_nibble);
    let queen_side = select(0u, 15u << (shift + 4u), ((rights >> (shift + 4u)) & 15u) == right_nibble);
    return select(rights, rights & ~(king_side | queen_side), edge);
}

// Returns the side to move, the en passant square and the castling rights after a move.
fn next_state(state: u32, mv: u32) -> u32 {
    let turn = (state & 1u) ^ 1u;
    if (!WHOLE_POSITIONS) {
        return turn;
    }
    let origin = mv & 63u;
    let to = (mv >> 6u) & 63u;
    let code = mv >> 12u;
    let is_piece = ((0x7e7eu >> code) & 1u) != 0u;
    let double = (code & 7u) == 1u && (origin + 16u == to || to + 16u == origin);
    let passed = select(64u, (origin + to) >> 1u, double);
    var rights = state & 0xffff0000u;
    let king_moves = code == CASTLE || (is_piece && (code & 7u) == 6u);
    rights = select(rights, rights & ~(0x00ff0000u << (8u * (state & 1u))), king_moves);
    let moved = without_right(without_right(rights, origin), to);
    return select(rights, moved, is_piece) | (passed << 8u) | turn;
}

// Returns the position in the next slot.
fn advance(at: At) -> At {
    var next = at;
    next.slot += 1u;
    if (is_last_of_line(at)) {
        next.ply = 0u;
        // If the next slot begins a side line, the number of the game does not change, because the side line is part of
        // the same game.
        next.game += 1u - ((at.mv >> 1u) & 1u);
        if ((at.mv & 1u) != 0u) {
            let start = &starts[at.start];
            next.board = Board((*start).planes[0], (*start).planes[1], (*start).planes[2], (*start).planes[3]);
            next.state = (*start).state;
            next.ply = (*start).ply;
            next.start += 1u;
        } else {
            next.board = Board(STANDARD_0, STANDARD_1, STANDARD_2, STANDARD_3);
            next.state = STANDARD_STATE;
        }
    } else {
        next.board = play(at.board, at.mv);
        next.state = next_state(at.state, at.mv);
        next.ply += 1u;
    }
    return next;
}

// Returns the slots that an invocation evaluates when `LANES` invocations share a segment.
fn lane_slots(lane: u32) -> u32 {
    return select(0xffffu << (16u * lane), 0xffffffffu, LANES == 1u);
}

// Returns the number of groups of four moves that must be replayed to reach the last of the slots that `lane_slots`
// returns.
fn lane_words(lane: u32) -> u32 {
    return SEGMENT_SLOTS / 4u / LANES * (lane + 1u);
}

fn column_mask(at: At, column: u32) -> Bits {
    let word = columns[at.game * COLUMN_WORDS + 2u * column];
    return pair(word, word);
}

fn column_number(at: At, column: u32) -> Bits {
    return number(columns[at.game * COLUMN_WORDS + 2u * column + 1u]);
}

// Returns the value, at the current slot, of a mask column that a stage (a program that runs before the rest of the
// plan) propagated. `place` is the number of words that the columns before this one have for each segment.
fn carried_mask(at: At, place: u32) -> Bits {
    let word = carried[place * params.segments + at.segment];
    return mask(((word >> at.slot) & 1u) != 0u);
}

fn carried_word(at: At, place: u32) -> Bits {
    let first = place * params.segments + 2u * (SEGMENT_SLOTS * at.segment + at.slot);
    return pair(carried[first], carried[first + 1u]);
}
