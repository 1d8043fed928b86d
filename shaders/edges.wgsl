// The move that leaves a slot, for tests of what was played. The twin is src/engine/operations/moves.rs, which looks at
// the move from the slot that it leads to.

// Each square as a set.
struct Edge {
    // Of castling the king's.
    origin: Bits,
    goal: Bits,
    // The rook's, of castling.
    rook_origin: Bits,
    rook_goal: Bits,
    // Where it captures.
    taken: Bits,
    // As in the reel.
    code: u32,
    // What becomes of a pawn that is promoted, without its colour, else 0.
    promotion: u32,
}

const E_FILE = 4u;

fn edge_of(at: At) -> Edge {
    let origin = at.mv & 63u;
    let to = (at.mv >> 6u) & 63u;
    let code = at.mv >> 12u;
    let castles = code == CASTLE;
    let is_piece = code != CASTLE && code != EN_PASSANT && code != NULL_MOVE && code != START;
    let rank = origin & 56u;
    let side = to > origin;
    let goal = select(to, rank + select(2u, 6u, side), castles);
    // A null move stays where the king stands.
    let colour = select(~at.board.p3, at.board.p3, (at.state & 1u) != 0u);
    let kings = at.board.p1 & at.board.p2 & ~at.board.p0 & colour;
    let king = bit(select(lowest(kings), 0u, is_empty(kings)));
    let stays = code == NULL_MOVE;
    var taken = select(NONE, bit(to), is_piece && content(at.board, bit(to)) != 0u);
    taken = select(taken, bit(rank | (to & 7u)), code == EN_PASSANT);
    let is_pawn = (content(at.board, bit(origin)) & 7u) == 1u;
    let promotion = select(0u, code & 7u, is_piece && is_pawn && (code & 7u) != 1u);
    return Edge(
        select(bit(origin), king, stays),
        select(bit(goal), king, stays),
        select(NONE, bit(to), castles),
        select(NONE, bit(rank + select(3u, 5u, side)), castles),
        taken,
        code,
        promotion,
    );
}

fn is_move(edge: Edge) -> bool {
    return edge.code != START;
}

// Castling that begins on the file of the kings: Chess960 knows other ways.
fn is_castling(edge: Edge, at: At) -> bool {
    return edge.code == CASTLE && (at.mv & 7u) == E_FILE;
}

fn is_king_side(edge: Edge, at: At) -> bool {
    return is_castling(edge, at) && ((at.mv >> 6u) & 63u) > (at.mv & 63u);
}

fn is_queen_side(edge: Edge, at: At) -> bool {
    return is_castling(edge, at) && ((at.mv >> 6u) & 63u) < (at.mv & 63u);
}

// Whether a square is in a set and holds one of some contents.
fn stands(at: At, square: Bits, contents: u32, squares: Bits) -> bool {
    return !is_empty(square & squares) && ((contents >> content(at.board, square)) & 1u) != 0u;
}

fn lies(square: Bits, squares: Bits) -> bool {
    return !is_empty(square & squares);
}
