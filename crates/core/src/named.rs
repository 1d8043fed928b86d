//! Enums with named values, such as the engines. The command line, JSON, Python and messages all use one table of these names.

use std::fmt;

use crate::diagnostic::nearest;

/// The maximum number of names that a message lists. If there are more, and one of them resembles the unknown name, the message
/// shows only that name.
const LISTED_MAX: usize = 12;

/// An enum whose values have names. The macro `choices` implements this trait.
pub trait Named: Copy + PartialEq + 'static {
    /// The noun for a value, such as `engine`, in messages.
    const KIND: &'static str;
    /// One row for each value: the value, its name, and a sentence about it for the help. The sentence has no full stop. It is
    /// empty if the name is self-explanatory.
    const TABLE: &'static [(Self, &'static str, &'static str)];

    /// Returns the name of this value.
    ///
    /// # Panics
    ///
    /// Panics if the value has no row in the table.
    fn name(self) -> &'static str {
        let row = Self::TABLE.iter().find(|row| row.0 == self);
        row.expect("the table has every choice").1
    }

    /// Returns the value with this name.
    ///
    /// # Errors
    ///
    /// Fails if no value has this name. The error contains all names.
    fn named(name: &str) -> Result<Self, UnknownName> {
        let row = Self::TABLE.iter().find(|row| row.1 == name);
        row.map(|row| row.0).ok_or_else(|| UnknownName {
            name: name.to_owned(),
            kind: Self::KIND,
            known: Self::TABLE.iter().map(|row| row.1).collect(),
        })
    }
}

/// The error for a name that no value of a [`Named`] enum has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownName {
    name: String,
    kind: &'static str,
    known: Vec<&'static str>,
}

impl UnknownName {
    /// Returns a suggestion for the user. If there are more than 12 names and one of them resembles the unknown name, suggests that
    /// name, and otherwise lists all names.
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

/// Implements [`Named`] for a type from a table of values, names and help texts. Also implements `FromStr`, `Display` and serde's
/// traits, which parse and print these names.
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
