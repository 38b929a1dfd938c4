//! Measurements of the TCP core, and the report of them.
fn main() {}
