//! Agreement with pgn-reader, another reader, on games that are well formed.

use std::ops::ControlFlow;

use orbit_chess::internals::pgn::Outcome;
use pgn_reader::{RawTag, Reader, SanPlus, Visitor};

use super::*;

struct Summary;

impl Visitor for Summary {
    type Tags = usize;
    type Movetext = (usize, Vec<String>, Outcome);
    type Output = (usize, Vec<String>, Outcome);

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, usize> {
        ControlFlow::Continue(0)
    }

    fn tag(&mut self, tags: &mut usize, _: &[u8], _: RawTag<'_>) -> ControlFlow<Self::Output> {
        *tags += 1;
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: usize) -> ControlFlow<Self::Output, Self::Movetext> {
        ControlFlow::Continue((tags, Vec::new(), Outcome::Unknown))
    }

    fn begin_variation(&mut self, _: &mut Self::Movetext) -> ControlFlow<Self::Output, pgn_reader::Skip> {
        ControlFlow::Continue(pgn_reader::Skip(true))
    }

    fn san(&mut self, game: &mut Self::Movetext, san: SanPlus) -> ControlFlow<Self::Output> {
        game.1.push(san.san.to_string());
        ControlFlow::Continue(())
    }

    fn outcome(
        &mut self,
        game: &mut Self::Movetext,
        outcome: pgn_reader::shakmaty::Outcome,
    ) -> ControlFlow<Self::Output> {
        game.2 = match outcome.to_string().as_str() {
            "1-0" => Outcome::WhiteWins,
            "0-1" => Outcome::BlackWins,
            "1/2-1/2" => Outcome::Draw,
            _ => Outcome::Unknown,
        };
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, game: Self::Movetext) -> Self::Output {
        game
    }
}

#[test]
fn pgn_reader_reads_the_same_games() {
    use shakmaty::{Chess, Position as _, san::San};
    let corpus = corpus();
    for name in ["otb.pgn", "fen.pgn"] {
        let path = corpus.join(name);
        let mut reader = Reader::new(std::fs::File::open(&path).unwrap());
        for game in games_of_file(&path) {
            let (tags, sans, outcome) = reader.read_game(&mut Summary).unwrap().expect("as many games");
            assert_eq!(game.tags.len(), tags, "{name} {}: tags", game.number);
            assert_eq!(game.outcome, outcome, "{name} {}: outcome", game.number);
            assert_eq!(game.moves.len(), sans.len(), "{name} {}: moves", game.number);
            let mut position = game.start.map_or_else(Chess::new, |start| start.to_chess().unwrap());
            for (mv, san) in game.moves.iter().zip(&sans) {
                let legal = mv.to_shakmaty(&position).expect("a legal move");
                let san: San = san.parse().unwrap();
                assert_eq!(san.to_move(&position), Ok(legal), "{name} {}: {san}", game.number);
                position.play_unchecked(legal);
            }
        }
        assert!(reader.read_game(&mut Summary).unwrap().is_none(), "{name}");
    }
}
