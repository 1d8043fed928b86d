// 64-bit words, stored as pairs of 32-bit integers. A word is a set of squares (x: ranks 1-4, y: ranks 5-8), a mask or
// a number.
//
// The CPU versions of these functions are in crates/core/src/board/attacks.rs and crates/engine/src/cpu/kernels.rs. The
// versions for adapters with 64-bit integers are in bitboard_wide.wgsl. Some functions do not carry bits from one half
// to the other if a mask would remove them anyway.

alias Bits = vec2<u32>;

const NONE = Bits(0u, 0u);
const ALL = Bits(0xffffffffu, 0xffffffffu);
const NOT_A = 0xfefefefeu;
const NOT_H = 0x7f7f7f7fu;
const NOT_AB = 0xfcfcfcfcu;
const NOT_GH = 0x3f3f3f3fu;

// ---- halves

fn pair(lo: u32, hi: u32) -> Bits {
    return Bits(lo, hi);
}

fn small(a: u32) -> Bits {
    return Bits(a, 0u);
}

fn low_word(a: Bits) -> u32 {
    return a.x;
}

fn high_word(a: Bits) -> u32 {
    return a.y;
}

// ---- shifts

// Shifts left by `by`, which must be in 1..=31.
fn shl(a: Bits, by: u32) -> Bits {
    return Bits(a.x << by, (a.y << by) | (a.x >> (32u - by)));
}

// Shifts right by `by`, which must be in 1..=31.
fn shr(a: Bits, by: u32) -> Bits {
    return Bits((a.x >> by) | (a.y << (32u - by)), a.y >> by);
}

// Shifts left by 32 + `by`, where `by` must be in 0..=31.
fn shl_far(a: Bits, by: u32) -> Bits {
    return Bits(0u, a.x << by);
}

// Shifts right by 32 + `by`, where `by` must be in 0..=31.
fn shr_far(a: Bits, by: u32) -> Bits {
    return Bits(a.y >> by, 0u);
}

// Returns the set of one square, whose number must be in 0..=63.
fn bit(square: u32) -> Bits {
    return square_of(square, 0u, true);
}

// Returns the set of one square. The number of the square is in six bits of `word`, starting at bit `place`. Returns
// the empty set if `is_there` is false.
fn square_of(word: u32, place: u32, is_there: bool) -> Bits {
    let half = select(0u, 1u, is_there) << ((word >> place) & 31u);
    let high = half & spread(word, place + 5u);
    return Bits(half ^ high, high);
}

// ---- masks and numbers

fn is_empty(a: Bits) -> bool {
    return (a.x | a.y) == 0u;
}

// Returns the set without its lowest square.
fn rest(a: Bits) -> Bits {
    return select(Bits(0u, a.y & (a.y - 1u)), Bits(a.x & (a.x - 1u), a.y), a.x != 0u);
}

// Returns the number of the lowest square, or 64 if the set is empty.
fn lowest(a: Bits) -> u32 {
    return select(32u + countTrailingZeros(a.y), countTrailingZeros(a.x), a.x != 0u);
}

// Converts the bits of an i32 to a sign-extended word.
fn number(a: u32) -> Bits {
    return Bits(a, u32(bitcast<i32>(a) >> 31u));
}

fn count(a: Bits) -> Bits {
    return Bits(countOneBits(a.x) + countOneBits(a.y), 0u);
}

// Returns `a` increased by one where the mask `holds` is true. `a` must not be negative.
fn tally(a: Bits, holds: Bits) -> Bits {
    return Bits(a.x - holds.x, a.y);
}

fn rank_of(a: Bits) -> Bits {
    return Bits((lowest(a) >> 3u) + 1u, 0u);
}

fn file_of(a: Bits) -> Bits {
    return Bits((lowest(a) & 7u) + 1u, 0u);
}

fn make_square(file: Bits, rank: Bits) -> Bits {
    let x = file.x - 1u;
    let y = rank.x - 1u;
    return bit(8u * (y & 7u) + (x & 7u)) & mask(x < 8u && y < 8u);
}

fn add(a: Bits, b: Bits) -> Bits {
    return number(a.x + b.x);
}

fn sub(a: Bits, b: Bits) -> Bits {
    return number(a.x - b.x);
}

fn mul(a: Bits, b: Bits) -> Bits {
    return number(a.x * b.x);
}

// Returns the quotient, truncated towards 0. It is 0 if the divisor is 0.
fn div(a: Bits, b: Bits) -> Bits {
    let n = bitcast<i32>(a.x);
    let d = bitcast<i32>(b.x);
    return select(number(bitcast<u32>(n / divisor(n, d))), NONE, d == 0);
}

// Returns the remainder, which has the sign of the dividend. It is 0 if the divisor is 0.
fn rem(a: Bits, b: Bits) -> Bits {
    let n = bitcast<i32>(a.x);
    let d = bitcast<i32>(b.x);
    let by = divisor(n, d);
    return select(number(bitcast<u32>(n - (n / by) * by)), NONE, d == 0);
}

// Returns the integer part of the square root, or 0 for a negative number. It is computed bit by bit, because drivers
// round floating-point numbers differently.
fn square_root(a: Bits) -> Bits {
    let n = u32(max(bitcast<i32>(a.x), 0));
    var root = 0u;
    for (var k = 0u; k < 16u; k++) {
        let next = root | (0x8000u >> k);
        root = select(root, next, next * next <= n);
    }
    return Bits(root, 0u);
}

// Compares two words as signed 64-bit numbers.
fn is_less(a: Bits, b: Bits) -> bool {
    return bitcast<i32>(a.y) < bitcast<i32>(b.y) || (a.y == b.y && a.x < b.x);
}

fn is_equal(a: Bits, b: Bits) -> bool {
    return a.x == b.x && a.y == b.y;
}

// ---- sets

// Returns all squares of the ranks on which the set has a square.
fn fill_ranks(a: Bits) -> Bits {
    let high = Bits(0x80808080u);
    let some = (((a & ~high) + ~high) | a) & high;
    return some | (some - (some >> Bits(7u)));
}

// Returns all squares of the files on which the set has a square.
fn fill_files(a: Bits) -> Bits {
    let one = a.x | a.y;
    let two = one | (one >> 16u);
    let four = ((two | (two >> 8u)) & 0xffu) * 0x01010101u;
    return Bits(four, four);
}

// Moves every square one file to the right. Squares on the h-file leave the board.
fn right(a: Bits) -> Bits {
    return (a << Bits(1u)) & Bits(NOT_A);
}

fn left(a: Bits) -> Bits {
    return (a >> Bits(1u)) & Bits(NOT_H);
}

fn knight(a: Bits) -> Bits {
    let beside = right(a) | left(a);
    let wide = ((a << Bits(2u)) & Bits(NOT_AB)) | ((a >> Bits(2u)) & Bits(NOT_GH));
    return shl(beside, 16u) | shr(beside, 16u) | shl(wide, 8u) | shr(wide, 8u);
}

fn king(a: Bits) -> Bits {
    let beside = right(a) | left(a);
    let all = a | beside;
    return beside | shl(all, 8u) | shr(all, 8u);
}

fn pawn_white(a: Bits) -> Bits {
    return shl(right(a) | left(a), 8u);
}

fn pawn_black(a: Bits) -> Bits {
    return shr(right(a) | left(a), 8u);
}

// ---- slides: the squares that a slider reaches over squares of `empty`, including the first square that is not empty
//
// Source: the Kogge-Stone occluded fill of the Chess Programming Wiki. `open` excludes the file on which a square that wraps around
// the board would appear, so no step reaches this file.

fn slide0(a: Bits, empty: Bits) -> Bits {
    let stops = ~(empty & Bits(NOT_H)) | a;
    return stops ^ (stops - right(a));
}

fn slide1(a: Bits, empty: Bits) -> Bits {
    var open = empty & Bits(NOT_A);
    var fill = a | (open & shl(a, 9u));
    open &= shl(open, 9u);
    fill |= open & shl(fill, 18u);
    open &= shl(open, 18u);
    fill |= open & shl_far(fill, 4u);
    return shl(fill, 9u) & Bits(NOT_A);
}

fn slide2(a: Bits, empty: Bits) -> Bits {
    var open = empty;
    var fill = a | (open & shl(a, 8u));
    open &= shl(open, 8u);
    fill |= open & shl(fill, 16u);
    open &= shl(open, 16u);
    fill |= open & shl_far(fill, 0u);
    return shl(fill, 8u);
}

fn slide3(a: Bits, empty: Bits) -> Bits {
    var open = empty & Bits(NOT_H);
    var fill = a | (open & shl(a, 7u));
    open &= shl(open, 7u);
    fill |= open & shl(fill, 14u);
    open &= shl(open, 14u);
    fill |= open & shl(fill, 28u);
    return shl(fill, 7u) & Bits(NOT_H);
}

fn slide4(a: Bits, empty: Bits) -> Bits {
    let mirrored = reverseBits(a);
    let stops = ~(reverseBits(empty) & Bits(NOT_H)) | mirrored;
    return reverseBits(stops ^ (stops - right(mirrored)));
}

fn slide5(a: Bits, empty: Bits) -> Bits {
    var open = empty & Bits(NOT_H);
    var fill = a | (open & shr(a, 9u));
    open &= shr(open, 9u);
    fill |= open & shr(fill, 18u);
    open &= shr(open, 18u);
    fill |= open & shr_far(fill, 4u);
    return shr(fill, 9u) & Bits(NOT_H);
}

fn slide6(a: Bits, empty: Bits) -> Bits {
    var open = empty;
    var fill = a | (open & shr(a, 8u));
    open &= shr(open, 8u);
    fill |= open & shr(fill, 16u);
    open &= shr(open, 16u);
    fill |= open & shr_far(fill, 0u);
    return shr(fill, 8u);
}

fn slide7(a: Bits, empty: Bits) -> Bits {
    var open = empty & Bits(NOT_A);
    var fill = a | (open & shr(a, 7u));
    open &= shr(open, 7u);
    fill |= open & shr(fill, 14u);
    open &= shr(open, 14u);
    fill |= open & shr(fill, 28u);
    return shr(fill, 7u) & Bits(NOT_A);
}
