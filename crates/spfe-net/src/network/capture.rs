//! Captures of the network's links.

use super::{Network, Result};
use crate::capture::{CaptureOptions, Hub, Now};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

impl Network {
    /// Who looks on.
    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// Names of the links, as captures call them.
    pub fn link_names(&self) -> Vec<String> {
        self.hub.names().map(str::to_owned).collect()
    }

    /// Begins a capture: its number.
    pub(crate) fn begin_capture(
        self: &Arc<Self>,
        options: &CaptureOptions,
        buffer: &Arc<crate::capture::Buffer>,
    ) -> Result<u32> {
        let day = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = Now {
            exact_ps: self.exact.as_ref().map_or(0, |exact| exact.now_ps()),
            clock_ns: self.clock.now_ns(),
            day: (!self.clock.is_virtual()).then(day),
        };
        let id = self.hub.begin(options, buffer, now)?;
        self.retap();
        Ok(id)
    }

    /// Captures have come or gone: everybody who runs a flow looks for a tap again.
    pub(crate) fn retap(&self) {
        if let Some(exact) = &self.exact {
            exact.show_words(&self.hub.words());
        }
        for (e, ports) in self.topology().endpoints.iter().enumerate() {
            for (p, port) in ports.iter().enumerate().filter(|(_, port)| !port.is_exact()) {
                let (e, p) = (e as u32, p as u32);
                for vc in 0..port.vcs {
                    self.arena.flow_out(e, p, vc).bump_epoch();
                    if port.joined().is_none() {
                        self.arena.flow_into(e, p, vc).bump_epoch();
                    }
                }
                let messages = self.arena.messages(e, p);
                let _guard = messages.lock(crate::arena::CONTROL);
                messages.touch();
            }
        }
        self.changed();
    }
}
