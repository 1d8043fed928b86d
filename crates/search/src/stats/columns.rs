//! Encodes the groups of a block's games and positions as numbers.
//!
//! Counting compares groups very often. So within a block (a set of whole games), a group is a [`GroupCode`], and each distinct tag
//! value is parsed only once. Codes from different blocks cannot be compared, but their [`GroupKey`]s can.

use std::cell::RefCell;
use std::path::Path;

use hashbrown::HashMap;

use super::GroupKey;
use super::codes::{GroupCode, NameCodes};
use super::grouping::By;
use super::played::{AdjacentMoves, PlayedColumn};
use super::seen_from;
use crate::found::Found;
use crate::report::SpanMoves;
use orbit_core::board::Color;
use orbit_core::game::measures::thousandths_text;
use orbit_core::game::{
    Date, Measure, Mention, MoveNumbers, Opening, Rating, Speed, date, eco, fide, rating, tags, termination,
    time_control, title,
};
use orbit_engine::{Answer, MatchSpan, Outcome};
use orbit_reel::replay::position_at;
use orbit_reel::{Block, GameMeasures, GameRow};

/// The group of unknown values.
const UNKNOWN: GroupCode = GroupCode::MIN;

/// The names of evaluations that are mates, and the codes of these groups, which are above or below those of all other evaluations.
/// `BELOW` is the code for evaluations below the lowest class boundary.
pub(super) const WHITE_MATES: &str = "White mates";
pub(super) const BLACK_MATES: &str = "Black mates";
const WHITE_MATES_CODE: GroupCode = GroupCode::MAX;
const BLACK_MATES_CODE: GroupCode = GroupCode::MIN + 1;
const BELOW: GroupCode = GroupCode::MIN + 2;

/// A position in a block: its game, its slot (the index of the position in the block), and its ply.
#[derive(Clone, Copy)]
pub(super) struct PositionAt {
    /// The index of the game in the block.
    pub(super) game: usize,
    pub(super) slot: usize,
    pub(super) ply: usize,
}

/// The groups of a block's games or positions by one property.
pub(super) enum GroupColumn {
    /// A single group of all games and positions.
    Whole,
    /// Two groups for each game, such as the titles of both players. They are equal if the property has only one value in a game.
    Games { codes: Vec<[GroupCode; 2]>, names: Option<NameCodes> },
    /// The names of White and Black in each game.
    Players { codes: Vec<[GroupCode; 2]>, names: NameCodes },
    /// Groups by half-moves, in steps.
    Plies(u32),
    /// Groups by move number, in steps. `numbers` has the move numbering of each game.
    Moves { step: u32, numbers: Vec<MoveNumbers> },
    /// Steps or classes of a measure, for each slot (the index of a position in the block).
    Measures { measure: Measure, codes: Vec<GroupCode> },
    /// Groups by the query's value, in steps.
    Values(u32),
    /// Groups by the matching transformed copies of the query.
    Copies,
    /// Groups by the number of moves in a hit's span (the moves that matched), in steps.
    Lengths(u32),
    /// Groups by the first move in a hit's span (the moves that matched).
    Sans(RefCell<NameCodes>),
    /// Groups by the position of the hit.
    Positions(RefCell<NameCodes>),
    /// Groups by the moves before or after hits.
    Played(PlayedColumn),
}

/// A hit: its slot (the index of its position in the block), and its index among the hits in the block.
#[derive(Clone, Copy)]
pub(super) struct HitAt<'a> {
    pub(super) slot: usize,
    pub(super) index: usize,
    pub(super) found: &'a Found<'a>,
    pub(super) game: &'a GameRow<'a>,
    /// The span of the hit (the moves and positions that matched), if a column needs it.
    pub(super) span: Option<&'a MatchSpan>,
}

impl GroupColumn {
    pub(super) fn new(by: &By, found: &Found) -> GroupColumn {
        let block = found.block;
        let mut names = NameCodes::default();
        let codes: Vec<[GroupCode; 2]> = match by {
            By::Ply(step) => return GroupColumn::Plies(*step),
            By::Move(step) => {
                let numbers = block.games().map(|game| MoveNumbers::from_header(&game)).collect();
                return GroupColumn::Moves { step: *step, numbers };
            }
            By::Measure(measure, step) => {
                return GroupColumn::Measures { measure: *measure, codes: measures(block, *measure, *step) };
            }
            By::Value(step) => return GroupColumn::Values(*step),
            By::Copy => return GroupColumn::Copies,
            By::Length(step) => return GroupColumn::Lengths(*step),
            By::San => return GroupColumn::Sans(RefCell::default()),
            By::Position => return GroupColumn::Positions(RefCell::default()),
            By::Next { plies, is_played } => {
                return GroupColumn::Played(PlayedColumn::new(AdjacentMoves::Next(*plies), *is_played));
            }
            By::Previous { is_played } => {
                return GroupColumn::Played(PlayedColumn::new(AdjacentMoves::Previous, *is_played));
            }
            By::Year => return GroupColumn::numbers(years(block)),
            By::Decade => {
                let decade = |year| if year == UNKNOWN { year } else { year / 10 * 10 };
                return GroupColumn::numbers(years(block).map(decade));
            }
            By::Elo(rating, step) => return GroupColumn::numbers(ratings(block, *rating, *step)),
            By::Result => {
                let text = |game: GameRow| match found.sides.and_then(|sides| sides[game.index()]) {
                    None => game.outcome().text(),
                    Some(side) => result_of_player(seen_from(game.outcome(), side)),
                };
                block.games().map(|game| [names.code(text(game).into()); 2]).collect()
            }
            By::Source => of_sources(found, &mut names, |source| Some(source.to_owned())),
            By::Folder => of_sources(found, &mut names, |source| {
                let folder = Path::new(source).parent()?.to_string_lossy();
                Some(if folder.is_empty() { String::from(".") } else { folder.into_owned() })
            }),
            By::Side => {
                let side = |side: Option<Color>| match side {
                    None => UNKNOWN,
                    Some(side) => names.code(side.fold_wb("white", "black").into()),
                };
                of_sides(found).map(side).map(twice).collect()
            }
            By::Opponent => {
                let codes = Color::ALL.map(|side| players(block, side, &mut names));
                of_other_side(found, codes).map(twice).collect()
            }
            By::PlayerOf(side) => players(block, *side, &mut names).into_iter().map(twice).collect(),
            By::PlayerElo(step) => {
                let codes =
                    [Rating::Black, Rating::White].map(|rating| ratings(block, rating, *step).collect());
                return GroupColumn::numbers(of_other_side(found, codes));
            }
            By::OpponentElo(step) => {
                let codes =
                    [Rating::White, Rating::Black].map(|rating| ratings(block, rating, *step).collect());
                return GroupColumn::numbers(of_other_side(found, codes));
            }
            By::Eco(length) => {
                let mut code = |value: &[u8]| {
                    let eco = eco::of_value(value)?;
                    Some(names.code(eco.as_str()[..usize::from(*length)].to_owned()))
                };
                tag(block, "ECO", &mut code).map(twice).collect()
            }
            By::OpeningName => of_openings(block, &mut |opening| names.code(opening.name.clone())),
            By::OpeningEco(length) => of_openings(block, &mut |opening| {
                names.code(opening.eco.as_str()[..usize::from(*length)].to_owned())
            }),
            By::Title(side) => {
                let mut of = |side| {
                    let code = |value: &[u8]| title::of_value(value).map(|title| names.code(title));
                    tag(block, title::tag(side), code).collect::<Vec<_>>()
                };
                match side {
                    Some(side) => of(*side).into_iter().map(twice).collect(),
                    None => {
                        let [white, black] = [of(Color::White), of(Color::Black)];
                        white.into_iter().zip(black).map(|(white, black)| [white, black]).collect()
                    }
                }
            }
            By::Speed => {
                let code = |value: &[u8]| Some(names.code(Speed::from_value(value)?.name().to_owned()));
                tag(block, time_control::TAG, code).map(twice).collect()
            }
            By::Termination => {
                let code = |value: &[u8]| termination::of_value(value).map(|class| names.code(class));
                tag(block, termination::TAG, code).map(twice).collect()
            }
            By::Tag(name) => texts(block, name, &mut names).into_iter().map(twice).collect(),
            By::Player => {
                let [white, black] =
                    [Color::White, Color::Black].map(|side| players(block, side, &mut names));
                let codes = white.into_iter().zip(black).map(|(white, black)| [white, black]).collect();
                return GroupColumn::Players { codes, names };
            }
        };
        GroupColumn::Games { codes, names: Some(names) }
    }

    fn numbers(codes: impl Iterator<Item = GroupCode>) -> GroupColumn {
        GroupColumn::Games { codes: codes.map(twice).collect(), names: None }
    }

    /// Returns whether only hits have the property, and not positions in general; see [`By::is_of_hits`].
    pub(super) fn is_of_hits(&self) -> bool {
        matches!(self, GroupColumn::Values(_) | GroupColumn::Copies | GroupColumn::Positions(_))
            || self.is_of_spans()
            || self.is_of_moves()
    }

    /// Returns true if groups are moves before or after hits.
    pub(super) fn is_of_moves(&self) -> bool {
        matches!(self, GroupColumn::Played(_))
    }

    /// Returns whether groups are based on spans (the moves that matched) of hits.
    pub(super) fn is_of_spans(&self) -> bool {
        matches!(self, GroupColumn::Lengths(_) | GroupColumn::Sans(_))
    }

    /// Returns the index of the transformed copy that a group represents, or `None` if groups are not copies.
    pub(super) fn copy(&self, code: GroupCode) -> Option<usize> {
        matches!(self, GroupColumn::Copies).then(|| usize::try_from(code - 1).ok()).flatten()
    }

    /// Returns whether groups are based on a property of positions.
    pub(super) fn is_of_plies(&self) -> bool {
        matches!(self, GroupColumn::Plies(_) | GroupColumn::Moves { .. } | GroupColumn::Measures { .. })
    }

    /// Returns whether a game can come back to a group after positions in another group, for example to a range of evaluations.
    pub(super) fn comes_again(&self) -> bool {
        matches!(self, GroupColumn::Measures { .. })
    }

    /// For a group that represents a player, returns two values: true if the player has White in the game, and true if the player
    /// has Black. Returns `None` if groups are not players.
    pub(super) fn sides(&self, game: usize, code: GroupCode) -> Option<[bool; 2]> {
        let GroupColumn::Players { codes, .. } = self else { return None };
        Some(codes[game].map(|player| player == code))
    }

    /// Returns the name and the FIDE number of both players of a game, if both names are known and the groups are different.
    pub(super) fn opponents(&self, game: usize) -> Option<[(&str, Option<u32>); 2]> {
        let GroupColumn::Players { codes, names } = self else { return None };
        let [white, black] = codes[game];
        if white == black {
            return None;
        }
        let opponent = |code: GroupCode| match names.keys.get(usize::try_from(code).ok()?)? {
            GroupKey::Text(name) => Some((name.as_str(), None)),
            GroupKey::Player(Mention { name, number }) => Some((name.as_str(), *number)),
            _ => None,
        };
        Some([opponent(white)?, opponent(black)?])
    }

    /// Appends the groups of a position, which need not be a hit. If only hits have the property, all positions are in one group.
    pub(super) fn codes(&self, place: PositionAt, out: &mut Vec<GroupCode>) {
        let PositionAt { game, slot, ply } = place;
        out.clear();
        match self {
            GroupColumn::Whole
            | GroupColumn::Values(_)
            | GroupColumn::Copies
            | GroupColumn::Lengths(_)
            | GroupColumn::Sans(_)
            | GroupColumn::Positions(_)
            | GroupColumn::Played(_) => out.push(0),
            GroupColumn::Games { codes, .. } | GroupColumn::Players { codes, .. } => {
                let [first, second] = codes[game];
                out.push(first);
                if second != first {
                    out.push(second);
                }
            }
            GroupColumn::Measures { codes, .. } => out.push(codes[slot]),
            GroupColumn::Plies(step) => out.push(steps(ply as GroupCode, *step)),
            GroupColumn::Moves { step, numbers } => {
                out.push(steps(numbers[game].full(ply as u32).into(), *step))
            }
        }
    }

    /// Returns the first ply after `ply` at which the game's position can be in another group.
    pub(super) fn run_end(&self, PositionAt { game, ply, .. }: PositionAt) -> usize {
        match self {
            GroupColumn::Plies(step) => (ply / *step as usize + 1) * *step as usize,
            GroupColumn::Moves { step, numbers } => {
                let number = numbers[game].full(ply as u32);
                let left = (number / step + 1) * step - number;
                // A move number covers two half-moves, and the half-move at `ply` may already be Black's.
                let is_second = numbers[game].full(ply as u32 + 1) > number;
                ply + 2 * left as usize - usize::from(is_second)
            }
            GroupColumn::Measures { .. } => ply + 1,
            _ => usize::MAX,
        }
    }

    /// Appends the groups of a hit. If groups are moves before or after the hit, also returns the side that plays these moves.
    pub(super) fn codes_of_hit(
        &self,
        place: PositionAt,
        hit: HitAt,
        out: &mut Vec<GroupCode>,
    ) -> Option<Color> {
        match self {
            GroupColumn::Values(step) => {
                out.clear();
                out.push(match hit.found.answers.hits.answer(hit.slot) {
                    Answer::Bool(_) => UNKNOWN,
                    Answer::Set(squares) => steps(squares.count() as GroupCode, *step),
                    Answer::Num(number) => number.map_or(UNKNOWN, |number| steps(number.into(), *step)),
                });
            }
            GroupColumn::Copies => {
                out.clear();
                let copies =
                    hit.found.answers.hit_copies().map_or(&[][..], |copies| copies.at_hit(hit.index));
                out.extend(copies.iter().map(|&copy| GroupCode::from(copy) + 1));
            }
            GroupColumn::Lengths(step) => {
                out.clear();
                out.push(hit.span.map_or(UNKNOWN, |span| steps(span.length() as GroupCode, *step)));
            }
            GroupColumn::Sans(names) => {
                out.clear();
                let san = hit.span.and_then(|span| SpanMoves::key_san(span, hit.game));
                out.push(san.map_or(UNKNOWN, |san| names.borrow_mut().code(san)));
            }
            GroupColumn::Positions(names) => {
                out.clear();
                out.push(names.borrow_mut().code(position_at(hit.found.block, hit.slot).to_epd()));
            }
            GroupColumn::Played(column) => {
                out.clear();
                return Some(column.codes((hit.found, hit.game, hit.span), (hit.slot, hit.index), out));
            }
            _ => self.codes(place, out),
        }
        None
    }

    /// Returns the group that a code from [`GroupColumn::codes`] stands for.
    pub(super) fn key(&self, code: GroupCode) -> GroupKey {
        match self {
            GroupColumn::Whole => GroupKey::Whole,
            column if column.is_of_hits() => GroupKey::Whole,
            _ => self.key_of_hit(code),
        }
    }

    /// Returns the group that a code from [`GroupColumn::codes_of_hit`] stands for.
    pub(super) fn key_of_hit(&self, code: GroupCode) -> GroupKey {
        match self {
            GroupColumn::Whole => GroupKey::Whole,
            GroupColumn::Values(_) if code == UNKNOWN => GroupKey::Text(String::from("true")),
            _ if code == UNKNOWN => GroupKey::Unknown,
            GroupColumn::Games { names: Some(names), .. } | GroupColumn::Players { names, .. } => {
                names.key(code)
            }
            GroupColumn::Measures { measure, .. } => match code {
                WHITE_MATES_CODE => GroupKey::Text(WHITE_MATES.to_owned()),
                BLACK_MATES_CODE => GroupKey::Text(BLACK_MATES.to_owned()),
                BELOW => GroupKey::Text(format!("below {}", thousandths_text(measure.borders()[0]))),
                number => GroupKey::Thousandths(number),
            },
            GroupColumn::Sans(names) | GroupColumn::Positions(names) => names.borrow().key(code),
            GroupColumn::Played(column) => column.key(code),
            _ => GroupKey::Number(code),
        }
    }
}

/// Groups the positions of a block by the value of a measure, and returns the group of each slot. With a `step`, a group is a range
/// of `step` values. With `None`, the borders between groups are those of [`Measure::borders`].
fn measures(block: &Block, measure: Measure, step: Option<u32>) -> Vec<GroupCode> {
    let mut codes = vec![UNKNOWN; block.slots()];
    let code = |number: i64| match (number, step) {
        (i64::MAX, _) => WHITE_MATES_CODE,
        (i64::MIN, _) => BLACK_MATES_CODE,
        (number, Some(step)) => steps(number, step),
        (number, None) => {
            let borders = measure.borders();
            let above = borders.partition_point(|border| *border <= number);
            above.checked_sub(1).map_or(BELOW, |at| borders[at])
        }
    };
    for game in block.games() {
        let told = GameMeasures::from_game(&game);
        if told.are_none() {
            continue;
        }
        for (node, slot) in (0..).zip(game.slots()) {
            codes[slot] = told.at(node).get(measure).map_or(UNKNOWN, code);
        }
    }
    codes
}

/// Returns the result of a game as seen by White: `won`, `drawn` or `lost`.
pub(super) fn result_of_player(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::WhiteWins => "won",
        Outcome::Draw => "drawn",
        Outcome::BlackWins => "lost",
        Outcome::Unknown => Outcome::Unknown.text(),
    }
}

/// Groups the games of a block by opening, and returns the group of each game. Openings are determined from the main line.
fn of_openings(block: &Block, code: &mut dyn FnMut(&Opening) -> GroupCode) -> Vec<[GroupCode; 2]> {
    let of_game = |game: GameRow| twice(game.opening().map_or(UNKNOWN, &mut *code));
    block.games().map(of_game).collect()
}

/// Groups the games of a block by source, and returns the group of each game. `read` converts the name of a source to the name of
/// its group, or returns `None` if the group is unknown.
fn of_sources(
    found: &Found,
    names: &mut NameCodes,
    read: impl Fn(&str) -> Option<String>,
) -> Vec<[GroupCode; 2]> {
    let mut codes: HashMap<u32, GroupCode> = HashMap::new();
    let code = |game: GameRow| {
        *codes.entry(game.source()).or_insert_with(|| {
            let text = Some(found.names.source(&game)).filter(|source| !source.is_empty()).and_then(&read);
            text.map_or(UNKNOWN, |text| names.code(text))
        })
    };
    found.block.games().map(code).map(twice).collect()
}

/// Iterates over the selected player's side in each game.
fn of_sides<'a>(found: &Found<'a>) -> impl Iterator<Item = Option<Color>> + use<'a> {
    let sides = found.sides;
    (0..found.block.games_len()).map(move |game| sides.and_then(|sides| sides[game]))
}

/// Iterates over the opponent's group in each game. `white` and `black` are the groups of the two sides in each game.
fn of_other_side(found: &Found, [white, black]: [Vec<GroupCode>; 2]) -> impl Iterator<Item = GroupCode> {
    of_sides(found).zip(white.into_iter().zip(black)).map(|(side, (white, black))| match side {
        None => UNKNOWN,
        Some(Color::White) => black,
        Some(Color::Black) => white,
    })
}

fn twice(code: GroupCode) -> [GroupCode; 2] {
    [code; 2]
}

/// Returns the largest multiple of a step that is not greater than a number.
fn steps(number: GroupCode, step: u32) -> GroupCode {
    let step = GroupCode::from(step);
    number.div_euclid(step) * step
}

/// Groups the games of a block by the tag `name`, and returns the group of each game. `read` converts a value of the tag to the
/// code of its group, and is called once for each distinct value.
fn tag(
    block: &Block,
    name: &str,
    mut read: impl FnMut(&[u8]) -> Option<GroupCode>,
) -> impl Iterator<Item = GroupCode> {
    let names = block.tag_names(name);
    let values = block.tag_values();
    let mut codes: Vec<Option<GroupCode>> = vec![None; if names.is_empty() { 0 } else { values.len() }];
    block.games().map(move |game: GameRow| {
        let Some(value) = game.tag_value(&names) else { return UNKNOWN };
        *codes[value.0 as usize].get_or_insert_with(|| {
            let value = values.get(value.0).expect("games have values of their block");
            read(value).unwrap_or(UNKNOWN)
        })
    })
}

fn texts(block: &Block, name: &str, names: &mut NameCodes) -> Vec<GroupCode> {
    let code = |value: &[u8]| tags::known_value(name, value).map(|text| names.code(text.into_owned()));
    tag(block, name, code).collect()
}

/// Groups the games of a block by the player of one side, and returns the group of each game. A player is identified by the name,
/// and by the FIDE number if there is one.
fn players(block: &Block, side: Color, names: &mut NameCodes) -> Vec<GroupCode> {
    let (tag, numbers) = (tags::player_tag(side), block.tag_names(fide::tag(side)));
    let spelt = texts(block, tag, names);
    if numbers.is_empty() {
        return spelt;
    }
    let mut codes: HashMap<(GroupCode, u32), GroupCode> = HashMap::new();
    let code = |(game, spelt): (GameRow, GroupCode)| {
        let number =
            game.tag_value(&numbers).and_then(|value| fide::of_value(block.tag_values().get(value.0)?));
        let Some(number) = number.filter(|_| spelt != UNKNOWN) else { return spelt };
        *codes.entry((spelt, number)).or_insert_with(|| {
            let GroupKey::Text(name) = names.key(spelt) else { return spelt };
            names.code_of(GroupKey::Player(Mention { name, number: Some(number) }))
        })
    };
    block.games().zip(spelt).map(code).collect()
}

fn years(block: &Block) -> impl Iterator<Item = GroupCode> {
    let year = |value: &[u8]| Date::from_value(value).map(|date| date.year.into());
    let [date, utc] = date::TAGS.map(|name| tag(block, name, year));
    date.zip(utc).map(|(date, utc)| if date == UNKNOWN { utc } else { date })
}

fn ratings(block: &Block, which: Rating, step: u32) -> impl Iterator<Item = GroupCode> {
    let side = |side| tag(block, rating::tag(side), |value| rating::of_value(value).map(GroupCode::from));
    let known = |rating: GroupCode| u32::try_from(rating).ok();
    side(Color::White).zip(side(Color::Black)).map(move |(white, black)| {
        which.of_players(known(white), known(black)).map_or(UNKNOWN, |rating| steps(rating, step))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_go_down() {
        for (number, step, found) in [(0, 10, 0), (9, 10, 0), (10, 10, 10), (-1, 10, -10), (7, 1, 7)] {
            assert_eq!(steps(number, step), found);
        }
    }
}
