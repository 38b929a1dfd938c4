//! The lane layer (50-11C 5.5).

mod harness;
mod line;
mod states;
