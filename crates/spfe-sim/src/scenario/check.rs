//! Checks of a scenario.

mod faults;
mod links;
mod rdma;
mod traffic;
mod units;

use super::error::line_of;
use super::route::RouteFinder;
use super::{PortName, Problem, Scenario, ScenarioError, ScenarioFault, Time, UnitId};
use crate::time::{MS, Ps};
use std::collections::HashSet;
use std::fmt::Display;
use std::ops::RangeInclusive;
use toml::de::{DeTable, DeValue};

/// Longest simulated time: 1000 s.
const LONGEST_PS: Ps = 1_000_000 * MS;
/// Maximum number of time steps of the results.
const MOST_STEPS: u64 = 10_000;
/// Maximum number of tables of one kind.
const MOST: usize = 4096;

/// Checks a scenario and finds all errors. `text` is its file, for line numbers, or empty.
pub(super) fn check(scenario: &Scenario, text: &str) -> Result<(), ScenarioError> {
    let document = DeTable::parse(text).ok().map(toml::Spanned::into_inner);
    let routes = RouteFinder::new(scenario);
    let mut checker = ScenarioChecker { scenario, text, document, routes, problems: Vec::new() };
    checker.whole();
    checker.units();
    checker.links();
    checker.traffic();
    checker.faults();
    if checker.problems.is_empty() {
        return Ok(());
    }
    checker.problems.sort_by_key(|problem| problem.line);
    Err(ScenarioError { problems: checker.problems })
}

/// Checks a fault for a running network. The error has all that is wrong with it.
pub(super) fn check_fault(scenario: &Scenario, fault: &ScenarioFault) -> Result<(), String> {
    let (routes, problems) = (RouteFinder::new(scenario), Vec::new());
    let mut checker = ScenarioChecker { scenario, text: "", document: None, routes, problems };
    checker.fault(Location::list("fault", 0), fault);
    if checker.problems.is_empty() {
        return Ok(());
    }
    let problems: Vec<_> = checker.problems.into_iter().map(|problem| problem.message).collect();
    Err(problems.join("; "))
}

/// A place in the file: the table ("link"), its index in a list of tables, and a key in it.
#[derive(Clone, Copy)]
struct Location {
    table: &'static str,
    index: Option<usize>,
    key: &'static str,
}

impl Location {
    /// A table in a list of tables.
    const fn list(table: &'static str, index: usize) -> Self {
        Self { table, index: Some(index), key: "" }
    }

    /// A single table or a key at the top level.
    const fn one(table: &'static str) -> Self {
        Self { table, index: None, key: "" }
    }

    /// A key of this table.
    const fn key(self, key: &'static str) -> Self {
        Self { key, ..self }
    }
}

struct ScenarioChecker<'a> {
    scenario: &'a Scenario,
    text: &'a str,
    document: Option<DeTable<'a>>,
    routes: RouteFinder<'a>,
    problems: Vec<Problem>,
}

impl ScenarioChecker<'_> {
    /// Adds an error.
    fn problem(&mut self, at: Location, message: String) {
        let line = self.byte(at).map(|byte| line_of(self.text, byte));
        self.problems.push(Problem { line, message });
    }

    /// Offset of the key in the file, or of its table if the key does not exist.
    fn byte(&self, at: Location) -> Option<usize> {
        let (key, value) = self.document.as_ref()?.get_key_value(at.table)?;
        let mut byte = key.span().start;
        let mut value = value;
        if let (Some(index), DeValue::Array(list)) = (at.index, value.get_ref()) {
            value = list.get(index)?;
            byte = value.span().start;
        }
        // The key may be in a subtable such as "spacefibre".
        let mut tables = vec![value.get_ref().as_table()];
        while let Some(Some(table)) = tables.pop() {
            if let Some((key, _)) = table.get_key_value(at.key) {
                return Some(key.span().start);
            }
            tables.extend(table.values().map(|value| value.get_ref().as_table()));
        }
        Some(byte)
    }

    /// Checks that a number is within limits.
    fn range<T: PartialOrd + Display>(
        &mut self,
        at: Location,
        object: &str,
        value: T,
        range: RangeInclusive<T>,
    ) {
        if !range.contains(&value) {
            let (least, most) = (range.start(), range.end());
            let message =
                format!("{object}: {} {value} is not in {least} to {most}", words(at.key));
            self.problem(at, message);
        }
    }

    /// Checks that a time is within limits.
    fn time(&mut self, at: Location, object: &str, time: Time, range: RangeInclusive<Ps>) {
        let (least, most) = (Time(*range.start()), Time(*range.end()));
        self.range(at, object, time, least..=most);
    }

    /// Checks a repetition interval: 1 ns to 1000 s.
    fn interval(&mut self, at: Location, object: &str, time: Time) {
        self.time(at, object, time, 1_000..=LONGEST_PS);
    }

    /// Checks that a start lies before a stop.
    fn window(&mut self, at: Location, object: &str, start: Time, stop: Option<Time>) {
        if let Some(stop) = stop.filter(|stop| *stop <= start) {
            let message =
                format!("{object}: ends at {stop}, which is not after its start at {start}");
            self.problem(at, message);
        }
    }

    /// Checks names: 1 to 40 letters, digits and "-_.", each used once.
    fn names<'n>(&mut self, names: impl IntoIterator<Item = (Location, &'static str, &'n str)>) {
        let mut seen = HashSet::new();
        for (at, what, name) in names {
            let at = at.key("name");
            let good = |c: char| c.is_alphanumeric() || "-_.".contains(c);
            if name.is_empty() || name.chars().count() > 40 || !name.chars().all(good) {
                let message =
                    format!("{what} '{name}': a name has 1 to 40 letters, digits, '-', '_' or '.'");
                self.problem(at, message);
            }
            if !seen.insert(name) {
                let message = format!("{what} '{name}': the name is taken; give another");
                self.problem(at, message);
            }
        }
    }

    /// Checks that there are at most [`MOST`] tables of a kind.
    fn amount(&mut self, table: &'static str, amount: usize) {
        if amount > MOST {
            let message = format!("{amount} tables [[{table}]]; at most {MOST} are possible");
            self.problem(Location::one(table), message);
        }
    }

    /// Checks that a port belongs to a node and has a link. Returns the link's virtual channels.
    fn port(&mut self, at: Location, object: &str, place: &PortName) -> Option<u8> {
        let scenario = self.scenario;
        match scenario.unit(&place.unit) {
            Some(UnitId::Node(_)) => {}
            Some(UnitId::Router(_)) => {
                let message = format!("{object}: '{}' is a router; name a node", place.unit);
                self.problem(at, message);
                return None;
            }
            None => {
                self.unknown(
                    at,
                    object,
                    "node",
                    &place.unit,
                    scenario.nodes.iter().map(|n| &n.name),
                );
                return None;
            }
        }
        let link = scenario.link_at(place).and_then(|(link, _)| scenario.links.get(link));
        if link.is_none() {
            let message = format!("{object}: no link has the port {place}; connect it");
            self.problem(at, message);
        }
        link.map(super::ScenarioLink::channels)
    }

    /// Checks that a port has a virtual channel.
    fn channel(&mut self, at: Location, object: &str, place: &PortName, vc: u8) {
        if let Some(channels) = self.port(at, object, place)
            && vc >= channels
        {
            let message = format!(
                "{object}: virtual channel {vc} does not exist: the link at {place} has {channels}"
            );
            self.problem(at.key("vc"), message);
        }
    }

    /// Adds an error about an unknown name, with a list of known ones.
    fn unknown<'n>(
        &mut self,
        at: Location,
        object: &str,
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'n String>,
    ) {
        let known: Vec<&str> = known.take(8).map(String::as_str).collect();
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        let message = format!("{object}: no {what} '{name}'; there are: {known}");
        self.problem(at, message);
    }

    /// Checks the keys at the top level and the capture.
    fn whole(&mut self) {
        let scenario = self.scenario;
        if scenario.title.trim().is_empty() {
            self.problem(
                Location::one("title"),
                "title is empty; say what the scenario shows".into(),
            );
        }
        let (duration, most) = (scenario.duration, Time(LONGEST_PS));
        if duration.0 == 0 || duration > most {
            let message = format!("duration {duration} is not above 0 and at most {most}");
            self.problem(Location::one("duration"), message);
        }
        if let Some(step) = scenario.step
            && (step.0 == 0 || duration.0.div_ceil(step.0) > MOST_STEPS)
        {
            let message = format!(
                "step {step} divides {duration} into more than {MOST_STEPS} steps; make it longer"
            );
            self.problem(Location::one("step"), message);
        }
        if let Some(quantum) = scenario.quantum
            && !(1..=MS).contains(&quantum.0)
        {
            self.problem(
                Location::one("quantum"),
                format!("quantum {quantum} is not in 1 ps to 1 ms"),
            );
        }
        if scenario.events > 1_000_000 {
            let message = format!("events {} are above 1000000", scenario.events);
            self.problem(Location::one("events"), message);
        }
        if scenario.links.is_empty() {
            self.problem(
                Location::one("link"),
                "there is no link; give at least one [[link]]".into(),
            );
        }
        for name in scenario.capture.links.iter().chain(&scenario.capture.words) {
            if scenario.link(name).is_none() {
                let known = scenario.links.iter().map(|link| &link.name);
                self.unknown(Location::one("capture"), "capture", "link", name, known);
            }
        }
    }
}

/// A key as it reads in a sentence.
fn words(key: &str) -> String {
    key.replace('-', " ")
}
