// Computes the moves of a position. The CPU implementation is in crates/core/src/board/moves.rs and, for sides with
// several kings, in crates/core/src/board/legal.rs.

// The kinds of moves that a plan can request with `Special`.
const ANY = 0u;
const ONLY_CASTLE = 1u;
const ONLY_KING_SIDE = 2u;
const ONLY_QUEEN_SIDE = 3u;
const ONLY_EN_PASSANT = 4u;

// Returns the pieces of one colour. Only valid piece codes occur on a board, so two planes are enough to identify some
// roles.
fn of_color(board: Board, black: bool) -> Bits {
    return (board.p0 | board.p1 | board.p2) & select(~board.p3, board.p3, black);
}

fn kings_of(board: Board, black: bool) -> Bits {
    return board.p1 & board.p2 & select(~board.p3, board.p3, black);
}

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

// Returns true if the moving side has no king in check after the move.
fn is_safe(board: Board, black: bool, mv: u32) -> bool {
    let after = play(board, mv);
    return is_empty(kings_of(after, black) & attacked_by(after, !black));
}

// Returns the squares that a piece attacks. The piece must not be a pawn.
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

// Returns the en passant square of a state. Returns the empty set if the board contradicts the double pawn step that
// made this square an en passant square.
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

// Returns the squares from `a` to `b`, including both. They must be on the first or the last rank.
fn span(a: u32, b: u32) -> Bits {
    let low = min(a, b);
    let line = ((2u << (max(a, b) - low)) - 1u) << (low & 7u);
    return select(shl_byte(line, low >> 3u), small(line), low < 8u);
}

// Returns `line`, a set of squares on the first rank, moved to the last rank. Returns the empty set unless `rank` is 7.
fn shl_byte(line: u32, rank: u32) -> Bits {
    return select(NONE, pair(0u, line << 24u), rank == 7u);
}

struct Moves {
    // The destination squares.
    squares: Bits,
    // The origin squares.
    origins: Bits,
    // The squares to which the castling king can make an ordinary move. In Chess960, castling can have the same origin
    // and destination as an ordinary move of the king.
    steps: Bits,
    // The number of distinct origin-destination pairs.
    pairs: u32,
}

// The pieces of a position: those of the side to move, those of the other side, and, for both sides together, those of
// each kind. Also the empty squares.
struct Men {
    own: Bits,
    enemies: Bits,
    empty: Bits,
    pawns: Bits,
    knights: Bits,
    oblique: Bits,
    straight: Bits,
    kings: Bits,
}

// The restrictions that keep the king from being attacked after a move.
struct Safety {
    // The squares to which a piece other than the king may move: all squares, or those that end a check.
    evasions: Bits,
    // The squares that the other side attacks when the king is removed from the board.
    danger: Bits,
    // The pieces that are pinned to the king. Each set is for one line, a pair of opposite directions: 0 and 4, 1 and
    // 5, 2 and 6, or 3 and 7.
    pinned0: Bits,
    pinned1: Bits,
    pinned2: Bits,
    pinned3: Bits,
}

fn men_of(board: Board, black: bool) -> Men {
    let own = of_color(board, black);
    let enemies = of_color(board, !black);
    let pawns = board.p0 & ~board.p1 & ~board.p2;
    let knights = board.p1 & ~board.p0 & ~board.p2;
    let oblique = board.p0 & (board.p1 ^ board.p2);
    return Men(own, enemies, ~(own | enemies), pawns, knights, oblique, board.p2 & ~board.p1, board.p1 & board.p2);
}

// Returns the squares to which pieces other than the king may move because of one line from the king: the squares of
// the line if a slider on it gives check, otherwise all squares.
fn answer_to(line: Bits, sliders: Bits) -> Bits {
    return line | mask(is_empty(line & sliders));
}

fn safety_of(men: Men, black: bool) -> Safety {
    let own_king = men.kings & men.own;
    let lifted = men.empty | own_king;
    let straight = men.straight & men.enemies;
    let oblique = men.oblique & men.enemies;
    let pawns = men.pawns & men.enemies;
    let before = select(pawn_white(own_king), pawn_black(own_king), black) & pawns;
    let near = before | (knight(own_king) & men.knights & men.enemies) | (king(own_king) & men.kings & men.enemies);
    let line0 = slide0(own_king, men.empty);
    let line1 = slide1(own_king, men.empty);
    let line2 = slide2(own_king, men.empty);
    let line3 = slide3(own_king, men.empty);
    let line4 = slide4(own_king, men.empty);
    let line5 = slide5(own_king, men.empty);
    let line6 = slide6(own_king, men.empty);
    let line7 = slide7(own_king, men.empty);
    // The squares that enemy sliders attack, by direction: `back0` is in the direction opposite to `line0`, and so on.
    // The king of the side to move does not block these sliders.
    let back0 = slide4(straight, lifted);
    let back1 = slide5(oblique, lifted);
    let back2 = slide6(straight, lifted);
    let back3 = slide7(oblique, lifted);
    let back4 = slide0(straight, lifted);
    let back5 = slide1(oblique, lifted);
    let back6 = slide2(straight, lifted);
    let back7 = slide3(oblique, lifted);
    var evasions = select(near & mask(is_empty(rest(near))), ALL, is_empty(near));
    evasions &= answer_to(line0, straight) & answer_to(line2, straight);
    evasions &= answer_to(line4, straight) & answer_to(line6, straight);
    evasions &= answer_to(line1, oblique) & answer_to(line3, oblique);
    evasions &= answer_to(line5, oblique) & answer_to(line7, oblique);
    let by_pawns = select(pawn_black(pawns), pawn_white(pawns), black);
    let leapt = knight(men.knights & men.enemies) | king(men.kings & men.enemies);
    let danger = by_pawns | leapt | back0 | back1 | back2 | back3 | back4 | back5 | back6 | back7;
    return Safety(
        evasions,
        danger,
        men.own & ((line0 & back0) | (line4 & back4)),
        men.own & ((line1 & back1) | (line5 & back5)),
        men.own & ((line2 & back2) | (line6 & back6)),
        men.own & ((line3 & back3) | (line7 & back7)),
    );
}

// Adds moves to the squares in `reached`, each of which only one piece can reach. `left` contains the squares that these pieces
// leave.
fn with_moves(moves: Moves, reached: Bits, left: Bits) -> Moves {
    let pairs = moves.pairs + low_word(count(reached));
    return Moves(moves.squares | reached, moves.origins | left, moves.steps, pairs);
}

fn with_knights(moves: Moves, movers: Bits, to: Bits) -> Moves {
    let beside_right = right(movers);
    let beside_left = left(movers);
    let wide_right = right(beside_right);
    let wide_left = left(beside_left);
    var pairs = count(shl(beside_right, 16u) & to) + count(shr(beside_right, 16u) & to);
    pairs += count(shl(beside_left, 16u) & to) + count(shr(beside_left, 16u) & to);
    pairs += count(shl(wide_right, 8u) & to) + count(shr(wide_right, 8u) & to);
    pairs += count(shl(wide_left, 8u) & to) + count(shr(wide_left, 8u) & to);
    let squares = moves.squares | (knight(movers) & to);
    return Moves(squares, moves.origins | (knight(to) & movers), moves.steps, moves.pairs + low_word(pairs));
}

// Adds all moves except castling and en passant captures. The side to move must not have several kings.
fn ordinary_moves(men: Men, black: bool, origin: Bits, goal: Bits, pseudo: bool) -> Moves {
    var safety = Safety(ALL, NONE, NONE, NONE, NONE, NONE);
    if (!pseudo) {
        safety = safety_of(men, black);
    }
    let movers = men.own & origin;
    let king_to = goal & ~men.own & ~safety.danger;
    let own_king = men.kings & movers;
    let steps = king(own_king) & king_to;
    var out = with_moves(Moves(NONE, NONE, steps, 0u), steps, king(king_to) & own_king);
    let to = goal & ~men.own & safety.evasions;
    let free = movers & ~(safety.pinned0 | safety.pinned1 | safety.pinned2 | safety.pinned3);
    let movers1 = free | (movers & safety.pinned1);
    let movers2 = free | (movers & safety.pinned2);
    let movers3 = free | (movers & safety.pinned3);
    let rooks0 = men.straight & (free | (movers & safety.pinned0));
    let rooks2 = men.straight & movers2;
    let bishops1 = men.oblique & movers1;
    let bishops3 = men.oblique & movers3;
    out = with_knights(out, men.knights & free, to);
    out = with_moves(out, slide0(rooks0, men.empty) & to, slide4(to, men.empty) & rooks0);
    out = with_moves(out, slide4(rooks0, men.empty) & to, slide0(to, men.empty) & rooks0);
    out = with_moves(out, slide2(rooks2, men.empty) & to, slide6(to, men.empty) & rooks2);
    out = with_moves(out, slide6(rooks2, men.empty) & to, slide2(to, men.empty) & rooks2);
    out = with_moves(out, slide1(bishops1, men.empty) & to, slide5(to, men.empty) & bishops1);
    out = with_moves(out, slide5(bishops1, men.empty) & to, slide1(to, men.empty) & bishops1);
    out = with_moves(out, slide3(bishops3, men.empty) & to, slide7(to, men.empty) & bishops3);
    out = with_moves(out, slide7(bishops3, men.empty) & to, slide3(to, men.empty) & bishops3);
    return with_pawns(out, men, black, movers1, movers2, movers3, to);
}

// Returns the squares one rank ahead of the given squares, in the direction in which a side's pawns move.
fn ahead(squares: Bits, black: bool) -> Bits {
    return select(shl(squares, 8u), shr(squares, 8u), black);
}

// Adds the moves of pawns. `movers1`, `movers2` and `movers3` are the pieces that may move along the lines of
// directions 1, 2 and 3; a pinned piece is included if it is pinned along this direction.
fn with_pawns(moves: Moves, men: Men, black: bool, movers1: Bits, movers2: Bits, movers3: Bits, to: Bits) -> Moves {
    let third = select(small(0x00ff0000u), pair(0u, 0x0000ff00u), black);
    let step = ahead(men.pawns & movers2, black) & men.empty;
    let double = ahead(step & third, black) & men.empty & to;
    // Captures towards the h-file use direction 1 for White and direction 3 for Black; captures towards the a-file use
    // direction 3 for White and direction 1 for Black.
    let prey = men.enemies & to;
    let rights = ahead(right(men.pawns & select(movers1, movers3, black)), black) & prey;
    let lefts = ahead(left(men.pawns & select(movers3, movers1, black)), black) & prey;
    var out = with_moves(moves, step & to, ahead(step & to, !black));
    out = with_moves(out, double, ahead(ahead(double, !black), !black));
    out = with_moves(out, rights, left(ahead(rights, !black)));
    return with_moves(out, lefts, right(ahead(lefts, !black)));
}

fn with_passing(moves: Moves, at: At, men: Men, black: bool, origin: Bits, to: Bits, pseudo: bool) -> Moves {
    let passed = en_passant_square(at.board, at.state, black) & to;
    var takers = select(pawn_black(passed), pawn_white(passed), black) & men.pawns & men.own & origin;
    var out = moves;
    while (!is_empty(takers)) {
        let square = lowest(takers);
        takers = rest(takers);
        var legal = pseudo;
        if (!pseudo) {
            legal = is_safe(at.board, black, square | (lowest(passed) << 6u) | (EN_PASSANT << 12u));
        }
        out.squares |= select(NONE, passed, legal);
        out.origins |= select(NONE, bit(square), legal);
        out.pairs += select(0u, 1u, legal);
    }
    return out;
}

// Returns the moves of the side to move from squares of `origin` to squares of `to`. Castling counts as the king's
// move, and is pseudolegal only if it is legal. If `first` is true, the search may stop at the first move, because the
// result is only used to test whether there are any moves.
fn moves_of(at: At, origin: Bits, to: Bits, pseudo: bool, only: u32, first: bool) -> Moves {
    let black = (at.state & 1u) != 0u;
    let men = men_of(at.board, black);
    var out = Moves(NONE, NONE, NONE, 0u);
    var several = false;
    if (SEVERAL_KINGS) {
        several = !is_empty(rest(men.kings & men.own));
    }
    if (several) {
        out = listed_moves(at, origin, to, pseudo, only, first);
    } else {
        if (only == ANY) {
            out = ordinary_moves(men, black, origin, to, pseudo);
        }
        if (only == ANY || only == ONLY_EN_PASSANT) {
            out = with_passing(out, at, men, black, origin, to, pseudo);
        }
    }
    if (only != ONLY_EN_PASSANT) {
        out = with_castling(out, at, origin, to, only);
    }
    return out;
}

// Returns all moves except castling, listed piece by piece. This works for any placement of pieces, even with several
// kings.
fn listed_moves(at: At, origin: Bits, to: Bits, pseudo: bool, only: u32, first: bool) -> Moves {
    let board = at.board;
    let black = (at.state & 1u) != 0u;
    let own = of_color(board, black);
    let enemies = of_color(board, !black);
    let empty = ~(own | enemies);
    let passed = en_passant_square(board, at.state, black);
    let castler_square = lowest(kings_of(board, black) & back_rank(black));
    var out = Moves(NONE, NONE, NONE, 0u);
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
            let step = ahead(here, black) & empty;
            let second = select((square >> 3u) == 1u, (square >> 3u) == 6u, black);
            let double = select(NONE, ahead(step, black) & empty, second);
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
            out.origins |= select(NONE, here, legal);
            out.pairs += select(0u, 1u, legal);
            out.steps |= select(NONE, arrival, legal && square == castler_square);
        }
    }
    return out;
}

fn back_rank(black: bool) -> Bits {
    return select(small(0xffu), pair(0u, 0xff000000u), black);
}

fn with_castling(moves: Moves, at: At, origin: Bits, to: Bits, only: u32) -> Moves {
    let board = at.board;
    let black = (at.state & 1u) != 0u;
    let castler_square = lowest(kings_of(board, black) & back_rank(black));
    let castles = only == ANY || only == ONLY_CASTLE;
    var out = moves;
    if (castler_square < 64u && (at.state >> 16u) != 0u && !is_empty(bit(castler_square & 63u) & origin)) {
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
            let occupied = board.p0 | board.p1 | board.p2;
            let others = occupied & ~bit(castler_square & 63u) & ~bit(rook);
            let stands = content(board, bit(rook)) == select(4u, 12u, black);
            let arrival = bit(king_to);
            var legal = wanted && (nibble & 8u) != 0u && stands && (rook > castler_square) == king_side
                && is_empty(path & others) && !is_empty(arrival & to);
            if (legal) {
                // The squares of the king's path are checked with the king removed and the rook still on its square.
                let without = put(board, bit(castler_square & 63u), 0u, NONE);
                legal = is_empty(attacked_by(without, !black) & king_path)
                    && is_safe(board, black, castler_square | (rook << 6u));
            }
            out.squares |= select(NONE, arrival, legal);
            out.origins |= select(NONE, bit(castler_square & 63u), legal);
            out.pairs += select(0u, 1u, legal && is_empty(out.steps & arrival));
        }
    }
    return out;
}

// Returns a mask that is true if `within` is true and the side to move has a king but no legal move.
fn no_moves(at: At, within: Bits) -> Bits {
    var out = NONE;
    if (!is_empty(within) && !is_empty(kings_of(at.board, (at.state & 1u) != 0u))) {
        out = mask(is_empty(moves_of(at, ALL, ALL, false, ANY, true).squares));
    }
    return out;
}
