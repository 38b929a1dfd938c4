//! Creating and destroying the queues of queue pairs.

use super::queues::config;
use super::seats::{Attempt, bind, claim};
use super::{Attachment, Ended, Error, Inner, Network, Placement, QueueRequest};
use crate::view::ViewHost;
use spfe_contract::{PairCounter, QueueKind, QueueState, Status};
use spfe_device::rdma::PairReport;
use spfe_device::shared::{FlowShared, QueueConfig, RxState, TxState};
use spfe_ring::sync::Ordering;

/// The claimed seats of both flows of a virtual channel.
pub(super) struct Seats {
    own: &'static FlowShared,
    other: &'static FlowShared,
}

impl Seats {
    /// Makes every runner read the configuration again, and leaves the seats.
    pub(super) fn release(self) {
        for shared in [self.own, self.other] {
            shared.bump_epoch();
            shared.seat.release();
        }
    }
}

impl Network {
    /// Claims both flows of a virtual channel; the first is that of the queue. The two ends of a
    /// queue pair use the rings of both queues.
    pub(super) fn claim_both(
        &self,
        inner: &mut Inner,
        endpoint: u32,
        (port, vc): (u32, u32),
        tx: bool,
    ) -> Attempt<Seats> {
        let runner = self.control(inner, endpoint, port, vc, tx);
        let own = runner.shared();
        claim(runner)?;
        let runner = self.control(inner, endpoint, port, vc, !tx);
        let other = runner.shared();
        if let Err(stop) = claim(runner) {
            own.seat.release();
            return Err(stop);
        }
        Ok(Seats { own, other })
    }

    /// What a queue pair waits for and has counted. `None` if none is open.
    pub fn pair_report(&self, endpoint: u32, port: u32, vc: u32) -> Option<PairReport> {
        self.arena.pair(endpoint, port, vc)?.report(self.clock().now_ns())
    }

    /// What a queue pair has counted, in the order of the contract. `None` if none is open.
    pub fn pair_counters(
        &self,
        endpoint: u32,
        port: u32,
        vc: u32,
    ) -> Option<Vec<(PairCounter, u64)>> {
        self.arena.pair(endpoint, port, vc)?.counters()
    }

    pub(super) fn create_pair(
        &self,
        inner: &mut Inner,
        at: Attachment,
        request: QueueRequest,
        tx: bool,
        place: Placement,
    ) -> Attempt<()> {
        let (port, vc) = (request.port, request.vc);
        let vcs = self.port(at.endpoint, port)?.vcs;
        if vc >= vcs {
            let what = format!("VC {vc}: port {port} has VCs 0 to {}", vcs - 1);
            return Err(Error::new(Status::BadVc, what).into());
        }
        let Some(pair) = self.arena.pair(at.endpoint, port, vc) else {
            let what = "queue pairs: this process does not own the network";
            return Err(Error::new(Status::BadOpcode, what).into());
        };
        self.check_free(inner, at.endpoint, (port, vc), tx)?;
        if !pair.is_open() {
            // A queue pair takes both directions.
            self.check_free(inner, at.endpoint, (port, vc), !tx)?;
        }
        let config = config(&request, at.client, place);
        let view = self.check_view(at, config)?;
        let seats = self.claim_both(inner, at.endpoint, (port, vc), tx)?;
        if let Err(status) = pair.open(tx, config) {
            seats.release();
            let what = format!(
                "queue pair of port {port} VC {vc}, PAIR {:#x}, LIMITS {:#x}: own number 1 to 65535, \
                 protocol 0xf0 to 0xfe, segment 2^8 to 2^16, at most 16 retries and 8 path bytes; \
                 both queues with one PAIR, of one client and domain",
                config.pair, config.limits
            );
            return Err(Error::new(status, what).into());
        }
        // SAFETY: the seat is claimed.
        unsafe {
            if tx {
                *seats.own.tx.get() = TxState::default();
                *seats.own.tx_config.get() = config;
            } else {
                *seats.own.rx.get() = RxState::default();
                *seats.own.rx_config.get() = config;
            }
        }
        seats.own.dead.store(0, Ordering::Release);
        view.device_line().set_state(u32::from(QueueState::Enabled.raw()), 0);
        seats.release();
        if let Some(client) = inner.clients.get_mut(&at.client) {
            client.queues += 1;
        }
        self.changed();
        Ok(())
    }

    pub(super) fn destroy_pair(
        &self,
        inner: &mut Inner,
        endpoint: u32,
        (port, vc): (u32, u32),
        tx: bool,
        ended: Ended,
    ) -> Attempt<()> {
        let config = self.config(endpoint, port, vc, tx);
        bind(self.control(inner, endpoint, port, vc, tx))?;
        let seats = self.claim_both(inner, endpoint, (port, vc), tx)?;
        let view = self.view.clone();
        let mut host = ViewHost(&view);
        let flow = self.control(inner, endpoint, port, vc, tx).flow_mut();
        match (tx, ended) {
            (true, Ended::Reset) => {
                flow.flush_pair(&mut host, Status::DeviceReset);
            }
            // The receiver gets EEP for a packet that is not finished.
            (true, _) => flow.cut(&mut host),
            (false, Ended::Reset) => {
                flow.flush_receive(&mut host, Status::DeviceReset);
            }
            (false, _) => {}
        }
        let error = if ended == Ended::Reset { Status::DeviceReset } else { Status::Ok };
        if ended != Ended::Died {
            flow.set_state(&mut host, tx, QueueState::Disabled, error);
        }
        if let Some(pair) = self.arena.pair(endpoint, port, vc) {
            pair.close(config.kind == u32::from(QueueKind::Rdma.raw()));
        }
        // SAFETY: the seat is claimed.
        unsafe {
            let config = if tx { &seats.own.tx_config } else { &seats.own.rx_config };
            *config.get() = QueueConfig::default();
        }
        seats.release();
        if let Some(client) = inner.clients.get_mut(&config.owner) {
            client.queues -= 1;
        }
        if tx {
            self.give_back_link_time(endpoint, port, vc);
        }
        self.leave_event(config.owner, config.vector);
        self.changed();
        Ok(())
    }
}
