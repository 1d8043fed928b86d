//! The reel: all positions of a database as one long strip of slots.
