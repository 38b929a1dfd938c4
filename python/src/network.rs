//! Networks in this process.

use crate::endpoint::Endpoint;
use crate::error::{fault, raise};
use crate::held::Held;
use crate::record;
use crate::scenario::Scenario;
use pyo3::prelude::*;
use spfe::{Embedded, Mode, Status};
use std::sync::Arc;

/// A network in this process that runs a scenario, with applications in its nodes of kind "endpoint".
///
/// With `virtual_time` its clock stands still while the program runs, and jumps while it waits.
#[pyclass(frozen, module = "spfe")]
pub struct Network {
    network: Held<Arc<Embedded>>,
}

/// An endpoint or a fault, by name or number.
#[derive(FromPyObject)]
enum Which {
    Number(u32),
    Name(String),
}

impl Network {
    pub fn of(network: Arc<Embedded>) -> Self {
        Self { network: Held::new(network) }
    }

    fn network(&self) -> PyResult<&Arc<Embedded>> {
        self.network.check("network")?;
        Ok(&self.network)
    }
}

#[pymethods]
impl Network {
    #[new]
    #[pyo3(signature = (scenario, *, virtual_time=false))]
    fn new(py: Python<'_>, scenario: &Scenario, virtual_time: bool) -> PyResult<Self> {
        let make = || Embedded::of_scenario(scenario.scenario(), Mode::Inline, virtual_time);
        Ok(Self::of(py.detach(make).map_err(raise)?))
    }

    /// Names of the endpoints, in the order of the scenario.
    #[getter]
    fn names(&self) -> PyResult<Vec<String>> {
        Ok(self.network()?.network().names().to_vec())
    }

    /// Opens an endpoint by its name or number.
    fn open(&self, endpoint: Which) -> PyResult<Endpoint> {
        let network = self.network()?;
        let number = match endpoint {
            Which::Number(number) => number,
            Which::Name(name) => {
                let names = network.network().names();
                let found = names.iter().position(|other| *other == name);
                let number = found.and_then(|index| u32::try_from(index).ok());
                number.ok_or_else(|| {
                    let what = format!("endpoint '{name}': there are {}", names.join(", "));
                    fault(Status::NotFound, what)
                })?
            }
        };
        let name = format!("network endpoint {number}");
        Ok(Endpoint::of(spfe::Endpoint::attach(network, number, &name).map_err(raise)?))
    }

    /// Gives a fault to the exact links: the keys of a `[[fault]]` of a scenario (docs/scenarios.md),
    /// by name. Times count from now; without one it happens at once. Returns its number.
    #[pyo3(signature = (what, **keys))]
    fn add_fault(
        &self,
        what: &str,
        keys: Option<&Bound<'_, pyo3::types::PyDict>>,
    ) -> PyResult<u32> {
        let mut text = format!("what = {}\n", serde_json::json!(what));
        for (key, value) in keys.into_iter().flatten() {
            let key = key.extract::<String>()?.replace('_', "-");
            text += &format!("{key} = {}\n", toml_value(&value)?);
        }
        self.network()?.add_fault(&text).map_err(raise)
    }

    /// Ends faults: one by its number, those of a link, flow or node, or all. Returns how many.
    #[pyo3(signature = (which=None))]
    fn end_faults(&self, which: Option<Which>) -> PyResult<usize> {
        let which = match which {
            None => String::new(),
            Some(Which::Number(number)) => number.to_string(),
            Some(Which::Name(name)) => name,
        };
        self.network()?.end_faults(&which).map_err(raise)
    }

    /// The faults that wait, repeat or last.
    fn faults<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let faults = self.network()?.faults();
        record::of(py, &record::json(serde_json::to_value(faults))?)
    }
}

/// A value as TOML, whose strings and numbers are written as in JSON.
fn toml_value(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = value.extract::<String>() {
        return Ok(serde_json::json!(text).to_string());
    }
    if let Ok(number) = value.extract::<i64>() {
        return Ok(number.to_string());
    }
    if let Ok(number) = value.extract::<f64>() {
        return Ok(format!("{number:e}"));
    }
    let what = format!("value {value} of a fault: a text or a number");
    Err(fault(Status::BadField, what))
}
