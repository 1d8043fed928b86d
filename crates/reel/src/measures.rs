//! Reads the clock times and evaluations in the comments of a game.

use super::GameRow;
use orbit_core::board::Color;
use orbit_core::game::measures::{Commands, EvalCommand, Measures};
use orbit_core::game::time_control;
use orbit_pgn::AnnotationKind;

/// The clock times and evaluations in the comments of a game. A comment refers to the position after the preceding move, or to the
/// start position if it comes before the first move.
pub struct GameMeasures<'a> {
    game: GameRow<'a>,
    /// The commands in comments, such as `%clk`, each with its node (position number in the game).
    commands: Vec<(u32, Commands)>,
    /// The increment per move in milliseconds, if a tag specifies it.
    increment: Option<i64>,
}

impl<'a> GameMeasures<'a> {
    /// Reads the comments of a game. The result is empty if its block was read without comments.
    pub fn from_game(game: &GameRow<'a>) -> GameMeasures<'a> {
        let mut commands: Vec<(u32, Commands)> = Vec::new();
        for annotation in game.annotations() {
            let AnnotationKind::Comment(text) = &annotation.kind else { continue };
            let mut found = Commands::from_comment(text);
            // No move leads to the start position, so no evaluation by the player who moved, and no time for a move, can refer to
            // it.
            if annotation.node == 0 && found.eval.is_some_and(EvalCommand::is_of_mover) {
                found = Commands { eval: None, elapsed: None, ..found };
            }
            match commands.last_mut() {
                _ if found == Commands::default() => {}
                Some((node, before)) if *node == annotation.node => *before = before.or(found),
                _ => commands.push((annotation.node, found)),
            }
        }
        let has_clocks = commands.iter().any(|(_, commands)| commands.clock.is_some());
        let increment = has_clocks.then(|| time_control::increment_of_game(game)).flatten();
        GameMeasures { game: *game, commands, increment }
    }

    /// Returns true if no comment has a clock time or an evaluation.
    pub fn are_none(&self) -> bool {
        self.commands.is_empty()
    }

    fn commands(&self, node: u32) -> Commands {
        let at = self.commands.binary_search_by_key(&node, |(node, _)| *node);
        at.map_or(Commands::default(), |at| self.commands[at].1)
    }

    /// Returns the milliseconds that `%emt` gives for the move to a position.
    pub fn elapsed(&self, node: u32) -> Option<i64> {
        self.commands(node).elapsed
    }

    /// Returns the measures of a position. The time spent on a move is taken from `%emt`, if there is one. Otherwise it is the
    /// player's clock time after their previous move, minus the clock time now, plus the increment. It is unknown for a side's
    /// first move, and if the clock gained more than the increment. The loss of a move is unknown if the position before or after
    /// it has no evaluation.
    pub fn at(&self, node: u32) -> Measures {
        if self.are_none() {
            return Measures::default();
        }
        let Commands { clock, elapsed, eval } = self.commands(node);
        let spent = || {
            let before = self.game.parent_of(self.game.parent_of(node)?).filter(|&before| before > 0)?;
            let spent = self.commands(before).clock?.checked_sub(clock?)?.checked_add(self.increment?)?;
            (spent >= 0).then_some(spent)
        };
        let eval = eval.map(|eval| eval.with_turn(self.turn(node)));
        let loss = || {
            let parent = self.game.parent_of(node)?;
            let before = self.commands(parent).eval?.with_turn(self.turn(parent));
            Some(before.loss_of(!self.turn(node), eval?))
        };
        Measures { clock, spent: elapsed.or_else(spent), eval, loss: loss() }
    }

    /// Returns the side to move in the original game, even if the block has its colours swapped.
    fn turn(&self, node: u32) -> Color {
        let is_other = (self.game.ply_of(node) % 2 == 1) != self.game.is_swapped();
        let first = self.game.start().state.turn();
        if is_other { !first } else { first }
    }
}
