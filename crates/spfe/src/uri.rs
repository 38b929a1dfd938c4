//! Names of devices: `virtual:`, `virtual:NAME/N?link=4x7.5G`, `unix:/path/to/socket/N`, `/dev/spfe0`,
//! `rtl:`.

use crate::{Error, Result};
use spfe_host::topology::{ENDPOINTS_MAX, units};
use spfe_host::{Link, Mode, Peer, Topology};

/// A device name, parsed.
#[derive(Clone, Debug, PartialEq)]
pub enum Uri {
    /// A network in this process.
    Virtual {
        /// Name of a network that the process shares; `None` for a new network.
        name: Option<String>,
        /// Number of the endpoint.
        endpoint: u32,
        /// The network, in case it does not exist yet.
        topology: Topology,
    },
    /// A daemon's socket.
    Daemon {
        /// Path of the socket.
        path: String,
        /// Number of the endpoint; `None` for the one with the fewest clients.
        endpoint: Option<u32>,
    },
    /// A device of the kernel driver.
    Kernel {
        /// Path of the device file.
        path: String,
    },
    /// A simulated core; `spfe-rtl` knows the form of its name.
    Rtl,
}

/// The forms of device names, for messages. docs/devices.md explains them.
const FORMS: &str =
    "a device is virtual:[NAME/N][?OPTIONS], unix:SOCKET[/N|/NAME], /dev/spfeN or rtl:";
/// The options of a virtual device, for messages.
const OPTIONS: &str =
    "link, spw, mode, peer, ports, spwports, vcs, endpoints, seed, hostile and time";
/// What can be at the far end of a virtual device, for messages.
const PEERS: &str = "loop, pair, sink, check, echo, rmap[:SIZE], target:FILE, generator[:MIN[:MAX]], \
     foreign:STREAM";

fn bad(text: &str, what: impl std::fmt::Display) -> Error {
    Error::Name { name: text.to_owned(), what: what.to_string() }
}

impl Uri {
    /// Parses a device name.
    pub fn parse(text: &str) -> Result<Self> {
        if text.starts_with('/') {
            return Ok(Self::Kernel { path: text.to_owned() });
        }
        let (scheme, rest) = text.split_once(':').ok_or_else(|| match text.contains('/') {
            true => bad(text, format!("did you mean unix:{text}? {FORMS}")),
            false => bad(text, format!("it has no scheme: {FORMS}")),
        })?;
        match scheme {
            "virtual" => Self::parse_virtual(text, rest),
            "unix" | "spfed" if rest.is_empty() => {
                Err(bad(text, "the path of a socket is missing"))
            }
            "unix" | "spfed" => Ok(Self::parse_daemon(rest)),
            "rtl" => Ok(Self::Rtl),
            _ => Err(bad(text, format!("unknown scheme '{scheme}': {FORMS}"))),
        }
    }

    fn parse_daemon(rest: &str) -> Self {
        if let Some((path, number)) = rest.rsplit_once('/')
            && let Ok(endpoint) = number.parse()
        {
            return Self::Daemon { path: path.to_owned(), endpoint: Some(endpoint) };
        }
        Self::Daemon { path: rest.to_owned(), endpoint: None }
    }

    fn parse_virtual(text: &str, rest: &str) -> Result<Self> {
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (name, endpoint) = match place.split_once('/') {
            None if place.is_empty() => (None, 0),
            None => (Some(place.to_owned()), 0),
            Some((name, number)) => {
                let number =
                    number.parse().map_err(|_| bad(text, format!("'{number}' is not a number")))?;
                if name.is_empty() {
                    return Err(bad(text, "the name of a network is missing before '/'"));
                }
                (Some(name.to_owned()), number)
            }
        };
        let options = Options::parse(text, query)?;
        let peer = options.peer.unwrap_or(if name.is_some() { "pair" } else { "loop" });
        let mut topology = options.topology(peer).map_err(|what| bad(text, what))?;
        topology.virtual_time = options.virtual_time;
        Ok(Self::Virtual { name, endpoint, topology })
    }
}

struct Options<'a> {
    link: Link,
    spacewire: Option<Link>,
    mode: Mode,
    peer: Option<&'a str>,
    virtual_time: bool,
    endpoints: u32,
    /// Numbers of SpaceFibre ports, SpaceWire ports and virtual channels, if given.
    ports: [Option<u32>; 3],
    seed: u64,
    #[cfg(feature = "virtual")]
    hostile: Option<spfe_host::topology::hostile::Hostile>,
}

impl<'a> Options<'a> {
    fn parse(text: &str, query: &'a str) -> Result<Self> {
        let mut options = Self {
            link: Link::default(),
            spacewire: None,
            mode: Mode::Auto,
            peer: None,
            virtual_time: false,
            endpoints: 2,
            ports: [None; 3],
            seed: 1,
            #[cfg(feature = "virtual")]
            hostile: None,
        };
        for option in query.split('&').filter(|option| !option.is_empty()) {
            let (key, value) = option
                .split_once('=')
                .ok_or_else(|| bad(text, format!("option '{option}' has no value")))?;
            let number = || {
                value
                    .parse::<u64>()
                    .map_err(|_| bad(text, format!("{key}={value} is not a number")))
            };
            match key {
                "link" => options.link = value.parse().map_err(|what: String| bad(text, what))?,
                "spw" => {
                    let link = Link::spacewire(value).map_err(|what| bad(text, what))?;
                    options.spacewire = Some(link);
                }
                "mode" => options.mode = value.parse().map_err(|what: String| bad(text, what))?,
                "peer" => options.peer = Some(value),
                "endpoints" => {
                    // Check before a topology of this size is created.
                    let count = u32::try_from(number()?).ok();
                    let allowed = count.filter(|count| *count as usize <= ENDPOINTS_MAX);
                    let what = || format!("{key}={value}: 1 to {ENDPOINTS_MAX} allowed");
                    options.endpoints = allowed.ok_or_else(|| bad(text, what()))?;
                }
                "ports" | "spwports" | "vcs" => {
                    let index = ["ports", "spwports", "vcs"].iter().position(|name| *name == key);
                    // Out of range is refused with the limits when the topology is made.
                    let count = u32::try_from(number()?).unwrap_or(u32::MAX);
                    options.ports[index.unwrap_or(0)] = Some(count);
                }
                "seed" => options.seed = number()?,
                #[cfg(feature = "virtual")]
                "hostile" => {
                    options.hostile = Some(value.parse().map_err(|what: String| bad(text, what))?);
                }
                "time" if value == "virtual" => options.virtual_time = true,
                "time" if value == "real" => options.virtual_time = false,
                "time" => return Err(bad(text, format!("time={value} is not real or virtual"))),
                _ => return Err(bad(text, format!("unknown option '{key}': there are {OPTIONS}"))),
            }
        }
        Ok(options)
    }

    fn topology(&self, peer: &str) -> std::result::Result<Topology, String> {
        let Link { rate, model } = self.link;
        let instrument = |peer| Topology::instrument(peer, rate, self.mode);
        let topology = match peer {
            "loop" => Topology::looped(rate, self.mode),
            "pair" => Topology::pairs(self.endpoints, rate, self.mode),
            "sink" => instrument(Peer::Sink { check: false }),
            "check" => instrument(Peer::Sink { check: true }),
            "echo" => instrument(Peer::Echo),
            _ if peer.starts_with("rmap") => instrument(rmap(peer)?),
            _ if peer.starts_with("target:") => {
                Topology::with_target(&peer["target:".len()..], rate, self.mode)
            }
            _ if peer.starts_with("foreign:") => {
                Topology::with_foreign_end(peer["foreign:".len()..].parse()?, rate, self.mode)
            }
            _ => instrument(self.generator(peer).ok_or_else(|| no_peer(peer))?),
        };
        let [fibre, wire, vcs] = self.ports;
        let mut topology = topology.with_model(model).with_ports(fibre, wire, vcs)?;
        if let Some(link) = self.spacewire {
            topology = topology.with_spacewire(link);
        }
        #[cfg(feature = "virtual")]
        topology.hostile.clone_from(&self.hostile);
        topology.check()?;
        Ok(topology)
    }

    fn generator(&self, peer: &str) -> Option<Peer> {
        let mut sizes = peer.split(':');
        (sizes.next() == Some("generator")).then_some(())?;
        let read = |text| units::size(text).ok().and_then(|size| size.try_into().ok());
        let min_bytes = sizes.next().map_or(Some(1024), read)?;
        let max_bytes = sizes.next().map_or(Some(min_bytes), read)?;
        Some(Peer::Generator { min_bytes, max_bytes, seed: self.seed })
    }
}

/// Parses `rmap` or `rmap:UNIT`.
fn rmap(peer: &str) -> std::result::Result<Peer, String> {
    match peer.strip_prefix("rmap").map(|rest| rest.split_at_checked(1).unwrap_or(("", ""))) {
        Some(("" | ":", unit)) => Ok(Peer::Rmap(unit.parse()?)),
        _ => Err(no_peer(peer)),
    }
}

fn no_peer(peer: &str) -> String {
    format!("peer '{peer}' is not one of {PEERS}")
}

#[cfg(test)]
#[path = "uri/tests.rs"] // fuzz/ includes this file from elsewhere
mod tests;
