//! Tests `line` and `path` in flat programs (the form for queries with state). The results are compared with those of the
//! reference engine on real games and on games with side lines (variations).

use orbit_engine::Answer;

use crate::{
    common::{Samples, corpus_blocks, pgn_blocks},
    flat::{program_compared, tree_blocks},
    runners::Runner,
};

/// Queries with a `line` or `path` whose constituents (the filters for its steps) read or assign variables.
const QUERIES: &[&str] = &[
    // Piece variables.
    "piece X in [RBN] {path X-- -- X-- -- X--}",
    "piece X in Q {path focus X -- not check -- check}",
    "piece X in [Qq] {path 4 99 focus X (-- --){+}}",
    "piece X in A {piece Y in a {path X-- Y-- X[x]Y}}",
    "piece X in P {path focus X -- + --=Q}",
    "piece X in p {path --* X--=q}",
    "piece X in A {path focus capture X --* .[x]X}",
    "piece X in [Nn] {path singlecolor X-- --{1,3} X--}",
    "piece X in R {path max #X focus X --{1,4}}",
    "piece X in [Rr] {path lastposition focus X --{2,}} ",
    "piece X in B {path firstmatch focus X --{2,}}",
    "piece X in N {path nestban focus X --{2,}}",
    "piece X in K {path focus X|R -- from&f1 --}",
    "piece X in K {ss=R path focus X|ss --g1 --(to) X--}",
    "piece X in N {line --> X attacks q --> true* --> X attacks r}",
    "piece X in N {line nestban --> X attacks a{2,}}",
    "piece X in N {line singlecolor --> X attacks a --> not X attacks a{+}}",
    "piece X in N {line <-- X attacks a <-- true* <-- X==b1}",
    "piece X in [Nn] {line lastposition --> X attacks A{2,4}}",
    "piece X in n {line firstmatch 2 9 --> .{2} --> X--}",
    // Some constituents must match at a later position. A start after which no such position exists is skipped.
    "piece X in P {line --> X-- --> true* --> {check wtm}}",
    "piece X in [Rr] {line --> X--{+} --> not check --> Q attacks k}",
    "piece X in p {path X-- ~X--{+} q attacks K}",
    "piece X in N {path X-- --* -- a[x]P}",
    // The destination squares of the moves depend on the moving piece. Castling moves two pieces.
    "piece X in [KR] {path X--left 1 3 X -- X--}",
    "piece X in [BQbq] {path focus X --northeast 1 3 X --{1,2}}",
    "piece X in A {flipvertical {path focus X (--up 1 2 X --right 1 2 (X|k)){1,}}}",
    "piece X in a {path focus X --(down 1 X & a-h5-6) -- piece X=Q}",
    // Chains with moves that must follow each other directly.
    "piece X in N {piece Y in n {path X-- Y-- X--}}",
    "piece X in [RQ] {square V in a-h7-8 {line --> {move from X} --> not move from X* --> {move from X to V}}}",
    "piece X in [Kk] {path castle --* X-- --* [Rr]--(X)}",
    "piece X in B {path --* a[x]X}",
    "{ss=e4 piece X in [Nn] {line --> {X--} --> true* --> {--ss} --> {move from X}}}",
    // Filters that read the progress of a path, such as `pathcount`.
    "piece X in R {path focus X -- pathcount<3 +}",
    "piece X in [Rr] {path focus X max pathcountunfocused -- pathstart:X!=X {2,}}",
    "piece X in N {path focus X -- {find all {pathcount<ply X--}>3} {2,}}",
    "piece X in B {path focus X -- -- {line --> pathcount==2 --> X}}",
    // After a match of a chain with `nestban`, another filter fails.
    "piece X in N {{path nestban focus X --{2,}} check}",
    "piece X in [BR] {{path nestban focus X --{2,4}} find 1 2 check}",
    // The left operand of a comparison has no value, and the chain with `nestban` in the right operand matches.
    "(rank Bb5) >= (line nestban --> {xx=1 xx>0}{2})",
    "piece X in k 1 <= {1/#Bb5} <= (path nestban focus X --{2,4})",
    // Transforms. Each of their copies (transformed patterns) needs its own mask of the positions at which a match can begin.
    "flipcolor {wtm ss=to piece X in [NB] {path focus X --~ss --}}",
    "flipcolor {wtm start=currentposition path nestban Q-- --* Q--(#(currentposition & start)>50)}",
    "flip count {ss=to path --ss --Nc3}",
    // Chains that assign variables.
    "piece X in [RN] {ss=X path focus X (--~ss ss|=X){2,} --ss}",
    "piece X in Q {nn=0 path focus X (-- nn+=1){+} nn>=3}",
    "{nn=0 path (-- nn+=1 nn<5){+} nn==4}",
    "{ss=[] path focus Q -- not to&ss ss|=to {3,}}",
    "{nn=ply line --> {nn+=1 true} --> {nn-ply<3 check}}",
    "{if initial mm=0 path focus N (-- mm+=1){2} mm}",
    "{piece X=Q path focus X -- {piece X=q} --(X) }",
    "{if initial zz=0 {path nestban focus R -- zz+=1 {1,3}} zz}",
    "{start=currentposition path focus [Nn] --* --start:N}",
];

#[test(part = 0)]
fn chains_answer_as_the_reference_engine() {
    let samples = Samples::from_blocks(&corpus_blocks("otb.pgn"), 11, 40, 120);
    let without = samples.without_hits(QUERIES, program_compared);
    assert!(4 * without.len() <= QUERIES.len(), "no hits of {without:?}");
}

#[test(part = 2)]
fn chains_answer_as_the_reference_engine_in_side_lines() {
    let blocks = tree_blocks();
    let mut hits = 0;
    for text in QUERIES {
        let text = format!("cql(variations) {text}");
        hits += blocks.iter().map(|block| program_compared(&text, block)).sum::<usize>();
    }
    assert!(hits > 500, "{hits} hits");
}

/// Loops over pieces whose path can begin only with a move of the piece, so pieces that do not move next are skipped. In the last
/// query, the path can also begin with another move.
const MOVERS: &[&str] = &[
    "piece X in A sort \"n\" path focus X --{3,}",
    "piece X in [Rr] piece Y in [Qq] {ss=X sort \"n\" path focus X|Y X--~ss Y-- --{1,}}",
    "piece X in a {sort \"n\" path X[x]A --{2,9} X--}",
    "piece X in N {nn=0 sort \"n\" path focus X (-- nn+=1){2,} nn>3}",
    "piece X in n sort \"n\" path X[x]A {0,1} -- -- X[x]A",
];

#[test]
fn pieces_that_do_not_move_next_are_passed_over() {
    let samples = Samples::from_blocks(&corpus_blocks("otb.pgn"), 11, 40, 120);
    let without = samples.without_hits(MOVERS, program_compared);
    assert!(without.is_empty(), "no hits of {without:?}");
}

/// Loops whose body requires a path with a first move that does not depend on the loop. In the last queries, the move is optional
/// or its square depends on the loop.
const OUTSIDE: &[&str] = &[
    "piece X in [QRB] {square V in (_ attackedby X) {piece Y in [NP] {path focus X|Y X--(X attacks V) --* Y--V}}}",
    "piece X in [KR] {piece Y in a {path X--(from attacks X or Y) Y[x].}}",
    "piece X in [Nn] {piece Y in [Pp] {sort \"n\" path focus X|Y X--{1,} Y--}}",
    "piece X in N {square V in Q {nn=0 path (X-- -- nn+=1){1,2} --* --V}}",
    "piece X in N {piece Y in n {path X--(check) {0,1} Y--}}",
    "piece X in N {piece Y in n {path X--(Y attacks X) Y--}}",
];

#[test]
fn paths_begin_outside_loops() {
    let samples = Samples::from_blocks(&corpus_blocks("otb.pgn"), 11, 40, 120);
    let without = samples.without_hits(OUTSIDE, program_compared);
    assert!(without.is_empty(), "no hits of {without:?}");
}

/// Searches for paths store their results in tables of limited total size. In the shorter game, there is room for fewer tables than
/// the query has pieces; in the longer game, for none.
#[test]
fn long_games_are_searched_in_bounded_memory() {
    let moves = ["Nf3", "Nf6", "Ng1", "Ng8"];
    let game = |plies: usize| (0..plies).map(|ply| moves[ply % 4]).collect::<Vec<_>>().join(" ") + " *\n";
    let query = "ply<3 piece X in A {path (-- #X>0) {1,300}}";
    for plies in [2_000, 40_000] {
        let block = pgn_blocks(&game(plies)).remove(0);
        let answers = Runner::cpu(0).answers(query, &block).unwrap();
        let all_men = |answer: &Answer| matches!(answer, Answer::Set(squares) if squares.count() == 16);
        assert!(answers[..3].iter().all(all_men), "{plies}");
        assert_eq!(answers.iter().filter(|answer| answer.is_hit()).count(), 3, "{plies}");
    }
}
