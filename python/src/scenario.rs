//! Simulations of scenarios, word for word, in virtual time.

use crate::error::{fault, raise};
use crate::record;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use spfe::Status;
use spfe_report::diagram::Diagram;
use spfe_report::simulation;
use spfe_sim::link::NoObserver;
use spfe_sim::results::fingerprint;
use spfe_sim::scenario::Time;
use spfe_sim::simulation::Simulation;
use std::path::PathBuf;

/// Steps of a run, between which signals are handled.
const PIECES: u64 = 500;

/// A network, its traffic and its faults (docs/scenarios.md).
///
/// >>> import spfe
/// >>> scenario = spfe.Scenario('''
/// ... title = "A cable"
/// ... duration = "100us"
/// ... node = [{ name = "a" }, { name = "b" }]
/// ... link = [{ name = "cable", ends = ["a", "b"] }]
/// ... flow = [{ name = "data", from = "a", to = "b", size = 256, start = "20us" }]
/// ... ''')
/// >>> results = scenario.run(seed=3)
/// >>> results.flows[0].name, results.conservation.kept
/// ('data', True)
#[pyclass(frozen, module = "spfe")]
pub struct Scenario {
    scenario: spfe_sim::scenario::Scenario,
    text: String,
}

fn refuse(what: impl ToString) -> PyErr {
    fault(Status::BadField, format!("scenario: {}", what.to_string()))
}

impl Scenario {
    pub fn scenario(&self) -> &spfe_sim::scenario::Scenario {
        &self.scenario
    }

    fn parse(text: String) -> PyResult<Self> {
        let scenario = spfe_sim::scenario::Scenario::parse(&text).map_err(refuse)?;
        Ok(Self { scenario, text })
    }
}

#[pymethods]
impl Scenario {
    /// Reads the text of a scenario.
    #[new]
    fn new(text: String) -> PyResult<Self> {
        Self::parse(text)
    }

    /// Reads the file of a scenario.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        let text = std::fs::read_to_string(&path)
            .map_err(|error| raise(spfe::Error::io(format!("'{}'", path.display()), error)))?;
        Self::parse(text)
    }

    /// Its title.
    #[getter]
    fn title(&self) -> &str {
        &self.scenario.title
    }

    /// Seed of all random numbers.
    #[getter]
    fn seed(&self) -> u64 {
        self.scenario.seed
    }

    /// Simulated time in seconds.
    #[getter]
    fn duration(&self) -> f64 {
        self.scenario.duration.0 as f64 * 1e-12
    }

    /// Simulates the network word for word and returns what was measured. The same scenario with the
    /// same seed gives the same results on every machine. `duration` is written as in the file: "1ms".
    #[pyo3(signature = (*, seed=None, duration=None))]
    fn run(&self, py: Python<'_>, seed: Option<u64>, duration: Option<&str>) -> PyResult<Results> {
        let mut scenario = self.scenario.clone();
        scenario.seed = seed.unwrap_or(scenario.seed);
        if let Some(text) = duration {
            scenario.duration = text
                .parse::<Time>()
                .map_err(|error| fault(Status::BadField, format!("duration '{text}': {error}")))?;
        }
        scenario.check().map_err(refuse)?;
        let mut simulation = py.detach(|| Simulation::new(&scenario)).map_err(refuse)?;
        let end = u128::from(scenario.duration.0);
        for piece in 1..=PIECES {
            let until = (end * u128::from(piece) / u128::from(PIECES)) as u64;
            py.detach(|| simulation.run(until, &mut NoObserver));
            py.check_signals()?;
        }
        let mut results = py.detach(|| simulation.results());
        results.scenario = fingerprint(&self.text);
        let diagram = Diagram::of(&scenario);
        Ok(Results { results, diagram, parsed: PyOnceLock::new() })
    }

    fn __repr__(&self) -> String {
        format!("Scenario({:?})", self.scenario.title)
    }
}

/// What a simulation measured: the keys of docs/scenarios.md as attributes.
///
/// Times are in ps, sizes in bytes, rates in bit/s.
#[pyclass(frozen, module = "spfe")]
pub struct Results {
    results: spfe_sim::results::Results,
    diagram: Diagram,
    parsed: PyOnceLock<Py<PyAny>>,
}

#[pymethods]
impl Results {
    /// The results as JSON text.
    fn json(&self) -> PyResult<String> {
        record::json(self.results.to_json())
    }

    /// The results as tables for people.
    fn table(&self) -> String {
        simulation::text(&self.results)
    }

    /// The results as a web page with plots.
    fn html(&self, py: Python<'_>) -> String {
        py.detach(|| simulation::html(&self.results, &self.diagram))
    }

    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let parse = || PyResult::Ok(record::parse(py, &self.json()?)?.unbind());
        self.parsed.get_or_try_init(py, parse)?.bind(py).getattr(name)
    }

    fn __repr__(&self) -> String {
        let kept = if self.results.conservation.kept {
            "all packets accounted for"
        } else {
            "packets lost"
        };
        format!("Results({:?}, {kept})", self.results.title)
    }
}
