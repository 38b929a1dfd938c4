//! `spfe ping --respond`: the echo. It sends packets back from the buffers that received them.

use super::PingArgs;
use crate::context::{Context, Patience, Role};
use crate::error::{Failure, Kind};
use serde_json::json;
use spfe::{Buf, End, Endpoint, Error, QueueOptions, Received, Rx, Status, Threshold, Tx};

/// Default length of the buffers, bytes. Longer packets are sent back in parts.
const DEFAULT_BUFFER_BYTES: usize = 64 << 10;
/// Largest number of buffers; fewer if they exceed `MEMORY` bytes.
const BUFFERS: usize = 256;
const MEMORY: usize = 64 << 20;

/// Answers `--count` packets, or until interrupted.
pub fn run(args: &PingArgs, context: &Context) -> Result<(), Failure> {
    let endpoint = context.open_shared(args.port, Role::Serve)?;
    let mut echo = Echo::open(&endpoint, args)?;
    context.say(&format!("echo on port {} VC {}", args.port, args.vc));
    let outcome = echo.answer(args.count.unwrap_or(0));
    let (packets, bytes) = (echo.packets, echo.bytes);
    if context.json {
        println!("{}", json!({ "packets": packets, "bytes": bytes }));
    } else {
        println!("{packets} packets, {bytes} bytes sent back");
    }
    match outcome {
        Err(failure) if failure.kind == Kind::Interrupted && args.count.unwrap_or(0) == 0 => Ok(()),
        outcome => outcome,
    }
}

/// Starts an echo in a thread, which ends with the process.
pub fn start(endpoint: &Endpoint, args: &PingArgs) -> Result<(), Failure> {
    let mut echo = Echo::open(endpoint, args)?;
    let name = "echo".to_owned();
    let thread = std::thread::Builder::new().name(name).spawn(move || {
        // The other end notices that no answer comes.
        let _ = echo.answer(0);
    });
    thread.map(drop).map_err(|error| Failure::from(Error::io("thread of the echo", error)))
}

struct Echo {
    tx: Tx,
    rx: Rx,
    patience: Patience,
    used: Vec<Buf>,
    /// Bytes before each packet sent back.
    address: Vec<u8>,
    /// A part of a packet has been sent back.
    inside: bool,
    packets: u64,
    bytes: u64,
}

impl Echo {
    fn open(endpoint: &Endpoint, args: &PingArgs) -> Result<Self, Failure> {
        let size = args.size.unwrap_or(DEFAULT_BUFFER_BYTES);
        let stride = size.next_multiple_of(64);
        let count = (MEMORY / stride).clamp(2, BUFFERS);
        let memory = endpoint.alloc(stride * count)?;
        let cut = |index| memory.buf(index * stride..index * stride + size);
        let mut bufs = (0..count).map(cut).collect::<spfe::Result<Vec<_>>>()?;
        let vc = endpoint.port(args.port)?.vc(args.vc)?;
        let options = QueueOptions::default().depth(2 * BUFFERS as u32);
        let (mut rx, tx) = (vc.rx_with(options)?, vc.tx_with(options)?);
        rx.post_all(&mut bufs);
        let patience = Patience::new(endpoint, args.deadline);
        Ok(Self {
            tx,
            rx,
            patience,
            used: bufs,
            address: args.address.bytes(),
            inside: false,
            packets: 0,
            bytes: 0,
        })
    }

    fn answer(&mut self, count: u64) -> Result<(), Failure> {
        while count == 0 || self.packets < count {
            let (rx, goal) = (&mut self.rx, Threshold::ONE);
            self.patience.wait("no packet", |until| rx.wait(&goal, until))?;
            self.patience.renew();
            while let Some(received) = self.rx.poll() {
                self.send_back(received)?;
            }
            self.reclaim()?;
            self.rx.post_all(&mut self.used);
            if self.rx.posted_buffers() == 0 {
                // All buffers are outstanding.
                let tx = &mut self.tx;
                self.patience.wait("no packet was taken back", |until| tx.wait(until))?;
                self.reclaim()?;
                self.rx.post_all(&mut self.used);
            }
        }
        while self.tx.outstanding() != 0 {
            let tx = &mut self.tx;
            self.patience.wait("no packet was taken back", |until| tx.wait(until))?;
            self.reclaim()?;
        }
        Ok(())
    }

    fn send_back(&mut self, received: Received) -> Result<(), Failure> {
        let Received { mut buf, end, status, .. } = received;
        if !matches!(status, Status::Ok | Status::PacketCut) {
            let what = format!("a buffer was not used: {}", status.doc());
            return Err(Error::device(status, what).into());
        }
        if buf.is_empty() && !self.inside {
            self.used.push(buf);
            return Ok(());
        }
        self.bytes += buf.len() as u64;
        self.packets += u64::from(end != End::More);
        self.inside = end == End::More;
        if buf.is_empty() {
            // The last part of a cut packet may be empty, but an entry may not; send one byte and EEP.
            buf.put(&[0]);
        }
        if !self.address.is_empty() {
            if end != End::Eop || self.inside {
                let what =
                    "with an address the echo sends back whole packets only: use a larger --size";
                return Err(Failure::usage(what));
            }
            let mut batch = self.tx.batch();
            batch.push_with_path(&self.address, buf).map_err(Error::from)?;
            batch.submit();
            return Ok(());
        }
        // The queue has room for all buffers, and for as many addresses.
        Ok(self.tx.send_ending(buf, end).map_err(Error::from)?)
    }

    fn reclaim(&mut self) -> Result<(), Failure> {
        while let Some(sent) = self.tx.poll() {
            // The sender may have gone; the echo goes on.
            if !matches!(sent.status, Status::Ok | Status::PeerGone) {
                let what = format!("a packet was not sent back: {}", sent.status.doc());
                return Err(Error::device(sent.status, what).into());
            }
        }
        while let Some(buf) = self.tx.take() {
            self.used.push(buf);
        }
        Ok(())
    }
}
