//! Recognises pure mates and stalemates. In a pure mate or stalemate, for each square next to the king there is exactly one reason
//! why the king cannot move there.
//!
//! `docs/mates.md` states the rule and defines the words used here. `shaders/pure.wgsl` is the GPU version of this file.

use super::{
    Bitboard, Code, Color, PieceSet, Position, Square, attacks,
    legal::{en_passant_square, kings, reach},
};

/// Returns the men (pieces and pawns) that take part in the mate of the side to move, or in the stalemate if `mate` is false.
/// Returns 0 if the mate or stalemate is not pure. The position must be a mate or stalemate. If the side to move has several kings,
/// the position is never pure.
pub fn men(position: &Position, mate: bool) -> u64 {
    let Some(scene) = Scene::new(position, mate) else { return 0 };
    if scene.is_pure() { scene.men() } else { 0 }
}

/// A mate or stalemate, with the sets of squares that decide whether it is pure. The sets `own` and `pinned` contain men (pieces
/// and pawns) of the side to move, and `enemies` the men of the other side.
struct Scene<'a> {
    position: &'a Position,
    mate: bool,
    king: u64,
    own: u64,
    enemies: u64,
    enemy_kings: u64,
    empty: u64,
    /// The squares next to the king.
    field: u64,
    /// The squares that enemy men attack with the king removed from the board: `once` contains squares attacked at least once,
    /// `twice` squares attacked more than once.
    once: u64,
    twice: u64,
    checkers: u64,
    /// The enemy men (pieces and pawns) that attack a square of `field`.
    guards: u64,
    /// The men of the side to move that are pinned to their king.
    pinned: u64,
    /// If exactly one enemy man gives check: the squares to which a man of the side to move, other than its king, could move to end
    /// the check or to capture an enemy king. Otherwise empty.
    refutations: u64,
    /// The pinned men that could reach one of `refutations` if they were not pinned.
    refuters: u64,
}

impl<'a> Scene<'a> {
    fn new(position: &'a Position, mate: bool) -> Option<Scene<'a>> {
        let turn = position.state.turn();
        let of = |color: Color| {
            let set = if color.is_white() { PieceSet::WHITE } else { PieceSet::BLACK };
            position.board.squares_of(set).0
        };
        let king = kings(position, turn);
        if king.count_ones() != 1 {
            return None;
        }
        let (own, enemies) = (of(turn), of(!turn));
        let mut scene = Scene {
            position,
            mate,
            king,
            own,
            enemies,
            enemy_kings: kings(position, !turn),
            empty: !(own | enemies),
            field: attacks::king(king),
            once: 0,
            twice: 0,
            checkers: 0,
            guards: 0,
            pinned: 0,
            refutations: 0,
            refuters: 0,
        };
        scene.count_attacks();
        for dir in 0..8 {
            let (man, pinner) = scene.pin(dir);
            scene.pinned |= if pinner != 0 { man } else { 0 };
        }
        if scene.checkers.count_ones() == 1 {
            scene.refutations = scene.line_of(scene.checkers) | scene.enemy_kings;
            scene.refuters = scene.pinned & scene.movers_to(scene.refutations);
        }
        Some(scene)
    }

    fn count_attacks(&mut self) {
        for from in Bitboard(self.enemies) {
            let attacked = self.attacks_of(from);
            self.twice |= self.once & attacked;
            self.once |= attacked;
            let man = 1 << from as u32;
            self.guards |= if attacked & self.field != 0 { man } else { 0 };
            self.checkers |= if attacked & self.king != 0 { man } else { 0 };
        }
    }

    /// Returns the squares that the enemy man on `from` attacks. The king of the side to move does not block lines, so squares
    /// behind it are included.
    fn attacks_of(&self, from: Square) -> u64 {
        let set = 1u64 << from as u32;
        match self.position.board.at(from) {
            Code(1) => attacks::pawn::<true>(set),
            Code(9) => attacks::pawn::<false>(set),
            code => reach(code, from, self.empty | self.king),
        }
    }

    fn slide(&self, dir: u8, from: u64) -> u64 {
        attacks::slide_dir(dir, from, self.empty)
    }

    fn sliders(&self, dir: u8) -> u64 {
        self.position.board.sliders(dir).0
    }

    /// Returns the first man in the direction `dir` from the king, if it belongs to the side to move, and the enemy slider that
    /// pins it. Each result is 0 if there is no such man.
    fn pin(&self, dir: u8) -> (u64, u64) {
        let man = self.slide(dir, self.king) & self.own;
        (man, self.slide(dir, man) & self.enemies & self.sliders(dir))
    }

    /// Returns every man that stands alone between a square of `targets` and a slider of the side to move. `dir` is the direction
    /// from the target to the slider. The slider must be in `sliders`, and must move along this line.
    fn alone_before(&self, dir: u8, targets: u64, sliders: u64) -> u64 {
        let men = self.slide(dir, targets) & !self.empty;
        let sliders = self.slide(dir, men) & self.own & self.sliders(dir) & sliders;
        self.slide((dir + 4) % 8, sliders) & men
    }

    /// Returns the square of a checking man and, if it checks along a line, the squares between it and the king.
    fn line_of(&self, checker: u64) -> u64 {
        let lines = (0..8).map(|dir| self.slide(dir, self.king)).filter(|line| line & checker != 0);
        lines.fold(checker, |line, more| line | more)
    }

    /// Returns the men of the side to move, except the king, that can move to or capture on a square of `targets`. Pins are
    /// ignored. The targets must not contain a man of this side.
    fn movers_to(&self, targets: u64) -> u64 {
        let white = self.position.state.turn().is_white();
        let back = |set: u64| if white { set >> 8 } else { set << 8 };
        // Pawns that attack a square of `set` stand on the squares that an enemy pawn there would attack.
        let pawns_at =
            |set: u64| if white { attacks::pawn::<false>(set) } else { attacks::pawn::<true>(set) };
        let mut out = attacks::knight(targets) & self.position.board.of_role(2).0;
        for dir in 0..8 {
            out |= self.slide(dir, targets) & self.sliders(dir);
        }
        let single = back(targets & self.empty);
        let second = if white { 0xff00u64 } else { 0xff << 48 };
        let mut pawns = pawns_at(targets & self.enemies) | single | back(single & self.empty) & second;
        if let Some(passed) = en_passant_square(self.position) {
            let passed = 1u64 << passed as u32;
            if (passed | back(passed)) & targets != 0 {
                pawns |= pawns_at(passed);
            }
        }
        (out | pawns & self.position.board.of_role(1).0) & self.own
    }

    fn is_pure(&self) -> bool {
        let exactly_once = self.once & !self.twice;
        let blocked = self.field & self.own;
        let licensed = if self.mate { self.refuters } else { self.pinned };
        let free_is_guarded = self.field & !self.own & !exactly_once == 0;
        let blocked_is_left = blocked & self.once & !(licensed & exactly_once) == 0;
        free_is_guarded && blocked_is_left && self.checks_are_needed()
    }

    /// Returns true if each checker is necessary: there are fewer than two checks, or each of the checks alone could be parried.
    fn checks_are_needed(&self) -> bool {
        self.checkers.count_ones() < 2
            || Bitboard(self.checkers).into_iter().all(|checker| {
                let line = self.line_of(1 << checker as u32);
                self.movers_to(line) & !self.pinned != 0
            })
    }

    fn men(&self) -> u64 {
        let mut out = self.king | self.checkers | self.guards;
        out |= if self.mate { self.field & self.own } else { self.own };
        let licensed = if self.mate { self.refuters } else { self.pinned };
        for dir in 0..8 {
            let (man, pinner) = self.pin(dir);
            out |= if man & licensed != 0 { pinner } else { 0 };
            out |= self.before_kings(dir);
            out |= self.alone_before(dir, self.refutations, !0) & self.own;
            out |= self.alone_before(dir, self.refutations, self.refuters) & self.enemies;
        }
        out
    }

    /// Returns every man that stands alone between an enemy king and a slider of the side to move. An enemy man there is pinned,
    /// and a man of the side to move can discover a check.
    fn before_kings(&self, dir: u8) -> u64 {
        self.alone_before(dir, self.enemy_kings, !0)
    }
}
