//! Endpoints, ports and virtual channels: the objects from which queues are opened.

#[cfg(feature = "daemon")]
use crate::backend::daemon::Daemon;
#[cfg(feature = "virtual")]
use crate::backend::embedded::{Embedded, EmbeddedBackend};
#[cfg(feature = "kernel")]
use crate::backend::kernel::Kernel;
use crate::device::Device;
#[cfg(feature = "virtual")]
use crate::engine::Engine;
use crate::message::{Broadcast, InterruptCodes, MessageOptions, TimeCode};
use crate::mib::Mib;
use crate::packed::{PackedOptions, PackedRx};
use crate::pooled::{PoolOptions, PooledRx, PooledTx};
use crate::queue::QueueOptions;
use crate::rx::Rx;
use crate::tx::Tx;
use crate::uri::Uri;
use crate::wait::Deadline;
use crate::{Error, PortInfo, Region, Result};
use spfe_contract::{PortKind, Status};
use spfe_host::{Backend, Clock, DeviceInfo, LinkCommand, MibEntry, os};
#[cfg(feature = "virtual")]
use spfe_host::{LinkRate, Mode, Topology};
use std::sync::Arc;
use std::time::Duration;

/// The cargo feature that a build needs to open a device.
#[cfg(not(all(feature = "virtual", feature = "daemon", feature = "kernel", feature = "rtl")))]
fn feature(uri: &Uri) -> &'static str {
    match uri {
        Uri::Virtual { .. } => "virtual",
        Uri::Daemon { .. } => "daemon",
        Uri::Kernel { .. } => "kernel",
        Uri::Rtl => "rtl",
    }
}

/// An open SpaceFibre processor endpoint.
///
/// Ports, regions and queues keep the endpoint open. They can be dropped in any order.
#[derive(Clone)]
pub struct Endpoint {
    device: Arc<Device>,
    #[cfg(feature = "virtual")]
    embedded: Option<Arc<Embedded>>,
}

impl Endpoint {
    /// Opens a device by name.
    ///
    /// * `virtual:` is a private endpoint whose ports 0 and 1 (SpaceFibre) and 2 and 3 (SpaceWire)
    ///   are joined by cables. Nothing has to be installed or started.
    /// * `virtual:lab/0` and `virtual:lab/1` are two endpoints of the network `lab` of this process,
    ///   joined by port 0 (SpaceFibre) and port 1 (SpaceWire).
    /// * `virtual:?peer=echo` and so on put an instrument on port 0; `link=4x7.5G` paces the link.
    /// * `unix:/run/spfe.sock/0` is endpoint 0 of the network in the `spfed` at that socket.
    /// * `/dev/spfe0` is a device of the kernel driver.
    /// * `rtl:` is a simulated core (cargo feature `rtl`) whose ports 0 and 1 are joined by a cable.
    ///
    /// ```
    /// let endpoint = spfe::Endpoint::open("virtual:")?;
    /// assert_eq!(endpoint.info().ports, 4);
    /// # Ok::<(), spfe::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Name`] with the grammar for a name it does not understand, NOT_FOUND when there is no
    /// such endpoint, DEVICE_GONE when no daemon answers, BAD_VERSION when it speaks another contract.
    pub fn open(name: &str) -> Result<Self> {
        match Uri::parse(name)? {
            #[cfg(feature = "virtual")]
            Uri::Virtual { name: None, endpoint, topology } => {
                Self::attach(&Embedded::new(topology)?, endpoint, name)
            }
            #[cfg(feature = "virtual")]
            Uri::Virtual { name: Some(network), endpoint, topology } => {
                Self::attach(&Embedded::named(&network, || topology)?, endpoint, name)
            }
            #[cfg(feature = "daemon")]
            Uri::Daemon { path, endpoint } => {
                let client = format!("process {}", std::process::id());
                let mut backend = Daemon::open(&path, endpoint, &client)?;
                let engine = backend.take_engine();
                Ok(Self::over(Device::new(backend, engine)))
            }
            #[cfg(feature = "kernel")]
            Uri::Kernel { path } => Ok(Self::over(Device::new(Kernel::open(path.as_ref())?, None))),
            #[cfg(feature = "rtl")]
            Uri::Rtl => Ok(Self::with_backend(spfe_rtl::open(name)?)),
            #[cfg(not(all(
                feature = "virtual",
                feature = "daemon",
                feature = "kernel",
                feature = "rtl"
            )))]
            uri => {
                let what = format!(
                    "device '{name}': this build of the library cannot open it; build it with the \
                     cargo feature `{}`",
                    feature(&uri)
                );
                Err(Error::device(Status::NotFound, what))
            }
        }
    }

    /// An endpoint that a backend reaches in its own way.
    pub fn with_backend(backend: impl Backend + 'static) -> Self {
        Self::over(Device::new(backend, None))
    }

    fn over(device: Device) -> Self {
        Self {
            device: Arc::new(device),
            #[cfg(feature = "virtual")]
            embedded: None,
        }
    }

    /// Opens an endpoint of a network in this process. `name` is the device name for messages.
    ///
    /// # Errors
    /// NOT_FOUND if the network has no such endpoint, NO_RESOURCES if it has too many clients.
    #[cfg(feature = "virtual")]
    pub fn attach(network: &Arc<Embedded>, endpoint: u32, name: &str) -> Result<Self> {
        let backend = EmbeddedBackend::attach(network.clone(), endpoint, name)?;
        let engine = backend.view().cloned().map(Engine);
        let device = Arc::new(Device::new(backend, engine));
        Ok(Self { device, embedded: Some(network.clone()) })
    }

    /// Creates a network of two endpoints that are joined by a cable.
    ///
    /// ```
    /// use spfe::{Endpoint, LinkRate, Mode};
    /// let (a, b) = Endpoint::pair(LinkRate::Unlimited, Mode::Inline)?;
    /// # Ok::<(), spfe::Error>(())
    /// ```
    #[cfg(feature = "virtual")]
    pub fn pair(rate: LinkRate, mode: Mode) -> Result<(Self, Self)> {
        let network = Embedded::new(Topology::pairs(2, rate, mode))?;
        Ok((Self::attach(&network, 0, "virtual:0")?, Self::attach(&network, 1, "virtual:1")?))
    }

    /// Description of the device.
    pub fn info(&self) -> DeviceInfo {
        self.device.backend().info()
    }

    /// The network in this process that the endpoint belongs to, if any.
    #[cfg(feature = "virtual")]
    pub fn embedded(&self) -> Option<&Arc<Embedded>> {
        self.embedded.as_ref()
    }

    /// Registers new memory of `bytes` zero bytes, rounded up to whole pages.
    ///
    /// # Errors
    /// NO_RESOURCES if the device or the system has no room.
    pub fn alloc(&self, bytes: usize) -> Result<Region> {
        Region::new(self.device.clone(), "spfe-region", bytes)
    }

    /// A port by number.
    ///
    /// # Errors
    /// NOT_FOUND if there is no such port.
    pub fn port(&self, number: u32) -> Result<Port> {
        let info = self.device.backend().port_info(number)?;
        Ok(Port { device: self.device.clone(), number, vcs: info.vcs, kind: info.kind })
    }

    /// States and counters of a port and its link, and the items of [`Port::mib`], by layer and name.
    ///
    /// # Errors
    /// NOT_FOUND if there is no such port.
    pub fn port_mib(&self, number: u32) -> Result<Vec<MibEntry>> {
        self.device.backend().port_mib(number)
    }

    /// Resets, configures or cuts a port's link.
    ///
    /// # Errors
    /// BAD_OPCODE if this kind of link does not support the command, NOT_FOUND for an unknown lane
    /// or virtual channel, BAD_FIELD for a value out of range.
    pub fn link_command(&self, number: u32, command: LinkCommand) -> Result<()> {
        self.device.backend().link_command(number, command)
    }

    /// Sets whether queues opened from now on measure the processor time that the engine takes in
    /// their threads. Measuring takes samples and costs a few percent.
    pub fn measure_engine(&self, on: bool) {
        self.device.measure_engine(on);
    }

    /// Resets the queues and regions of this client: queues stop, pending submissions complete with
    /// DEVICE_RESET, regions are revoked. Queues and regions must be opened again.
    ///
    /// # Errors
    /// BUSY if a queue cannot be stopped now.
    pub fn reset(&self) -> Result<()> {
        self.device.backend().reset()
    }

    /// Device time in ns, which completions are stamped with.
    pub fn now_ns(&self) -> u64 {
        self.device.backend().clock().now_ns()
    }

    /// A deadline after a duration, on the real or virtual clock of this endpoint.
    ///
    /// ```
    /// use spfe::{Endpoint, Threshold};
    /// use std::time::Duration;
    /// // Virtual time jumps to the deadline, so this does not take a minute.
    /// let endpoint = Endpoint::open("virtual:?time=virtual")?;
    /// let mut rx = endpoint.port(0)?.vc(0)?.rx()?;
    /// let deadline = endpoint.deadline_after(Duration::from_secs(60));
    /// assert!(rx.wait(&Threshold::ONE, deadline).unwrap_err().is_timeout());
    /// assert_eq!(endpoint.now_ns(), 60_000_000_000);
    /// # Ok::<(), spfe::Error>(())
    /// ```
    pub fn deadline_after(&self, duration: Duration) -> Deadline {
        Deadline::at_ns(self.now_ns().saturating_add(os::ns(duration)))
    }

    /// The clock of this endpoint. Threads that share a virtual clock must join it.
    pub fn clock(&self) -> &Clock {
        self.device.backend().clock()
    }
}

/// A network port of an endpoint.
#[derive(Clone)]
pub struct Port {
    device: Arc<Device>,
    number: u32,
    vcs: u32,
    kind: PortKind,
}

impl Port {
    /// Number of the port.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// SpaceFibre or SpaceWire.
    pub fn kind(&self) -> PortKind {
        self.kind
    }

    /// The management information base of the port's link.
    pub fn mib(&self) -> Mib {
        Mib::new(self.device.clone(), self.number)
    }

    /// State, far end and counters of the port.
    ///
    /// # Errors
    /// DEVICE_GONE if the device is gone.
    pub fn info(&self) -> Result<PortInfo> {
        self.device.backend().port_info(self.number)
    }

    /// A virtual channel by number. SpaceWire ports have only VC 0.
    ///
    /// # Errors
    /// BAD_VC if the port has no such channel.
    pub fn vc(&self, number: u32) -> Result<Vc> {
        if number >= self.vcs {
            let what = format!("VC {number}: port {} has VCs 0 to {}", self.number, self.vcs - 1);
            return Err(Error::device(Status::BadVc, what));
        }
        Ok(Vc { device: self.device.clone(), port: self.number, number })
    }

    /// Opens the broadcast messages of a SpaceFibre port.
    ///
    /// # Errors
    /// BAD_OPCODE for a SpaceWire port, NO_RESOURCES if the port has no free message queue.
    pub fn broadcast(&self) -> Result<Broadcast> {
        self.broadcast_with(MessageOptions::default())
    }

    /// Opens the broadcast messages of a SpaceFibre port and receives only those of a channel or type.
    ///
    /// # Errors
    /// Those of [`Port::broadcast`].
    pub fn broadcast_filtered(&self, channel: Option<u8>, kind: Option<u8>) -> Result<Broadcast> {
        self.broadcast_with(MessageOptions { channel, kind, ..MessageOptions::default() })
    }

    /// Opens the broadcast messages of a SpaceFibre port with a filter and queue options.
    ///
    /// # Errors
    /// Those of [`Port::broadcast`].
    pub fn broadcast_with(&self, options: MessageOptions) -> Result<Broadcast> {
        self.speaks(PortKind::Spacefibre, "broadcast messages")?;
        Broadcast::open(self.device.clone(), self.number, &options)
    }

    /// Opens the time-codes of a SpaceWire port.
    ///
    /// # Errors
    /// BAD_OPCODE for a SpaceFibre port, NO_RESOURCES if the port has no free message queue.
    pub fn time_code(&self) -> Result<TimeCode> {
        self.time_code_with(MessageOptions::default().queue)
    }

    /// Opens the time-codes of a SpaceWire port with queue options.
    ///
    /// # Errors
    /// Those of [`Port::time_code`].
    pub fn time_code_with(&self, options: QueueOptions) -> Result<TimeCode> {
        self.speaks(PortKind::Spacewire, "time-codes")?;
        TimeCode::open(self.device.clone(), self.number, &options)
    }

    /// Opens the distributed interrupts of a SpaceWire port.
    ///
    /// # Errors
    /// Those of [`Port::time_code`]; BAD_FIELD if the device has no interrupts (capability
    /// INTERRUPTS): they are time-codes with flags 2 there.
    pub fn interrupts(&self) -> Result<InterruptCodes> {
        self.interrupts_with(MessageOptions::default().queue)
    }

    /// Opens the distributed interrupts of a SpaceWire port with queue options.
    ///
    /// # Errors
    /// Those of [`Port::interrupts`].
    pub fn interrupts_with(&self, options: QueueOptions) -> Result<InterruptCodes> {
        self.speaks(PortKind::Spacewire, "interrupts")?;
        InterruptCodes::open(self.device.clone(), self.number, &options)
    }

    fn speaks(&self, kind: PortKind, what: &str) -> Result<()> {
        if self.kind() == kind {
            return Ok(());
        }
        let what = format!("port {} speaks {}: no {what}", self.number, self.kind().name());
        Err(Error::device(Status::BadOpcode, what))
    }
}

/// A virtual channel of a port.
#[derive(Clone)]
pub struct Vc {
    device: Arc<Device>,
    port: u32,
    number: u32,
}

impl Vc {
    /// The device, and port and number.
    #[cfg(feature = "rdma")]
    pub(crate) fn place(&self) -> (&Arc<Device>, u32, u32) {
        (&self.device, self.port, self.number)
    }

    /// Number of the port.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Sets the transmit priority: 0, the most urgent, to 15 (ECSS-E-ST-50-11C 5.7.4). An exact link
    /// ignores it while the channel exceeds its bandwidth reservation, which is 10 % for VC 0 and
    /// 0.39 % for the others after reset; [`Endpoint::link_command`] sets the reservation.
    ///
    /// # Errors
    /// BAD_VC for a priority over 15.
    pub fn set_priority(&self, priority: u8) -> Result<()> {
        self.device.backend().set_priority(self.port, self.number, priority)
    }

    /// Opens the transmit end with 1024 entries.
    ///
    /// # Errors
    /// BUSY if another client has it open; the message names the client.
    pub fn tx(&self) -> Result<Tx> {
        self.tx_with(QueueOptions::default())
    }

    /// Opens the transmit end with options.
    ///
    /// # Errors
    /// Those of [`Vc::tx`].
    pub fn tx_with(&self, options: QueueOptions) -> Result<Tx> {
        Tx::open(self.device.clone(), self.port, self.number, options)
    }

    /// Opens the receive end for up to 1024 posted buffers.
    ///
    /// # Errors
    /// BUSY if another client has it open; the message names the client.
    pub fn rx(&self) -> Result<Rx> {
        self.rx_with(QueueOptions::default())
    }

    /// Opens the receive end with options.
    ///
    /// # Errors
    /// Those of [`Vc::rx`].
    pub fn rx_with(&self, options: QueueOptions) -> Result<Rx> {
        Rx::open(self.device.clone(), self.port, self.number, options)
    }

    /// Opens the transmit end with its own buffers: reserve, fill, submit.
    ///
    /// # Errors
    /// Those of [`Vc::tx`].
    pub fn tx_pooled(&self, options: PoolOptions) -> Result<PooledTx> {
        PooledTx::open(self.device.clone(), self.port, self.number, options)
    }

    /// Opens the receive end with its own buffers: peek, use, release.
    ///
    /// # Errors
    /// Those of [`Vc::rx`].
    pub fn rx_pooled(&self, options: PoolOptions) -> Result<PooledRx> {
        PooledRx::open(self.device.clone(), self.port, self.number, options)
    }

    /// Opens the receive end with a packed area, which costs least for small packets.
    ///
    /// # Errors
    /// Those of [`Vc::rx`].
    pub fn rx_packed(&self, options: PackedOptions) -> Result<PackedRx> {
        PackedRx::open(self.device.clone(), self.port, self.number, options)
    }
}
