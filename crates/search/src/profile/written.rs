//! Writes a profile as text, and as an HTML page with the same sentences and tables.

use maud::{Markup, html};

use super::figures::{LossRow, OpeningTable, Profile, SideRow, ThemeRow};
use super::novelties::NoveltyRow;
use super::scored::Scored;
use crate::report::page::{PageSection, document, table};
use crate::report::{TextTable, grouped};
use crate::stats::Share;
use orbit_core::visible;

struct Section {
    id: &'static str,
    name: &'static str,
    /// The sentences above the tables.
    notes: Vec<String>,
    tables: Vec<SectionTable>,
}

struct SectionTable {
    id: &'static str,
    caption: String,
    /// The rows. The first one contains the headings.
    rows: Vec<Vec<String>>,
    /// True if the last column is left-aligned in text.
    last_is_left: bool,
}

impl SectionTable {
    /// Creates a table. Columns without values are omitted.
    fn new(
        id: &'static str,
        caption: impl Into<String>,
        headings: &[&str],
        rows: Vec<Vec<String>>,
    ) -> SectionTable {
        let headings = headings.iter().map(|heading| (*heading).to_owned()).collect();
        let mut all: Vec<Vec<String>> = std::iter::once(headings).chain(rows).collect();
        for column in (0..all[0].len()).rev() {
            if all[1..].iter().all(|row| row[column].is_empty()) {
                all.iter_mut().for_each(|row| drop(row.remove(column)));
            }
        }
        SectionTable { id, caption: caption.into(), rows: all, last_is_left: false }
    }

    fn text(&self) -> String {
        let mut rows = self.rows.iter().cloned();
        let table = TextTable::new(rows.next().unwrap_or_default()).first_left(true);
        let mut table = table.last_left(self.last_is_left);
        for row in rows {
            let mut cells = row.into_iter();
            table.push(cells.next().unwrap_or_default(), cells);
        }
        table.text()
    }

    fn markup(&self) -> Markup {
        let head: Vec<&str> = self.rows[0].iter().map(String::as_str).collect();
        let rows = html! {
            @for row in &self.rows[1..] {
                tr {
                    th scope="row" { bdi { (row[0]) } }
                    @for cell in &row[1..] { td { (cell) } }
                }
            }
        };
        table(self.id, &self.caption, &head, rows)
    }
}

impl Profile {
    /// Returns the profile as text for a terminal.
    pub fn text(&self) -> String {
        let mut out = format!("{}\n", visible::line(&self.player));
        for section in self.sections() {
            out += &format!("\n{}\n", section.name);
            section.notes.iter().for_each(|note| out += &format!("{}\n", visible::line(note)));
            for table in &section.tables {
                out += &format!("\n{}\n{}", visible::line(&table.caption), table.text());
            }
        }
        out
    }

    /// Returns the profile as a self-contained HTML page.
    pub fn page(&self) -> String {
        let header = html! {
            header {
                p.kicker { "A player's own games" }
                h1 dir="auto" { (self.player) }
            }
        };
        let body = |section: &Section| {
            html! {
                @for note in &section.notes { p dir="auto" { (note) } }
                @for table in &section.tables { (table.markup()) }
            }
        };
        let page_section =
            |section: &Section| PageSection { id: section.id, name: section.name, body: body(section) };
        let sections: Vec<PageSection> = self.sections().iter().map(page_section).collect();
        document(&self.player, &header, &sections, self)
    }

    fn sections(&self) -> Vec<Section> {
        let mut out = vec![self.summary(), self.opening_section()];
        if self.sides[2].scored.rated > 0 {
            out.push(self.gap_section());
        }
        out.push(self.novelty_section());
        out.extend([self.theme_section(), self.ending_section(), self.clock_section()]);
        out.extend([self.loss_section(), explanations()]);
        out
    }

    fn summary(&self) -> Section {
        let years = match self.years {
            Some([first, last]) if first == last => format!(", {first}"),
            Some([first, last]) => format!(", {first} to {last}"),
            None => String::new(),
        };
        let (games, all) = (grouped(self.games()), games_text(self.games() + self.others));
        let mut notes = vec![format!("{games} of {all} in {}{years}.", sources(&self.sources))];
        if !self.chosen.is_empty() {
            notes.push(format!("Only {} count, for the player and for the others.", self.chosen));
        }
        let names = |all: &[super::NameGames]| {
            let shown: Vec<String> =
                all.iter().map(|name| format!("`{}` {}", name.name, grouped(name.games))).collect();
            shown.join(", ")
        };
        notes.push(match self.names.len() {
            1 => format!("Name in these games: {}.", names(&self.names)),
            _ => format!("Names taken together, with their games: {}.", names(&self.names)),
        });
        if !self.near.is_empty() {
            notes.push(format!("Names that come near and were left out: {}.", names(&self.near)));
        }
        notes.extend(self.ratings_note());
        let row = |row: &SideRow| {
            let number = |number: Option<i64>| number.map_or(String::new(), |number| number.to_string());
            let rating = |rating: Option<u64>| rating.map_or(String::new(), |rating| rating.to_string());
            let mut cells = scored_row(&row.scored);
            cells[SCORE] = score_with_interval(row.scored.score);
            cells.extend([rating(row.rating), rating(row.opponent_rating), number(row.performance)]);
            cells
        };
        let rows: Vec<_> = self.sides.iter().filter(|row| row.scored.games > 0).map(row).collect();
        let caption = "Results of the player by side".to_owned();
        let table = scored_table("results", caption, "side", &["rating", "opponents", "performance"], rows);
        Section { id: "summary", name: "Summary", notes, tables: vec![table] }
    }

    /// Returns a note with the number of games for which an expected score exists, or `None` if these are all games.
    fn ratings_note(&self) -> Option<String> {
        let both = &self.sides[2].scored;
        match both.rated {
            0 => Some(
                "No game has a result and the ratings of both players, so no score can be expected.".into(),
            ),
            rated if rated < both.games => Some(format!(
                "The expected score is of {} of the {}: those with a result and the ratings of both players.",
                grouped(rated),
                games_text(both.games)
            )),
            _ => None,
        }
    }

    fn opening_section(&self) -> Section {
        let table = |(side, id, openings): (&str, &'static str, &OpeningTable)| {
            let mut rows: Vec<Vec<String>> = openings.openings.iter().map(scored_row).collect();
            if openings.more > 0 {
                let name = format!("{} more", openings.more);
                rows.push(scored_row(&Scored { name, ..openings.rest.clone() }));
            }
            let games: u64 = openings.openings.iter().map(|row| row.games).sum::<u64>() + openings.rest.games;
            let caption = format!("As {side}: the most frequent openings of {}", games_text(games));
            scored_table(id, caption, "opening", &[], rows)
        };
        let [white, black] = &self.openings;
        let tables = [("White", "openings-white", white), ("Black", "openings-black", black)];
        let notes = vec![
            "Openings are recognised by the moves of the games. Their names are those of lichess, without variations."
                .into(),
        ];
        let tables = tables.into_iter().filter(|(.., openings)| !openings.openings.is_empty()).map(table);
        Section { id: "openings", name: "Openings", notes, tables: tables.collect() }
    }

    fn gap_section(&self) -> Section {
        let mut notes = vec![
            "Positions with a name, passed in at least 5 games with an expected score, in which the player scores \
             least against it."
                .to_owned(),
        ];
        let mut tables = Vec::new();
        if self.gaps.is_empty() {
            notes.push("There is no such position with a score below the expected one.".into());
        } else {
            notes.push("They are the lowest of many, so that some of them are low by chance.".into());
            let row = |gap: &super::GapRow| {
                let name = format!("{}, as {}", gap.scored.name, gap.side);
                scored_row(&Scored { name, ..gap.scored.clone() })
            };
            let rows = self.gaps.iter().map(row).collect();
            let caption = "The player's score after these positions".to_owned();
            tables.push(scored_table("gaps-table", caption, "position", &[], rows));
        }
        Section { id: "gaps", name: "Gaps in the repertoire", notes, tables }
    }

    fn novelty_section(&self) -> Section {
        let section = |notes, tables| Section { id: "novelties", name: "Novelties", notes, tables };
        let Some(novelties) = &self.novelties else {
            let note = "Novelties are not looked for: the files must be read several times, and standard input, pipes and the \
                        web are read once.";
            return section(vec![note.into()], Vec::new());
        };
        let mut notes = vec![
            "A novelty is the first position of a game that no earlier game of the files has. A game is earlier if its date is \
             earlier, or if it has the same date and comes first."
                .to_owned(),
        ];
        if !self.chosen.is_empty() {
            notes.push("All games of the files count as earlier games, whatever the conditions are.".into());
        }
        if novelties.left_out > 0 {
            let left_out = games_text(novelties.left_out);
            notes.push(format!(
                "The last {left_out} of the player in the files are not looked at: there are too many."
            ));
        }
        let rows = novelties.games.iter().filter(|row| row.games > 0).map(scored_row).collect();
        let caption = "Games by the side that played the first new move".to_owned();
        let mut tables = vec![scored_table("novelties-games", caption, "new move by", &[], rows)];
        if !novelties.listed.is_empty() {
            let headings =
                ["move", "earlier games", "played before", "result", "date", "game", "opponent", "opening"];
            let rows = novelties.listed.iter().map(novelty_row).collect();
            let caption = "The player's novelties in positions that most earlier games had";
            let table = SectionTable::new("novelties-table", caption, &headings, rows);
            tables.push(SectionTable { last_is_left: true, ..table });
        }
        section(notes, tables)
    }

    fn theme_section(&self) -> Section {
        let games = games_text(self.games());
        let note = match self.others {
            0 => format!(
                "There is no game of others, so the field is the opponents in the same {games}: a game counts for the player \
                 if the player has the pattern, and for the field if the opponent has it. The interval takes them for \
                 different games. A theme that belongs to no side has no field."
            ),
            others => format!(
                "The field is the {} of others in the files. A game has a theme if either side has it in some position.",
                games_text(others)
            ),
        };
        let row = |row: &ThemeRow| {
            let field = row.field.as_ref();
            let has = |at: usize| row.has_pattern.map_or(String::new(), |counts| grouped(counts[at]));
            vec![
                row.title.clone(),
                grouped(row.player.games),
                percent(row.player.share),
                field.map_or(String::new(), |field| grouped(field.games)),
                percent(field.and_then(|field| field.share)),
                row.difference.map_or(String::new(), |difference| difference.to_string()),
                has(0),
                has(1),
            ]
        };
        let headings = [
            "theme",
            "games",
            "player",
            "field games",
            "field",
            "difference (95 %)",
            "player has it",
            "opponent has it",
        ];
        let rows = self.themes.iter().map(row).collect();
        let caption =
            format!("Games with each theme, and their share of the player's {games} and of the field");
        let table = SectionTable::new("themes-table", caption, &headings, rows);
        let last = "`player has it` and `opponent has it` count the player's games in which that side has the pattern.";
        Section {
            id: "themes",
            name: "Structures and themes",
            notes: vec![note, last.into()],
            tables: vec![table],
        }
    }

    fn ending_section(&self) -> Section {
        let mut notes = vec![
            "A game counts for each kind of ending that it reaches on the main line: the pieces besides kings and pawns, \
             with no capture at once."
                .to_owned(),
        ];
        let mut tables = Vec::new();
        if self.endings.is_empty() {
            notes.push("No game of the player reaches one of these endings.".into());
        } else {
            let rows = self.endings.iter().map(scored_row).collect();
            let caption = format!("Endings reached in {}", games_text(self.games()));
            tables.push(scored_table("endings-table", caption, "ending", &[], rows));
        }
        Section { id: "endings", name: "Endings", notes, tables }
    }

    /// Returns `note`, the sentence that the player's games have no clocks or evaluations. If the comments were not read, the games
    /// may have some, and the sentence says so.
    fn without(&self, note: &str) -> String {
        if self.comments_read {
            return note.into();
        }
        "At least one of the files is a reel without comments, so the comments of all files were not read. To read them, make the \
         reel again with `orbit index --variations`, or name its PGN file instead."
            .into()
    }

    fn clock_section(&self) -> Section {
        let section = |notes, tables| Section { id: "clock", name: "Clock", notes, tables };
        let Some(clock) = &self.clock else {
            return section(
                vec![self.without("No game of the player has clocks (`%clk` in comments).")],
                Vec::new(),
            );
        };
        let note = format!(
            "{} of the player {} clocks. A side is short of time if its clock shows less than a tenth of the starting \
             time within the first 30 moves.",
            games_text(clock.games),
            if clock.games == 1 { "has" } else { "have" }
        );
        let row = |name: &str, share: &super::ThemeShare| {
            vec![name.to_owned(), grouped(share.of), grouped(share.games), score_with_interval(share.share)]
        };
        let rows = vec![row("player", &clock.player), row("opponents", &clock.opponent)];
        let caption =
            "Games with clocks and a starting time (`TimeControl`), and those of them short of time";
        let mut tables = vec![SectionTable::new(
            "clock-table",
            caption,
            &["side", "games", "short of time", "share (95 %)"],
            rows,
        )];
        if clock.short.games > 0 {
            let caption = "The player's score when short of time".to_owned();
            tables.push(scored_table("clock-score", caption, "player", &[], vec![scored_row(&clock.short)]));
        }
        section(vec![note], tables)
    }

    fn loss_section(&self) -> Section {
        let section = |note: String, tables| Section {
            id: "losses",
            name: "Losses of moves",
            notes: vec![note],
            tables,
        };
        let Some(losses) = &self.losses else {
            let note = "No game of the player has evaluations (`%eval` in comments) of a move and of the move before it.";
            return section(self.without(note), Vec::new());
        };
        let note = format!(
            "The losses of moves are known in {} of the player. The loss of a move is the number of pawns by which it makes \
             the evaluation worse for the side that moves. An evaluation beyond ten pawns, or a mate, counts as ten pawns.",
            games_text(losses.games)
        );
        let row = |row: &LossRow| {
            let mut cells =
                vec![row.remaining_time.to_owned(), grouped(row.moves), format!("{:.2}", row.mean_loss)];
            cells.extend([row.half_pawn, row.one_pawn].map(percent));
            cells.push(score_with_interval(row.two_pawns));
            cells
        };
        let headings = ["time left", "moves", "mean loss", "0.5 and more", "1 and more", "2 and more (95 %)"];
        let table = |id, of: &str, rows: &[LossRow]| {
            let caption =
                format!("Moves of {of}: their losses in pawns, by the time that is left after the move");
            SectionTable::new(id, caption, &headings, rows.iter().map(row).collect())
        };
        let tables = [
            ("losses-player", "the player", &losses.player),
            ("losses-opponents", "the opponents", &losses.opponents),
        ];
        let tables = tables.into_iter().filter(|(.., rows)| !rows.is_empty());
        section(note, tables.map(|(id, of, rows)| table(id, of, rows)).collect())
    }
}

fn explanations() -> Section {
    let notes = [
        "score: the player's points per game with a known result, in percent; a win is a point, a draw half a point.",
        "rated: games with a known result and the ratings of both players. Rated score, expected score and their difference \
         count these alone.",
        "expected: the mean score that Elo's formula gives the player for the two ratings of each game, in percent.",
        "difference: in percentage points; of scores the score less the expected one, of themes the player's share of games \
         less that of the field.",
        "rating and opponents: the mean rating of the player, and of the opponents in games with a known result.",
        "performance: the mean rating of the opponents, and what Elo's formula adds for the score against them, 800 points \
         at most.",
        "Brackets hold 95 % intervals. Even where nothing differs, about one interval of twenty leaves out 0.",
    ];
    let notes = notes.map(str::to_owned).into();
    Section { id: "about", name: "How to read the numbers", notes, tables: Vec::new() }
}

/// The indices of the columns for the score, the number of rated games, and the score in rated games.
const SCORE: usize = 5;
const RATED: usize = 6;
const RATED_SCORE: usize = 7;
/// The maximum number of moves from earlier games that are listed beside a novelty.
const BEFORE_MAX: usize = 3;

/// Creates a table whose rows begin with the cells of [`scored_row`]. `more` contains the headings of the remaining columns.
fn scored_table(
    id: &'static str,
    caption: String,
    name: &str,
    more: &[&str],
    mut rows: Vec<Vec<String>>,
) -> SectionTable {
    // If all games or no games are rated, the columns about rated games add no information, so they are left empty.
    if rows.iter().all(|row| row[RATED] == row[1]) || rows.iter().all(|row| row[RATED] == "0") {
        rows.iter_mut().for_each(|row| row[RATED..=RATED_SCORE].fill(String::new()));
    }
    let headings = [
        name,
        "games",
        "won",
        "drawn",
        "lost",
        "score",
        "rated",
        "rated score",
        "expected",
        "difference (95 %)",
    ];
    SectionTable::new(id, caption, &[&headings, more].concat(), rows)
}

fn scored_row(scored: &Scored) -> Vec<String> {
    let results = scored.results;
    let mut cells = vec![scored.name.clone(), grouped(scored.games)];
    cells.extend([results.wins, results.draws, results.losses].map(grouped));
    cells.extend([percent(scored.score), grouped(scored.rated), percent(scored.rated_score)]);
    cells.push(scored.expected.map_or(String::new(), |expected| format!("{:.1} %", 100.0 * expected)));
    cells.push(scored.difference.map_or(String::new(), |difference| difference.to_string()));
    cells
}

fn novelty_row(row: &NoveltyRow) -> Vec<String> {
    let (shown, more) = row.before.split_at(row.before.len().min(BEFORE_MAX));
    let mut before: Vec<String> =
        shown.iter().map(|played| format!("{} {}", played.san, grouped(played.games))).collect();
    if !more.is_empty() {
        before.push(format!("{} more", more.len()));
    }
    let rating = row.opponent_rating.map_or(String::new(), |rating| format!(" ({rating})"));
    vec![
        row.label.clone(),
        grouped(row.games_before),
        before.join(", "),
        row.result.unwrap_or_default().to_owned(),
        row.date.clone().unwrap_or_default(),
        grouped(row.game.into()),
        format!("{}{rating}", row.opponent.as_deref().unwrap_or("?")),
        row.opening.clone().unwrap_or_default(),
    ]
}

fn percent(share: Option<Share>) -> String {
    share.map_or(String::new(), |share| format!("{:.1} %", 100.0 * share.value))
}

fn score_with_interval(share: Option<Share>) -> String {
    let Some(Share { value, low, high }) = share else { return String::new() };
    format!("{:.1} % ({:.1}-{:.1})", 100.0 * value, 100.0 * low, 100.0 * high)
}

fn games_text(games: u64) -> String {
    format!("{} {}", grouped(games), if games == 1 { "game" } else { "games" })
}

fn sources(sources: &[String]) -> String {
    match sources {
        [] => "no file".into(),
        [one] => one.clone(),
        [first, ..] => format!("{first} and {} more files", grouped(sources.len() as u64 - 1)),
    }
}
