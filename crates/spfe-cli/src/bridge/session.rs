//! One client: its packets go to a transmit queue, those of a receive queue to it.

use super::ssdtp2::{HEADER, Header, Kind};
use crate::error::Failure;
use crate::signal;
use spfe::{
    Buf, Canceller, Deadline, End, Endpoint, Port, PortKind, Received, Rx, Status, TimeCode, Tx, Vc,
};
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Buffers in each direction, and the size of one. Longer packets take several.
const BUFFERS: usize = 32;
const BYTES: usize = 64 << 10;
/// How often waits look for signals.
const LOOK: Duration = Duration::from_millis(100);
/// How long the last packets of a client that has gone may take.
const LINGER: Duration = Duration::from_secs(10);
/// How often the receiving thread runs the instruments of a network in this process, which answer
/// packets that the other thread has sent.
const RUN: Duration = Duration::from_millis(1);

/// The virtual channel that clients use.
pub struct Place {
    endpoint: Endpoint,
    port: Port,
    vc: Vc,
}

impl Place {
    /// Finds a virtual channel.
    pub fn new(endpoint: &Endpoint, port: u32, vc: u32) -> Result<Self, Failure> {
        let port = endpoint.port(port)?;
        let vc = port.vc(vc)?;
        Ok(Self { endpoint: endpoint.clone(), port, vc })
    }
}

/// What went through.
#[derive(Debug, Default)]
pub struct Counts {
    sent: AtomicU64,
    received: AtomicU64,
    lost: u64,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        write!(f, "{} packets from it, {} to it", of(&self.sent), of(&self.received))?;
        match self.lost {
            0 => Ok(()),
            lost => write!(f, ", {lost} that the network did not take"),
        }
    }
}

/// The queues and the socket of a client.
pub struct Session {
    stream: TcpStream,
    tx: Sender,
    rx: Rx,
    spare: Vec<Buf>,
    /// The network is in this process.
    embedded: bool,
    /// Time-codes, on a SpaceWire port: one queue for each direction, because each has a thread.
    codes: Option<(TimeCode, TimeCode)>,
}

/// Sends a packet piece by piece. The last piece is held back until it is known how the packet ends.
struct Sender {
    tx: Tx,
    free: Vec<Buf>,
    held: Option<Buf>,
    /// Packets that were not sent.
    lost: u64,
}

impl Sender {
    /// A free buffer, as soon as one has been sent.
    fn buffer(&mut self) -> Result<Buf, Failure> {
        loop {
            if let Some(buf) = self.free.pop() {
                return Ok(buf);
            }
            match self.tx.wait(Deadline::after(LOOK)) {
                Err(error) if error.is_timeout() && !signal::caught() => {}
                Err(error) if error.is_timeout() => return Err(Failure::interrupted()),
                Err(error) => return Err(error.into()),
                Ok(_) => {}
            }
            self.collect();
        }
    }

    fn collect(&mut self) {
        while let Some(sent) = self.tx.poll() {
            self.lost += u64::from(sent.status != Status::Ok);
        }
        while let Some(buf) = self.tx.take() {
            self.free.push(buf);
        }
    }

    /// Waits until everything has been sent, for a receiver that is slow.
    fn drain(&mut self) -> Result<(), Failure> {
        let end = Instant::now() + LINGER;
        self.collect();
        while self.tx.outstanding() != 0 {
            match self.tx.wait(Deadline::after(LOOK)) {
                Err(error) if error.is_timeout() => {}
                Err(error) => return Err(error.into()),
                Ok(_) => {}
            }
            self.collect();
            if signal::caught() || Instant::now() > end {
                let what = "the receiver did not take the last packets of the client";
                return Err(Failure::timed_out(what));
            }
        }
        Ok(())
    }

    /// Adds a piece to the packet.
    fn add(&mut self, piece: Buf) -> Result<(), Failure> {
        self.flush(End::More)?;
        self.held = Some(piece);
        Ok(())
    }

    /// Sends the piece that was held back. The queue has more entries than there are buffers.
    fn flush(&mut self, end: End) -> Result<(), Failure> {
        match self.held.take() {
            Some(piece) => Ok(self.tx.send_ending(piece, end).map_err(spfe::Error::from)?),
            None => Ok(()),
        }
    }
}

impl Session {
    /// Opens the queues for a client.
    pub fn open(place: &Place, stream: TcpStream) -> Result<Self, Failure> {
        let prepare = || {
            stream.set_nonblocking(false)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(LOOK))
        };
        prepare().map_err(|error| Failure::io("connection", &error))?;
        let memory = place.endpoint.alloc(2 * BUFFERS * BYTES)?;
        let mut free = memory.split(BYTES, 2 * BUFFERS)?;
        let mut posted = free.split_off(BUFFERS);
        let tx = Sender { tx: place.vc.tx()?, free, held: None, lost: 0 };
        let mut rx = place.vc.rx()?;
        rx.post_all(&mut posted);
        let codes = match place.port.kind() {
            PortKind::Spacewire => Some((place.port.time_code()?, place.port.time_code()?)),
            _ => None,
        };
        let embedded = place.endpoint.embedded().is_some();
        Ok(Self { stream, tx, rx, spare: posted, embedded, codes })
    }

    /// Serves the client until it goes, or a signal arrives.
    pub fn run(self) -> Result<Counts, Failure> {
        let Self { stream, mut tx, mut rx, spare, embedded, codes } = self;
        let mut counts = Counts::default();
        let (mut out_codes, mut in_codes) = codes.unzip();
        let cancel: Vec<Canceller> =
            [Some(rx.canceller()), in_codes.as_mut().map(TimeCode::canceller)]
                .into_iter()
                .flatten()
                .collect();
        let over = AtomicBool::new(false);
        let client = Client { stream: &stream, writer: Mutex::new(()), over: &over };
        let outcome = std::thread::scope(|scope| {
            let out = scope.spawn(|| client.forward(&mut rx, spare, embedded, &counts));
            let codes = in_codes.as_mut().map(|codes| scope.spawn(|| client.forward_codes(codes)));
            let outcome = client.take(&mut tx, out_codes.as_mut(), &counts);
            over.store(true, Ordering::Relaxed);
            // Ends writes to a client that reads nothing, and waits for packets.
            let _ = stream.shutdown(Shutdown::Both);
            cancel.iter().for_each(Canceller::cancel);
            let out = out.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            if let Some(codes) = codes {
                codes.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            }
            outcome.and(out)
        });
        // A client that was cut off in a packet: its receiver learns that the packet is incomplete.
        tx.flush(End::Eep)?;
        tx.drain()?;
        counts.lost = tx.lost;
        outcome.map(|()| counts)
    }
}

/// The socket, for the threads of a session.
struct Client<'a> {
    stream: &'a TcpStream,
    /// Messages are written whole.
    writer: Mutex<()>,
    over: &'a AtomicBool,
}

impl Client<'_> {
    /// Reads all of `place`. False at the end of the stream, and at a signal.
    fn fill(&self, place: &mut [u8]) -> io::Result<bool> {
        let mut filled = 0;
        while filled < place.len() {
            if signal::caught() || self.over.load(Ordering::Relaxed) {
                return Ok(false);
            }
            let mut stream = self.stream;
            match stream.read(&mut place[filled..]) {
                Ok(0) => return Ok(false),
                Ok(count) => filled += count,
                Err(error) if is_pause(&error) => {}
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Takes messages of the client until it goes.
    fn take(
        &self,
        tx: &mut Sender,
        mut codes: Option<&mut TimeCode>,
        counts: &Counts,
    ) -> Result<(), Failure> {
        let broken = |error| Failure::io("connection", &error);
        let mut header = [0; HEADER];
        while self.fill(&mut header).map_err(broken)? {
            let Header { kind, length } =
                Header::parse(&header).map_err(|refusal| Failure::damaged(refusal.to_string()))?;
            if matches!(kind, Kind::SendTimeCode | Kind::Rate) {
                let mut value = [0; 2];
                if !self.fill(&mut value).map_err(broken)? {
                    return Ok(());
                }
                // The rate is the network's own business.
                if kind == Kind::SendTimeCode
                    && let Some(codes) = &mut codes
                {
                    codes.send(value[0] & 0x3f, value[0] >> 6)?;
                }
                continue;
            }
            let mut left = length as usize;
            while left != 0 {
                let mut buf = tx.buffer()?;
                buf.set_len(left.min(buf.capacity()));
                if !self.fill(&mut buf).map_err(broken)? {
                    return Ok(());
                }
                left -= buf.len();
                tx.add(buf)?;
            }
            if kind != Kind::Part {
                // A packet without bytes does not exist on a link.
                counts.sent.fetch_add(u64::from(tx.held.is_some()), Ordering::Relaxed);
                tx.flush(if kind == Kind::Eep { End::Eep } else { End::Eop })?;
                tx.collect();
            }
        }
        Ok(())
    }

    /// Writes a message. False if the client has gone.
    fn write(&self, kind: Kind, body: &[u8]) -> bool {
        let _one = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut stream = self.stream;
        let header = Header { kind, length: body.len() as u64 }.encode();
        stream.write_all(&header).and_then(|()| stream.write_all(body)).is_ok()
    }

    /// Passes packets of the network to the client. A client that does not read holds up its senders.
    fn forward(
        &self,
        rx: &mut Rx,
        mut spare: Vec<Buf>,
        embedded: bool,
        counts: &Counts,
    ) -> Result<(), Failure> {
        loop {
            let end = if embedded { Deadline::after(RUN) } else { Deadline::NEVER };
            let received = match rx.recv(end) {
                Ok(received) => received,
                Err(error) if error.is_timeout() => continue,
                Err(error) if error.is_cancelled() => return Ok(()),
                Err(error) => {
                    self.end();
                    return Err(error.into());
                }
            };
            let Received { buf, end, status, .. } = received;
            let kind = match (end, status) {
                (End::More, _) => Kind::Part,
                (End::Eop, Status::Ok) => Kind::Eop,
                _ => Kind::Eep,
            };
            if !self.write(kind, &buf) {
                self.end();
                return Ok(());
            }
            counts.received.fetch_add(u64::from(kind != Kind::Part), Ordering::Relaxed);
            spare.push(buf);
            rx.post_all(&mut spare);
        }
    }

    /// Passes time-codes of the network to the client.
    fn forward_codes(&self, codes: &mut TimeCode) -> Result<(), Failure> {
        loop {
            match codes.recv(Deadline::NEVER) {
                Ok(code) => {
                    if !self.write(Kind::TimeCode, &[code.flags << 6 | code.time, 0]) {
                        self.end();
                        return Ok(());
                    }
                }
                Err(error) if error.is_cancelled() => return Ok(()),
                Err(error) => {
                    self.end();
                    return Err(error.into());
                }
            }
        }
    }

    /// Ends the thread that reads.
    fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// Whether a read ended without data, to look for signals.
fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
