//! Represents games with side lines (variations) as trees of positions, replayed with shakmaty.

use shakmaty::{
    Bitboard, CastlingMode, CastlingSide, Chess, Color, File, Move, Piece, Position as _, Role, Square,
    fen::Fen, san::San,
};

/// A number that identifies a piece throughout a game.
pub type Identity = u8;

/// The move that led to a position.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The moving pieces, each with its origin, destination and identity. Castling moves two pieces; the king comes first.
    pub parts: Vec<(Square, Square, Identity)>,
    pub captured: Option<(Square, Identity)>,
    pub promotion: Option<Role>,
}

#[derive(Clone, Debug)]
pub struct Node {
    pub chess: Chess,
    pub parent: Option<usize>,
    /// The children. The line continues to the first child; alternative moves lead to the others.
    pub children: Vec<usize>,
    pub edge: Option<Edge>,
    pub ply: i32,
    /// The number of alternatives (side lines) on the way from the root to this node.
    pub depth: u32,
    pub sibling: usize,
    identities: [Option<Identity>; 64],
}

impl Node {
    pub fn piece(&self, square: Square) -> Option<Piece> {
        self.chess.board().piece_at(square)
    }

    pub fn turn(&self) -> Color {
        self.chess.turn()
    }

    pub fn identity(&self, square: Square) -> Option<Identity> {
        self.identities[square as usize]
    }

    fn root(chess: Chess) -> Node {
        let mut identities = [None; 64];
        for (identity, square) in (0..).zip(chess.board().occupied()) {
            identities[square as usize] = Some(identity);
        }
        Node { chess, parent: None, children: vec![], edge: None, ply: 0, depth: 0, sibling: 0, identities }
    }

    /// Returns the node after a move, or after a null move if `mv` is `None`.
    fn after(&self, mv: Option<Move>) -> Option<Node> {
        let mut out = self.clone();
        (out.children, out.ply) = (vec![], self.ply + 1);
        let at = |square: Square| self.identities[square as usize].expect("a piece stands there");
        let Some(mv) = mv else {
            out.chess = self.chess.clone().swap_turn().ok()?;
            let king = self.chess.board().king_of(self.turn())?;
            out.edge = Some(Edge { parts: vec![(king, king, at(king))], captured: None, promotion: None });
            return Some(out);
        };
        out.chess.play_unchecked(mv);
        let parts = match mv {
            Move::Castle { king, rook } => {
                let king_side = CastlingSide::from_king_side(king < rook) == CastlingSide::KingSide;
                let (k, r) = if king_side { (File::G, File::F) } else { (File::C, File::D) };
                let to = |file| Square::from_coords(file, king.rank());
                vec![(king, to(k), at(king)), (rook, to(r), at(rook))]
            }
            _ => {
                let from = mv.from().expect("nothing is dropped");
                vec![(from, mv.to(), at(from))]
            }
        };
        let captured = match mv {
            Move::EnPassant { from, to } => Some(Square::from_coords(to.file(), from.rank())),
            Move::Normal { to, capture: Some(_), .. } => Some(to),
            _ => None,
        };
        let captured = captured.map(|square| (square, at(square)));
        captured.iter().for_each(|&(square, _)| out.identities[square as usize] = None);
        parts.iter().for_each(|&(from, ..)| out.identities[from as usize] = None);
        parts.iter().for_each(|&(_, to, identity)| out.identities[to as usize] = Some(identity));
        out.edge = Some(Edge { parts, captured, promotion: mv.promotion() });
        Some(out)
    }
}

/// A game. Its nodes are numbered as by the filter `positionid`.
#[derive(Clone, Debug)]
pub struct Game {
    pub pgn: String,
    pub nodes: Vec<Node>,
    /// True if the game was read to its end; otherwise, it ends before the fault.
    pub whole: bool,
}

impl Game {
    /// Returns the game without side lines.
    pub fn main_line(&self) -> Game {
        let mut nodes: Vec<Node> = self.nodes.iter().take_while(|node| node.depth == 0).cloned().collect();
        nodes.iter_mut().for_each(|node| node.children.truncate(1));
        Game { pgn: self.pgn.clone(), nodes, whole: self.whole }
    }

    pub fn has_side_lines(&self) -> bool {
        self.nodes.iter().any(|node| node.depth > 0)
    }

    pub fn occupied(&self, node: usize) -> Bitboard {
        self.nodes[node].chess.board().occupied()
    }
}

/// Returns the games of a PGN text.
pub fn read(text: &str) -> Vec<Game> {
    let mut games: Vec<String> = Vec::new();
    let mut in_moves = true;
    for line in text.lines() {
        let is_tag = line.starts_with('[');
        if is_tag && in_moves {
            games.push(String::new());
        }
        in_moves = if is_tag { false } else { in_moves || !line.trim().is_empty() };
        if let Some(game) = games.last_mut() {
            game.push_str(line);
            game.push('\n');
        }
    }
    games.iter().filter_map(|pgn| read_one(pgn)).collect()
}

fn read_one(pgn: &str) -> Option<Game> {
    let (tags, moves): (Vec<&str>, Vec<&str>) = pgn.lines().partition(|line| line.starts_with('['));
    let fen = tags.iter().find_map(|tag| tag.strip_prefix("[FEN \"")?.strip_suffix("\"]"));
    let chess = match fen {
        Some(fen) => fen.parse::<Fen>().ok()?.into_position(CastlingMode::Standard).ok()?,
        None => Chess::default(),
    };
    let mut nodes = vec![Node::root(chess)];
    // For each open line, the node from which its next move is played.
    let mut open = vec![0];
    let moves = moves.join("\n");
    let mut rest = moves.trim_start();
    let mut whole = true;
    while let Some(first) = rest.chars().next().filter(|_| whole) {
        let length = match first {
            '{' => rest.find('}')? + 1,
            ';' => rest.find('\n').unwrap_or(rest.len()),
            '(' | ')' => 1,
            _ => rest.find(|c: char| c.is_whitespace() || "(){};".contains(c)).unwrap_or(rest.len()),
        };
        let (token, next) = rest.split_at(length);
        rest = next.trim_start();
        let last = open.last_mut()?;
        match first {
            '{' | ';' | '$' => {}
            '(' => {
                let parent = nodes[*last].parent?;
                open.push(parent);
            }
            ')' => {
                open.pop();
            }
            _ => {
                let word = token.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches('.');
                if word.is_empty() || ["*", "1-0", "0-1", "1/2-1/2"].contains(&token) {
                    continue;
                }
                let Some(mut node) = after(&nodes[*last], word) else {
                    whole = false;
                    continue;
                };
                (node.parent, node.sibling) = (Some(*last), nodes[*last].children.len());
                node.depth += u32::from(node.sibling > 0);
                let index = nodes.len();
                nodes[*last].children.push(index);
                nodes.push(node);
                *last = index;
            }
        }
    }
    Some(Game { pgn: pgn.into(), nodes: numbered(&nodes), whole })
}

/// Returns the node after a move in SAN or a null move; `None` if the word is neither.
fn after(node: &Node, word: &str) -> Option<Node> {
    if ["--", "Z0"].contains(&word) {
        return node.after(None);
    }
    let san: San = word.trim_end_matches(['+', '#', '!', '?']).parse().ok()?;
    node.after(Some(san.to_move(&node.chess).ok()?))
}

/// Returns the nodes in numerical order: first a line, and then the side lines of its nodes, starting with those of the last
/// node.
fn numbered(nodes: &[Node]) -> Vec<Node> {
    fn line(nodes: &[Node], first: usize, order: &mut Vec<usize>) {
        let mut line_nodes = vec![first];
        while let Some(&next) = nodes[line_nodes[line_nodes.len() - 1]].children.first() {
            line_nodes.push(next);
        }
        order.extend(&line_nodes);
        for node in line_nodes.into_iter().rev() {
            nodes[node].children.iter().skip(1).for_each(|&other| line(nodes, other, order));
        }
    }
    let mut order = Vec::new();
    line(nodes, 0, &mut order);
    let place = |node: usize| order.iter().position(|&it| it == node).expect("every node has a number");
    let moved = |&node: &usize| {
        let mut out = nodes[node].clone();
        out.parent = out.parent.map(place);
        out.children = out.children.iter().map(|&child| place(child)).collect();
        out
    };
    order.iter().map(moved).collect()
}
