//! `spfe`: the library on the command line.

mod error;

fn main() {}
