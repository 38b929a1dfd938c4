//! Faults of a scenario, and their times.

use super::port::{Directions, PortName};
use super::units::{Probability, Time};
use crate::fault::{EndCommand, FOREVER, FaultKind, FaultTarget};
use crate::link::Side;
use crate::time::Ps;
use serde::Deserialize;

/// Time of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultTiming {
    /// Once.
    At(Time),
    /// Repeatedly, from `from` on.
    Every {
        /// Time between two occurrences.
        period: Time,
        /// The interval is exponentially distributed with mean `period`.
        random: bool,
        /// First occurrence; with `random`, the start of the first interval.
        from: Time,
        /// End of the repetition.
        until: Option<Time>,
        /// Maximum number of occurrences.
        count: Option<u64>,
    },
    /// During a span of time.
    During {
        /// Its start.
        from: Time,
        /// Its end; `None` for the end of the simulation.
        until: Option<Time>,
    },
}

/// Effect of a fault.
#[derive(Clone, Debug, PartialEq)]
pub enum FaultAction {
    /// Changes words on the wires of a link.
    Words {
        /// Name of the link.
        link: String,
        /// Directions that it affects.
        direction: Directions,
        /// The lane; `None` for all lanes.
        lane: Option<u8>,
        /// Words that it can hit.
        target: FaultTarget,
        /// Its effect on the word.
        kind: FaultKind,
    },
    /// Inverts bits at random during a span of time.
    BitErrorRate {
        /// Name of the link.
        link: String,
        /// Directions that it affects.
        direction: Directions,
        /// The lane; `None` for all lanes.
        lane: Option<u8>,
        /// Probability that a bit is inverted.
        rate: f64,
    },
    /// A node or router resets its end of a link.
    Command {
        /// Name of the link.
        link: String,
        /// The end.
        end: Side,
        /// The command.
        command: EndCommand,
    },
    /// A traffic stream sends as fast as it can during a span of time.
    Babble {
        /// Name of the stream.
        flow: String,
    },
    /// An application's port sends packets as fast as it can. Only on a running network.
    BabblePort {
        /// The port.
        node: PortName,
        /// The virtual channel.
        vc: u8,
    },
    /// The packet that an application's port is sending, or its next one, ends with EEP. Only on a
    /// running network.
    Eep {
        /// The port.
        node: PortName,
        /// The virtual channel.
        vc: u8,
    },
    /// A node reads nothing during a span of time.
    Block {
        /// The node's port.
        node: PortName,
        /// The virtual channel; `None` for all.
        vc: Option<u8>,
    },
    /// A time-code master sends no time-codes during a span of time.
    TimeCodeLoss {
        /// The master.
        node: PortName,
    },
}

/// One fault of a scenario.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "WrittenFault")]
pub struct ScenarioFault {
    /// Its name. Without one in the file: its kind and place.
    pub name: String,
    /// Its effect.
    pub what: FaultAction,
    /// Its time.
    pub when: FaultTiming,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FaultName {
    BitErrors,
    BitError,
    Burst,
    Drop,
    Duplicate,
    Reorder,
    Cut,
    Stuck,
    PolaritySwap,
    Skew,
    Delay,
    LinkReset,
    InterfaceReset,
    LaneReset,
    Babble,
    Eep,
    BlockedReceiver,
    TimeCodeLoss,
}

impl FaultName {
    const fn text(self) -> &'static str {
        match self {
            Self::BitErrors => "bit-errors",
            Self::BitError => "bit-error",
            Self::Burst => "burst",
            Self::Drop => "drop",
            Self::Duplicate => "duplicate",
            Self::Reorder => "reorder",
            Self::Cut => "cut",
            Self::PolaritySwap => "polarity-swap",
            Self::Skew => "skew",
            Self::Stuck => "stuck",
            Self::Delay => "delay",
            Self::Eep => "eep",
            Self::LinkReset => "link-reset",
            Self::InterfaceReset => "interface-reset",
            Self::LaneReset => "lane-reset",
            Self::Babble => "babble",
            Self::BlockedReceiver => "blocked-receiver",
            Self::TimeCodeLoss => "time-code-loss",
        }
    }

    /// Whether this fault lasts for a span of time.
    const fn lasts(self) -> bool {
        matches!(self, Self::BitErrors | Self::Babble | Self::BlockedReceiver | Self::TimeCodeLoss)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WrittenEnd {
    A,
    B,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct WrittenFault {
    name: Option<String>,
    what: FaultName,
    link: Option<String>,
    direction: Option<Directions>,
    lane: Option<u8>,
    word: Option<FaultTarget>,
    bits: Option<i32>,
    rate: Option<Probability>,
    duration: Option<Time>,
    level: Option<u8>,
    end: Option<WrittenEnd>,
    flow: Option<String>,
    node: Option<PortName>,
    vc: Option<u8>,
    at: Option<Time>,
    every: Option<Time>,
    random: Option<Time>,
    from: Option<Time>,
    until: Option<Time>,
    count: Option<u64>,
}

/// Unwraps a key that this fault requires.
fn need<T>(what: FaultName, key: &str, value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| format!("fault \"{}\" has no {key}; give one", what.text()))
}

impl WrittenFault {
    /// Refuses keys that this fault does not have.
    fn nothing_left(&self) -> Result<(), String> {
        let left = [
            ("link", self.link.is_some()),
            ("direction", self.direction.is_some()),
            ("lane", self.lane.is_some()),
            ("word", self.word.is_some()),
            ("bits", self.bits.is_some()),
            ("rate", self.rate.is_some()),
            ("duration", self.duration.is_some()),
            ("level", self.level.is_some()),
            ("end", self.end.is_some()),
            ("flow", self.flow.is_some()),
            ("node", self.node.is_some()),
            ("vc", self.vc.is_some()),
            ("at", self.at.is_some()),
            ("every", self.every.is_some()),
            ("random", self.random.is_some()),
            ("from", self.from.is_some()),
            ("until", self.until.is_some()),
            ("count", self.count.is_some()),
        ];
        match left.iter().find(|(_, is_left)| *is_left) {
            Some((key, _)) => {
                Err(format!("fault \"{}\" has no use for {key}; leave it out", self.what.text()))
            }
            None => Ok(()),
        }
    }

    fn words(&mut self, kind: FaultKind) -> Result<FaultAction, String> {
        Ok(FaultAction::Words {
            link: need(self.what, "link", self.link.take())?,
            direction: self.direction.take().unwrap_or_default(),
            lane: self.lane.take(),
            target: self.word.take().unwrap_or(FaultTarget::Any),
            kind,
        })
    }

    /// A fault of the wire itself, which waits for no word.
    fn wire(&mut self, kind: FaultKind) -> Result<FaultAction, String> {
        match self.word {
            Some(_) => Err(format!(
                "fault \"{}\" affects the wire and has no use for word; leave it out",
                self.what.text()
            )),
            None => self.words(kind),
        }
    }

    fn command(&mut self, command: EndCommand) -> Result<FaultAction, String> {
        let end = match need(self.what, "end (\"a\" or \"b\")", self.end.take())? {
            WrittenEnd::A => Side::A,
            WrittenEnd::B => Side::B,
        };
        Ok(FaultAction::Command { link: need(self.what, "link", self.link.take())?, end, command })
    }

    fn what(&mut self) -> Result<FaultAction, String> {
        let what = self.what;
        match what {
            FaultName::BitErrors => Ok(FaultAction::BitErrorRate {
                link: need(what, "link", self.link.take())?,
                direction: self.direction.take().unwrap_or_default(),
                lane: self.lane.take(),
                rate: need(what, "rate", self.rate.take())?.0,
            }),
            FaultName::BitError => self.words(FaultKind::BitError),
            FaultName::Burst => {
                let bits = need(what, "bits", self.bits.take())?;
                let bits = u32::try_from(bits)
                    .map_err(|_| format!("fault \"burst\": bits {bits} is below 1"))?;
                self.words(FaultKind::Burst { bits })
            }
            FaultName::Drop => self.words(FaultKind::Drop),
            FaultName::Duplicate => self.words(FaultKind::Duplicate),
            FaultName::Reorder => self.words(FaultKind::Reorder),
            FaultName::Cut => {
                let duration_ps = need(what, "duration", self.duration.take())?.0;
                self.wire(FaultKind::Cut { duration_ps })
            }
            FaultName::Stuck => {
                let duration_ps = need(what, "duration", self.duration.take())?.0;
                let high = match self.level.take().unwrap_or(0) {
                    0 => false,
                    1 => true,
                    other => return Err(format!("fault \"stuck\": level {other} is not 0 or 1")),
                };
                self.wire(FaultKind::Stuck { high, duration_ps })
            }
            FaultName::Delay => {
                let delay = need(what, "duration", self.duration.take())?.0;
                let delay_ps = i64::try_from(delay)
                    .map_err(|_| format!("fault \"delay\": {delay} ps are too long"))?;
                self.wire(FaultKind::Delay { delay_ps })
            }
            FaultName::PolaritySwap => self.wire(FaultKind::PolaritySwap),
            FaultName::Skew => {
                let bits = need(what, "bits", self.bits.take())?;
                self.wire(FaultKind::Skew { bits })
            }
            FaultName::LinkReset => self.command(EndCommand::LinkReset),
            FaultName::InterfaceReset => self.command(EndCommand::InterfaceReset),
            FaultName::LaneReset => {
                let lane = self.lane.take();
                self.command(EndCommand::LaneReset(lane))
            }
            FaultName::Babble => match self.node.take() {
                Some(node) => Ok(FaultAction::BabblePort { node, vc: self.vc.take().unwrap_or(0) }),
                None => Ok(FaultAction::Babble { flow: need(what, "flow", self.flow.take())? }),
            },
            FaultName::Eep => Ok(FaultAction::Eep {
                node: need(what, "node", self.node.take())?,
                vc: self.vc.take().unwrap_or(0),
            }),
            FaultName::BlockedReceiver => Ok(FaultAction::Block {
                node: need(what, "node", self.node.take())?,
                vc: self.vc.take(),
            }),
            FaultName::TimeCodeLoss => {
                Ok(FaultAction::TimeCodeLoss { node: need(what, "node", self.node.take())? })
            }
        }
    }

    fn when(&mut self) -> Result<FaultTiming, String> {
        let text = self.what.text();
        if self.what.lasts() {
            let from = self.from.take().unwrap_or_default();
            return Ok(FaultTiming::During { from, until: self.until.take() });
        }
        let one = || format!("fault \"{text}\": give one of at, every, random to say when");
        match (self.at.take(), self.every.take(), self.random.take()) {
            (Some(at), None, None) => Ok(FaultTiming::At(at)),
            (None, Some(period), None) | (None, None, Some(period)) if period.0 == 0 => {
                Err(format!("fault \"{text}\": an interval of 0; give one above"))
            }
            (None, every, random) if every.is_some() != random.is_some() => {
                Ok(FaultTiming::Every {
                    period: every.or(random).ok_or_else(one)?,
                    random: random.is_some(),
                    from: self.from.take().unwrap_or_default(),
                    until: self.until.take(),
                    count: self.count.take(),
                })
            }
            _ => Err(one()),
        }
    }
}

impl ScenarioFault {
    /// Reads a fault for a running network, written as the keys of a `[[fault]]`. Its times count
    /// from now: without one it happens at once. A cut or a stuck lane without a duration lasts until
    /// it is restored.
    ///
    /// # Errors
    ///
    /// What is wrong with the text.
    pub fn live(text: &str) -> Result<Self, String> {
        let mut written: WrittenFault =
            toml::from_str(text).map_err(|error| error.message().to_owned())?;
        if matches!(written.what, FaultName::Cut | FaultName::Stuck) {
            written.duration = written.duration.or(Some(Time(FOREVER)));
        }
        let timed = written.at.or(written.every).or(written.random).is_some();
        if !written.what.lasts() && !timed {
            written.at = Some(Time::default());
        }
        Self::try_from(written)
    }

    /// Whether only a running network has it, because it concerns the port of an application.
    pub const fn is_live_only(&self) -> bool {
        matches!(self.what, FaultAction::BabblePort { .. } | FaultAction::Eep { .. })
    }

    /// How long its effect lasts; `None` if it passes at once.
    pub(crate) const fn lasts_ps(&self) -> Option<Ps> {
        match (&self.what, self.when) {
            (FaultAction::Words { kind, .. }, _) => match *kind {
                FaultKind::Cut { duration_ps } | FaultKind::Stuck { duration_ps, .. } => {
                    Some(duration_ps)
                }
                FaultKind::PolaritySwap | FaultKind::Skew { .. } | FaultKind::Delay { .. } => {
                    Some(FOREVER)
                }
                _ => None,
            },
            (_, FaultTiming::During { from, until: Some(until) }) => {
                Some(until.0.saturating_sub(from.0))
            }
            (_, FaultTiming::During { until: None, .. }) => Some(FOREVER),
            _ => None,
        }
    }
}

impl TryFrom<WrittenFault> for ScenarioFault {
    type Error = String;

    fn try_from(mut written: WrittenFault) -> Result<Self, String> {
        let what = written.what()?;
        let when = written.when()?;
        written.nothing_left()?;
        let name = written.name.unwrap_or_else(|| match &what {
            FaultAction::Words { link, .. }
            | FaultAction::BitErrorRate { link, .. }
            | FaultAction::Command { link, .. } => format!("{} on {link}", written.what.text()),
            FaultAction::Babble { flow } => format!("babble of {flow}"),
            FaultAction::Block { node, .. }
            | FaultAction::BabblePort { node, .. }
            | FaultAction::Eep { node, .. }
            | FaultAction::TimeCodeLoss { node } => {
                format!("{} at {node}", written.what.text())
            }
        });
        Ok(Self { name, what, when })
    }
}
