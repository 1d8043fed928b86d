//! Clocks and evaluations of the positions of a game.

use super::GameRow;
use orbit_core::board::Color;
use orbit_core::game::measures::{Commands, EvalCommand, Measures};
use orbit_core::game::time_control;
use orbit_pgn::AnnotationKind;

/// What the comments of a game tell of its positions. A comment belongs to the position after the move that it follows; one
/// before the first move belongs to the start.
pub struct GameMeasures<'a> {
    game: GameRow<'a>,
    /// By node.
    commands: Vec<(u32, Commands)>,
    /// Milliseconds that each move adds to the clock, if the game tells it.
    increment: Option<i64>,
}

impl<'a> GameMeasures<'a> {
    /// Reads the comments of a game, as far as its block has them.
    pub fn from_game(game: &GameRow<'a>) -> GameMeasures<'a> {
        let mut commands: Vec<(u32, Commands)> = Vec::new();
        for annotation in game.annotations() {
            let AnnotationKind::Comment(text) = &annotation.kind else { continue };
            let mut found = Commands::from_comment(text);
            // Before the start nobody moved.
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

    /// Whether no comment says anything.
    pub fn are_none(&self) -> bool {
        self.commands.is_empty()
    }

    fn commands(&self, node: u32) -> Commands {
        let at = self.commands.binary_search_by_key(&node, |(node, _)| *node);
        at.map_or(Commands::default(), |at| self.commands[at].1)
    }

    /// What `%emt` says of the move that led to a position, in milliseconds.
    pub fn elapsed(&self, node: u32) -> Option<i64> {
        self.commands(node).elapsed
    }

    /// The measures of a position. The time of a move is what `%emt` says; else what the player had after his move before,
    /// less what he has now, and the increment. It is not known of the first move of a side, nor where the clock gained
    /// more than the increment.
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
        Measures {
            clock,
            spent: elapsed.or_else(spent),
            eval: eval.map(|eval| eval.with_turn(self.turn(node))),
        }
    }

    /// The side to move in the game as it was played.
    fn turn(&self, node: u32) -> Color {
        let is_other = (self.game.ply_of(node) % 2 == 1) != self.game.is_swapped();
        let first = self.game.start().state.turn();
        if is_other { !first } else { first }
    }
}
