//! Lowers string filters to the graph.
//!
//! The graph contains no strings. A string filter becomes a list of strings, each of which is constant throughout a game, with the
//! mask of positions at which the string is the value of the filter. The masks do not overlap. At positions in none of the masks,
//! the filter has no value.

use super::{
    columns::{TagColumn, TagText, TextTest},
    dag::{Id, Op},
    lower::{Lower, MaskedTexts},
};
use orbit_core::board::PieceSet;
use orbit_query::tree::{Control, GameText, Kind as _, Spelt, TextOp, VarId, contents_where};
use orbit_transforms::Expanded;

impl Lower {
    /// Returns the strings that can be the value of a filter, each with its mask.
    pub(super) fn text(&mut self, f: &orbit_transforms::Text) -> MaskedTexts {
        let always = self.dag.mask(true);
        match f.op() {
            TextOp::Literal(text) => vec![(always, TagText::Literal(text.clone()))],
            TextOp::Tag(name) => vec![(always, TagText::Tag(name.clone()))],
            TextOp::Player(color) => vec![(always, TagText::Player(*color))],
            TextOp::ContentName { contents, spelt, of } => self.content_names(*contents, *spelt, of),
            TextOp::Compare(cmp, a, b) => {
                let [a, b] = self.compared_texts(a, b);
                let holds = |lower: &mut Lower, one: &(Id, TagText)| {
                    lower.text_pairs(&vec![one.clone()], &b, false, |a, b| TextTest::Compare(*cmp, a, b))
                };
                a.iter().map(|one| (holds(self, one), one.1.clone())).collect()
            }
            TextOp::Control(Control::Var(var)) => self.cells.text(*var).cloned().unwrap_or_default(),
            TextOp::Control(Control::If { condition, then, other }) => {
                let (mask, then, other) =
                    self.branches(condition.node(), |lower| lower.text(then), |lower| lower.text(other));
                let unless = self.not(mask);
                let mut texts = self.where_also(mask, then);
                texts.extend(self.where_also(unless, other));
                texts
            }
            TextOp::Control(Control::Braces { first, last }) => {
                let (all, texts) = self.braces(first, |lower| lower.text(last));
                self.where_also(all, texts)
            }
            TextOp::Game(GameText::Sort { of, .. }) => self.text(of),
            TextOp::Game(_) => unreachable!("the planner has refused the query"),
            TextOp::Form(never) => match *never {},
        }
    }

    /// Lowers two string filters that are compared. If a literal is compared with a player name, the literal is normalized like the
    /// name.
    pub(super) fn compared_texts(
        &mut self,
        a: &orbit_transforms::Text,
        b: &orbit_transforms::Text,
    ) -> [MaskedTexts; 2] {
        let names = [a, b].into_iter().any(is_name);
        [a, b].map(|f| {
            let is_spelt = names && is_literal(f);
            let spelt = |(ok, text)| match text {
                TagText::Literal(text) if is_spelt => (ok, TagText::Name(text)),
                text => (ok, text),
            };
            self.text(f).into_iter().map(spelt).collect()
        })
    }

    /// Returns the mask of positions at which a set consists of one square whose content is in `contents`.
    pub(super) fn content_is(&mut self, contents: PieceSet, set: Id) -> Id {
        let single = self.dag.add(Op::Single(set));
        let squares = self.dag.pieces(contents);
        let inside = self.and(set, squares);
        let inside = self.dag.add(Op::NonEmpty(inside));
        self.and(single, inside)
    }

    /// Returns the letter for each possible content of the only square in a set. Contents outside of `contents` have none.
    fn content_names(
        &mut self,
        contents: PieceSet,
        spelt: Spelt,
        of: &orbit_transforms::Squares,
    ) -> MaskedTexts {
        let set = self.squares(of);
        let named = "_KQRBNPkqrbnp".chars().filter_map(|letter| {
            let such = contents_where(|code| contents.contains(code) && spelt.letter(code) == letter);
            let text = || TagText::Literal(letter.into());
            (such != PieceSet::NONE).then(|| (self.content_is(such, set), text()))
        });
        named.collect()
    }

    fn where_also(&mut self, mask: Id, texts: MaskedTexts) -> MaskedTexts {
        texts.into_iter().map(|(ok, text)| (self.and(mask, ok), text)).collect()
    }

    /// Returns the strings that a variable can hold after a string is assigned to it, and the mask of positions at which the
    /// assigned string has a value.
    pub(super) fn assigned_text(&mut self, var: VarId, f: &orbit_transforms::Text) -> (MaskedTexts, Id) {
        let mut texts: MaskedTexts = Vec::new();
        for (ok, text) in self.text(f) {
            let has_value = self.text_test(TextTest::HasValue(text.clone()));
            texts.push((self.and(ok, has_value), text));
        }
        let masks = texts.iter().map(|(ok, _)| *ok).collect();
        let ok = self.dag.any_of(masks);
        if let Some(old) = self.cells.text(var).cloned() {
            let taken = self.and(self.guard, ok);
            let kept = self.not(taken);
            texts = self.where_also(taken, texts);
            texts.extend(self.where_also(kept, old));
        }
        (texts, ok)
    }

    /// Returns the mask of positions at which a string has a value.
    pub(super) fn text_truth(&mut self, f: &orbit_transforms::Text) -> Id {
        let texts = self.text(f).into_iter().map(|(guard, text)| {
            let hit = self.text_test(TextTest::HasValue(text));
            self.and(guard, hit)
        });
        let texts = texts.collect();
        self.dag.any_of(texts)
    }

    /// Returns the mask of positions at which two strings pass a test. The values of the strings may differ from position to
    /// position. Where one of the strings has no value, the mask is `otherwise`.
    pub(super) fn text_pairs(
        &mut self,
        a: &MaskedTexts,
        b: &MaskedTexts,
        otherwise: bool,
        test: impl Fn(TagText, TagText) -> TextTest,
    ) -> Id {
        let mut out = None;
        for (a_ok, a) in a {
            for (b_ok, b) in b {
                let guard = self.and(*a_ok, *b_ok);
                let hit = self.text_test(test(a.clone(), b.clone()));
                let hit = if otherwise {
                    let no_value = self.not(guard);
                    self.or(no_value, hit)
                } else {
                    self.and(guard, hit)
                };
                out = Some(match out {
                    None => hit,
                    Some(other) if otherwise => self.and(other, hit),
                    Some(other) => self.or(other, hit),
                });
            }
        }
        out.unwrap_or_else(|| self.dag.mask(otherwise))
    }

    fn text_test(&mut self, test: TextTest) -> Id {
        match &test {
            TextTest::HasValue(TagText::Literal(_)) => return self.dag.mask(true),
            TextTest::Compare(cmp, TagText::Literal(a), TagText::Literal(b)) => {
                return self.dag.mask(cmp.holds(a.cmp(b)));
            }
            _ => {}
        }
        let column = self.column(TagColumn::Text(test));
        self.dag.add(Op::GameMask(column))
    }
}

/// Returns true if a string is the name of a player. For braces, checks the last filter.
pub(super) fn is_name(text: &orbit_transforms::Text) -> bool {
    match last_op(text) {
        TextOp::Player(_) => true,
        TextOp::Tag(name) => name == "White" || name == "Black",
        _ => false,
    }
}

/// Returns true if a string is a literal. For braces, checks the last filter.
pub(super) fn is_literal(text: &orbit_transforms::Text) -> bool {
    matches!(last_op(text), TextOp::Literal(_))
}

fn last_op(text: &orbit_transforms::Text) -> &TextOp<Expanded> {
    match text.op() {
        TextOp::Control(Control::Braces { last, .. }) => last_op(last),
        op => op,
    }
}
