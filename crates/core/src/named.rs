//! Choices among a few things that have names, such as engines: one table of each for the command line, JSON, Python and
//! messages.

use std::fmt;

use crate::diagnostic::nearest;

/// The most names that a message lists where one of them comes near.
const LISTED_MAX: usize = 12;

/// A choice among a few things that have names. The macro `choices` implements it.
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
    /// A remedy: the name that was probably meant, where there are many, or else one of all.
    pub fn remedy(&self) -> String {
        if let Some(near) = nearest(&self.name, self.known.iter()).filter(|_| self.known.len() > LISTED_MAX) {
            return format!("did you mean `{near}`?");
        }
        let quoted: Vec<String> = self.known.iter().map(|name| format!("`{name}`")).collect();
        match &quoted[..] {
            [first @ .., last] if !first.is_empty() => format!("choose {} or {last}", first.join(", ")),
            all => format!("choose {}", all.concat()),
        }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no {}: {}", self.name, self.kind, self.remedy())
    }
}

impl std::error::Error for UnknownName {}

/// Gives a type its table, from which its text and its JSON are read and written.
#[macro_export]
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

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str($crate::named::Named::name(*self))
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let name = String::deserialize(from)?;
                $crate::named::Named::named(&name).map_err(serde::de::Error::custom)
            }
        }
    };
}

pub use choices;
