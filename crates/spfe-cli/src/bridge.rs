//! `spfe bridge`: lets programs that speak the field's protocols over TCP and UDP reach a port.

mod ccsds;
mod session;
pub mod ssdtp2;

use crate::context::{Context, DeviceArg};
use crate::error::Failure;
use crate::signal;
use clap::{Args, Subcommand};
use serde_json::json;
use session::{Place, Session};
use std::io::ErrorKind;
use std::net::{TcpListener, ToSocketAddrs};
use std::time::Duration;

const AFTER: &str = "\
A client connects with TCP, as to a SpaceWire-to-Ethernet adapter, and sends and receives packets \
with their address bytes, and time-codes on a SpaceWire port. One packet of the client is one packet \
of the link, of any length. One client at a time has the virtual channel; the next one waits.

    spfed --listen /tmp/spfe.sock --topology rmap:1M:key=0x20 &
    spfe bridge ssdtp2 unix:/tmp/spfe.sock &
    your-rmap-program localhost 10030

Whoever can connect can use the port: listen on another address than 127.0.0.1 in a closed network \
only.";

/// Let programs that speak another protocol reach a port.
#[derive(Clone, Debug, Subcommand)]
pub enum BridgeArgs {
    Ssdtp2(Ssdtp2Args),
    Ccsds(ccsds::CcsdsArgs),
}

/// Serve SSDTP2, the TCP protocol of SpaceWire-to-Ethernet adapters and RMAP host libraries.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = AFTER)]
pub struct Ssdtp2Args {
    #[command(flatten)]
    pub device: DeviceArg,
    /// Port.
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u32,
    /// Virtual channel.
    #[arg(long, value_name = "N", default_value_t = 0)]
    vc: u32,
    /// Address and TCP port to listen on; port 0 for any free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:10030")]
    listen: String,
    /// End after the first client.
    #[arg(long)]
    once: bool,
}

impl BridgeArgs {
    /// The device.
    pub fn device(&self) -> &DeviceArg {
        match self {
            Self::Ssdtp2(args) => &args.device,
            Self::Ccsds(args) => &args.device,
        }
    }
}

/// How often a wait for clients looks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// Runs `spfe bridge`.
pub fn run(args: &BridgeArgs, context: &Context) -> Result<(), Failure> {
    match args {
        BridgeArgs::Ssdtp2(args) => serve(args, context),
        BridgeArgs::Ccsds(args) => ccsds::run(args, context),
    }
}

/// Serves clients one after the other.
fn serve(args: &Ssdtp2Args, context: &Context) -> Result<(), Failure> {
    let endpoint = context.open()?;
    let place = Place::new(&endpoint, args.port, args.vc)?;
    let listener = listen(&args.listen)?;
    let address = listener.local_addr().map_err(|error| Failure::io(&args.listen, &error))?;
    if context.json {
        println!("{}", json!({ "listening": address.to_string() }));
    } else {
        println!("listening on {address}");
    }
    loop {
        let (stream, client) = match listener.accept() {
            Ok(accepted) => accepted,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if !signal::sleep(LOOK) {
                    return Ok(());
                }
                continue;
            }
            // A client that has gone away again, or too many open files: the next may be served.
            Err(error) => {
                context.say(&format!("{address}: no client accepted: {error}"));
                if !signal::sleep(LOOK) {
                    return Ok(());
                }
                continue;
            }
        };
        context.say(&format!("{client} connected"));
        let served = Session::open(&place, stream).and_then(Session::run);
        match &served {
            Ok(counts) => context.say(&format!("{client} has gone: {counts}")),
            Err(failure) => context.say(&format!("{client}: {}", failure.what)),
        }
        if signal::caught() {
            return Ok(());
        }
        if args.once {
            return served.map(drop);
        }
        // Clients come and go; a device that is gone does not come back.
        endpoint.port(args.port)?.info()?;
    }
}

fn listen(place: &str) -> Result<TcpListener, Failure> {
    let wrong =
        |error| Failure::usage(format!("--listen {place}: {error}; an example is 127.0.0.1:10030"));
    let addresses: Vec<_> = place.to_socket_addrs().map_err(wrong)?.collect();
    let listener = TcpListener::bind(&addresses[..])
        .map_err(|error| Failure::io(format_args!("--listen {place}"), &error))?;
    listener.set_nonblocking(true).map_err(|error| Failure::io(place, &error))?;
    Ok(listener)
}
