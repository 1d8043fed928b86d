//! Reads the fields of a JSON object. Unlike the messages of `serde_json`, those of this module name the field with an invalid
//! value, and suggest a known name for an unknown field.

use std::fmt;

use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer as _, MapAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value, map};

use super::RequestError;
use orbit_core::diagnostic::nearest;

/// Deserializes a struct from the fields of an object. `others` are the names of further fields that the object may have; the
/// caller has already removed them.
///
/// # Errors
///
/// Fails if a field is unknown or missing, or has an invalid value.
pub fn read_fields<T: DeserializeOwned>(
    fields: Map<String, Value>,
    others: &[&'static str],
) -> Result<T, RequestError> {
    T::deserialize(FieldsReader { fields, others })
}

/// Removes a field and returns its value, or `None` if the field is missing.
///
/// # Errors
///
/// Fails if the value is invalid.
pub(crate) fn take_field<T: DeserializeOwned>(
    fields: &mut Map<String, Value>,
    name: &'static str,
) -> Result<Option<T>, RequestError> {
    fields.remove(name).map(|value| T::deserialize(value).map_err(|error| wrong(name, error))).transpose()
}

fn wrong(name: &str, why: impl fmt::Display) -> RequestError {
    RequestError::about(format!("{{{name}}}"), why)
}

fn unknown(name: &str, known: &[&'static str]) -> RequestError {
    let hint = match nearest(name, known.iter()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None if known.is_empty() => String::new(),
        None => format!(": the fields are `{}`", known.join("`, `")),
    };
    de::Error::custom(format!("there is no field `{name}`{hint}"))
}

impl de::Error for RequestError {
    fn custom<T: fmt::Display>(why: T) -> RequestError {
        RequestError { sentence: String::new(), detail: why.to_string() }
    }
}

struct FieldsReader<'a> {
    fields: Map<String, Value>,
    others: &'a [&'static str],
}

impl<'de> Deserializer<'de> for FieldsReader<'_> {
    type Error = RequestError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RequestError> {
        visitor.visit_map(FieldsLeft { rest: self.fields.into_iter(), value: None })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, RequestError> {
        let known = [names, self.others].concat();
        match self.fields.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(unknown(name, &known)),
            None => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The fields that have not been read yet, and the name of the field that was read last.
struct FieldsLeft {
    rest: map::IntoIter,
    value: Option<(String, Value)>,
}

impl<'de> MapAccess<'de> for FieldsLeft {
    type Error = RequestError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, RequestError> {
        self.value = self.rest.next();
        let name = self.value.as_ref().map(|(name, _)| name.as_str().into_deserializer());
        name.map(|name| seed.deserialize::<de::value::StrDeserializer<'_, RequestError>>(name)).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, RequestError> {
        let (name, value) = self.value.take().expect("a name comes before its value");
        seed.deserialize(value).map_err(|error| wrong(&name, error))
    }
}
