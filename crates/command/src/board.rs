//! Implements `--board` and `--similar`, which search for the pieces on a board, and the options for its transforms.

use orbit_core::diagnostic::Severity;
use orbit_query::diagram;
use orbit_search::Request;

use super::failure::Failure;
use super::query_text::QueryText;

/// A board instead of a query.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Search by board")]
pub(super) struct BoardArgs {
    /// Search for the pieces on this board, instead of a query.
    ///
    /// A letter is a piece that must stand on its square, `A` any white and `a` any black piece, `_` a square that must
    /// be empty. Anything may stand on the squares of digits, `?` and `.`. `w` or `b` after the board is the side that
    /// must be to move; later fields have no effect. Example: `5rk1/5ppB/8/8/8/8/8/8 b`.
    #[arg(long, value_name = "FEN", conflicts_with = "file", group = "placement")]
    board: Option<String>,
    /// List the games most like this board, instead of a query.
    ///
    /// The value of a game is that of its most similar position. The value of a position is a percentage: twice the number
    /// of men that stand where the board has them, divided by the number of men on both boards. It is 100 if exactly these
    /// men are on the board. The letters are those of --board. The first 50 games are listed; --limit lists more or fewer.
    #[arg(long, value_name = "FEN", conflicts_with_all = ["file", "board"], group = "placement")]
    similar: Option<String>,
    /// Find the board under all eight rotations and reflections.
    #[arg(long, requires = "placement", alias = "flipdihedral")]
    flip: bool,
    /// Also find the board reflected left to right, a <-> h.
    #[arg(long, requires = "placement")]
    flipvertical: bool,
    /// Also find the board reflected top to bottom, 1 <-> 8.
    #[arg(long, requires = "placement")]
    fliphorizontal: bool,
    /// Also find the board rotated by 90, 180 and 270 degrees.
    #[arg(long, requires = "placement")]
    rotate90: bool,
    /// Also find the board with the colours swapped, ranks 1 <-> 8.
    #[arg(long, requires = "placement")]
    flipcolor: bool,
    /// Find the board only with the colours swapped, ranks 1 <-> 8.
    #[arg(long, requires = "placement")]
    reversecolor: bool,
    /// Find the pieces shifted anywhere on the board.
    #[arg(long, requires = "placement")]
    shift: bool,
    /// Find the pieces shifted left or right.
    #[arg(long, requires = "placement")]
    shifthorizontal: bool,
    /// Find the pieces shifted up or down.
    #[arg(long, requires = "placement")]
    shiftvertical: bool,
}

impl BoardArgs {
    pub(super) fn is_similar(&self) -> bool {
        self.similar.is_some()
    }

    /// Copies the board and the selected transforms into a request.
    pub(super) fn put(&self, request: &mut Request) {
        (request.board, request.similar) = (self.board.clone(), self.similar.clone());
        request.transforms = self.transforms().into_iter().map(str::to_owned).collect();
    }

    /// Returns the query for the board, if a board was given.
    pub(super) fn query(&self) -> Result<Option<String>, Failure> {
        let (board, option) = match (&self.board, &self.similar) {
            (Some(board), _) => (board, "--board"),
            (None, Some(board)) => (board, "--similar"),
            (None, None) => return Ok(None),
        };
        let origin = QueryText::named(board, option.into());
        let transforms = self.transforms();
        let diagram = match self.is_similar() {
            true => diagram::similar(board, &transforms),
            false => diagram::query(board, &transforms),
        };
        let diagram = diagram.map_err(|error| origin.failure(&error))?;
        origin.print_remarks(&diagram.remarks, Severity::Note);
        Ok(Some(diagram.text))
    }

    /// Returns the selected transforms, outermost first. Shifts enclose all other transforms.
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
