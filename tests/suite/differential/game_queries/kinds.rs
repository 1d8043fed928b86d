//! Generates queries that are evaluated in a special way: queries that sort, that read or assign variables at other positions,
//! that nest loops, or that write comments.

use super::{GameQueries, new};
use crate::differential::term::{Term, Ty};

/// A group of generated queries. Each group has templates, and every query of the group is made from one of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Queries with `sort`.
    Sort,
    /// Queries in which a variable is assigned at one position and read at another.
    Elsewhere,
    /// Queries with nested loops over squares or pieces.
    Nested,
    /// Queries that write comments, messages or tags.
    Comment,
}

impl Kind {
    /// Returns the templates for queries of this group. `%N`, `%B` and `%S` stand for a number, a condition and a set, and `$1`
    /// to `$3` for variables.
    const fn templates(self) -> &'static [&'static str] {
        match self {
            Kind::Sort => &[
                "{%B sort \"k\" %N}",
                "{sort min \"k\" %N %B}",
                "{%B sort \"a\" %N sort min \"b\" ply}",
                "{%B or sort \"k\" %N}",
                "flipcolor {%S sort \"k\" %N}",
                "{if %B sort \"k\" ply else sort \"l\" %N}",
                "piece $1 in %S sort \"k\" #($1 attacks .)",
                "{%B sort \"k\" {comment(\"best \" %N) %N}}",
                "{$1=%N %B sort \"k\" $1}",
                "sort \"k\" {$1=0 loop {$1<%N $1+=2} $1}",
                "line --> {%B sort \"k\" %N} --> %B",
                "(sort \"k\" %N) >= 3",
                "{%B sort \"k\" path -- {%B} -- }",
                "{%B sort \"k\" player white}",
            ],
            Kind::Elsewhere => &[
                "{$1=%N find {$1<%N %B}}",
                "{$1=%N child:{$1<=%N} %B}",
                "{$1=%S find <-- {#($1 & %S)>0}}",
                "{parent:{$1=%N true} $1<=%N}",
                "{find {%B $1=currentposition} $1:%S}",
                "{$1=0 find all {%B $1+=1} $1}",
                "{$1=%S --($1 & to)}",
                "{$1=%S $2=ply find {ply>$2+2 $1 attacks %S}}",
                "{$1=ply path -- -- {ply>$1+1 %B}}",
                "{line --> {$1=%N %B} --> {$1<=%N}}",
                "{if initial $1=%N child:{$1+=%N} $1%5}",
                "{if initial {$1=[]} find {%B $1|=to} #$1}",
                "{$1=%N (find %B):{$2=$1 $2+=%N} $2}",
                "{initialposition:{piece $1 in %S true}} or {$2=%S find {$2 & A}}",
                "{$1=%S find {$2=(%S & $1) $2 find <-- {#$2<#$1}}}",
                "{$1=%N find {$1=%N %B} $1}",
            ],
            Kind::Nested => &[
                "square $1 in %S {square $2 in %S {pin from $1 through $2}}",
                "square $1 in %S {square $2 in [Aa] {pin from $2 through $1 to %S}}",
                "square $1 in %S {square $2 in [QRBqrb] {pin from $2 through . to $1 square $3 in %S {$3!=$2 pin to $1 from $3}}}",
                "#(square $1 in %S {square $2 in %S {$1 attacks $2 %B}})",
                "square all $1 in %S {square $2 in %S {#(between($1 $2))<%N}}",
                "square $1 in %S {square $2 in %S {ray($1 _ $2) %B}}",
                "square $1 in %S {square $2 in [Aa] {$1->%S->$2}}",
                "square $1 in %S {%B square $2 in %S {$1!=$2 #(up 1 $1 & $2)==0}}",
                "piece $1 in %S {square $2 in %S {pin through $1 to $2}}",
                "piece $1 in %S {piece $2 in %S {$1 attacks $2 %B}}",
                "piece $1 in %S {square all $2 in %S {find {$1 & $2}}}",
                "square $1 in %S {$2=(%S & ~$1) square $3 in $2 {#(pin from $3 through $1)>=0 xray($1 $3 _)}}",
                "{$1=0 square all $2 in %S {square all $3 in %S {$1+=#($2|$3) true}} $1}",
                "#(square $1 in (pin from %S) {square $2 in (pin through %S) {file $1==file $2 %B}})",
            ],
            Kind::Comment => &[
                "{%B comment(\"a \" %N)}",
                "({%B comment(\"a \" %N)} or comment(\"b \" %S))",
                "find {%B comment(ply)}",
                "line --> {%B comment(\"l \" %N)} --> %B",
                "square $1 in %S {comment($1) %B}",
                "flipcolor {%S comment(currenttransform \" \" %S)}",
                "{%B message(ply)}",
                "{%B settag(\"T\" str(%N))}",
                "{%B removecomment}",
                "{$1=%N %B comment($1)}",
                "path -- {%B comment(\"p \" %S)} --",
                "{if initial $1=0 if %B $1+=1 comment($1) %B}",
                "piece $1 in %S {find {%B comment($1)}}",
                "{%B find all {%B comment(\"f\")}}",
            ],
        }
    }
}

impl GameQueries<'_> {
    /// Returns a query of a kind.
    pub fn of_kind(&mut self, kind: Kind, variations: bool) -> Term {
        let template = *self.rng.pick(kind.templates());
        let names = [(); 3].map(|()| self.name("kk"));
        let mut text = String::from(if variations { "cql(variations) " } else { "" });
        let mut subs = Vec::new();
        let mut rest = template.chars();
        while let Some(c) = rest.next() {
            let next = if matches!(c, '%' | '$') { rest.clone().next() } else { None };
            let depth = self.rng.below(2);
            match (c, next) {
                ('$', Some(digit @ '1'..='3')) => text += &names[digit as usize - '1' as usize],
                ('%', Some('N')) => subs.push(self.num(depth).into_condition()),
                ('%', Some('B')) => subs.push(self.bool(depth)),
                ('%', Some('S')) => subs.push(self.set(depth)),
                _ => {
                    text.push(c);
                    continue;
                }
            }
            rest.next();
            if c == '%' {
                text.push('@');
            }
        }
        new(Ty::Bool, text, subs)
    }
}
