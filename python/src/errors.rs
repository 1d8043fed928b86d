//! Converts library errors to Python exceptions.

use orbit_chess::{Database, DatabaseError, QueryError, RequestError};
use pyo3::prelude::*;

/// Creates an exception of the given class in `orbit_chess._errors`.
fn exception(class: &str, message: String, attributes: &[(&str, Py<PyAny>)]) -> PyErr {
    Python::attach(|py| {
        let made = || -> PyResult<PyErr> {
            let module = py.import("orbit_chess._errors")?;
            let value = module.getattr(class)?.call1((message,))?;
            attributes.iter().try_for_each(|(name, attribute)| value.setattr(*name, attribute))?;
            Ok(PyErr::from_value(value))
        };
        made().unwrap_or_else(|error| error)
    })
}

/// Warns about the files that searches could not read completely, each once.
pub fn warn(py: Python<'_>, database: &Database) -> PyResult<()> {
    for failure in database.take_failures() {
        let category = py.import("orbit_chess._errors")?.getattr("ReadWarning")?;
        py.import("warnings")?.call_method1("warn", (failure, category))?;
    }
    Ok(())
}

/// Creates the error for an invalid option.
pub fn of_option(error: impl std::fmt::Display) -> PyErr {
    exception("OptionError", error.to_string(), &[])
}

/// Creates the error for options that cannot be combined.
pub fn of_request(error: RequestError) -> PyErr {
    // `as` is a keyword of Python.
    let name = |field: &str| if field == "as" { "side".to_owned() } else { field.replacen(' ', "=", 1) };
    of_option(error.said(|field| format!("`{}`", name(field))))
}

/// Creates the error for an invalid query, with its message and the query text in which the place of the error is marked.
pub fn of_query(error: &QueryError) -> PyErr {
    let diagnostic = error.diagnostic();
    let (line, column) = diagnostic.place(error.text());
    Python::attach(|py| {
        let attributes = || -> PyResult<Vec<(&str, Py<PyAny>)>> {
            let any = |value: Bound<'_, PyAny>| value.unbind();
            Ok(vec![
                ("query", any(error.text().into_pyobject(py)?.into_any())),
                ("message", any(diagnostic.message.as_str().into_pyobject(py)?.into_any())),
                ("line", any(line.into_pyobject(py)?.into_any())),
                ("column", any(column.into_pyobject(py)?.into_any())),
                ("label", any(diagnostic.label.as_str().into_pyobject(py)?.into_any())),
                ("help", any(diagnostic.help.as_deref().into_pyobject(py)?.into_any())),
            ])
        };
        match attributes() {
            Ok(attributes) => exception("QueryError", error.to_string().trim_end().to_owned(), &attributes),
            Err(error) => error,
        }
    })
}

/// Creates the error for a database that cannot be opened or a request that fails.
pub fn of_database(error: DatabaseError) -> PyErr {
    let class = match &error {
        DatabaseError::Query(error) => return of_query(error),
        DatabaseError::Request(error) => return of_request(error.clone()),
        DatabaseError::Database(_)
        | DatabaseError::Changed { .. }
        | DatabaseError::Moved { .. }
        | DatabaseError::NoBlocks { .. }
        | DatabaseError::TooLarge { .. } => "DatabaseError",
        DatabaseError::Groupings(_)
        | DatabaseError::NoVariations
        | DatabaseError::NoAnnotations
        | DatabaseError::NoQuery => "OptionError",
        DatabaseError::Output(_) | DatabaseError::Clash(_) | DatabaseError::Write(_) => "OutputError",
        _ => "OrbitError",
    };
    exception(class, error.to_string(), &[])
}
