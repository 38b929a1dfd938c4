//! Standard output and standard error of a command.
//!
//! The macros of the standard library panic if a write fails, for example on a full disk. These have
//! the same names: a failed write to standard output ends the command in good order, like a signal,
//! and [`failure`] has the reason. Standard error is best effort.

use crate::error::Failure;
use crate::signal;
use std::fmt::Arguments;
use std::io::{self, Write};
use std::sync::OnceLock;

/// The first error of standard output.
static BROKEN: OnceLock<io::Error> = OnceLock::new();

macro_rules! print {
    ($($what:tt)*) => { $crate::console::write(format_args!($($what)*)) };
}
macro_rules! println {
    () => { $crate::console::write(format_args!("\n")) };
    ($($what:tt)*) => { $crate::console::write(format_args!("{}\n", format_args!($($what)*))) };
}
macro_rules! eprintln {
    ($($what:tt)*) => { $crate::console::remark(format_args!($($what)*)) };
}

/// Writes to standard output. After an error, output is dropped and the command is asked to end.
pub fn write(what: Arguments<'_>) {
    if BROKEN.get().is_some() {
        return;
    }
    let mut out = io::stdout().lock();
    if let Err(error) = out.write_fmt(what).and_then(|()| out.flush()) {
        let _ = BROKEN.set(error);
        signal::request_end();
    }
}

/// Writes a line to standard error.
pub fn remark(what: Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{what}");
}

/// The failure of standard output, if there was one.
pub fn failure() -> Option<Failure> {
    BROKEN.get().map(|error| Failure::io("standard output", error))
}

/// Whether standard output is a pipe whose reader has gone, about which nobody wants to hear.
pub fn is_closed() -> bool {
    BROKEN.get().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
