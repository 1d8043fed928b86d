// The moves of one position. The twin is src/board/legal.rs; what is legal there is legal here.

// Which moves are asked for: `Special` in the plan.
const ANY = 0u;
const ONLY_CASTLE = 1u;
const ONLY_KING_SIDE = 2u;
const ONLY_QUEEN_SIDE = 3u;
const ONLY_EN_PASSANT = 4u;

// Pieces of one colour that have one role. A code that is no piece never stands on a board.
fn of_color(board: Board, black: bool) -> Bits {
    return (board.p0 | board.p1 | board.p2) & select(~board.p3, board.p3, black);
}

fn kings_of(board: Board, black: bool) -> Bits {
    return board.p1 & board.p2 & select(~board.p3, board.p3, black);
}

// Squares that the pieces of one colour attack.
fn attacked_by(board: Board, black: bool) -> Bits {
    let color = of_color(board, black);
    let empty = ~(board.p0 | board.p1 | board.p2);
    let pawns = board.p0 & ~board.p1 & ~board.p2 & color;
    let knights = board.p1 & ~board.p0 & ~board.p2 & color;
    let queens = board.p0 & board.p2 & color;
    let bishops = (board.p0 & board.p1 & color) | queens;
    let rooks = (board.p2 & ~board.p0 & ~board.p1 & color) | queens;
    let by_pawns = select(pawn_white(pawns), pawn_black(pawns), black);
    return by_pawns | knight(knights) | king(kings_of(board, black)) | straight(rooks, empty)
        | oblique(bishops, empty);
}

// Whether a move leaves no own king attacked.
fn is_safe(board: Board, black: bool, mv: u32) -> bool {
    let after = play(board, mv);
    return is_empty(kings_of(after, black) & attacked_by(after, !black));
}

// Squares that one piece, pawns aside, moves to or attacks.
fn reach(code: u32, square: Bits, empty: Bits) -> Bits {
    let role = code & 7u;
    var out = select(king(square), knight(square), role == 2u);
    if (role >= 3u && role <= 5u) {
        out = NONE;
        if (role != 3u) {
            out |= straight(square, empty);
        }
        if (role != 4u) {
            out |= oblique(square, empty);
        }
    }
    return out;
}

// The en passant square, if a pawn can have made the double step that it tells of.
fn en_passant_square(board: Board, state: u32, black: bool) -> Bits {
    let square = (state >> 8u) & 255u;
    var out = NONE;
    if (square < 64u && (square >> 3u) == select(5u, 2u, black)) {
        let behind = bit(select(square + 8u, square - 8u, black));
        let pawn = bit(select(square - 8u, square + 8u, black));
        let empty = ~(board.p0 | board.p1 | board.p2);
        if (!is_empty(empty & bit(square)) && !is_empty(empty & behind)
            && content(board, pawn) == select(9u, 1u, black)) {
            out = bit(square);
        }
    }
    return out;
}

// Squares from `a` to `b`, both included, on one rank.
fn span(a: u32, b: u32) -> Bits {
    let low = min(a, b);
    let line = ((2u << (max(a, b) - low)) - 1u) << (low & 7u);
    return select(shl_byte(line, low >> 3u), small(line), low < 8u);
}

// The highest or lowest rank only.
fn shl_byte(line: u32, rank: u32) -> Bits {
    return select(NONE, pair(0u, line << 24u), rank == 7u);
}

struct Moves {
    // Arrival squares.
    squares: Bits,
    // Pairs of from and arrival.
    pairs: u32,
}

// Moves of the side to move from and to the given squares, castling as the king's move; that is pseudolegal only
// where it is legal. With `first` nothing but whether there are any.
fn moves_of(at: At, origin: Bits, to: Bits, pseudo: bool, only: u32, first: bool) -> Moves {
    let board = at.board;
    let black = (at.state & 1u) != 0u;
    let own = of_color(board, black);
    let enemies = of_color(board, !black);
    let empty = ~(own | enemies);
    let passed = en_passant_square(board, at.state, black);
    let back = select(small(0xffu), pair(0u, 0xff000000u), black);
    let castler = kings_of(board, black) & back;
    let castler_square = lowest(castler);
    // Where the king that may castle steps: in Chess960 castling can be the same pair.
    var steps = NONE;
    var out = Moves(NONE, 0u);
    var movers = select(NONE, own & origin, only == ANY || only == ONLY_EN_PASSANT);
    while (!is_empty(movers) && !(first && out.pairs != 0u)) {
        let square = lowest(movers);
        movers = rest(movers);
        let here = bit(square);
        let code = content(board, here);
        let is_pawn = (code & 7u) == 1u;
        var targets = NONE;
        var in_passing = NONE;
        if (is_pawn) {
            let step = select(shl(here, 8u), shr(here, 8u), black) & empty;
            let second = select((square >> 3u) == 1u, (square >> 3u) == 6u, black);
            let double = select(NONE, select(shl(step, 8u), shr(step, 8u), black) & empty, second);
            let sides = select(pawn_white(here), pawn_black(here), black);
            targets = step | double | (sides & enemies);
            in_passing = sides & passed & to;
        } else {
            targets = reach(code, here, empty) & ~own;
        }
        targets = (select(NONE, targets & to, only == ANY)) | in_passing;
        while (!is_empty(targets) && !(first && out.pairs != 0u)) {
            let goal = lowest(targets);
            targets = rest(targets);
            let arrival = bit(goal);
            var after = code;
            if (is_pawn) {
                let last = (goal >> 3u) == 0u || (goal >> 3u) == 7u;
                after = select(after, (code & 8u) | 5u, last);
                after = select(after, EN_PASSANT, !is_empty(arrival & in_passing));
            }
            let mv = square | (goal << 6u) | (after << 12u);
            var legal = pseudo;
            if (!pseudo) {
                legal = is_safe(board, black, mv);
            }
            out.squares |= select(NONE, arrival, legal);
            out.pairs += select(0u, 1u, legal);
            steps |= select(NONE, arrival, legal && square == castler_square);
        }
    }
    let castles = only == ANY || only == ONLY_CASTLE;
    if (!is_empty(castler) && (at.state >> 16u) != 0u && !is_empty(bit(castler_square & 63u) & origin)) {
        let rank = castler_square & 56u;
        for (var k = 0u; k < 2u; k++) {
            let king_side = k == 0u;
            let wanted = castles || only == select(ONLY_QUEEN_SIDE, ONLY_KING_SIDE, king_side);
            let nibble = (at.state >> (16u + select(0u, 8u, black) + 4u * k)) & 15u;
            let rook = rank | (nibble & 7u);
            let king_to = rank + select(2u, 6u, king_side);
            let rook_to = rank + select(3u, 5u, king_side);
            let king_path = span(castler_square & 63u, king_to);
            let path = king_path | span(rook, rook_to);
            let others = ~empty & ~bit(castler_square & 63u) & ~bit(rook);
            let stands = content(board, bit(rook)) == select(4u, 12u, black);
            let arrival = bit(king_to);
            var legal = wanted && (nibble & 8u) != 0u && stands && (rook > castler_square) == king_side
                && is_empty(path & others) && !is_empty(arrival & to);
            if (legal) {
                // The king's way is looked at with the king gone from it, the rook still in place.
                let without = put(board, bit(castler_square & 63u), 0u, NONE);
                legal = is_empty(attacked_by(without, !black) & king_path)
                    && is_safe(board, black, castler_square | (rook << 6u));
            }
            out.squares |= select(NONE, arrival, legal);
            out.pairs += select(0u, 1u, legal && is_empty(steps & arrival));
        }
    }
    return out;
}

// Mask: of the positions in the mask, those in which the side to move has a king but no legal move.
fn no_moves(at: At, within: Bits) -> Bits {
    var out = NONE;
    if (!is_empty(within) && !is_empty(kings_of(at.board, (at.state & 1u) != 0u))) {
        out = mask(moves_of(at, ALL, ALL, false, ANY, true).pairs == 0u);
    }
    return out;
}
