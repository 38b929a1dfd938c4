//! Turns a panic of the core's model into an error. The model panics if an assertion of the core
//! fails or the core violates the protocol of an interface.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls `act` and returns its result. After a panic, the endpoint that `act` uses must be
/// restarted.
///
/// # Errors
/// The text of the panic.
pub fn caught<T>(act: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(act)).map_err(|panic| {
        panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).into()))
            .unwrap_or_else(|| "a panic without text".into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_panics_are_returned() {
        assert_eq!(caught(|| 3), Ok(3));
        assert_eq!(caught(|| panic!("it {}", 7)), Err::<(), _>("it 7".into()));
        assert_eq!(caught(|| panic!("plain")), Err::<(), _>("plain".into()));
    }
}
