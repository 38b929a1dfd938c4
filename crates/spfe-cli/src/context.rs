//! State that all commands share: global options, and waits that notice signals.

use crate::error::Failure;
use crate::{output, signal};
use clap::Args;
use spfe::{Canceller, Deadline, Endpoint, Peer, Port, PortKind};
use std::time::Duration;

/// The default device.
pub const DEFAULT_DEVICE: &str = "virtual:";

/// The device, the first argument of every command that uses one.
#[derive(Clone, Debug, Default, Args)]
pub struct DeviceArg {
    /// Device [default: that of --device or SPFE_DEVICE].
    #[arg(id = "device-name", value_name = "DEVICE")]
    pub name: Option<String>,
}

/// The global options.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The command's device, else that of `--device` or `SPFE_DEVICE`, if given.
    pub device: Option<String>,
    /// `--json`.
    pub json: bool,
    /// `-q`.
    pub quiet: bool,
}

impl Context {
    /// Opens the device, or `default` without one.
    pub fn open_or(&self, default: &str) -> Result<Endpoint, Failure> {
        Ok(Endpoint::open(self.device.as_deref().unwrap_or(default))?)
    }

    /// Opens the device.
    pub fn open(&self) -> Result<Endpoint, Failure> {
        self.open_or(DEFAULT_DEVICE)
    }

    /// Opens the device to send to, or to receive from, somebody else on this port.
    ///
    /// # Errors
    /// USAGE if nobody else can be there: other processes cannot reach a network of this one.
    pub fn open_shared(&self, port: u32, role: Role) -> Result<Endpoint, Failure> {
        let endpoint = self.open()?;
        if endpoint.embedded().is_none() {
            return Ok(endpoint);
        }
        let peer = endpoint.port(port)?.info()?.peer;
        let instrument = match role {
            Role::Send => !matches!(peer, Peer::Port { .. } | Peer::None),
            Role::Receive => matches!(peer, Peer::Generator { .. }),
            Role::Serve => false,
        };
        if instrument {
            return Ok(endpoint);
        }
        let (does, instruments) = match role {
            Role::Send => ("receives", ", or virtual:?peer=sink"),
            Role::Receive => ("sends", ", or virtual:?peer=generator"),
            Role::Serve => ("sends", ""),
        };
        Err(Failure::usage(format!(
            "device {} exists in this process only, and nothing {does} at the far end of port \
             {port}: use a device that other processes reach: unix:SOCKET/N of a running spfed, \
             /dev/spfeN{instruments}",
            endpoint.info().uri
        )))
    }

    /// Prints a remark on stderr, unless `-q` is set.
    pub fn say(&self, what: &str) {
        if !self.quiet {
            eprintln!("{what}");
        }
    }
}

/// What a command does with packets of a partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends to it.
    Send,
    /// Receives from it.
    Receive,
    /// Answers it, or hears its messages.
    Serve,
}

/// The port with this number, or the first port of this kind.
pub fn port_of(endpoint: &Endpoint, number: Option<u32>, kind: PortKind) -> Result<Port, Failure> {
    if let Some(number) = number {
        return Ok(endpoint.port(number)?);
    }
    for number in 0..endpoint.info().ports {
        let port = endpoint.port(number)?;
        if port.kind() == kind {
            return Ok(port);
        }
    }
    let what = format!("device {}: no port speaks {}", endpoint.info().uri, kind.name());
    Err(Failure::not_there(what))
}

/// Cancels the waits of a queue when a signal arrives.
pub fn end_at_signal(canceller: Canceller) {
    const LOOK: Duration = Duration::from_millis(50);
    std::thread::spawn(move || {
        while signal::sleep(LOOK) {}
        canceller.cancel();
    });
}

/// Waits that end at a signal or after a time without progress, also in virtual time.
pub struct Patience {
    endpoint: Endpoint,
    limit_ns: Option<u64>,
    until_ns: Option<u64>,
}

impl Patience {
    /// Interval between checks for signals, ns.
    const SLICE_NS: u64 = 200_000_000;

    /// Waits for at most `limit` without progress, or forever.
    pub fn new(endpoint: &Endpoint, limit: Option<Duration>) -> Self {
        let limit_ns = limit.map(|limit| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
        let mut patience = Self { endpoint: endpoint.clone(), limit_ns, until_ns: None };
        patience.renew();
        patience
    }

    /// Records progress: the time limit starts again.
    pub fn renew(&mut self) {
        if let Some(limit) = self.limit_ns {
            self.until_ns = Some(self.endpoint.now_ns().saturating_add(limit));
        }
    }

    /// Repeats `wait` with short deadlines until it succeeds or fails.
    ///
    /// # Errors
    /// Timed out, with the name of the event; interrupted; errors of `wait`.
    pub fn wait<T>(
        &self,
        what: &str,
        mut wait: impl FnMut(Deadline) -> spfe::Result<T>,
    ) -> Result<T, Failure> {
        loop {
            if signal::caught() {
                return Err(Failure::interrupted());
            }
            let now = self.endpoint.now_ns();
            let slice = now.saturating_add(Self::SLICE_NS);
            let end = self.until_ns.map_or(slice, |until| until.min(slice));
            match wait(Deadline::at_ns(end)) {
                Ok(found) => return Ok(found),
                Err(error) if !error.is_timeout() => return Err(error.into()),
                Err(_) if self.until_ns.is_some_and(|until| until <= self.endpoint.now_ns()) => {
                    let limit = output::time(self.limit_ns.unwrap_or_default());
                    return Err(Failure::timed_out(format!("{what} for {limit}: timed out")));
                }
                Err(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[test]
    fn patience_ends_in_real_and_virtual_time() {
        for device in ["virtual:", "virtual:?time=virtual"] {
            let endpoint = Endpoint::open(device).unwrap();
            let mut rx = endpoint.port(0).unwrap().vc(0).unwrap().rx().unwrap();
            let patience = Patience::new(&endpoint, Some(Duration::from_millis(10)));
            let failure = patience.wait("no packet", |until| rx.recv(until)).unwrap_err();
            assert_eq!(failure.kind, Kind::TimedOut, "{device}");
            assert_eq!(failure.what, "no packet for 10 ms: timed out");
        }
    }

    #[test]
    fn ports_are_found_by_kind() {
        let endpoint = Endpoint::open("virtual:").unwrap();
        assert_eq!(port_of(&endpoint, None, PortKind::Spacewire).unwrap().number(), 2);
        assert_eq!(port_of(&endpoint, Some(1), PortKind::Spacewire).unwrap().number(), 1);
        let endpoint = Endpoint::open("virtual:?peer=sink").unwrap();
        let failure = port_of(&endpoint, None, PortKind::Spacewire).err().unwrap();
        assert_eq!(failure.kind, Kind::NotThere);
    }
}
