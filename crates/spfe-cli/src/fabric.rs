//! `spfe fabric`: IP and raw transfers over a virtual PCIe fabric.

mod change;
mod node;
mod perf;
mod raw;
mod show;
mod space;
mod up;
mod vxrun;

use crate::context::Context;
use crate::error::{Failure, Kind};
use clap::{Args, Subcommand};
use spfe_contract::Status;
use spfe_fabric::client::FabricClient;
use spfe_fabric::node::default_socket;
use spfe_fabric::topology::{FabricTopology, NodeNumber, PRESETS};
use spfe_fabric::wire::FabricError;
use std::path::PathBuf;

/// Run a virtual PCIe fabric: nodes on a backplane that reach each other by IP and by memory.
#[derive(Clone, Debug, Subcommand)]
pub enum FabricArgs {
    Up(up::UpArgs),
    Node(node::NodeArgs),
    Status(show::StatusArgs),
    Watch(show::WatchArgs),
    Counters(show::CountersArgs),
    Topo(show::TopoArgs),
    /// Print the addresses of the nodes as lines for /etc/hosts: node1, node2 and so on.
    Hosts(FabricSocket),
    Exec(space::ExecArgs),
    Run(vxrun::RunArgs),
    Change(change::ChangeArgs),
    Raw(raw::RawArgs),
    Perf(perf::FabricPerfArgs),
    /// End the fabric: its nodes end, too.
    Down(FabricSocket),
}

/// The socket of a fabric.
#[derive(Clone, Debug, Args)]
pub struct FabricSocket {
    /// Socket of the fabric [default: $SPFE_FABRIC, $XDG_RUNTIME_DIR/spfe-fabric.sock,
    /// /run/spfe-fabric.sock].
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
}

impl FabricSocket {
    /// Its path.
    pub fn path(&self) -> PathBuf {
        self.socket.clone().unwrap_or_else(default_socket)
    }

    /// Connects to it.
    pub fn connect(&self) -> Result<FabricClient, Failure> {
        Ok(FabricClient::connect(&self.path())?)
    }
}

/// Runs `spfe fabric`.
pub fn run(args: &FabricArgs, context: &Context) -> Result<(), Failure> {
    match args {
        FabricArgs::Up(args) => up::run(args, context),
        FabricArgs::Node(args) => node::run(args, context),
        FabricArgs::Status(args) => show::status(args, context),
        FabricArgs::Watch(args) => show::watch(args, context),
        FabricArgs::Counters(args) => show::counters(args, context),
        FabricArgs::Topo(args) => show::topo(args, context),
        FabricArgs::Hosts(socket) => show::hosts(socket),
        FabricArgs::Exec(args) => space::exec(args),
        FabricArgs::Run(args) => vxrun::run(args),
        FabricArgs::Change(args) => change::run(args, context),
        FabricArgs::Raw(args) => raw::run(args, context),
        FabricArgs::Perf(args) => perf::run(args, context),
        FabricArgs::Down(socket) => {
            socket.connect()?.call(&spfe_fabric::wire::FabricRequest::Down, &[])?;
            Ok(())
        }
    }
}

impl From<FabricError> for Failure {
    fn from(error: FabricError) -> Self {
        let kind = match error.status {
            Status::NotFound | Status::DeviceGone => Kind::NotThere,
            Status::BadField => Kind::Usage,
            _ => Kind::Failed,
        };
        Self::new(kind, error.to_string())
    }
}

/// The topology in a file, or the preset with this name.
pub fn topology(name: &str) -> Result<FabricTopology, Failure> {
    if let Some(topology) = FabricTopology::preset(name) {
        return Ok(topology);
    }
    let text = std::fs::read_to_string(name).map_err(|error| {
        let presets: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        let what =
            format!("topology '{name}': {error}; name a file, or one of {}", presets.join(", "));
        if error.kind() == std::io::ErrorKind::NotFound {
            Failure::usage(what)
        } else {
            Failure::failed(what)
        }
    })?;
    FabricTopology::parse(&text)
        .map_err(|error| Failure::usage(format!("topology '{name}': {error}")))
}

/// Parses a node: its number, or slot and CPU as in `4A`.
pub fn node_number(text: &str) -> Result<NodeNumber, String> {
    let number = text.parse().ok().map(NodeNumber).filter(|node| node.index().is_some());
    number.or_else(|| NodeNumber::from_name(text)).ok_or_else(|| {
        format!("'{text}' is no node: use its number (1 to 64), or slot and CPU such as 4A")
    })
}
