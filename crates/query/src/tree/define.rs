//! A macro that defines types of operations. It also generates the code that visits and rewrites their operands.

/// Defines enums of operations, or structs with operands, and implements `Operand` for them.
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
            @variants $name [P: Form, F: $crate::tree::Operand<P>] [P, F] [Q, F::Out<Q>] visit by [] []
            $($body)*
        }
    };
    ($(#[$attr:meta])* pub struct $name:ident<P: Form> { $($(#[$doc:meta])* pub $field:ident: $ty:ty,)+ }) => {
        $(#[$attr])*
        pub struct $name<P: Form> { $($(#[$doc])* pub $field: $ty,)+ }

        impl<P: Form> $crate::tree::Operand<P> for $name<P> {
            type Out<Q: Form> = $name<Q>;

            fn each_filter<'a>(&'a self, visit: &mut dyn FnMut($crate::tree::Ref<'a, P>)) {
                $($crate::tree::Operand::<P>::each_filter(&self.$field, visit);)+
            }

            fn remade<Q: Form, R: $crate::tree::Rewrite<P, Q>>(
                &self,
                by: &mut R,
            ) -> Result<$name<Q>, R::Stop> {
                Ok($name { $($field: $crate::tree::Operand::<P>::remade::<Q, R>(&self.$field, by)?,)+ })
            }
        }
    };

    // The macro collects the arms of two `match` expressions, variant by variant. One `match` visits the operands, the other
    // rewrites them.
    (@variants $name:ident [$($g:tt)*] [$($here:tt)*] [$($there:tt)*] $visit:ident $by:ident
        [$($v:tt)*] [$($r:tt)*]) => {
        impl<$($g)*> $crate::tree::Operand<P> for $name<$($here)*> {
            type Out<Q: Form> = $name<$($there)*>;

            fn each_filter<'a>(&'a self, $visit: &mut dyn FnMut($crate::tree::Ref<'a, P>)) {
                match self { $($v)* }
            }

            fn remade<Q: Form, R: $crate::tree::Rewrite<P, Q>>(
                &self,
                $by: &mut R,
            ) -> Result<Self::Out<Q>, R::Stop> {
                Ok(match self { $($r)* })
            }
        }
    };
    // The variant `Form` contains filters that exist only in one form of the tree. Methods of `Rewrite` have already rewritten it
    // at this point.
    (@variants $name:ident $g:tt $here:tt $there:tt $visit:ident $by:ident [$($v:tt)*] [$($r:tt)*]
        $(#[$doc:meta])* Form($ty:ty), $($rest:tt)*) => {
        operands! { @variants $name $g $here $there $visit $by
            [$($v)* $name::Form(part) => $crate::tree::Extension::each_child(part, $visit),]
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
                $($crate::tree::Operand::<P>::each_filter($field, $visit);)+
            }]
            [$($r)* $name::$variant { $($field),+ } => $name::$variant {
                $($field: $crate::tree::Operand::<P>::remade::<Q, R>($field, $by)?),+
            },]
            $($rest)*
        }
    };
    (@variants $name:ident $g:tt $here:tt $there:tt $visit:ident $by:ident [$($v:tt)*] [$($r:tt)*]
        $(#[$doc:meta])* $variant:ident($a:ty), $($rest:tt)*) => {
        operands! { @variants $name $g $here $there $visit $by
            [$($v)* $name::$variant(a) => $crate::tree::Operand::<P>::each_filter(a, $visit),]
            [$($r)* $name::$variant(a) =>
                $name::$variant($crate::tree::Operand::<P>::remade::<Q, R>(a, $by)?),]
            $($rest)*
        }
    };
    (@variants $name:ident $g:tt $here:tt $there:tt $visit:ident $by:ident [$($v:tt)*] [$($r:tt)*]
        $(#[$doc:meta])* $variant:ident($a:ty, $b:ty), $($rest:tt)*) => {
        operands! { @variants $name $g $here $there $visit $by
            [$($v)* $name::$variant(a, b) => {
                $crate::tree::Operand::<P>::each_filter(a, $visit);
                $crate::tree::Operand::<P>::each_filter(b, $visit);
            }]
            [$($r)* $name::$variant(a, b) => $name::$variant(
                $crate::tree::Operand::<P>::remade::<Q, R>(a, $by)?,
                $crate::tree::Operand::<P>::remade::<Q, R>(b, $by)?,
            ),]
            $($rest)*
        }
    };
    (@variants $name:ident $g:tt $here:tt $there:tt $visit:ident $by:ident [$($v:tt)*] [$($r:tt)*]
        $(#[$doc:meta])* $variant:ident($a:ty, $b:ty, $c:ty), $($rest:tt)*) => {
        operands! { @variants $name $g $here $there $visit $by
            [$($v)* $name::$variant(a, b, c) => {
                $crate::tree::Operand::<P>::each_filter(a, $visit);
                $crate::tree::Operand::<P>::each_filter(b, $visit);
                $crate::tree::Operand::<P>::each_filter(c, $visit);
            }]
            [$($r)* $name::$variant(a, b, c) => $name::$variant(
                $crate::tree::Operand::<P>::remade::<Q, R>(a, $by)?,
                $crate::tree::Operand::<P>::remade::<Q, R>(b, $by)?,
                $crate::tree::Operand::<P>::remade::<Q, R>(c, $by)?,
            ),]
            $($rest)*
        }
    };
}
