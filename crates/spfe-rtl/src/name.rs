//! Device names: `rtl:`, `rtl:?lanes=4`, `rtl:NAME/N`, `rtl:?peer=foreign:STREAM`.

use crate::machine::{Machine, Plan};
use crate::pins::Shape;
use crate::space::Rtl;
use spfe_host::{Error, Result};
use spfe_registers::Registers;
use spfe_topology::ForeignStream;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The form of names, for messages. docs/devices.md explains it.
const FORM: &str = "a simulated core is rtl:[NAME/N][?OPTIONS]; the options are ports, \
     spwports, lanes, vcs, pairs, seed, model and peer=loop, peer=pair, peer=target or \
     peer=foreign:STREAM";
/// Name of the backend, for people.
const BACKEND: &str = "rtl";

#[derive(Clone, Debug, PartialEq)]
enum Peer {
    Loop,
    Pair,
    Target,
    Foreign(ForeignStream),
}

/// A device name, parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// Name of the machine in this process; `None` for a machine of its own.
    machine: Option<String>,
    core: usize,
    shape: Shape,
    peer: Peer,
    model: Option<PathBuf>,
    seed: u32,
}

fn bad(text: &str, what: impl std::fmt::Display) -> Error {
    Error::Name { name: text.to_owned(), what: format!("{what}: {FORM}") }
}

impl Name {
    /// Parses a device name.
    ///
    /// # Errors
    /// [`Error::Name`] with the form of names.
    pub fn parse(text: &str) -> Result<Self> {
        Self::parse_for(text, Shape::default())
    }

    /// Parses a device name; what it does not say about the shape is as in `shape`.
    ///
    /// # Errors
    /// [`Error::Name`] with the form of names.
    pub fn parse_for(text: &str, shape: Shape) -> Result<Self> {
        let rest = text.strip_prefix("rtl:").ok_or_else(|| bad(text, "no name of a core"))?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (machine, core) = match place.split_once('/') {
            None if place.is_empty() => (None, 0),
            None => (Some(place.to_owned()), 0),
            Some(("", _)) => return Err(bad(text, "the name in front of '/' is missing")),
            Some((name, number)) => {
                let number = number
                    .parse()
                    .map_err(|_| bad(text, format!("'{number}' is not a number of a core")))?;
                (Some(name.to_owned()), number)
            }
        };
        let peer = if machine.is_some() { Peer::Pair } else { Peer::Loop };
        let mut name = Self { machine, core, shape, peer, model: None, seed: 1 };
        for option in query.split('&').filter(|option| !option.is_empty()) {
            name.take_option(text, option)?;
        }
        // Up to here `ports` counted the SpaceFibre ports.
        let (fibres, wires) = (name.shape.ports, name.shape.wires);
        name.shape.ports += wires;
        if !(1..=8).contains(&name.shape.ports) {
            return Err(bad(text, format!("{} ports: 1 to 8 allowed", name.shape.ports)));
        }
        let led_away = matches!(name.peer, Peer::Target | Peer::Foreign(_));
        if led_away && fibres == 0 {
            return Err(bad(text, "the far end has words, and port 0 is a SpaceWire port"));
        }
        if name.core != 0 && matches!(name.peer, Peer::Target) {
            return Err(bad(text, "a core that only serves memory has no user"));
        }
        Ok(name)
    }

    fn take_option(&mut self, text: &str, option: &str) -> Result<()> {
        let (key, value) = option
            .split_once('=')
            .ok_or_else(|| bad(text, format!("option '{option}' has no value")))?;
        let within = |least: usize, most: usize| {
            let number = value.parse::<usize>().ok();
            let number = number.filter(|number| (least..=most).contains(number));
            number.ok_or_else(|| bad(text, format!("{key}={value}: {least} to {most} allowed")))
        };
        let number = |most: usize| within(1, most);
        match key {
            "ports" => self.shape.ports = within(0, 8)?,
            "spwports" => self.shape.wires = within(0, 8)?,
            "lanes" => self.shape.lanes = number(16)?,
            "vcs" => self.shape.vcs = number(32)?,
            "pairs" => self.shape.pair = within(0, 1)? == 1,
            "seed" => self.seed = number(0x7fff_ffff)? as u32,
            "model" => self.model = Some(value.into()),
            "peer" => {
                self.peer = match value {
                    "loop" => Peer::Loop,
                    "pair" => Peer::Pair,
                    "target" => Peer::Target,
                    _ => {
                        let stream = value
                            .strip_prefix("foreign:")
                            .ok_or_else(|| bad(text, format!("no peer '{value}'")))?;
                        Peer::Foreign(stream.parse().map_err(|what: String| bad(text, what))?)
                    }
                }
            }
            _ => return Err(bad(text, format!("unknown option '{key}'"))),
        }
        Ok(())
    }

    /// The machine that the name asks for.
    pub fn plan(&self) -> Plan {
        let plan = match &self.peer {
            Peer::Loop => Plan::looped(self.shape),
            Peer::Pair => Plan::pair(self.shape),
            Peer::Target => Plan::target(self.shape),
            Peer::Foreign(stream) => Plan::foreign(self.shape, stream.clone()),
        };
        Plan { model: self.model.clone(), seed: self.seed, ..plan }
    }

    /// The machine of this name in this process; made when it is first asked for.
    ///
    /// # Errors
    /// Those of [`Machine::start`].
    pub fn machine(&self) -> Result<Arc<Machine>> {
        static NAMED: Mutex<Option<HashMap<String, Weak<Machine>>>> = Mutex::new(None);
        let Some(name) = &self.machine else { return Machine::start(self.plan()) };
        let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
        let named = named.get_or_insert_default();
        let known = named.get(name).and_then(Weak::upgrade);
        if let Some(machine) = known.filter(|machine| !machine.is_gone()) {
            return Ok(machine);
        }
        let machine = Machine::start(self.plan())?;
        named.retain(|_, weak| weak.strong_count() > 0);
        named.insert(name.clone(), Arc::downgrade(&machine));
        Ok(machine)
    }
}

/// Opens a device by name.
///
/// # Errors
/// Those of [`Name::parse`], [`Name::machine`], [`Rtl::take`] and [`Registers::open`].
pub fn open(text: &str) -> Result<Registers> {
    let name = Name::parse(text)?;
    let space = Rtl::take(&name.machine()?, name.core)?;
    Registers::open(space, text, BACKEND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed() {
        let name = |text| Name::parse(text).unwrap();
        assert_eq!(name("rtl:"), name("rtl:?peer=loop&lanes=1&vcs=4&ports=2&seed=1"));
        let pair = name("rtl:lab/1?lanes=4&vcs=8");
        assert_eq!((pair.machine.as_deref(), pair.core), (Some("lab"), 1));
        assert_eq!(pair.plan().cores, [pair.shape; 2]);
        let foreign = name("rtl:?peer=foreign:unix:/tmp/a,words=8&model=/x.so").plan();
        assert!(matches!(foreign.far[0][..], [crate::Far::Foreign(_), crate::Far::Open]));
        assert_eq!(foreign.model, Some("/x.so".into()));
        let open =
            |text| name(text).plan().far[0].iter().filter(|far| **far == crate::Far::Open).count();
        assert_eq!((open("rtl:?ports=2&spwports=2"), open("rtl:?ports=1&spwports=1")), (0, 2));
    }

    #[test]
    fn errors_in_names_are_named() {
        for (text, word) in [
            ("rtl:?lanes=0", "1 to 16"),
            ("rtl:?lanes=x", "1 to 16"),
            ("rtl:?ports=9", "0 to 8"),
            ("rtl:?ports=0", "0 ports: 1 to 8"),
            ("rtl:?ports=5&spwports=4", "9 ports"),
            ("rtl:?vcs=33", "1 to 32"),
            ("rtl:?pairs=2", "0 to 1"),
            ("rtl:?ports=0&spwports=2&peer=target", "SpaceWire port"),
            ("rtl:lab/1?peer=target", "no user"),
            ("rtl:?peer=echo", "peer=loop"),
            ("rtl:?peer=foreign:x", "foreign end"),
            ("rtl:?colour=1", "unknown option 'colour'"),
            ("rtl:?lanes", "has no value"),
            ("rtl:/1", "missing"),
            ("rtl:lab/x", "number of a core"),
            ("virtual:", "no name of a core"),
        ] {
            let error = Name::parse(text).unwrap_err().to_string();
            assert!(error.contains(word) && error.contains(FORM), "{text}: {error}");
        }
    }
}
