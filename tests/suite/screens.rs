//! Tests screens, which skip segments (32 positions) in which nothing can match.

use std::{fmt::Write as _, path::Path};

use orbit_core::board::{Board, Code, PieceSet};
use orbit_engine::{BlockRequest, Engine, PreparedQuery, Wants};
use orbit_plan::PlanOptions;
use orbit_reel::{
    Block, MATERIAL_SEGMENTS, Material, SEGMENT_SLOTS,
    bounds::{Moved, PIECES, moves_of},
    lanes::LANES,
    replay::for_each_slot,
};

use crate::common::{block_of, blocks_of, length::stride, position, some_and_small};

/// Returns games with and without side lines, with castling on both sides, promotions, null moves and all kinds of starts. In one
/// block (group of games), all games start from the standard position, for which engines have a faster path.
fn blocks() -> Vec<Block> {
    let mut blocks = some_and_small(true, 1, stride(1, 5));
    let standard = blocks_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("games/sample.pgn"));
    assert!(standard.iter().all(|block| block.starts.is_empty()));
    blocks.extend(standard);
    blocks
}

const CODES: [u64; 12] = [1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14];

/// Returns bounds for each segment (32 positions): the squares on which each piece may be, and the squares that moves touch.
fn known(block: &Block) -> Vec<([u64; 16], u64)> {
    let (mut known, segments) = (Vec::new(), (0..block.segments() as u32).collect::<Vec<u32>>());
    for segments in segments.chunks(LANES) {
        let (moves, mut all) = (moves_of(block, segments), [([0; 16], 0); LANES]);
        for codes in CODES.chunks(PIECES) {
            let codes = codes.try_into().unwrap();
            let mut moved = Moved::from_moves(&moves, codes);
            for (n, (&segment, (may, touched))) in segments.iter().zip(&mut all).enumerate() {
                if moved.is_special(n) {
                    moved.add_special(block, segment, n, codes);
                }
                for (code, arrivals) in codes.iter().zip(&moved.arrivals) {
                    may[*code as usize] = arrivals[n];
                }
                *touched = moved.touched[n];
            }
        }
        known.extend(all.into_iter().take(segments.len()));
    }
    known
}

fn having(board: &Board, code: u64) -> u64 {
    board.squares_of(PieceSet::only(Code(code as u8))).0
}

#[test]
fn pieces_stand_where_the_bounds_say() {
    let (mut positions, mut exact, mut stay) = (0, 0, 0);
    for block in blocks() {
        let known = known(&block);
        // The union of all positions in each segment (32 positions), computed by replaying.
        let mut unions = vec![[0u64; 16]; block.segments()];
        for_each_slot(&block, |slot| {
            let at = slot.slot / SEGMENT_SLOTS;
            let (key, (may, touched)) = (&block.keys[at].board, &known[at]);
            for code in CODES {
                let (set, first) = (having(&slot.position.board, code), having(key, code));
                assert_eq!(set & !(first | may[code as usize]), 0, "slot {}, piece {code}", slot.slot);
                assert_eq!(first & !touched & !set, 0, "slot {}, piece {code}", slot.slot);
                unions[at][code as usize] |= set;
                stay += u64::from((first & !touched).count_ones());
            }
            positions += 1;
        });
        // If no game or side line ends at the end of a segment, the position after the segment's last move is the key position of
        // the next segment.
        for (at, union) in unions.iter().enumerate() {
            let moves = &block.moves[at * SEGMENT_SLOTS..];
            let Some(next) = block.keys.get(at + 1) else { continue };
            if moves[..SEGMENT_SLOTS].iter().all(|mv| !mv.is_start()) {
                for code in CODES {
                    let may = having(&block.keys[at].board, code) | known[at].0[code as usize];
                    let met = union[code as usize] | having(&next.board, code);
                    assert_eq!(may, met, "segment {at}, piece {code}");
                }
                exact += 1;
            }
        }
    }
    assert!(positions > 15_000 && exact > 200, "{positions} positions, {exact} segments");
    assert!(stay > 3 * positions, "{stay} pieces stay in {positions} positions");
}

#[test]
fn material_is_that_of_all_positions() {
    let (mut positions, mut differ, mut many) = (0, 0, 0);
    let queens =
        ["qqqqqqqk/qqqqqqqq/qqqqqqqq/8/8/8/8/K7 w - - 0 1", "qqqqqqqk/qqqqqqqq/8/8/8/8/8/K7 w - - 0 1"];
    let of_queens = block_of(&queens.map(position));
    for block in blocks().into_iter().chain([of_queens]) {
        let material = Material::from_block(&block);
        assert_eq!(material.groups(), block.segments().div_ceil(MATERIAL_SEGMENTS));
        let mut counted = vec![[(u32::MAX, 0); 16]; material.groups()];
        for_each_slot(&block, |slot| {
            let counted = &mut counted[slot.slot / SEGMENT_SLOTS / MATERIAL_SEGMENTS];
            for code in CODES {
                let number = having(&slot.position.board, code).count_ones();
                let (fewest, most) = &mut counted[code as usize];
                (*fewest, *most) = ((*fewest).min(number), (*most).max(number));
            }
            positions += 1;
        });
        for (group, counted) in counted.iter().enumerate() {
            for code in CODES {
                let (fewest, most) = counted[code as usize];
                let of = Code(code as u8);
                let numbers = material.numbers(of)[group];
                assert_eq!(numbers.fewest(), u64::from(fewest.min(15)), "group {group}, piece {code}");
                let bound = if most < 15 { most } else { 64 };
                assert_eq!(numbers.most(), u64::from(bound), "group {group}, piece {code}");
                differ += u32::from(fewest < most);
                many += u32::from(most > 15);
            }
        }
    }
    for block in blocks() {
        // Data computed for a block must not be used for the same block without its side lines.
        block.material(Material::from_block);
        let main_lines = block.into_main_lines(false);
        assert_eq!(main_lines.material(Material::from_block), &Material::from_block(&main_lines));
    }
    assert!(positions > 15_000 && differ > 1000, "{positions} positions, {differ} numbers that change");
    assert_eq!(many, 1, "groups with more pieces of a kind than are counted");
}

#[test]
fn blocks_that_stay_in_memory_are_passed_over_by_their_material() {
    let blocks = blocks();
    let (mut first, mut second, mut segments, mut hits) = (0, 0, 0, 0);
    for text in
        ["flipcolor {A==3 R==1 P==1 a==2 r==1}", "#[QqRrBbNn]==0", "flipcolor Q>1", "#A + #a <= 5", "not Q q"]
    {
        for block in &blocks {
            // A clone of the block counts as not yet searched.
            let block = &block.clone();
            Block::hold_all([block].into_iter());
            let of_new = scan(&[block], text, true);
            let of_searched = scan(&[block], text, true);
            let without = scan(&[block], text, false);
            assert!((&of_new.0, &of_new.1) == (&without.0, &without.1), "{text}");
            assert!((&of_searched.0, &of_searched.1) == (&without.0, &without.1), "{text}");
            // The engine has already computed the bounds on piece counts.
            assert_eq!(block.material(|_| panic!("it is known")), &Material::from_block(block));
            (first, second) = (first + of_new.2.0, second + of_searched.2.0);
            segments += of_new.2.1;
            hits += without.0.iter().flatten().map(|bits| bits.count_ones()).sum::<u32>();
        }
    }
    assert!(
        first * 2 > segments && second > first && hits > 100,
        "{first} and {second} of {segments}, {hits} hits"
    );
}

/// Queries, each with the minimum percentage of segments that the screen must skip.
const SELECTIVE: &[(&str, u64)] = &[
    ("Bh7 kg8", 80),
    ("flipcolor {Bh7 kg8}", 70),
    ("flip {Rd8 kg8 Pf7}", 70),
    ("Kg1 not Rf1 not Pg2 qh2", 90),
    ("A==2 a==2", 50),
    ("flipcolor {R==1 P==1 A==3 r==1 a==2}", 60),
    ("#[Qq]==0 #[Rr]==0 #[NnBb]==0", 50),
    ("Q>1", 90),
    ("#A + #a <= 5", 50),
    ("#A - #a >= 5", 40),
    ("pa-h2 Pa-h7", 60),
    ("rotate90 {Qa8 qh1}", 80),
    ("flipdihedral {Na1 or nh8}", 40),
    ("shift {Pa7 ka8}", 30),
    ("Qa8 attacks kh8", 80),
    ("if Qa8 then check else false", 80),
    ("#(Q & a-h8) > 1", 80),
    ("square x in a-h8 {Q & x attacks k & h1}", 70),
    ("not (A or not Qh8)", 60),
    ("mate Qh7", 60),
    ("flip {Kg1 Rf1 bd2}", 50),
    ("flipcolor {Kc1 Rd1 qb6}", 50),
    ("flipcolor {Pe6 pd7 Ke1}", 50),
    ("flipcolor {[Kk]e1 ke8 Pa3}", 50),
    ("flip {Ra1 qd4 Nd2}", 50),
    ("flip {Nf3 Pd4}", 1),
    ("flipcolor flip {Nf3 ne4}", 1),
];

/// Returns a query's hits and values, the number of skipped segments, and the number of all segments.
fn scan(blocks: &[&Block], text: &str, screens: bool) -> (Vec<Vec<u32>>, String, (u64, u64)) {
    let parsed = orbit_query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let prepared =
        PreparedQuery::new(parsed.query, PlanOptions { screens, ..PlanOptions::default() }).unwrap();
    let outputs = [Wants::ALL_COPIES | Wants::VALUES];
    let (mut bits, mut values, mut passed_over) = (Vec::new(), String::new(), (0, 0));
    for block in blocks {
        // Each scan uses a new engine, because an engine that skips few segments stops screening for a while.
        let engine = prepared.cpu().unwrap();
        let answers = engine.scan(&[block], &BlockRequest::all(&outputs)).unwrap();
        let answer = &answers[0][0];
        write!(values, "{:?} {:?}", answer.hits.values, answer.copies).unwrap();
        bits.push(answer.hits.bits.clone());
        let (passed, all) = engine.passed_over();
        passed_over = (passed_over.0 + passed, passed_over.1 + all);
    }
    (bits, values, passed_over)
}

#[test]
fn segments_without_hits_are_passed_over() {
    let blocks = blocks();
    let blocks: Vec<&Block> = blocks.iter().collect();
    let (mut hits, mut few) = (0, Vec::new());
    for &(text, share) in SELECTIVE {
        let (with, without) = (scan(&blocks, text, true), scan(&blocks, text, false));
        assert!((&with.0, &with.1) == (&without.0, &without.1), "{text}");
        assert_eq!(without.2, (0, 0));
        hits += with.0.iter().flatten().map(|bits| bits.count_ones()).sum::<u32>();
        let (passed, all) = with.2;
        if passed * 100 < all * share {
            few.push(format!("{text}: {passed} of {all}"));
        }
    }
    assert!(few.is_empty(), "too few segments are passed over\n{}", few.join("\n"));
    assert!(hits > 400, "{hits} hits");
}

#[test(part = 3)]
fn any_number_of_any_piece_is_found() {
    let blocks = blocks();
    let blocks: Vec<&Block> = blocks.iter().collect();
    let (mut hits, mut passed_over) = (0, 0);
    for pieces in ["A", "a", "P", "p", "N", "b", "R", "q", "K", "[Qq]", "[Pp]", "[QRBN]", "[QRP]", "[Aa]"] {
        for (sign, number) in ["==", ">=", "<="].into_iter().flat_map(|sign| (0..10).map(move |n| (sign, n)))
        {
            let text = format!("#{pieces} {sign} {number}");
            let (with, without) = (scan(&blocks, &text, true), scan(&blocks, &text, false));
            assert!(with.0 == without.0, "{text}");
            hits += with.0.iter().flatten().map(|bits| bits.count_ones()).sum::<u32>();
            passed_over += with.2.0;
        }
    }
    assert!(hits > 100_000 && passed_over > 10_000, "{hits} hits, {passed_over} segments passed over");
}
