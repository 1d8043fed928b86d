// Reads the move played from a slot's position, for conditions on played moves. The CPU implementation of these
// conditions is in crates/engine/src/operations/moves.rs, which stores a move with the slot to which it leads.

// A move. Each of its sets of squares has one square or none.
struct Edge {
    // The origin and destination squares of the moving piece; for castling, those of the king.
    origin: Bits,
    goal: Bits,
    // The origin and destination of the rook if the move is castling, otherwise empty sets.
    rook_origin: Bits,
    rook_goal: Bits,
    // The square of the captured piece, if there is one.
    taken: Bits,
    // The code of the move, as stored in a packed game.
    code: u32,
    // The piece to which a pawn promotes, without its colour; 0 if the move is not a promotion.
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
    // A null move has the king's square as its origin and its destination.
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

// Returns true if the move is castling with a king that begins on the e-file. In Chess960, the king may begin on
// another file, and the move then does not count.
fn is_castling(edge: Edge, at: At) -> bool {
    return edge.code == CASTLE && (at.mv & 7u) == E_FILE;
}

fn is_king_side(edge: Edge, at: At) -> bool {
    return is_castling(edge, at) && ((at.mv >> 6u) & 63u) > (at.mv & 63u);
}

fn is_queen_side(edge: Edge, at: At) -> bool {
    return is_castling(edge, at) && ((at.mv >> 6u) & 63u) < (at.mv & 63u);
}

// Returns true if a square is in the set `squares` and `contents` allows the piece on it. In `contents`, bit `c` stands
// for the piece with code `c`, and bit 0 for an empty square.
fn stands(at: At, square: Bits, contents: u32, squares: Bits) -> bool {
    return !is_empty(square & squares) && ((contents >> content(at.board, square)) & 1u) != 0u;
}

fn lies(square: Bits, squares: Bits) -> bool {
    return !is_empty(square & squares);
}
