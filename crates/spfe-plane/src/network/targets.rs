//! Targets of RDMA without queues (capability TARGET) on virtual channels of endpoints.

use super::seats::Attempt;
use super::{Error, Inner, Network, Result};
use spfe_contract::Status;
use spfe_device::rdma::RdmaChannel;
use spfe_rdma::TargetFile;
use std::sync::Arc;

/// Entries of the table of a target, with those of its file.
pub(crate) const TARGET_ENTRIES: usize = 32;

/// A target without queues, and where it is.
pub(crate) struct TargetPlace {
    pub port: u32,
    pub vc: u32,
    pub channel: Arc<RdmaChannel>,
}

impl Network {
    /// Puts the target that a file describes on virtual channel 0 of port 0 of an endpoint, for as long
    /// as the network lives. It takes both directions of the virtual channel. Its regions are the
    /// entries that are there from power-up on. Call it before clients attach.
    ///
    /// # Errors
    /// BAD_FIELD for a wrong file or one with RMAP, NOT_FOUND if there is no such endpoint, BUSY if the
    /// virtual channel is in use, BAD_OPCODE in a process that does not own the network.
    pub fn add_target(&self, endpoint: u32, file: &str) -> Result<()> {
        const PLACE: (u32, u32) = (0, 0);
        let wrong = |what: &dyn std::fmt::Display| Error::new(Status::BadField, what.to_string());
        let mut read = TargetFile::open(file).map_err(|error| wrong(&error))?;
        // A size alone stands for a region and RMAP; a device has the region.
        if read.rmap.take().is_some() && spfe_host::topology::units::size(file).is_err() {
            return Err(wrong(&format_args!("target file '{file}': a device has no RMAP target")));
        }
        let most = TARGET_ENTRIES - 1;
        if read.regions.len() > most {
            let count = read.regions.len();
            let what =
                format!("target file '{file}': {count} regions, a device has at most {most}");
            return Err(wrong(&what));
        }
        self.port(endpoint, PLACE.0)?;
        let Some(channel) = self.arena.pair(endpoint, PLACE.0, PLACE.1) else {
            let what = "target: this process does not own the network";
            return Err(Error::new(Status::BadOpcode, what));
        };
        let target = read.target().map_err(|error| wrong(&error))?;
        let mut target = Some(target);
        self.patiently(|inner| {
            self.check_free(inner, endpoint, PLACE, true)?;
            self.check_free(inner, endpoint, PLACE, false)?;
            let seats = self.claim_both(inner, endpoint, PLACE, true)?;
            let placed = target.take().map_or(Ok(()), |mut target| {
                target.set_vcs(1);
                channel.place_target(target)
            });
            seats.release();
            self.changed();
            placed.map_err(|status| {
                let what = format!("endpoint {endpoint}: virtual channel 0 of port 0 is in use");
                Error::new(status, what).into()
            })
        })
    }

    /// The target of an endpoint.
    pub(crate) fn target_of(&self, endpoint: u32) -> Option<TargetPlace> {
        let ports = self.topology().endpoints.get(endpoint as usize)?;
        let places = (0..).zip(ports).flat_map(|(port, config)| {
            (0..config.vcs)
                .filter_map(move |vc| Some((port, vc, self.arena.pair(endpoint, port, vc)?)))
        });
        let mut targets = places.filter(|(.., channel)| channel.is_target());
        targets.next().map(|(port, vc, channel)| TargetPlace { port, vc, channel: channel.clone() })
    }

    /// Makes the runners of a target's flows read its regions again.
    pub(crate) fn rebind_target(&self, endpoint: u32, place: &TargetPlace) -> Result<()> {
        let rebind = |inner: &mut Inner| -> Attempt<()> {
            self.claim_both(inner, endpoint, (place.port, place.vc), true)?.release();
            self.changed();
            Ok(())
        };
        self.patiently(rebind)
    }
}
