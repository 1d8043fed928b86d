//! Returns the moves around a position of a game.

use super::NodeWalk;
use orbit_core::game::MoveNumbers;
use orbit_reel::GameRow;

/// Returns the moves around a position in SAN: at most `before_max` moves before it, and at most `after_max` moves after it.
/// White's moves, and the first move of each list, have move numbers. The moves before the position may lead into a side line; the
/// moves after it stay in the position's line.
///
/// # Panics
///
/// Panics if the game has no such node.
pub fn moves_around(game: &GameRow, node: u32, before_max: usize, after_max: usize) -> [Vec<String>; 2] {
    let (numbers, mut walk) = (MoveNumbers::from_header(game), NodeWalk::from_game(game));
    let mut before: Vec<u32> = std::iter::successors(Some(node), |&node| game.parent_of(node)).collect();
    before.truncate(before_max + 1);
    before.reverse();
    let text = |index: usize, ply: u32, san: String| {
        let mut label = Vec::new();
        numbers.push_label(ply, &mut label);
        let has_number = index == 0 || !label.ends_with(b"...");
        if has_number { format!("{} {san}", String::from_utf8_lossy(&label)) } else { san }
    };
    let mut lists = [Vec::new(), Vec::new()];
    for (index, step) in before.windows(2).enumerate() {
        walk.to(step[1]);
        lists[0].extend(walk.san().map(|san| text(index, walk.ply(), san)));
    }
    walk.to(node);
    for index in 0..after_max {
        let san = walk.next();
        if san.is_empty() {
            break;
        }
        lists[1].push(text(index, walk.ply() + 1, san));
        walk.to(walk.node() + 1);
    }
    lists
}
