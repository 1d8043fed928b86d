//! The shaders of orbit as text: parts in WGSL, from which the GPU engine assembles its kernels. Most of the files
//! begin with a longer description.

#![no_std]

/// `bitboard.wgsl`: functions on 64-bit words, stored as pairs of 32-bit integers.
pub const BITBOARD: &str = include_str!("bitboard.wgsl");
/// `bitboard_wide.wgsl`: functions on 64-bit words, stored as one integer, for adapters that have 64-bit integers.
pub const BITBOARD_WIDE: &str = include_str!("bitboard_wide.wgsl");
/// `bits.wgsl`: functions on words, with the same source for both representations of words.
pub const BITS: &str = include_str!("bits.wgsl");
/// `by_segment.wgsl`: reads key positions and moves from buffers in which all words of a segment are stored together.
pub const BY_SEGMENT: &str = include_str!("by_segment.wgsl");
/// `by_word.wgsl`: reads key positions and moves from transposed buffers, which contain the first word of every
/// segment, then the second word of every segment, and so on.
pub const BY_WORD: &str = include_str!("by_word.wgsl");
/// `carry.wgsl`: combines, for each position, its own result of a stage (a program that runs before the rest of the
/// plan) with those at all earlier or all later positions of the game.
pub const CARRY: &str = include_str!("carry.wgsl");
/// `edges.wgsl`: reads the move played from a slot's position, for conditions on played moves.
pub const EDGES: &str = include_str!("edges.wgsl");
/// `games.wgsl`: computes a column with an entry for each slot (position) of an upload. Each invocation processes one game.
pub const GAMES: &str = include_str!("games.wgsl");
/// `hits.wgsl`: the first pass, which computes one bit for each query and slot (position).
pub const HITS: &str = include_str!("hits.wgsl");
/// `hits_alone.wgsl`: the entry point of the first pass if each invocation processes whole segments (32 positions
/// each).
pub const HITS_ALONE: &str = include_str!("hits_alone.wgsl");
/// `hits_pairs.wgsl`: the entry point of the first pass if two invocations share a segment (32 positions).
pub const HITS_PAIRS: &str = include_str!("hits_pairs.wgsl");
/// `legal.wgsl`: computes the moves of one position.
pub const LEGAL: &str = include_str!("legal.wgsl");
/// `pure.wgsl`: finds the men (pieces and pawns) that take part in pure mates and stalemates.
pub const PURE: &str = include_str!("pure.wgsl");
/// `replay.wgsl`: computes the positions of a segment from its key position and its moves.
pub const REPLAY: &str = include_str!("replay.wgsl");
/// `shift.wgsl`: moves the results of a stage (a program that runs before the rest of the plan) to other positions of
/// the game.
pub const SHIFT: &str = include_str!("shift.wgsl");
/// `walk.wgsl`: runs an automaton along a game, for `line` and `path`.
pub const WALK: &str = include_str!("walk.wgsl");
/// `words.wgsl`: the second pass, which computes the words of a query at each hit, such as its value.
pub const WORDS: &str = include_str!("words.wgsl");
