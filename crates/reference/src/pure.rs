//! Finds pure mates and stalemates, square by square. `docs/mates.md` defines them.

use shakmaty::{Bitboard, Role, Square};

use super::{
    lines::{between, slides, walk},
    moves::SquareArray,
};
use orbit_query::tree::{Dirs, PureKind};

/// Returns the men (pieces and pawns) that take part in the mate of the side to move or, if `mate` is false, in its stalemate. The
/// set is empty if the position is not a mate or stalemate of the given kind.
pub(super) fn men(board: &SquareArray, kind: PureKind, mate: bool) -> Bitboard {
    let mut kings = board.kings(board.turn);
    let (Some(king), None) = (kings.next(), kings.next()) else { return Bitboard::EMPTY };
    let scene = ReferenceScene::new(board, king, mate);
    if !scene.is_pure() {
        return Bitboard::EMPTY;
    }
    let men: Bitboard = Square::ALL.into_iter().filter(|&s| scene.takes_part(s)).collect();
    let wanted = Square::ALL.into_iter().filter(|&s| {
        board.at(s).is_some_and(|piece| match kind {
            PureKind::Pure => false,
            PureKind::Model => piece.color != board.turn && !matches!(piece.role, Role::King | Role::Pawn),
            PureKind::Ideal => true,
        })
    });
    if (wanted.collect::<Bitboard>() & !men).any() { Bitboard::EMPTY } else { men }
}

/// A man (piece or pawn) that alone stands between a slider (queen, rook or bishop) and a square on the slider's line.
struct Shield {
    slider: Square,
    man: Square,
    end: Square,
}

struct ReferenceScene<'a> {
    board: &'a SquareArray,
    /// The board without the king of the side to move.
    lifted: SquareArray,
    king: Square,
    mate: bool,
    lines: Vec<Shield>,
    checkers: Vec<Square>,
}

impl<'a> ReferenceScene<'a> {
    fn new(board: &'a SquareArray, king: Square, mate: bool) -> ReferenceScene<'a> {
        let mut lifted = board.clone();
        lifted.put(king, None);
        let attackers = |target| {
            board.of_color(!board.turn).filter(move |&(s, _)| board.attacks_from(s).contains(target))
        };
        let checkers = attackers(king).map(|(s, _)| s).collect();
        ReferenceScene { board, lifted, king, mate, lines: lines(board), checkers }
    }

    fn is_own(&self, s: Square) -> bool {
        self.board.at(s).is_some_and(|piece| piece.color == self.board.turn)
    }

    fn is_enemy(&self, s: Square) -> bool {
        self.board.at(s).is_some_and(|piece| piece.color != self.board.turn)
    }

    fn is_enemy_king(&self, s: Square) -> bool {
        self.board.kings(!self.board.turn).any(|king| king == s)
    }

    fn field(&self) -> impl Iterator<Item = Square> {
        shakmaty::attacks::king_attacks(self.king).into_iter()
    }

    /// Returns the number of enemy men that attack a square. The king of the side to move does not block their lines.
    fn attacks_on(&self, target: Square) -> usize {
        let enemies = self.lifted.of_color(!self.board.turn);
        enemies.filter(|&(s, _)| self.lifted.attacks_from(s).contains(target)).count()
    }

    /// Returns the enemy man that pins a man of the side to move to its king, if there is one.
    fn pinner(&self, man: Square) -> Option<Square> {
        let pin = |line: &&Shield| line.man == man && line.end == self.king && self.is_enemy(line.slider);
        self.lines.iter().find(pin).filter(|_| self.is_own(man)).map(|line| line.slider)
    }

    /// Returns the square of a man that gives check. If the man is a slider, also returns the squares between it and the king.
    fn line_of(&self, checker: Square) -> Bitboard {
        let sliding = matches!(
            self.board.at(checker).map(|piece| piece.role),
            Some(Role::Bishop | Role::Rook | Role::Queen)
        );
        let way = between(Bitboard::from(checker), Bitboard::from(self.king));
        Bitboard::from(checker) | if sliding { way } else { Bitboard::EMPTY }
    }

    /// Returns true if a man of the side to move, other than the king, could move to or capture on one of the squares.
    fn could_reach(&self, man: Square, targets: Bitboard) -> bool {
        let moves = self.board.pseudolegal_moves();
        let mut moves = moves.iter().filter(|step| step.from == man && man != self.king);
        moves.any(|step| targets.contains(step.to) || targets.contains(step.takes_on()))
    }

    /// Returns the squares to which a man of the side to move would have to move to refute the mate: by capturing the checking man,
    /// by blocking the check, or by capturing an enemy king. The set is empty unless exactly one man gives check.
    fn refutations(&self) -> Bitboard {
        match *self.checkers {
            [checker] => self.line_of(checker) | self.board.kings(!self.board.turn).collect::<Bitboard>(),
            _ => Bitboard::EMPTY,
        }
    }

    fn is_refuter(&self, man: Square) -> bool {
        self.pinner(man).is_some() && self.could_reach(man, self.refutations())
    }

    /// Returns true if a man is pinned in a way that pure mates or stalemates allow. In a mate, the man could refute the mate if it
    /// were not pinned. In a stalemate, every pin is allowed.
    fn has_licence(&self, man: Square) -> bool {
        if self.mate { self.is_refuter(man) } else { self.pinner(man).is_some() }
    }

    fn is_pure(&self) -> bool {
        let field = self.field().all(|s| match self.attacks_on(s) {
            0 => self.is_own(s),
            1 => !self.is_own(s) || self.has_licence(s),
            _ => false,
        });
        let parried = |checker: Square| {
            let own = self.board.of_color(self.board.turn).map(|(s, _)| s);
            let line = self.line_of(checker);
            own.filter(|&s| self.pinner(s).is_none()).any(|s| self.could_reach(s, line))
        };
        field && (self.checkers.len() < 2 || self.checkers.iter().all(|&s| parried(s)))
    }

    fn takes_part(&self, s: Square) -> bool {
        let next_to_king = self.field().any(|near| near == s);
        let mut lines = self.lines.iter().filter(|line| line.man == s && self.is_own(line.slider));
        let refuted = self.refutations();
        if self.is_own(s) {
            let blocks = |line: &Shield| self.is_enemy_king(line.end) || refuted.contains(line.end);
            return !self.mate || s == self.king || next_to_king || lines.any(blocks);
        }
        let attacks = self.lifted.attacks_from(s);
        let pins = |man: Square| self.pinner(man) == Some(s) && self.has_licence(man);
        let shuts_off = |line: &Shield| {
            self.is_enemy_king(line.end) || (refuted.contains(line.end) && self.is_refuter(line.slider))
        };
        self.is_enemy(s)
            && (attacks.contains(self.king)
                || self.field().any(|near| attacks.contains(near))
                || Square::ALL.into_iter().any(pins)
                || lines.any(shuts_off))
    }
}

/// Returns all shields on the lines of sliders. Each consists of a slider, the first man on its line, and a square behind that man.
/// There is one shield for each square behind the man, up to and including the next man.
fn lines(board: &SquareArray) -> Vec<Shield> {
    let mut out = Vec::new();
    for slider in Square::ALL {
        for step in Dirs::STEPS.into_iter().filter(|&step| slides(board, slider, step)) {
            let mut path = walk(slider, step);
            let Some(man) = path.find(|&s| board.at(s).is_some()) else { continue };
            for end in path {
                out.push(Shield { slider, man, end });
                if board.at(end).is_some() {
                    break;
                }
            }
        }
    }
    out
}
