//! The operands of operations: visited and rewritten by code that is made of the definitions of the operations.

use shakmaty::{Bitboard, Color};

use super::game::{MoveOf, MoveValue, Order, Sibling};
use super::{
    Arith, Chain, Cmp, Counted, DictionaryId, Dirs, Echo, Form, GameResult, OneOrMore, PawnKind, Pieces,
    PinPart, PureKind, Ref, Rewrite, SortId, Special, Spelt, VarId,
};
use crate::board::PieceSet;

/// A part of an operation: a filter, some of them, or something that holds none.
pub trait Operand<P: Form> {
    /// The same in another form of the tree.
    type Out<Q: Form>;

    /// Calls `visit` on the filters, in order, but on none below them.
    fn each_filter<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>));

    /// The same with all filters rewritten, in order.
    ///
    /// # Errors
    ///
    /// The first that ends the rewriting.
    fn remade<Q: Form, R: Rewrite<P, Q>>(&self, by: &mut R) -> Result<Self::Out<Q>, R::Stop>;
}

/// Defines operations, or structs of their operands, and makes operands of them.
macro_rules! operands {
    ($(#[$attr:meta])* pub enum $name:ident<P: Form> { $($body:tt)* }) => {
        $(#[$attr])*
        pub enum $name<P: Form> { $($body)* }
        operands! { @variants $name [P: Form] [P] [Q] visit by [] [] $($body)* }
    };
    ($(#[$attr:meta])* pub enum $name:ident<P: Form, F> { $($body:tt)* }) => {
        $(#[$attr])*
        pub enum $name<P: Form, F> { $($body)* }
        operands! {
            @variants $name [P: Form, F: $crate::query::tree::Operand<P>] [P, F] [Q, F::Out<Q>] visit by [] []
            $($body)*
        }
    };
    ($(#[$attr:meta])* pub struct $name:ident<P: Form> { $($(#[$doc:meta])* pub $field:ident: $ty:ty,)+ }) => {
        $(#[$attr])*
        pub struct $name<P: Form> { $($(#[$doc])* pub $field: $ty,)+ }

        impl<P: Form> $crate::query::tree::Operand<P> for $name<P> {
            type Out<Q: Form> = $name<Q>;

            fn each_filter<'a>(&'a self, visit: &mut dyn FnMut($crate::query::tree::Ref<'a, P>)) {
                $($crate::query::tree::Operand::<P>::each_filter(&self.$field, visit);)+
            }

            fn remade<Q: Form, R: $crate::query::tree::Rewrite<P, Q>>(
                &self,
                by: &mut R,
            ) -> Result<$name<Q>, R::Stop> {
                Ok($name { $($field: $crate::query::tree::Operand::<P>::remade::<Q, R>(&self.$field, by)?,)+ })
            }
        }
    };

    // The arms of two matches are gathered, variant by variant.
    (@variants $name:ident [$($g:tt)*] [$($here:tt)*] [$($there:tt)*] $visit:ident $by:ident
        [$($v:tt)*] [$($r:tt)*]) => {
        impl<$($g)*> $crate::query::tree::Operand<P> for $name<$($here)*> {
            type Out<Q: Form> = $name<$($there)*>;

            fn each_filter<'a>(&'a self, $visit: &mut dyn FnMut($crate::query::tree::Ref<'a, P>)) {
                match self { $($v)* }
            }

            fn remade<Q: Form, R: $crate::query::tree::Rewrite<P, Q>>(
                &self,
                $by: &mut R,
            ) -> Result<Self::Out<Q>, R::Stop> {
                Ok(match self { $($r)* })
            }
        }
    };
    // What one form alone has is rewritten by the rewriting itself.
    (@variants $name:ident $g:tt $here:tt $there:tt $visit:ident $by:ident [$($v:tt)*] [$($r:tt)*]
        $(#[$doc:meta])* Form($ty:ty), $($rest:tt)*) => {
        operands! { @variants $name $g $here $there $visit $by
            [$($v)* $name::Form(part) => $crate::query::tree::Extension::each_child(part, $visit),]
            [$($r)* $name::Form(_) => unreachable!("it was rewritten before"),]
            $($rest)*
        }
    };
    (@variants $name:ident $g:tt $here:tt $there:tt $visit:ident $by:ident [$($v:tt)*] [$($r:tt)*]
        $(#[$doc:meta])* $variant:ident, $($rest:tt)*) => {
        operands! { @variants $name $g $here $there $visit $by
            [$($v)* $name::$variant => {}]
            [$($r)* $name::$variant => $name::$variant,]
            $($rest)*
        }
    };
    (@variants $name:ident $g:tt $here:tt $there:tt $visit:ident $by:ident [$($v:tt)*] [$($r:tt)*]
        $(#[$doc:meta])* $variant:ident { $($(#[$field_doc:meta])* $field:ident: $ty:ty),+ $(,)? }, $($rest:tt)*) => {
        operands! { @variants $name $g $here $there $visit $by
            [$($v)* $name::$variant { $($field),+ } => {
                $($crate::query::tree::Operand::<P>::each_filter($field, $visit);)+
            }]
            [$($r)* $name::$variant { $($field),+ } => $name::$variant {
                $($field: $crate::query::tree::Operand::<P>::remade::<Q, R>($field, $by)?),+
            },]
            $($rest)*
        }
    };
    (@variants $name:ident $g:tt $here:tt $there:tt $visit:ident $by:ident [$($v:tt)*] [$($r:tt)*]
        $(#[$doc:meta])* $variant:ident($a:ty), $($rest:tt)*) => {
        operands! { @variants $name $g $here $there $visit $by
            [$($v)* $name::$variant(a) => $crate::query::tree::Operand::<P>::each_filter(a, $visit),]
            [$($r)* $name::$variant(a) =>
                $name::$variant($crate::query::tree::Operand::<P>::remade::<Q, R>(a, $by)?),]
            $($rest)*
        }
    };
    (@variants $name:ident $g:tt $here:tt $there:tt $visit:ident $by:ident [$($v:tt)*] [$($r:tt)*]
        $(#[$doc:meta])* $variant:ident($a:ty, $b:ty), $($rest:tt)*) => {
        operands! { @variants $name $g $here $there $visit $by
            [$($v)* $name::$variant(a, b) => {
                $crate::query::tree::Operand::<P>::each_filter(a, $visit);
                $crate::query::tree::Operand::<P>::each_filter(b, $visit);
            }]
            [$($r)* $name::$variant(a, b) => $name::$variant(
                $crate::query::tree::Operand::<P>::remade::<Q, R>(a, $by)?,
                $crate::query::tree::Operand::<P>::remade::<Q, R>(b, $by)?,
            ),]
            $($rest)*
        }
    };
    (@variants $name:ident $g:tt $here:tt $there:tt $visit:ident $by:ident [$($v:tt)*] [$($r:tt)*]
        $(#[$doc:meta])* $variant:ident($a:ty, $b:ty, $c:ty), $($rest:tt)*) => {
        operands! { @variants $name $g $here $there $visit $by
            [$($v)* $name::$variant(a, b, c) => {
                $crate::query::tree::Operand::<P>::each_filter(a, $visit);
                $crate::query::tree::Operand::<P>::each_filter(b, $visit);
                $crate::query::tree::Operand::<P>::each_filter(c, $visit);
            }]
            [$($r)* $name::$variant(a, b, c) => $name::$variant(
                $crate::query::tree::Operand::<P>::remade::<Q, R>(a, $by)?,
                $crate::query::tree::Operand::<P>::remade::<Q, R>(b, $by)?,
                $crate::query::tree::Operand::<P>::remade::<Q, R>(c, $by)?,
            ),]
            $($rest)*
        }
    };
}

pub(super) use operands;

/// Things that hold no filters.
macro_rules! leaves {
    ($($ty:ty),+) => {$(
        impl<P: Form> Operand<P> for $ty {
            type Out<Q: Form> = $ty;

            fn each_filter<'a>(&'a self, _: &mut dyn FnMut(Ref<'a, P>)) {}

            fn remade<Q: Form, R: Rewrite<P, Q>>(&self, _: &mut R) -> Result<$ty, R::Stop> {
                Ok(self.clone())
            }
        }
    )+};
}

leaves! {
    bool, u8, i8, u32, i32, String, Bitboard, Color, PieceSet, VarId, DictionaryId, SortId, Arith, Cmp, Counted, Dirs,
    GameResult, MoveOf, MoveValue, Order, PawnKind, Pieces, PinPart, PureKind, Sibling, Special, Spelt
}

impl<P: Form, T: Operand<P>> Operand<P> for Option<T> {
    type Out<Q: Form> = Option<T::Out<Q>>;

    fn each_filter<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        self.iter().for_each(|of| of.each_filter(visit));
    }

    fn remade<Q: Form, R: Rewrite<P, Q>>(&self, by: &mut R) -> Result<Self::Out<Q>, R::Stop> {
        self.as_ref().map(|of| of.remade(by)).transpose()
    }
}

impl<P: Form, T: Operand<P>> Operand<P> for Vec<T> {
    type Out<Q: Form> = Vec<T::Out<Q>>;

    fn each_filter<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        self.iter().for_each(|of| of.each_filter(visit));
    }

    fn remade<Q: Form, R: Rewrite<P, Q>>(&self, by: &mut R) -> Result<Self::Out<Q>, R::Stop> {
        self.iter().map(|of| of.remade(by)).collect()
    }
}

impl<P: Form, T: Operand<P>> Operand<P> for [T; 2] {
    type Out<Q: Form> = [T::Out<Q>; 2];

    fn each_filter<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        self.iter().for_each(|of| of.each_filter(visit));
    }

    fn remade<Q: Form, R: Rewrite<P, Q>>(&self, by: &mut R) -> Result<Self::Out<Q>, R::Stop> {
        Ok([self[0].remade(by)?, self[1].remade(by)?])
    }
}

impl<P: Form, T: Operand<P>> Operand<P> for OneOrMore<T> {
    type Out<Q: Form> = OneOrMore<T::Out<Q>>;

    fn each_filter<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        self.iter().for_each(|of| of.each_filter(visit));
    }

    fn remade<Q: Form, R: Rewrite<P, Q>>(&self, by: &mut R) -> Result<Self::Out<Q>, R::Stop> {
        self.try_map(|of| of.remade(by))
    }
}

impl<P: Form, T: Operand<P>> Operand<P> for Chain<T> {
    type Out<Q: Form> = Chain<T::Out<Q>>;

    fn each_filter<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        self.each(&mut |of| of.each_filter(visit));
    }

    fn remade<Q: Form, R: Rewrite<P, Q>>(&self, by: &mut R) -> Result<Self::Out<Q>, R::Stop> {
        self.try_map(&mut |of| of.remade(by))
    }
}

impl<P: Form, F: Operand<P>> Operand<P> for Echo<F> {
    type Out<Q: Form> = Echo<F::Out<Q>>;

    fn each_filter<'a>(&'a self, visit: &mut dyn FnMut(Ref<'a, P>)) {
        self.body.each_filter(visit);
    }

    fn remade<Q: Form, R: Rewrite<P, Q>>(&self, by: &mut R) -> Result<Self::Out<Q>, R::Stop> {
        let Echo { source, target, in_all, quiet, ref body } = *self;
        Ok(Echo { source, target, in_all, quiet, body: body.remade(by)? })
    }
}
