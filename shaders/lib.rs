//! The shaders of orbit as text: pieces of WGSL, from which the engine for graphics cards composes its kernels.

#![no_std]

/// `bitboard.wgsl`: Words of 64 bits as pairs of 32: sets of squares (x: ranks 1-4, y: ranks 5-8), masks and numbers.
pub const BITBOARD: &str = include_str!("bitboard.wgsl");
/// `bitboard_wide.wgsl`: Words of 64 bits as one integer, where the adapter has them: sets of squares, masks and numbers.
pub const BITBOARD_WIDE: &str = include_str!("bitboard_wide.wgsl");
/// `bits.wgsl`: What reads the same whether a word is two integers of 32 bits (bitboard.wgsl) or one of 64 (bitboard_wide.wgsl):
pub const BITS: &str = include_str!("bits.wgsl");
/// `by_segment.wgsl`: Keys and moves, those of one segment after those of another.
pub const BY_SEGMENT: &str = include_str!("by_segment.wgsl");
/// `by_word.wgsl`: Keys and moves transposed: the same word of all segments, then the next word of all. So neighbours read
pub const BY_WORD: &str = include_str!("by_word.wgsl");
/// `carry.wgsl`: What a stage found, carried along games (games.wgsl).
pub const CARRY: &str = include_str!("carry.wgsl");
/// `edges.wgsl`: The move that leaves a slot, for tests of what was played. The twin is crates/engine/src/operations/moves.rs, which looks at
pub const EDGES: &str = include_str!("edges.wgsl");
/// `games.wgsl`: One invocation takes one game of an upload that holds it whole, and makes a column for its slots. The game has no side
pub const GAMES: &str = include_str!("games.wgsl");
/// `hits.wgsl`: First pass: for each query a bit for each slot. What invocations do what is in hits_alone.wgsl and
pub const HITS: &str = include_str!("hits.wgsl");
/// `hits_alone.wgsl`:
pub const HITS_ALONE: &str = include_str!("hits_alone.wgsl");
/// `hits_pairs.wgsl`:
pub const HITS_PAIRS: &str = include_str!("hits_pairs.wgsl");
/// `legal.wgsl`: The moves of one position. The twins are crates/core/src/board/moves.rs and, for sides with several kings, crates/core/src/board/legal.rs;
pub const LEGAL: &str = include_str!("legal.wgsl");
/// `pure.wgsl`: Pure mates and stalemates. The twin is crates/core/src/board/pure.rs, docs/mates.md states the rule.
pub const PURE: &str = include_str!("pure.wgsl");
/// `replay.wgsl`: Moves back to positions: an invocation replays a segment of 32 slots from its key. Where keys and moves lie is
pub const REPLAY: &str = include_str!("replay.wgsl");
/// `shift.wgsl`: What a stage found, brought one position back or on, or from the position that a number names (games.wgsl).
pub const SHIFT: &str = include_str!("shift.wgsl");
/// `walk.wgsl`: What an automaton finds from each slot of a game (games.wgsl): whether there is a walk, or with NUMBERS its value. From the
pub const WALK: &str = include_str!("walk.wgsl");
/// `words.wgsl`: Second pass: for each slot that hits, the words of the query (its value, or which of its copies match).
pub const WORDS: &str = include_str!("words.wgsl");
