//! `--board`: a search for what stands on a board, and the transforms to search it under.

use orbit_chess::query::diagram;

use super::Failure;
use super::query_text::QueryText;

/// A board instead of a query.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Search by board")]
pub(super) struct BoardArgs {
    /// Find positions that hold the pieces of this board, in place of a query. `_` is a square that must be
    /// empty, `A` and `a` any white and any black piece; digits, `?` and `.` are squares on which anything
    /// may be. A side to move, `w` or `b`, must be to move if it is given; later fields have no effect.
    #[arg(long, value_name = "FEN", conflicts_with = "file")]
    board: Option<String>,
    /// ... in all eight turns and reflections.
    #[arg(long, requires = "board", alias = "flipdihedral")]
    flip: bool,
    /// ... and reflected, a <-> h.
    #[arg(long, requires = "board")]
    flipvertical: bool,
    /// ... and reflected, 1 <-> 8.
    #[arg(long, requires = "board")]
    fliphorizontal: bool,
    /// ... and turned by 90, 180 and 270 degrees.
    #[arg(long, requires = "board")]
    rotate90: bool,
    /// ... and with the colours swapped, 1 <-> 8.
    #[arg(long, requires = "board")]
    flipcolor: bool,
    /// ... only with the colours swapped, 1 <-> 8.
    #[arg(long, requires = "board")]
    reversecolor: bool,
    /// ... anywhere on the board.
    #[arg(long, requires = "board")]
    shift: bool,
    /// ... anywhere along the ranks.
    #[arg(long, requires = "board")]
    shifthorizontal: bool,
    /// ... anywhere along the files.
    #[arg(long, requires = "board")]
    shiftvertical: bool,
}

impl BoardArgs {
    /// The query, if there is a board.
    pub(super) fn query(&self) -> Result<Option<String>, Failure> {
        let Some(board) = &self.board else { return Ok(None) };
        let origin = QueryText::named(board, "--board".into());
        let diagram = diagram::query(board, &self.transforms()).map_err(|error| origin.failure(&error))?;
        origin.print_remarks(&diagram.remarks, true);
        Ok(Some(diagram.text))
    }

    /// The transforms that are wanted, shifts outermost.
    fn transforms(&self) -> Vec<&'static str> {
        let all = [
            ("shift", self.shift),
            ("shifthorizontal", self.shifthorizontal),
            ("shiftvertical", self.shiftvertical),
            ("flip", self.flip),
            ("flipvertical", self.flipvertical),
            ("fliphorizontal", self.fliphorizontal),
            ("rotate90", self.rotate90),
            ("flipcolor", self.flipcolor),
            ("reversecolor", self.reversecolor),
        ];
        all.into_iter().filter(|(_, is_wanted)| *is_wanted).map(|(name, _)| name).collect()
    }
}
