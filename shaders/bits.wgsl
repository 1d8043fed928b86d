// Functions whose source is the same whether a word is two 32-bit integers (bitboard.wgsl) or one 64-bit integer
// (bitboard_wide.wgsl): masks, comparisons, divisors and lines.

// Returns all ones if bit `place` of a word is set, otherwise 0.
fn spread(word: u32, place: u32) -> u32 {
    return bitcast<u32>(extractBits(bitcast<i32>(word), place, 1u));
}

fn mask(holds: bool) -> Bits {
    return select(NONE, ALL, holds);
}

fn choose(within: Bits, a: Bits, b: Bits) -> Bits {
    return (a & within) | (b & ~within);
}

fn non_empty(a: Bits) -> Bits {
    return mask(!is_empty(a));
}

fn single(a: Bits) -> Bits {
    return mask(!is_empty(a) && is_empty(rest(a)));
}

fn eq(a: Bits, b: Bits) -> Bits {
    return mask(is_equal(a, b));
}

fn ne(a: Bits, b: Bits) -> Bits {
    return mask(!is_equal(a, b));
}

fn lt(a: Bits, b: Bits) -> Bits {
    return mask(is_less(a, b));
}

fn le(a: Bits, b: Bits) -> Bits {
    return mask(!is_less(b, a));
}

fn larger(a: Bits, b: Bits) -> Bits {
    return select(a, b, is_less(a, b));
}

// Returns a divisor by which `a` can be divided safely. This is `b`, except in two cases in which it is 1: if `b` is 0,
// or if `b` is -1 and `a` is the smallest number. In the second case, the wrapped quotient is `a`, and the remainder is
// 0.
fn divisor(a: i32, b: i32) -> i32 {
    return select(b, 1, b == 0 || (b == -1 && a == -0x7fffffff - 1));
}

// Return the squares that rooks (`straight`) and bishops (`oblique`) attack.
fn straight(a: Bits, empty: Bits) -> Bits {
    return slide0(a, empty) | slide2(a, empty) | slide4(a, empty) | slide6(a, empty);
}

fn oblique(a: Bits, empty: Bits) -> Bits {
    return slide1(a, empty) | slide3(a, empty) | slide5(a, empty) | slide7(a, empty);
}
