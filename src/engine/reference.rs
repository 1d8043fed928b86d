//! The slow and obvious engine: the typed tree evaluated copy by copy.
