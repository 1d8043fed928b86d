//! The shaders of orbit as text: pieces of WGSL, from which the engine for graphics cards composes its kernels. The
//! first lines of most files say more.

#![no_std]

/// `bitboard.wgsl`: words of 64 bits as pairs of 32-bit integers.
pub const BITBOARD: &str = include_str!("bitboard.wgsl");
/// `bitboard_wide.wgsl`: words of 64 bits as one integer, for adapters that have 64-bit integers.
pub const BITBOARD_WIDE: &str = include_str!("bitboard_wide.wgsl");
/// `bits.wgsl`: functions on words whose text is the same for both forms of words.
pub const BITS: &str = include_str!("bits.wgsl");
/// `by_segment.wgsl`: reads key positions and moves that are stored segment by segment.
pub const BY_SEGMENT: &str = include_str!("by_segment.wgsl");
/// `by_word.wgsl`: reads key positions and moves that are stored word by word: the first word of all segments, then the
/// second word of all.
pub const BY_WORD: &str = include_str!("by_word.wgsl");
/// `carry.wgsl`: carries the results of a stage along the games of an upload.
pub const CARRY: &str = include_str!("carry.wgsl");
/// `edges.wgsl`: the move that leaves a slot, for conditions on moves that were played.
pub const EDGES: &str = include_str!("edges.wgsl");
/// `games.wgsl`: computes a column with an entry for each slot of an upload, one game for each invocation.
pub const GAMES: &str = include_str!("games.wgsl");
/// `hits.wgsl`: the first pass, which computes one bit for each query and slot.
pub const HITS: &str = include_str!("hits.wgsl");
/// `hits_alone.wgsl`: the main function of the first pass in which each invocation processes whole segments.
pub const HITS_ALONE: &str = include_str!("hits_alone.wgsl");
/// `hits_pairs.wgsl`: the main function of the first pass in which two invocations share a segment.
pub const HITS_PAIRS: &str = include_str!("hits_pairs.wgsl");
/// `legal.wgsl`: computes the moves of one position.
pub const LEGAL: &str = include_str!("legal.wgsl");
/// `pure.wgsl`: pure mates and stalemates.
pub const PURE: &str = include_str!("pure.wgsl");
/// `replay.wgsl`: replays the moves of a segment to positions, from its key position.
pub const REPLAY: &str = include_str!("replay.wgsl");
/// `shift.wgsl`: moves the results of a stage to another position of the game.
pub const SHIFT: &str = include_str!("shift.wgsl");
/// `walk.wgsl`: runs an automaton along a game, for `line` and `path`.
pub const WALK: &str = include_str!("walk.wgsl");
/// `words.wgsl`: the second pass, which computes words of a query for each hit, such as its value.
pub const WORDS: &str = include_str!("words.wgsl");
