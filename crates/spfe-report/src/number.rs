//! Numbers in JSON that may not be finite.

use serde::{Deserialize, Deserializer};

/// Reads a number. `null` stands for a number that was not finite when it was written.
pub(crate) fn number<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::NAN))
}
