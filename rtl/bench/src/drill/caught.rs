//! A panic of the core's model (an assertion of the core, a broken rule at a pin) as an error.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// What `act` returns, or what it panicked with. What `act` works on has to be restarted then.
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
    fn values_and_panics() {
        assert_eq!(caught(|| 3), Ok(3));
        assert_eq!(caught(|| panic!("it {}", 7)), Err::<(), _>("it 7".into()));
        assert_eq!(caught(|| panic!("plain")), Err::<(), _>("plain".into()));
    }
}
