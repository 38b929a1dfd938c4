//! Whether a scenario makes sense.

use super::{Scenario, ScenarioError};

/// Checks all of it.
pub(super) fn check(_scenario: &Scenario, _text: &str) -> Result<(), ScenarioError> {
    Ok(())
}
