//! `spfe send`: sends a file or standard input over a virtual channel.

mod source;

use crate::address::AddressArgs;
use crate::answers::Ear;
use crate::context::{Context, DeviceArg, Patience, Role};
use crate::error::Failure;
use crate::frame::{self, Header, Id, REPLY_MAX, Trailer};
use crate::transfer::{Meter, Totals, TransferArgs, check_file};
use crate::{output, parse, signal};
use clap::Args;
use sha2::{Digest, Sha256};
use source::Source;
use spfe::{Buf, Deadline, End, Endpoint, Error, Peer, Status, Tx};
use std::time::{Duration, Instant};

const AFTER: &str = "\
A file travels as a header packet (name, length), the bytes in packets of --packet bytes, and a \
trailer packet (length, SHA-256). Start the two ends in any order: the sender waits 30 seconds, or \
--deadline, for the receiver. Both print the SHA-256 in the form of sha256sum.

The receiver answers on the same virtual channel, and the sender succeeds only if the receiver has \
the whole file. In a network of routers the answers need a way back: --reply-path. With --raw or \
--no-ack, and to an instrument, packets are sent without answers: then a router may discard them \
unnoticed. A sender that gives up sends a packet that ends with EEP; the receiver then exits with 4.

Example, with a daemon started by `spfed --listen /tmp/spfe.sock`:
  spfe recv unix:/tmp/spfe.sock/1 copy.bin &
  spfe send unix:/tmp/spfe.sock/0 file.bin";

/// Time limit for the first answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// Interval between headers while no answer comes.
const REPEAT: Duration = Duration::from_secs(1);

/// Send a file or standard input.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = AFTER, allow_missing_positional = true)]
pub struct SendArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// File to send; - for standard input.
    #[arg(value_name = "FILE")]
    file: String,
    #[command(flatten)]
    transfer: TransferArgs,
    #[command(flatten)]
    address: AddressArgs,
    /// Address of the answers, seen from the receiver: path bytes, and a logical address.
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = parse::byte)]
    reply_path: Vec<u8>,
    /// Do not wait for answers of the receiver.
    #[arg(long)]
    no_ack: bool,
}

/// Runs `spfe send`.
pub fn run(args: &SendArgs, context: &Context) -> Result<(), Failure> {
    check_file(&args.file)?;
    let mut source = Source::open(&args.file)?;
    let endpoint = context.open_shared(args.transfer.port, Role::Send)?;
    let mut sender = Sender::open(&endpoint, args)?;
    match sender.send_file(args, &mut source, context) {
        Ok(totals) => {
            totals.report(&args.file, &args.transfer, context, "sent");
            Ok(())
        }
        Err(failure) => {
            sender.give_up();
            Err(failure)
        }
    }
}

/// The transmit queue with its buffers: free, filled for the next group, or outstanding.
struct Sender {
    tx: Tx,
    endpoint: Endpoint,
    patience: Patience,
    free: Vec<Buf>,
    ready: Vec<Buf>,
    packet: usize,
    group: usize,
    raw: bool,
    /// Bytes before each packet.
    address: Vec<u8>,
    id: Id,
    /// Answers of the receiver, if there are any.
    ear: Option<Ear>,
    answer_limit: Duration,
}

impl Sender {
    fn open(endpoint: &Endpoint, send: &SendArgs) -> Result<Self, Failure> {
        let (args, address) = (&send.transfer, send.address.bytes());
        if send.reply_path.len() > REPLY_MAX {
            let bytes = send.reply_path.len();
            let what = format!("--reply-path of {bytes} bytes: at most {REPLY_MAX} allowed");
            return Err(Failure::usage(what));
        }
        let free = args.buffers(endpoint, address.len())?;
        let vc = args.channel(endpoint)?;
        let tx = vc.tx_with(args.queue())?;
        let id = frame::random_id();
        let peer = endpoint.port(args.port)?.info()?.peer;
        let is_instrument = !matches!(peer, Peer::Port { .. } | Peer::None | Peer::Network);
        let is_answered = !args.raw && !send.no_ack && !is_instrument;
        let ear = is_answered.then(|| Ear::open(endpoint, &vc, id, args.deadline)).transpose()?;
        Ok(Self {
            address,
            id,
            ear,
            answer_limit: args.deadline.unwrap_or(ANSWER_LIMIT),
            tx,
            endpoint: endpoint.clone(),
            patience: Patience::new(endpoint, args.deadline),
            free,
            ready: Vec::with_capacity(args.group),
            packet: args.packet,
            group: args.group,
            raw: args.raw,
        })
    }

    fn send_file(
        &mut self,
        send: &SendArgs,
        source: &mut Source,
        context: &Context,
    ) -> Result<Totals, Failure> {
        let (mut hash, mut meter) = (Sha256::new(), Meter::new(&self.endpoint));
        self.send_header(source, &send.reply_path)?;
        self.await_ready(source, &send.reply_path)?;
        meter.start(source.length, context);
        loop {
            let mut buf = self.buffer()?;
            if source.would_block() {
                self.flush();
            }
            buf.put(&self.address);
            if !source.fill(&mut buf, self.address.len(), self.packet)? {
                self.free.push(buf);
                break;
            }
            let bytes = &buf[self.address.len()..];
            hash.update(bytes);
            meter.count(bytes.len(), true);
            self.ready.push(buf);
            if self.ready.len() == self.group {
                self.flush();
            }
        }
        let sha256 = hash.finalize().into();
        self.send_trailer(Trailer { id: self.id, length: meter.bytes, sha256 })?;
        self.flush();
        while self.tx.outstanding() != 0 {
            self.wait()?;
        }
        self.await_done()?;
        Ok(meter.finish(sha256))
    }

    fn send_header(&mut self, source: &Source, reply: &[u8]) -> Result<(), Failure> {
        if self.raw {
            return Ok(());
        }
        let reply = self.ear.as_ref().map(|_| reply.to_owned());
        let (length, name) = (source.length, source.name.clone());
        let header = Header { id: self.id, length, name, reply };
        let mut buf = self.buffer()?;
        buf.put(&[&self.address[..], &header.encode()].concat());
        self.ready.push(buf);
        self.flush();
        Ok(())
    }

    /// Waits for the receiver. Repeats the header if it has left: it may have been discarded.
    fn await_ready(&mut self, source: &Source, reply: &[u8]) -> Result<(), Failure> {
        let (start, mut sent) = (Instant::now(), Instant::now());
        while self.ear.as_ref().is_some_and(|ear| !ear.is_ready()) {
            self.listen()?;
            self.reclaim()?;
            if start.elapsed() > self.answer_limit {
                let limit = output::time(self.answer_limit.as_nanos() as u64);
                let what = if self.tx.outstanding() == 0 {
                    "the header has left, so a router may have discarded it (--path, --logical), or \
                     its answer has no way back (--reply-path); --no-ack sends without answers"
                } else {
                    "start `spfe recv` at the far end, or see `spfe link`"
                };
                let what = format!("no answer of a receiver for {limit}: {what}");
                return Err(Failure::timed_out(what));
            }
            if sent.elapsed() > REPEAT && self.tx.outstanding() == 0 {
                self.send_header(source, reply)?;
                sent = Instant::now();
            }
        }
        Ok(())
    }

    /// Waits until the receiver has the whole file.
    fn await_done(&mut self) -> Result<(), Failure> {
        while self.ear.as_ref().is_some_and(|ear| !ear.is_done()) {
            self.listen()?;
        }
        Ok(())
    }

    /// Takes answers for a short time.
    fn listen(&mut self) -> Result<(), Failure> {
        const SLICE_NS: u64 = 50_000_000;
        if signal::caught() {
            return Err(Failure::interrupted());
        }
        let until = Deadline::at_ns(self.endpoint.now_ns().saturating_add(SLICE_NS));
        self.ear.as_mut().map_or(Ok(()), |ear| ear.listen(until))
    }

    fn send_trailer(&mut self, trailer: Trailer) -> Result<(), Failure> {
        if self.raw {
            return Ok(());
        }
        let mut buf = self.buffer()?;
        buf.put(&[&self.address[..], &trailer.encode()].concat());
        self.ready.push(buf);
        Ok(())
    }

    /// Posts the filled buffers as one group. The queue has room for all buffers.
    fn flush(&mut self) {
        self.tx.send_group(&mut self.ready);
    }

    /// Returns a free buffer; waits for a group to complete if there is none.
    fn buffer(&mut self) -> Result<Buf, Failure> {
        loop {
            if let Some(buf) = self.free.pop() {
                return Ok(buf);
            }
            self.flush();
            self.wait()?;
        }
    }

    /// Waits for a completion and takes all that have arrived.
    fn wait(&mut self) -> Result<(), Failure> {
        let (tx, ear) = (&mut self.tx, &mut self.ear);
        let mut bad = None;
        let waited = self.patience.wait("no packet was taken by the far end", |until| {
            let waited = tx.wait(until);
            // Hear the receiver at least after every slice of a wait.
            if let Some(ear) = ear
                && let Err(failure) = ear.listen(Deadline::NOW)
            {
                bad = Some(failure);
                return Ok(());
            }
            waited.map(drop)
        });
        if let Some(failure) = bad {
            return Err(failure);
        }
        waited?;
        self.patience.renew();
        self.reclaim()
    }

    /// Takes completions.
    fn reclaim(&mut self) -> Result<(), Failure> {
        // If this thread runs the engine, waiting moves the packets on.
        let _ = self.tx.wait(Deadline::NOW);
        while let Some(sent) = self.tx.poll() {
            if sent.status != Status::Ok {
                let what = format!("a packet was not sent: {}", sent.status.doc());
                return Err(Error::device(sent.status, what).into());
            }
        }
        while let Some(buf) = self.tx.take() {
            self.free.push(buf);
        }
        Ok(())
    }

    /// Cancels unsent packets and tells the receiver that the transfer has failed.
    fn give_up(&mut self) {
        const PATIENCE_NS: u64 = 300_000_000;
        let Ok(back) = self.tx.cancel() else {
            return;
        };
        let mut bufs: Vec<_> = back.into_iter().map(|back| back.buf).collect();
        bufs.append(&mut self.ready);
        bufs.append(&mut self.free);
        if let Some(mut buf) = bufs.pop() {
            buf.put(&[&self.address[..], &[0]].concat());
            let until = Deadline::at_ns(self.endpoint.now_ns().saturating_add(PATIENCE_NS));
            if self.tx.send_ending(buf, End::Eep).is_ok() {
                // There may be no receiver.
                let _ = self.tx.drain(until);
            }
        }
    }
}
