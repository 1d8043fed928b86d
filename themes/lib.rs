//! The catalogue of themes (queries that have names).

#![no_std]

/// The files of the catalogue, with names. The first one includes the others.
pub const FILES: &[(&str, &str)] = &[
    ("catalogue.toml", include_str!("catalogue.toml")),
    ("pawns.toml", include_str!("pawns.toml")),
    ("pieces.toml", include_str!("pieces.toml")),
    ("tactics.toml", include_str!("tactics.toml")),
    ("mates.toml", include_str!("mates.toml")),
    ("endings.toml", include_str!("endings.toml")),
    ("material.toml", include_str!("material.toml")),
    ("symmetry.toml", include_str!("symmetry.toml")),
];
