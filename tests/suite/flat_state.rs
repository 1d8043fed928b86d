//! Tests strings, dictionaries and moves in flat programs (the form for queries with state). The results are compared with those
//! of the reference engine on real games and on games with side lines (variations).

use crate::{
    common::{Samples, corpus_blocks, every_nth_game, harness},
    flat::{compared, program_compared, tree_blocks},
};

/// Queries that create strings.
const STRINGS: &[&str] = &[
    "{tt=fen #tt>50}",
    "{tt=fen tt[0:8]!=\"rnbqkbnr\" check}",
    "{if initial {last=\"\" same=0} if fen==last same+=1 last=fen[0:20] (#last)+same}",
    "{ss=a-h3 tt=str(ss \" \" #ss) indexof(\" \" tt)}",
    "{ss=Q tt=str(ss) tt==\"d1\" true}",
    "{tt=typename to if check tt+=\"+\" tt>=\"P\" true}",
    "{if initial tt=\"\" if check tt+=typename to #tt>2}",
    "{tt=\"abc\" nn=ply%3 tt[1]==\"b\" tt[-1:]==\"c\" tt[nn]==\"b\" true}",
    "{tt=piecename to uppercase tt==tt true}",
    "{tt=lowercase (typename to) tt in \"qr\"}",
    "{tt=str(ply) int tt>90}",
    "{tt=ascii (65+ply%20) tt>\"M\" true}",
    "{tt=piecename to ascii tt>97}",
    "{tt=max(typename to \"K\") tt==\"N\" true}",
    "{tt=str(to) (makesquare tt) & Q}",
    "{tt=\"xyz\" tt[1:2]=piecename to tt==\"xNz\" true}",
    "{if check tt=\"a\" str(tt)==\"<unbound: tt>\" true}",
    "{initialposition:{piece X=Nb1} str(X)==\"Nf3\" true}",
    "{tt=if check \"+\" else \"-\" parent:(tt==\"+\") true}",
    "{tt=str(check wtm) tt==\"<true><false>\" true}",
    "{tt=typename to equal(tt \"N\")}",
    "{if initial tt=\"\" if check tt=piecename to tt!=\"P\" tt!=\"p\"}",
    "{tt=fen find {fen[0:30]==tt[0:30] ply>9}}",
    "piece X in [Nn] {line --> {X attacks Q move from X} --> check}",
];

/// Queries that read capture groups of regular expressions, some of them at a later position than that of the match.
const GROUPS: &[&str] = &[
    r#"{player white ~~ "^(.*)," \1>"M"}"#,
    r#"{tt=player white ~~ "(.)[^,]*, *(.)?" #tt>4 ply%2==0 \-2>5}"#,
    r#"{if initial "ab" ~~ "(a)" {if move previous capture . str(typename to "x") ~~ "(.)(.)"} \0!="ab"}"#,
    r#"{if initial "a" ~~ "(a)" {{check typename to ~~ "(.)"} or true} \1=="Q"}"#,
    r#"{tt=if str("b" typename to) ~~ "(N)?b(.)" then \2 else "-" tt=="Q"}"#,
    r#"{nn=0 while (fen ~~ "([a-z])([A-Z1-8])") {nn+=\-2} nn>200}"#,
    r#"{nn=0 while (player white ~~ "[aeiou]") {check nn+=\-0} nn>9}"#,
    r#"{nn=0 while ("a1b2" ~~ "[0-9]*") nn+=(#\0)+1 nn==ply%3+6}"#,
    r#"{nn=0 while ("aaaa" ~~ "aa") nn+=1 nn==ply%2+2}"#,
    r#"find {player white ~~ "^(.)" \1==uppercase \1 check}"#,
    r#"line --> {typename to ~~ "([NBRQ])"} --> true* --> {typename to==\1 check}"#,
    r#"{if initial "ab" ~~ "(a)" piece X in Q {str(X) ~~ "Q(.)" path X-- check} or true \0!="ab"}"#,
    r#"{if initial "ab" ~~ "(a)" echo(s t){s<t check str("x" ply) ~~ "(.)(.)" s:check} or true \0!="ab"}"#,
    r#"flipcolor {player white ~~ "(.)$" \1>"n" Ra1}"#,
    r#"{tt=tag "Date" tt ~~ "^(\d+)\.(\d+)" (int \1)%2==(int \2)%2}"#,
];

/// Queries with dictionaries.
const DICTIONARIES: &[&str] = &[
    "{local dictionary D if D[fen] rr=1 else rr=0 D[fen]=1 rr==1}",
    "{local dictionary D D[ply%5]=ply D[2]}",
    "{local dictionary D if initial unbind D unbind D[1] D[ply%3]=to #D>1 D[0]}",
    "{local dictionary D D[typename to]=ply string s in D {D[s]+9<ply}}",
    "{local dictionary D D[to]=from D[from]}",
    "{local dictionary D D[currentposition]=ply nn=D[parent] nn%7==3}",
    "{local dictionary D D[#A]=currentposition D[#a]:check}",
    "{local dictionary D D[fen]=1 if check unbind D #D}",
    "{local dictionary D if D[\"x\"] D[\"x\"]=D[\"x\"]+1 else D[\"x\"]=0 D[\"x\"]>20}",
    "{local dictionary D D[typename to]=str(ply) D[\"Q\"]>\"5\" true}",
    "{local dictionary D D[to]=[] D[from]}",
    // In an `echo`, the first move of a path is compared with a dictionary entry.
    "{local dictionary D unbind D piece X=--(from) path focus X -- D[pathcount]=to {2,} \
     echo(s t){t>s piece Y=~X--(from) typename X==typename Y mm={path focus Y -- D[pathcount]==to {2,}} mm<5}}",
    "{local dictionary D D[1]=to echo(s t){s<t path -- to==D[pathcount] --}}",
    "{local dictionary D D[1]=to echo(s t){s<t D[1]=to path -- D[pathcount]==to --}}",
    "{local dictionary D D[1]=to echo(s t){s<t path (-- D[pathcount]==to){0,1} K--}}",
    "{local dictionary D D[typename to]=1 tt=\"\" string s in D {tt+=s} #tt>4}",
    "{local dictionary D D[str(100-ply)]=1 tt=\"\" string s in D {tt=s} tt==\"99\"}",
];

/// Queries about played moves, about legal moves, and about pairs of positions.
const MOVES: &[&str] = &[
    "piece X in [Rr] {line --> move from X --> true* --> move from X to a-h8}",
    "piece X in N {line --> not move from X {2,3} --> move from X capture .}",
    "piece X in Q {move from X to a-h4-8}",
    "piece X in Q {move to . from X}",
    "{ss=Q move previous capture q to ss}",
    "{ss=Q move capture ss}",
    "{ss=K move from ss castle}",
    "{ss=[Pp] move from ss promote [Qq]}",
    "piece X in Q {square all x in X legal x--}",
    "{if ply%2==0 ss=[Rr] #(legal ss--)>9}",
    "piece X in [Nn] {#(legal X--)==0}",
    "{if ply%2==0 ss=k not legal ss-- check}",
    "{if ply%2==0 ss=[Pp] countmoves legal --ss>3}",
    "{ss=P|p move legal from ss to a-h8}",
    "{ss=Q move legal count from ss}",
    "{tt=\"QN\" --=tt}",
    "{tt=if wtm \"Q\" else \"R\" path --* --=tt}",
    "echo(s t){s[<]t sidetomove==s:sidetomove (light K and s:dark K or dark K and s:light K) #A==s:#A typename K==s:typename K}",
    "echo(s t){s[<]t dx=s:rank K - rank K square all x in [Kk] piecename x==s:piecename up dx x}",
    "{ss=from move previous from ss capture .}",
    "piece X in Q {legal X--(castle) | legal --X}",
    "{if ply%2==0 ss=K #(legal ss--(o-o))==1}",
];

/// Queries in which both the attacker and the target of an attack are variables.
const ATTACKS: &[&str] = &[
    "piece X in A {piece Y in a {X attacks Y Y attacks X}}",
    "piece X in [Nn] {ss=[Qq] ss attackedby X}",
    "{if ply%2==0 {aa=[Pp] bb=[NBnb]} #(aa attacks bb)>1}",
    "{if ply%2==0 {aa=A bb=a} #(bb<-aa)>4}",
    "{if ply%2==0 {aa=[Kk] bb=.} #(aa->bb)+#(bb<-aa)}",
];

/// Queries whose values depend on the evaluation order of a transform's copies (transformed filters). They match at every
/// position.
const COPIES: &[&str] = &[
    "{nn=0 {{flip nn=nn*10+rank a2} or true} nn==11227788}",
    "{nn=0 {{shifthorizontal nn=nn*10+file g2} or true} nn==12345678}",
    "{nn=0 {{flipcolor {{k or true} nn=nn*10+rank b8}} or true} nn==18}",
    "{nn=0 {{flipcolor {{light A or true} nn=nn*10+rank b2}} or true} nn==72}",
    "{nn=0 {{flipcolor {{up 1 A or true} nn=nn*10+rank b2}} or true} nn==72}",
    "{nn=0 {{flipcolor count nn=nn*10+rank b7}>0 or true} nn==27}",
    "{ss=. nn=0 {{flip {a2 nn=nn*10+rank a2 ss=ss&a2}} or true} nn==11227788}",
    // This query's plan has a flat program, because the query has a dictionary.
    "{local dictionary D nn=0 {{flip {nn=nn*10+rank a2 D[\"a\"]=nn}} or true} nn==11227788}",
];

/// Queries that search side lines.
const LINES: &[&str] = &[
    "echo(s t){s<t consecutivemoves(s t)}",
    "echo(s t){mainline s:variation 2<=consecutivemoves(s t)}",
    "echo(s t){s<t nn=1 consecutivemoves quiet 2 9 (s t)+nn}",
    "{pp=initialposition find {qq=currentposition consecutivemoves(pp qq)}}",
    "{pp=currentposition find {qq=currentposition lca(pp qq):initial distance(pp qq)>3}}",
    "{ss=[PNpn] move from ss secondary}",
    "{ss=[PNpn] line --> move from ss secondary --> true* --> check}",
    "{ss=[PNBpnb] line --> move from ss --> move from ss --> not move from ss}",
    "{ss=[PNBpnb] line singlecolor --> move from ss --> move from ss}",
    "{ss=[PNBpnb] line lastposition --> move to (ss|_) primary --> move from ss secondary{1,3}}",
    "{ss=[Pp] move previous from ss secondary}",
];

/// Runs queries on each engine, and returns the queries without hits.
fn compared_all(queries: &[&'static str]) -> Vec<&'static str> {
    Samples::from_blocks(&corpus_blocks("otb.pgn"), 7, 30, 90).without_hits(queries, program_compared)
}

#[test]
fn strings_are_those_of_the_reference_engine() {
    let without = compared_all(STRINGS);
    assert!(without.len() <= 2, "no hits of {without:#?}");
}

#[test]
fn groups_are_those_of_the_reference_engine() {
    let without = compared_all(GROUPS);
    assert!(without.len() <= 2, "no hits of {without:#?}");
}

#[test]
fn dictionaries_are_those_of_the_reference_engine() {
    let without = compared_all(DICTIONARIES);
    assert!(without.len() <= 2, "no hits of {without:#?}");
}

#[table(in_parts)]
fn copies_are_evaluated_in_the_order_of_their_squares() -> Vec<harness::Row> {
    let row = |text: &'static str| {
        harness::Row::new(text, move || {
            let blocks = Samples::from_blocks(&corpus_blocks("otb.pgn"), 7, 2, 2);
            assert_eq!(blocks.without_hits(&[text], compared), [""; 0]);
            let others = format!("not {text}");
            assert_eq!(blocks.without_hits(&[&others], compared), [&others]);
        })
    };
    COPIES.iter().copied().map(row).collect()
}

#[test(part = 2)]
fn moves_are_those_of_the_reference_engine() {
    let mut without = compared_all(MOVES);
    without.extend(compared_all(ATTACKS));
    assert!(without.len() <= 6, "no hits of {without:#?}");
}

#[test(part = 3)]
fn side_lines_are_those_of_the_reference_engine() {
    let blocks = tree_blocks();
    let mut without = Vec::new();
    for text in LINES.iter().chain(MOVES).chain(DICTIONARIES.iter().take(4)) {
        let text = format!("cql(variations) {text}");
        let hits: usize = blocks.iter().map(|block| program_compared(&text, block)).sum();
        if hits == 0 {
            without.push(text);
        }
    }
    assert!(without.len() <= 8, "no hits of {without:#?}");
}

/// Games that need more strings or dictionary entries than a flat program can store are evaluated by the reference engine.
#[test]
fn many_strings_are_left_to_the_reference_engine() {
    use orbit_engine::{BlockRequest, Engine as _, EngineError, PreparedQuery, Wants, settled::SettledHits};
    use orbit_plan::PlanOptions;
    let block = every_nth_game(&corpus_blocks("otb.pgn"), 50, 20_000);
    let text = "{if initial {tt=\"abcdefgh\" nn=0 while(nn<20) {tt+=tt nn+=1} while(nn<28) {uu=tt+str(nn) nn+=1}} check}";
    let prepared =
        PreparedQuery::new(orbit_query::parse(text).unwrap().query, PlanOptions::default()).unwrap();
    assert!(prepared.planner.refusal().is_none());
    let alone = prepared.cpu().unwrap().answer(&block, Wants::HITS).unwrap_err();
    assert_eq!(alone, EngineError::Stopped);
    let settled = SettledHits::new(Box::new(prepared.cpu().unwrap()), prepared.reference().unwrap());
    let request = BlockRequest::all(&[Wants::HITS]);
    let due = prepared.reference().unwrap().scan(&[&block], &request).unwrap();
    assert_eq!(settled.scan(&[&block], &request).unwrap(), due);
}
