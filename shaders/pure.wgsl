// Finds the men (pieces and pawns) that take part in pure mates and stalemates, which docs/mates.md defines. The CPU
// implementation is in crates/core/src/board/pure.rs.

fn slide(dir: u32, a: Bits, empty: Bits) -> Bits {
    switch dir {
        case 0u: { return slide0(a, empty); }
        case 1u: { return slide1(a, empty); }
        case 2u: { return slide2(a, empty); }
        case 3u: { return slide3(a, empty); }
        case 4u: { return slide4(a, empty); }
        case 5u: { return slide5(a, empty); }
        case 6u: { return slide6(a, empty); }
        default: { return slide7(a, empty); }
    }
}

// Returns the pieces of both sides that slide in a direction: queens, and either rooks or bishops.
fn sliders(board: Board, dir: u32) -> Bits {
    let queens = board.p0 & board.p2;
    let bishops = board.p0 & board.p1;
    let rooks = board.p2 & ~board.p0 & ~board.p1;
    return queens | select(rooks, bishops, (dir & 1u) != 0u);
}

// Returns each man that is the only one on a line between a target and one of the given sliders, if the slider moves along this
// line.
fn alone_before(board: Board, dir: u32, targets: Bits, given: Bits, empty: Bits) -> Bits {
    let men = slide(dir, targets, empty) & ~empty;
    let beyond = slide(dir, men, empty) & given & sliders(board, dir);
    return slide((dir + 4u) & 7u, beyond, empty) & men;
}

// Returns the squares from which pawns of a colour attack at least one of the given squares. These are the squares that
// pawns of the other colour would attack from the given squares.
fn pawns_at(squares: Bits, black: bool) -> Bits {
    return select(pawn_black(squares), pawn_white(squares), black);
}

fn back_from(squares: Bits, black: bool) -> Bits {
    return select(shr(squares, 8u), shl(squares, 8u), black);
}

// Returns the men of the side to move, except the king, that can move to one of the targets or capture there. Pins are
// ignored. No target may contain a man of the side to move.
fn movers_to(at: At, targets: Bits, own: Bits, enemies: Bits) -> Bits {
    let board = at.board;
    let black = (at.state & 1u) != 0u;
    let empty = ~(own | enemies);
    let queens = board.p0 & board.p2;
    let bishops = (board.p0 & board.p1) | queens;
    let rooks = (board.p2 & ~board.p0 & ~board.p1) | queens;
    let knights = board.p1 & ~board.p0 & ~board.p2;
    let pawns = board.p0 & ~board.p1 & ~board.p2;
    let step = back_from(targets & empty, black);
    let second = select(pair(0xff00u, 0u), pair(0u, 0xff0000u), black);
    var origins = pawns_at(targets & enemies, black) | step | (back_from(step & empty, black) & second);
    let passed = en_passant_square(board, at.state, black);
    if (!is_empty((passed | back_from(passed, black)) & targets)) {
        origins |= pawns_at(passed, black);
    }
    let pieces = (knight(targets) & knights) | (straight(targets, empty) & rooks) | (oblique(targets, empty) & bishops);
    return (pieces | (origins & pawns)) & own;
}

// Returns the men that take part in a pure mate or stalemate. `within` is a mask that is true at mates (or stalemates).
// The result is empty if the mask is false, or if the mate or stalemate is not pure.
fn pure_men(at: At, within: Bits, is_mate: bool) -> Bits {
    let board = at.board;
    let black = (at.state & 1u) != 0u;
    let our_king = kings_of(board, black);
    if (is_empty(within) || is_empty(our_king) || !is_empty(rest(our_king))) {
        return NONE;
    }
    let own = of_color(board, black);
    let enemies = of_color(board, !black);
    let enemy_kings = kings_of(board, !black);
    let empty = ~(own | enemies);
    let field = king(our_king);
    var men = our_king | select(own, field & own, is_mate);
    // The squares that the other side attacks at least once, and those that it attacks at least twice, when the king is
    // removed from the board.
    var once = NONE;
    var twice = NONE;
    var checkers = NONE;
    var attackers = enemies;
    while (!is_empty(attackers)) {
        let here = bit(lowest(attackers));
        attackers = rest(attackers);
        let code = content(board, here);
        var attacked = reach(code, here, empty | our_king);
        if ((code & 7u) == 1u) {
            attacked = select(pawn_black(here), pawn_white(here), black);
        }
        twice |= once & attacked;
        once |= attacked;
        if (!is_empty(attacked & our_king)) {
            checkers |= here;
        }
        if (!is_empty(attacked & (field | our_king))) {
            men |= here;
        }
    }
    let one_check = !is_empty(checkers) && is_empty(rest(checkers));
    var pinned = NONE;
    var line = checkers;
    for (var dir = 0u; dir < 8u; dir++) {
        let ray = slide(dir, our_king, empty);
        if (!is_empty(ray & checkers)) {
            line |= ray;
        }
        let man = ray & own;
        if (!is_empty(slide(dir, man, empty) & enemies & sliders(board, dir))) {
            pinned |= man;
        }
    }
    var refutations = NONE;
    var refuters = NONE;
    if (one_check) {
        refutations = line | enemy_kings;
        refuters = pinned & movers_to(at, refutations, own, enemies);
    }
    let exactly_once = once & ~twice;
    let licensed = select(pinned, refuters, is_mate);
    var is_pure = is_empty(field & ~own & ~exactly_once)
        && is_empty(field & own & once & ~(licensed & exactly_once));
    // If several men give check, the mate is pure only if each of these checks could be parried on its own.
    var several = select(checkers, NONE, one_check);
    while (is_pure && !is_empty(several)) {
        let checker = bit(lowest(several));
        several = rest(several);
        var parries = checker;
        for (var dir = 0u; dir < 8u; dir++) {
            let ray = slide(dir, our_king, empty);
            if (!is_empty(ray & checker)) {
                parries |= ray;
            }
        }
        is_pure = !is_empty(movers_to(at, parries, own, enemies) & ~pinned);
    }
    if (!is_pure) {
        return NONE;
    }
    for (var dir = 0u; dir < 8u; dir++) {
        let man = slide(dir, our_king, empty) & own & licensed;
        men |= slide(dir, man, empty) & enemies & sliders(board, dir);
        men |= alone_before(board, dir, enemy_kings, own, empty);
        men |= alone_before(board, dir, refutations, own, empty) & own;
        men |= alone_before(board, dir, refutations, refuters, empty) & enemies;
    }
    return men;
}
