//! `spfe bridge ccsds`: space packets between a port and UDP or TCP.
//!
//! A space packet is one datagram, or follows its predecessor in a stream, and is the cargo of one
//! packet of the link (ECSS-E-ST-50-53C). None is merged or split. What is no space packet is dropped
//! and counted.

use crate::address::AddressArgs;
use crate::context::{Context, DeviceArg};
use crate::error::Failure;
use crate::signal;
use clap::Args;
use serde_json::json;
use spfe::ccsds::{HEADER, SpacePacket, Transfer};
use spfe::{Deadline, PoolOptions, PooledRx, PooledTx, Status, Threshold, Vc};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

const AFTER: &str = "\
Telemetry goes from the link to --tm, telecommands from --tc to the link. udp:HOST:PORT sends to that \
address or receives there; tcp:ADDRESS:PORT listens, for one client at a time. With Yamcs, for its \
links UdpTmDataLink and TcpTcDataLink:

    spfe bridge ccsds unix:/tmp/spfe.sock/0 --tm udp:127.0.0.1:10015 --tc tcp:127.0.0.1:10025

A client that does not read holds up the link: no packet is lost there. Datagrams may be lost, as \
always with UDP. Whoever can reach the addresses can use the port.";

/// Bytes of the primary header of a space packet, and of the longest packet (CCSDS 133.0-B 4.1).
const PRIMARY_HEADER: usize = 6;
const PACKET_MAX: usize = 65_542;
/// Packets that wait in each direction.
const SLOTS: u32 = 32;
/// Most bytes of a path, a logical address and the header of the transfer protocol.
const FRONT: usize = 64 + HEADER;
/// How often waits look for signals.
const LOOK: Duration = Duration::from_millis(50);

/// Pass CCSDS space packets between a port and UDP or TCP, for ground systems.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = AFTER)]
pub struct CcsdsArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// Port.
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u32,
    /// Virtual channel.
    #[arg(long, value_name = "N", default_value_t = 0)]
    vc: u32,
    /// Where telemetry goes: udp:HOST:PORT, or tcp:ADDRESS:PORT to listen on.
    #[arg(long, value_name = "PLACE", required_unless_present = "tc")]
    tm: Option<String>,
    /// Where telecommands come from: udp:ADDRESS:PORT or tcp:ADDRESS:PORT to listen on.
    #[arg(long, value_name = "PLACE")]
    tc: Option<String>,
    #[command(flatten)]
    address: AddressArgs,
    /// The byte of the transfer protocol that the mission defines.
    #[arg(long, value_name = "BYTE", default_value_t = 0)]
    user_application: u8,
}

/// What went through.
#[derive(Default)]
struct Counts {
    telemetry: AtomicU64,
    telecommands: AtomicU64,
    /// What was no space packet, in either direction, and what the network did not take.
    dropped: AtomicU64,
}

/// One side of the bridge outside of the network.
enum Place {
    Datagrams(UdpSocket),
    Stream { listener: TcpListener, client: Option<TcpStream> },
}

impl Place {
    /// Opens `udp:` or `tcp:` at an address. Datagrams are sent there with `sends`.
    fn open(text: &str, sends: bool) -> Result<Self, Failure> {
        let wrong = |why: &dyn std::fmt::Display| {
            Failure::usage(format!(
                "'{text}': {why}; examples are udp:127.0.0.1:10015 and \
                                    tcp:127.0.0.1:10025"
            ))
        };
        let open = |address: &str, datagrams: bool| -> io::Result<Self> {
            if !datagrams {
                let listener = TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                return Ok(Self::Stream { listener, client: None });
            }
            let socket = UdpSocket::bind(if sends { "0.0.0.0:0" } else { address })?;
            if sends {
                socket.connect(address)?;
            }
            socket.set_read_timeout(Some(LOOK))?;
            Ok(Self::Datagrams(socket))
        };
        let place = match text.split_once(':') {
            Some(("udp", address)) => open(address, true),
            Some(("tcp", address)) => open(address, false),
            _ => return Err(wrong(&"neither udp: nor tcp:")),
        };
        place.map_err(|error| wrong(&error))
    }

    /// The address that a peer uses.
    fn address(&self) -> String {
        let address = match self {
            Self::Datagrams(socket) => socket.peer_addr().or_else(|_| socket.local_addr()),
            Self::Stream { listener, .. } => listener.local_addr(),
        };
        address.map_or_else(|error| error.to_string(), |address| address.to_string())
    }

    /// The client, once there is one. `None` after a moment without.
    fn client(&mut self, context: &Context) -> Option<&TcpStream> {
        let Self::Stream { listener, client } = self else { return None };
        if client.is_none() {
            let accepted = listener.accept().and_then(|(stream, from)| {
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(LOOK))?;
                stream.set_write_timeout(Some(LOOK))?;
                context.say(&format!("{from} connected"));
                Ok(stream)
            });
            match accepted {
                Ok(stream) => *client = Some(stream),
                Err(_) => drop(signal::sleep(LOOK)),
            }
        }
        client.as_ref()
    }

    fn lose_client(&mut self, context: &Context) {
        if let Self::Stream { client, .. } = self {
            context.say("the client has gone");
            *client = None;
        }
    }
}

/// Whether a call ended without data, to look for signals.
fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// A running bridge.
struct Bridge<'a> {
    context: &'a Context,
    counts: Counts,
    over: AtomicBool,
}

impl Bridge<'_> {
    fn is_over(&self) -> bool {
        signal::caught() || self.over.load(Ordering::Relaxed)
    }

    /// Passes telemetry on until the end.
    fn telemetry(&self, mut rx: PooledRx, mut place: Place) -> Result<(), Failure> {
        while !self.is_over() {
            let Some(packet) = rx.peek() else {
                match rx.wait(&Threshold::ONE, Deadline::after(LOOK)) {
                    Err(error) if !error.is_timeout() => return Err(error.into()),
                    _ => continue,
                }
            };
            let whole = (packet.status == Status::Ok).then(|| packet.end.packet_end()).flatten();
            let transfer = whole.and_then(|end| Transfer::parse(packet.bytes, end).ok());
            match transfer.filter(|transfer| transfer.space_packet().is_ok()) {
                Some(transfer) => {
                    if !self.give(&mut place, transfer.cargo) {
                        return Ok(());
                    }
                    self.counts.telemetry.fetch_add(1, Ordering::Relaxed);
                }
                None => drop(self.counts.dropped.fetch_add(1, Ordering::Relaxed)),
            }
            rx.release();
        }
        Ok(())
    }

    /// Gives a packet to whoever takes telemetry. A client that goes in the middle of it did not get
    /// it: the next one gets it whole. False at the end of the bridge.
    fn give(&self, place: &mut Place, bytes: &[u8]) -> bool {
        if let Place::Datagrams(socket) = place {
            // Nobody may listen there at the moment.
            let _ = socket.send(bytes);
            return true;
        }
        let mut written = 0;
        while written < bytes.len() {
            if self.is_over() {
                return false;
            }
            let Some(mut client) = place.client(self.context) else { continue };
            match client.write(&bytes[written..]) {
                Ok(count) if count != 0 => written += count,
                Err(error) if is_pause(&error) => {}
                _ => {
                    place.lose_client(self.context);
                    written = 0;
                }
            }
        }
        true
    }

    /// Passes telecommands on until the end.
    fn telecommands(
        &self,
        mut tx: PooledTx,
        mut place: Place,
        args: &CcsdsArgs,
    ) -> Result<(), Failure> {
        let path = &args.address.path;
        let at = path.len() + HEADER;
        let target = args.address.logical.unwrap_or(254);
        let transfer = Transfer { target, user_application: args.user_application, cargo: &[] };
        while !self.is_over() {
            while let Some(sent) = tx.poll() {
                let lost = u64::from(sent.status != Status::Ok);
                self.counts.dropped.fetch_add(lost, Ordering::Relaxed);
            }
            let Some(slot) = tx.slot() else {
                match tx.wait(Deadline::after(LOOK)) {
                    Err(error) if !error.is_timeout() => return Err(error.into()),
                    _ => continue,
                }
            };
            let Some(length) = self.take(&mut place, &mut slot[at..]) else { continue };
            if SpacePacket::parse(&slot[at..at + length]).is_err() {
                self.counts.dropped.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            transfer.write(path, &mut slot[..at]).map_err(|error| {
                Failure::usage(format!("the path of {} bytes: {error}", path.len()))
            })?;
            tx.send(at + length)?;
            self.counts.telecommands.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Takes the next packet from outside. `None` after a moment without one.
    fn take(&self, place: &mut Place, room: &mut [u8]) -> Option<usize> {
        if let Place::Datagrams(socket) = place {
            return socket.recv(room).ok();
        }
        let client = place.client(self.context)?;
        let end = self.fill(client, room, 0, PRIMARY_HEADER).and_then(|()| {
            let declared = usize::from(u16::from_be_bytes([room[4], room[5]])) + 1;
            self.fill(client, room, PRIMARY_HEADER, declared).map(|()| PRIMARY_HEADER + declared)
        });
        match end {
            // Other versions than 0 may have another length: what follows cannot be found.
            Ok(length) if room[0] >> 5 == 0 => Some(length),
            Ok(_) => {
                self.counts.dropped.fetch_add(1, Ordering::Relaxed);
                place.lose_client(self.context);
                None
            }
            Err(_) => {
                place.lose_client(self.context);
                None
            }
        }
    }

    /// Reads bytes of a stream. Fails at its end, and at that of the bridge.
    fn fill(
        &self,
        mut client: &TcpStream,
        room: &mut [u8],
        from: usize,
        count: usize,
    ) -> io::Result<()> {
        let place = &mut room[from..from + count];
        let mut filled = 0;
        while filled < count {
            if self.is_over() {
                return Err(ErrorKind::Interrupted.into());
            }
            match client.read(&mut place[filled..]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(read) => filled += read,
                Err(error) if is_pause(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Runs `spfe bridge ccsds`.
pub fn run(args: &CcsdsArgs, context: &Context) -> Result<(), Failure> {
    let endpoint = context.open()?;
    let vc: Vc = endpoint.port(args.port)?.vc(args.vc)?;
    let place = |text: &Option<String>, sends| {
        text.as_deref().map(|text| Place::open(text, sends)).transpose()
    };
    let (tm, tc) = (place(&args.tm, true)?, place(&args.tc, false)?);
    let address = |place: &Option<Place>| place.as_ref().map(Place::address);
    if context.json {
        println!("{}", json!({ "tm": address(&tm), "tc": address(&tc) }));
    } else {
        for (name, place) in [("telemetry", address(&tm)), ("telecommands", address(&tc))] {
            place.into_iter().for_each(|place| println!("{name}: {place}"));
        }
    }
    let pool = PoolOptions::new(SLOTS, (FRONT + PACKET_MAX) as u32);
    let tm = tm.map(|place| Ok::<_, Failure>((vc.rx_pooled(pool)?, place))).transpose()?;
    let tc = tc.map(|place| Ok::<_, Failure>((vc.tx_pooled(pool)?, place))).transpose()?;
    let bridge = Bridge { context, counts: Counts::default(), over: AtomicBool::new(false) };
    let running = &bridge;
    let end = |outcome: Result<(), Failure>| {
        running.over.store(true, Ordering::Relaxed);
        outcome
    };
    let ended = std::thread::scope(|scope| {
        let down = tm.map(|(rx, place)| scope.spawn(move || end(running.telemetry(rx, place))));
        let up =
            tc.map(|(tx, place)| scope.spawn(move || end(running.telecommands(tx, place, args))));
        let mut outcome = Ok(());
        for thread in [down, up].into_iter().flatten() {
            let ended = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            outcome = outcome.and(ended);
        }
        outcome
    });
    let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let Counts { telemetry, telecommands, dropped } = &bridge.counts;
    context.say(&format!(
        "{} packets of telemetry, {} telecommands, {} dropped",
        of(telemetry),
        of(telecommands),
        of(dropped)
    ));
    ended
}
