//! Choices among a few things that have names, such as engines: one table of each for the command line, JSON, Python and
//! messages.

use std::fmt;

/// A choice among a few things that have names. [`choices!`](crate::named::choices) implements it.
pub trait Named: Copy + PartialEq + 'static {
    /// The kind of thing that is chosen, as in "no engine".
    const KIND: &'static str;
    /// Each thing, its name, and a sentence about it for help, without the full stop; empty where the name says enough.
    const TABLE: &'static [(Self, &'static str, &'static str)];

    /// The name of this choice.
    ///
    /// # Panics
    ///
    /// If the table lacks it.
    fn name(self) -> &'static str {
        let row = Self::TABLE.iter().find(|row| row.0 == self);
        row.expect("the table has every choice").1
    }

    /// The choice of a name.
    ///
    /// # Errors
    ///
    /// No choice has this name; the error lists those that there are.
    fn named(name: &str) -> Result<Self, UnknownName> {
        let row = Self::TABLE.iter().find(|row| row.1 == name);
        row.map(|row| row.0).ok_or_else(|| UnknownName {
            name: name.to_owned(),
            kind: Self::KIND,
            known: Self::TABLE.iter().map(|row| row.1).collect(),
        })
    }
}

/// A name that no choice has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownName {
    name: String,
    kind: &'static str,
    known: Vec<&'static str>,
}

impl UnknownName {
    /// The names that there are, as a list that ends with "or".
    fn list(&self) -> String {
        let quoted: Vec<String> = self.known.iter().map(|name| format!("`{name}`")).collect();
        match &quoted[..] {
            [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
            all => all.concat(),
        }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no {}: choose {}", self.name, self.kind, self.list())
    }
}

impl std::error::Error for UnknownName {}

/// Gives a type its table, from which its text and its JSON are read and written.
macro_rules! choices {
    ($type:ty, $kind:literal, $($value:expr => $name:literal, $help:literal;)+) => {
        impl $crate::named::Named for $type {
            const KIND: &'static str = $kind;
            const TABLE: &'static [(Self, &'static str, &'static str)] = &[$(($value, $name, $help)),+];
        }

        impl std::str::FromStr for $type {
            type Err = $crate::named::UnknownName;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                $crate::named::Named::named(name)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($crate::named::Named::name(*self))
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let name = String::deserialize(from)?;
                let known: &'static [&'static str] = &[$($name),+];
                $crate::named::Named::named(&name).map_err(|_| serde::de::Error::unknown_variant(&name, known))
            }
        }
    };
}

pub(crate) use choices;
