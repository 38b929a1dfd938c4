//! Creating and destroying queues of packets. Those of messages are in `messages`.

use super::seats::{Attempt, bind, claim};
use super::{Attachment, Ended, Error, Inner, MessageQueue, Network, QueueRequest, Result};
use crate::arena::PARTICIPANTS;
use crate::view::ViewHost;
use spfe_contract::{QueueKind, QueueSetup, QueueState, Status};
use spfe_device::queue::QueueView;
use spfe_device::rdma::setup;
use spfe_device::receive::RxPacked;
use spfe_device::shared::{QueueConfig, RxState, TxState};
use spfe_ring::sync::Ordering;

/// The place of a new object, for clients that number objects as hardware does: registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// Protection domain inside the client: its queues name only regions of their own domain.
    pub domain: u8,
    /// Number of the message queue or region; `None` for any free one. Data queues have no choice.
    pub index: Option<usize>,
}

impl Placement {
    /// The domain of queues and region tags: {domain 8, client 8}.
    pub(crate) fn domain_of(self, client: u32) -> u16 {
        const { assert!(PARTICIPANTS <= 256) };
        u16::from(self.domain) << 8 | client as u16
    }
}

/// The configuration of a requested queue.
pub(super) fn config(request: &QueueRequest, client: u32, place: Placement) -> QueueConfig {
    let domain = u32::from(place.domain_of(client));
    QueueConfig { setup: QueueSetup { domain, ..request.setup }, vc: request.vc, owner: client }
}

impl Network {
    /// Creates a queue of a client.
    ///
    /// # Errors
    /// Those of [`Network::create_queue_at`].
    pub fn create_queue(&self, at: Attachment, request: QueueRequest) -> Result<()> {
        self.create_queue_at(at, request, Placement::default())
    }

    /// Creates a queue of a client, with the domain and number of `place`.
    ///
    /// # Errors
    /// BUSY if the virtual channel or the requested message queue is taken, NOT_FOUND if the client
    /// has no such port or event vector, BAD_VC, BAD_OPCODE, BAD_RING or BAD_REGION for a wrong
    /// request.
    pub fn create_queue_at(
        &self,
        at: Attachment,
        request: QueueRequest,
        place: Placement,
    ) -> Result<()> {
        self.use_event(at.client, request.vector)?;
        let done = self.patiently(|inner| self.create(inner, at, request, place));
        if done.is_err() {
            self.leave_event(at.client, request.vector);
        }
        done
    }

    fn create(
        &self,
        inner: &mut Inner,
        at: Attachment,
        request: QueueRequest,
        place: Placement,
    ) -> Attempt<()> {
        let port = self.port(at.endpoint, request.port)?;
        let kind = request.queue_kind();
        let far = port.far_end(at.endpoint, request.port, request.vc);
        if far == Some((at.endpoint, request.port, request.vc)) {
            let what = format!("port {} VC {} leads to the own node", request.port, request.vc);
            return Err(Error::new(Status::BadField, what).into());
        }
        let messages = matches!(kind, Some(QueueKind::MessageTx | QueueKind::MessageRx));
        let pair = self.arena.pair(at.endpoint, request.port, request.vc);
        if !messages && pair.is_some_and(|pair| pair.is_target()) {
            let what = format!(
                "port {} VC {} belongs to the target of RDMA, which takes both directions",
                request.port, request.vc
            );
            return Err(Error::new(Status::BadField, what).into());
        }
        match kind {
            Some(QueueKind::Tx | QueueKind::Rx | QueueKind::RxPacked) => {
                if request.vc >= port.vcs {
                    let what = format!(
                        "VC {}: port {} has VCs 0 to {}",
                        request.vc,
                        request.port,
                        port.vcs - 1
                    );
                    return Err(Error::new(Status::BadVc, what).into());
                }
                self.check_queues(inner, at)?;
                self.create_data(inner, at, request, kind == Some(QueueKind::Tx), place)
            }
            Some(QueueKind::Rdma | QueueKind::RdmaRx) => {
                self.check_queues(inner, at)?;
                self.create_pair(inner, at, request, kind == Some(QueueKind::Rdma), place)
            }
            Some(QueueKind::MessageTx | QueueKind::MessageRx) => {
                let tx = kind == Some(QueueKind::MessageTx);
                self.check_queues(inner, at)?;
                self.create_message(inner, at, request, tx, place)
            }
            _ => {
                let what = format!("queue kind {} is not one a client can create", request.kind);
                Err(Error::new(Status::BadOpcode, what).into())
            }
        }
    }

    /// Checks that an end of a virtual channel has no queue.
    pub(super) fn check_free(
        &self,
        inner: &Inner,
        endpoint: u32,
        (port, vc): (u32, u32),
        tx: bool,
    ) -> Result<()> {
        let current = self.config(endpoint, port, vc, tx);
        if current.kind == 0 {
            return Ok(());
        }
        let client = inner.clients.get(&current.owner).map_or("?", |client| &client.name);
        let end = if tx { "transmit" } else { "receive" };
        let what = format!(
            "{end} end of port {port} VC {vc} is open in client {} ({client})",
            current.owner
        );
        Err(Error::new(Status::Busy, what))
    }

    pub(super) fn check_view(&self, at: Attachment, config: QueueConfig) -> Result<QueueView> {
        self.view.queue_view(at.endpoint, config).map_err(|status| {
            let what = format!(
                "rings of port VC {}: 2^{} submissions at {:#x}, 2^{} completions at {:#x}: must lie in \
                 a region of this client, aligned to 64 bytes, 4 to 32768 entries, completions not \
                 fewer than submissions; wide completions only where packets fill posted buffers",
                config.vc, config.sq_log2, config.sq, config.cq_log2, config.cq
            );
            Error::new(status, what)
        })
    }

    fn create_data(
        &self,
        inner: &mut Inner,
        at: Attachment,
        request: QueueRequest,
        tx: bool,
        place: Placement,
    ) -> Attempt<()> {
        let (port, vc) = (request.port, request.vc);
        self.check_free(inner, at.endpoint, (port, vc), tx)?;
        if let Some(pair) = self.arena.pair(at.endpoint, port, vc)
            && pair.is_open()
        {
            let what = format!("port {port} VC {vc} has a queue pair, which takes both directions");
            return Err(Error::new(Status::Busy, what).into());
        }
        let config = config(&request, at.client, place);
        let view = self.check_view(at, config)?;
        let mut state = RxState::default();
        if request.queue_kind() == Some(QueueKind::RxPacked) {
            let flow = self.arena.flow_into(at.endpoint, port, vc);
            self.view.check_area(at.endpoint, view, flow).map_err(|status| {
                let what = format!(
                    "packed area of {} bytes: 4096 bytes to 1 GiB, a multiple of 8, in a region of \
                     this client; submission ring not smaller than completion ring",
                    config.area_bytes
                );
                Error::new(status, what)
            })?;
            RxPacked::start(&mut state, &view);
        }
        let runner = self.control(inner, at.endpoint, port, vc, tx);
        let shared = runner.shared();
        claim(runner)?;
        // SAFETY: the seat is claimed.
        unsafe {
            if tx {
                *shared.tx.get() = TxState::default();
                *shared.tx_config.get() = config;
            } else {
                *shared.rx.get() = state;
                *shared.rx_config.get() = config;
            }
        }
        shared.dead.store(0, Ordering::Release);
        view.device_line().set_state(u32::from(QueueState::Enabled.raw()), 0);
        shared.bump_epoch();
        shared.seat.release();
        if let Some(client) = inner.clients.get_mut(&at.client) {
            client.queues += 1;
        }
        self.changed();
        Ok(())
    }

    /// Destroys a queue of a client. Afterwards the client owns its rings and buffers.
    ///
    /// # Errors
    /// NOT_FOUND if the client has no such queue, BUSY if its flow cannot be stopped.
    pub fn destroy_queue(&self, at: Attachment, port: u32, vc: u32, kind: u8) -> Result<()> {
        let vcs = self.port(at.endpoint, port)?.vcs;
        match QueueKind::from_raw(kind) {
            Some(QueueKind::MessageTx | QueueKind::MessageRx) => {
                let tx = kind == QueueKind::MessageTx.raw();
                let mine =
                    |queue: &MessageQueue| (queue.port, queue.tx, queue.number) == (port, tx, vc);
                self.patiently(|inner| self.destroy_message(inner, at, mine)).map(drop)
            }
            _ if vc >= vcs => Err(Error::new(Status::BadVc, format!("port {port} has no VC {vc}"))),
            kind => self.patiently(|inner| {
                let tx = matches!(kind, Some(QueueKind::Tx | QueueKind::Rdma));
                let config = self.config(at.endpoint, port, vc, tx);
                if config.kind == 0 || config.owner != at.client {
                    let what = format!("port {port} VC {vc} has no such queue of this client");
                    return Err(Error::new(Status::NotFound, what).into());
                }
                self.destroy_data(inner, at.endpoint, port, vc, tx, Ended::Closed)
            }),
        }
    }

    pub(super) fn destroy_data(
        &self,
        inner: &mut Inner,
        endpoint: u32,
        port: u32,
        vc: u32,
        tx: bool,
        ended: Ended,
    ) -> Attempt<()> {
        let view = self.view.clone();
        let config = self.config(endpoint, port, vc, tx);
        if setup::is_rdma(config.kind) {
            return self.destroy_pair(inner, endpoint, (port, vc), tx, ended);
        }
        let runner = self.control(inner, endpoint, port, vc, tx);
        let shared = runner.shared();
        bind(runner)?;
        claim(runner)?;
        let flow = runner.flow_mut();
        let mut host = ViewHost(&view);
        match (tx, ended) {
            (true, Ended::Reset) => {
                flow.flush(&mut host, Status::DeviceReset, false);
            }
            (true, _) => flow.end_sender(&mut host),
            (false, Ended::Closed) => {
                flow.flush(&mut host, Status::PeerGone, true);
            }
            (false, Ended::Died) => {
                flow.flush(&mut host, Status::PeerGone, false);
            }
            (false, Ended::Reset) => {
                flow.flush_receive(&mut host, Status::DeviceReset);
                flow.flush(&mut host, Status::PeerGone, true);
            }
        }
        let error = if ended == Ended::Reset { Status::DeviceReset } else { Status::Ok };
        if ended != Ended::Died {
            flow.set_state(&mut host, tx, QueueState::Disabled, error);
        }
        // SAFETY: the seat is claimed.
        unsafe {
            let config = if tx { &shared.tx_config } else { &shared.rx_config };
            *config.get() = QueueConfig::default();
        }
        shared.bump_epoch();
        shared.seat.release();
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
