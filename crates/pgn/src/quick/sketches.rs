//! Reads the board-independent parts of move tokens.

use super::lanes::Lanes;
use super::tables::{ANY, LETTERS};
use super::words::{FirstWords, WORDS};

/// The board-independent parts of the moves in a block of movetext, with one entry for each token. An ordinary move takes a pawn or
/// a piece to a square. It may be a capture, and may name the file or the rank of its origin. Entries for all other tokens are set
/// so that no piece matches.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub(super) struct PieceTables {
    /// For each token, an index into [`HINTS`](super::tables::HINTS): the letter that names the file or rank of the move's origin.
    pub(super) hint: [u64; WORDS],
    /// For each token, an index into one color's row of [`FROM`](super::tables::FROM): the role and the target square.
    pub(super) reach: [u64; WORDS],
    pub(super) to: [u64; WORDS],
    /// For each token, the target square as a bitboard.
    pub(super) target: [u64; WORDS],
    /// For each of the three bit planes that encode roles, and for each token: all ones if the role of the moving piece has a 0 in
    /// this plane, otherwise 0.
    pub(super) inverted: [[u64; WORDS]; 3],
    /// For each of the three bit planes that encode roles, and for each token: the bitboard of the target square if the role of the
    /// moving piece has a 1 in this plane, otherwise 0.
    pub(super) put: [[u64; WORDS]; 3],
    /// For each token, the bitboard of the target square if a pawn moves, otherwise 0.
    pub(super) pawn_target: [u64; WORDS],
    /// For each token of a pawn move, all ones if the pawn captures, otherwise 0.
    pub(super) takes: [u64; WORDS],
    /// For each token, the bitboard of the squares two ranks above and below the target if a pawn moves, otherwise 0.
    pub(super) double: [u64; WORDS],
    /// For each token, the target square and the role of the moving piece, in the encoding of
    /// [`PackedMove`](orbit_core::board::PackedMove).
    pub(super) mv: [u64; WORDS],
}

impl PieceTables {
    pub(super) const EMPTY: PieceTables = PieceTables {
        hint: [0; WORDS],
        reach: [0; WORDS],
        to: [0; WORDS],
        target: [0; WORDS],
        inverted: [[0; WORDS]; 3],
        put: [[0; WORDS]; 3],
        pawn_target: [0; WORDS],
        takes: [0; WORDS],
        double: [0; WORDS],
        mv: [0; WORDS],
    };

    #[inline(always)]
    pub(super) fn read<L: Lanes>(&mut self, with: L::With, words: &FirstWords) {
        for at in (0..WORDS).step_by(L::COUNT) {
            self.read_at(L::load(with, &words.bytes, at), L::load(with, &words.lengths, at), at);
        }
    }

    /// Reads tokens from their end to their start: a check sign, the target square, a capture sign, and the file or rank of the
    /// origin.
    #[inline(always)]
    fn read_at<L: Lanes>(&mut self, bytes: L, length: L, at: usize) {
        let (none, byte, seven) = (bytes.all(0), bytes.all(0xff), bytes.all(7));
        let first = bytes.and(byte);
        let is_pawn = first.right::<5>().equal(bytes.all(3));

        let word = bytes.left_by(bytes.all(64).sub(length.left::<3>()));
        let last = word.right::<56>();
        // A true condition has all bits set, so it is -1 as a number.
        let is_check = last.equal(bytes.all(b'+'.into())).or(last.equal(bytes.all(b'#'.into())));
        let word = word.left_by(is_check.and(bytes.all(8)));
        let rank = word.right::<56>().sub(bytes.all(b'1'.into()));
        let file_letter = word.right::<48>().and(byte);
        let file = file_letter.sub(bytes.all(b'a'.into()));
        let with_x = word.right::<40>().and(byte).equal(bytes.all(b'x'.into()));
        let hint = word.left_by(bytes.all(16).add(with_x.and(bytes.all(8)))).right::<56>();
        let hints = length.sub(bytes.all(3)).add(is_check).add(with_x).sub(is_pawn);
        let over = rank.or(file).or(hints.and(bytes.all(!1)).left::<3>());
        let no_letter = first.and(bytes.all(0x40)).xor(bytes.all(0x40));
        let is_usual = over.or(no_letter).and(bytes.all(!7)).equal(none);
        let unhinted = is_pawn.pick(file_letter, bytes.all(ANY));
        let hint = hints.equal(none).pick(unhinted, hint).and(is_usual);

        let to = rank.and(seven).left::<3>().or(file.and(seven));
        let target = bytes.all(1).left_by(to);
        let number = first.and(bytes.all(63));
        let mut role = none;
        for (k, &letters) in LETTERS.iter().enumerate() {
            let plane = none.sub(bytes.all(letters).right_by(number).and(bytes.all(1)));
            role = role.or(plane.and(bytes.all(1 << (12 + k))));
            plane.xor(bytes.all(!0)).store(&mut self.inverted[k], at);
            plane.and(target).store(&mut self.put[k], at);
        }
        let mv = role.or(to.left::<6>());
        let pawn_target = target.and(is_pawn);
        // The first letter of a pawn move is the file of the origin. If the target is on that file, the pawn does not capture.
        let stays = hint.sub(bytes.all(1)).xor(to).and(seven).equal(none);

        hint.store(&mut self.hint, at);
        mv.right::<6>().store(&mut self.reach, at);
        to.store(&mut self.to, at);
        target.store(&mut self.target, at);
        pawn_target.store(&mut self.pawn_target, at);
        stays.xor(bytes.all(!0)).store(&mut self.takes, at);
        pawn_target.left::<16>().or(pawn_target.right::<16>()).store(&mut self.double, at);
        mv.store(&mut self.mv, at);
    }
}
