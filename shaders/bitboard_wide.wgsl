// 64-bit words, stored as one integer, for adapters that have 64-bit integers. A word is a set of squares, a mask or a
// number.
//
// The functions have the same names as those in bitboard.wgsl, which every adapter can run. Functions whose source is
// the same in both cases are in bits.wgsl. Bits are counted in two halves, because a driver may be unable to count the
// bits of a 64-bit integer.

alias Bits = u64;

const NONE = 0lu;
const ALL = 0xfffffffffffffffflu;
const NOT_A = 0xfefefefefefefefelu;
const NOT_H = 0x7f7f7f7f7f7f7f7flu;
const NOT_AB = 0xfcfcfcfcfcfcfcfclu;
const NOT_GH = 0x3f3f3f3f3f3f3f3flu;
const SIGN = 0x8000000000000000lu;

// ---- halves

fn pair(lo: u32, hi: u32) -> Bits {
    return u64(lo) | (u64(hi) << 32u);
}

fn small(a: u32) -> Bits {
    return u64(a);
}

fn low_word(a: Bits) -> u32 {
    return u32(a & 0xfffffffflu);
}

fn high_word(a: Bits) -> u32 {
    return u32(a >> 32u);
}

// ---- shifts

// Shifts left by `by`, which must be in 1..=31.
fn shl(a: Bits, by: u32) -> Bits {
    return a << by;
}

// Shifts right by `by`, which must be in 1..=31.
fn shr(a: Bits, by: u32) -> Bits {
    return a >> by;
}

// Shifts left by 32 + `by`, where `by` must be in 0..=31.
fn shl_far(a: Bits, by: u32) -> Bits {
    return a << (32u + by);
}

// Shifts right by 32 + `by`, where `by` must be in 0..=31.
fn shr_far(a: Bits, by: u32) -> Bits {
    return a >> (32u + by);
}

// Returns the set of one square, whose number must be in 0..=63.
fn bit(square: u32) -> Bits {
    return 1lu << (square & 63u);
}

// Returns the set of one square. The number of the square is in six bits of `word`, starting at bit `place`. Returns
// the empty set if `is_there` is false.
fn square_of(word: u32, place: u32, is_there: bool) -> Bits {
    return select(0lu, 1lu, is_there) << ((word >> place) & 63u);
}

// ---- masks and numbers

fn is_empty(a: Bits) -> bool {
    return a == NONE;
}

// Returns the set without its lowest square.
fn rest(a: Bits) -> Bits {
    return a & (a - 1lu);
}

// Returns the number of the lowest square, or 64 if the set is empty.
fn lowest(a: Bits) -> u32 {
    let lo = low_word(a);
    return select(32u + countTrailingZeros(high_word(a)), countTrailingZeros(lo), lo != 0u);
}

// Converts the bits of an i32 to a sign-extended word.
fn number(a: u32) -> Bits {
    return pair(a, u32(bitcast<i32>(a) >> 31u));
}

fn count(a: Bits) -> Bits {
    return small(countOneBits(low_word(a)) + countOneBits(high_word(a)));
}

// Returns `a` increased by one where the mask `holds` is true. `a` must not be negative.
fn tally(a: Bits, holds: Bits) -> Bits {
    return a - holds;
}

fn rank_of(a: Bits) -> Bits {
    return small((lowest(a) >> 3u) + 1u);
}

fn file_of(a: Bits) -> Bits {
    return small((lowest(a) & 7u) + 1u);
}

fn make_square(file: Bits, rank: Bits) -> Bits {
    let x = low_word(file) - 1u;
    let y = low_word(rank) - 1u;
    return bit(8u * (y & 7u) + (x & 7u)) & mask(x < 8u && y < 8u);
}

fn add(a: Bits, b: Bits) -> Bits {
    return number(low_word(a) + low_word(b));
}

fn sub(a: Bits, b: Bits) -> Bits {
    return number(low_word(a) - low_word(b));
}

fn mul(a: Bits, b: Bits) -> Bits {
    return number(low_word(a) * low_word(b));
}

// Returns the quotient, truncated towards 0. It is 0 if the divisor is 0.
fn div(a: Bits, b: Bits) -> Bits {
    let n = bitcast<i32>(low_word(a));
    let d = bitcast<i32>(low_word(b));
    return select(number(bitcast<u32>(n / divisor(n, d))), NONE, d == 0);
}

// Returns the remainder, which has the sign of the dividend. It is 0 if the divisor is 0.
fn rem(a: Bits, b: Bits) -> Bits {
    let n = bitcast<i32>(low_word(a));
    let d = bitcast<i32>(low_word(b));
    let by = divisor(n, d);
    return select(number(bitcast<u32>(n - (n / by) * by)), NONE, d == 0);
}

// Returns the integer part of the square root, or 0 for a negative number. It is computed bit by bit, because drivers
// round floating-point numbers differently.
fn square_root(a: Bits) -> Bits {
    let n = u32(max(bitcast<i32>(low_word(a)), 0));
    var root = 0u;
    for (var k = 0u; k < 16u; k++) {
        let next = root | (0x8000u >> k);
        root = select(root, next, next * next <= n);
    }
    return small(root);
}

// Compares two words as signed 64-bit numbers.
fn is_less(a: Bits, b: Bits) -> bool {
    return (a ^ SIGN) < (b ^ SIGN);
}

fn is_equal(a: Bits, b: Bits) -> bool {
    return a == b;
}

// ---- sets

// Returns all squares of the ranks on which the set has a square.
fn fill_ranks(a: Bits) -> Bits {
    let high = 0x8080808080808080lu;
    let some = (((a & ~high) + ~high) | a) & high;
    return some | (some - (some >> 7u));
}

// Returns all squares of the files on which the set has a square.
fn fill_files(a: Bits) -> Bits {
    let one = low_word(a) | high_word(a);
    let two = one | (one >> 16u);
    let four = ((two | (two >> 8u)) & 0xffu) * 0x01010101u;
    return pair(four, four);
}

// Moves every square one file to the right. Squares on the h-file leave the board.
fn right(a: Bits) -> Bits {
    return (a << 1u) & NOT_A;
}

fn left(a: Bits) -> Bits {
    return (a >> 1u) & NOT_H;
}

fn knight(a: Bits) -> Bits {
    let beside = right(a) | left(a);
    let wide = ((a << 2u) & NOT_AB) | ((a >> 2u) & NOT_GH);
    return (beside << 16u) | (beside >> 16u) | (wide << 8u) | (wide >> 8u);
}

fn king(a: Bits) -> Bits {
    let beside = right(a) | left(a);
    let all = a | beside;
    return beside | (all << 8u) | (all >> 8u);
}

fn pawn_white(a: Bits) -> Bits {
    return (right(a) | left(a)) << 8u;
}

fn pawn_black(a: Bits) -> Bits {
    return (right(a) | left(a)) >> 8u;
}

// ---- slides: the squares that a slider reaches over squares of `empty`, including the first square that is not empty
//
// The fill doubles its distance three times, as in bitboard.wgsl. `empty` must exclude the file on which a square that
// wraps around the board would appear.

fn slide_up(a: Bits, empty: Bits, by: u32) -> Bits {
    var open = empty;
    var fill = a | (open & (a << by));
    open &= open << by;
    fill |= open & (fill << (2u * by));
    open &= open << (2u * by);
    fill |= open & (fill << (4u * by));
    return fill << by;
}

fn slide_down(a: Bits, empty: Bits, by: u32) -> Bits {
    var open = empty;
    var fill = a | (open & (a >> by));
    open &= open >> by;
    fill |= open & (fill >> (2u * by));
    open &= open >> (2u * by);
    fill |= open & (fill >> (4u * by));
    return fill >> by;
}

fn slide0(a: Bits, empty: Bits) -> Bits {
    return slide_up(a, empty & NOT_A, 1u) & NOT_A;
}

fn slide1(a: Bits, empty: Bits) -> Bits {
    return slide_up(a, empty & NOT_A, 9u) & NOT_A;
}

fn slide2(a: Bits, empty: Bits) -> Bits {
    return slide_up(a, empty, 8u);
}

fn slide3(a: Bits, empty: Bits) -> Bits {
    return slide_up(a, empty & NOT_H, 7u) & NOT_H;
}

fn slide4(a: Bits, empty: Bits) -> Bits {
    return slide_down(a, empty & NOT_H, 1u) & NOT_H;
}

fn slide5(a: Bits, empty: Bits) -> Bits {
    return slide_down(a, empty & NOT_H, 9u) & NOT_H;
}

fn slide6(a: Bits, empty: Bits) -> Bits {
    return slide_down(a, empty, 8u);
}

fn slide7(a: Bits, empty: Bits) -> Bits {
    return slide_down(a, empty & NOT_A, 7u) & NOT_A;
}
