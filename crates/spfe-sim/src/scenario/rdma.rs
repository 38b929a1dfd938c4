//! RDMA of a scenario: work requests of one queue pair (docs/rdma.md).

use super::port::{Addressing, PortName};
use super::traffic::{self, PacketSize, TrafficStream};
use super::units::Time;
use serde::Deserialize;

/// Kind of an RDMA operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RdmaOperation {
    /// Writes to remote memory.
    Write,
    /// Reads remote memory.
    Read,
    /// Sends messages.
    Send,
    /// Adds 1 to 8 bytes of remote memory.
    Atomic,
}

impl RdmaOperation {
    /// Its name in a file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
            Self::Send => "send",
            Self::Atomic => "atomic",
        }
    }

    /// Whether it changes remote memory at its address.
    pub const fn changes_memory(self) -> bool {
        matches!(self, Self::Write | Self::Atomic)
    }
}

/// RDMA operations of one queue pair.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "WrittenRdma")]
pub struct RdmaTraffic {
    /// Name, ports, route, virtual channel, sizes and times, as of a stream of packets.
    pub stream: TrafficStream,
    /// What the operations do.
    pub operation: RdmaOperation,
    /// Region of the target; `None` for its first one.
    pub region: Option<String>,
    /// Address in the region; `None` for that of its first byte.
    pub address: Option<u64>,
    /// Remote key; `None` for that of the region.
    pub key: Option<u32>,
    /// How responses are addressed: by a path, or by the initiator's logical address.
    pub reply_route: Addressing,
    /// Number of operations that are posted together.
    pub group: u16,
    /// Maximum number of operations that have not completed.
    pub outstanding: u16,
    /// Time without progress after which a message is repeated.
    pub timeout: Time,
    /// Number of repetitions.
    pub retries: u8,
    /// Number of receive buffers for messages.
    pub buffers: u16,
}

impl RdmaTraffic {
    /// Bytes of the memory that its operations use from their address on: a place for each
    /// outstanding operation.
    pub fn span(&self) -> u64 {
        match self.operation {
            RdmaOperation::Atomic => 8,
            RdmaOperation::Send => 0,
            _ => u64::from(self.outstanding).saturating_mul(self.stream.size.range().1),
        }
    }

    /// The port of the target.
    pub fn to(&self) -> Option<&PortName> {
        self.stream.to.first()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct WrittenRdma {
    name: String,
    from: PortName,
    to: PortName,
    operation: RdmaOperation,
    region: Option<String>,
    address: Option<u64>,
    key: Option<u32>,
    #[serde(default)]
    route: Addressing,
    #[serde(default)]
    reply_route: Addressing,
    #[serde(default)]
    vc: u8,
    size: Option<PacketSize>,
    rate: Option<String>,
    period: Option<Time>,
    jitter: Option<Time>,
    burst: Option<u32>,
    #[serde(default = "one")]
    group: u16,
    outstanding: Option<u16>,
    timeout: Option<Time>,
    retries: Option<u8>,
    buffers: Option<u16>,
    #[serde(default)]
    start: Time,
    stop: Option<Time>,
    count: Option<u64>,
}

const fn one() -> u16 {
    1
}

impl TryFrom<WrittenRdma> for RdmaTraffic {
    type Error = String;

    fn try_from(of: WrittenRdma) -> Result<Self, String> {
        let object = format!("rdma '{}'", of.name);
        let pace = traffic::pace(&object, of.rate.as_deref(), of.period, of.jitter, of.burst)?;
        let stream = TrafficStream {
            name: of.name,
            from: of.from,
            to: vec![of.to],
            route: of.route,
            vc: of.vc,
            size: of.size.unwrap_or(PacketSize::Fixed(8)),
            pace,
            continuous: false,
            start: of.start,
            stop: of.stop,
            count: of.count,
        };
        Ok(Self {
            stream,
            operation: of.operation,
            region: of.region,
            address: of.address,
            key: of.key,
            reply_route: of.reply_route,
            group: of.group,
            outstanding: of.outstanding.unwrap_or(of.group),
            timeout: of.timeout.unwrap_or(Time(crate::time::MS)),
            retries: of.retries.unwrap_or(3),
            buffers: of.buffers.unwrap_or(16),
        })
    }
}
