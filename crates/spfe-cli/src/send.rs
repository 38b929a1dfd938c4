//! `spfe send`: sends a file or standard input over a virtual channel.

use crate::context::{Context, DeviceArg, Patience, Role};
use crate::error::Failure;
use crate::frame::{self, Header, Id, Trailer};
use crate::transfer::{Meter, Totals, TransferArgs, check_file};
use crate::{output, signal};
use clap::Args;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use sha2::{Digest, Sha256};
use spfe::{Buf, Deadline, End, Endpoint, Error, Status, Tx};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;

const AFTER: &str = "\
A file travels as a header packet (name, length), the bytes in packets of --packet bytes, and a \
trailer packet (length, SHA-256). Start the two ends in any order: the sender waits for the \
receiver. Both print the SHA-256 in the form of sha256sum. A sender that gives up sends a packet \
that ends with EEP; the receiver then exits with 4.

Example, with a daemon started by `spfed --listen /tmp/spfe.sock`:
  spfe recv unix:/tmp/spfe.sock/1 copy.bin &
  spfe send unix:/tmp/spfe.sock/0 file.bin";

/// Interval between checks for signals while there is no input.
const CHECK_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

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
}

/// Runs `spfe send`.
pub fn run(args: &SendArgs, context: &Context) -> Result<(), Failure> {
    check_file(&args.file)?;
    let mut source = Source::open(&args.file)?;
    let endpoint = context.open_shared(args.transfer.port, Role::Send)?;
    let mut sender = Sender::open(&endpoint, &args.transfer)?;
    match sender.send_file(&mut source, context) {
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

/// The file or standard input.
struct Source {
    file: File,
    what: String,
    name: String,
    length: Option<u64>,
}

impl Source {
    fn open(path: &str) -> Result<Self, Failure> {
        if path == "-" {
            let stdin = io::stdin().as_fd().try_clone_to_owned();
            let what = "standard input".to_owned();
            let file = stdin.map_err(|error| Failure::io(&what, &error))?.into();
            return Ok(Self { file, what, name: String::new(), length: None });
        }
        let what = format!("file '{}'", output::printable(path));
        let failed = |error| Failure::io(&what, &error);
        let file = File::open(path).map_err(failed)?;
        let meta = file.metadata().map_err(failed)?;
        if meta.is_dir() {
            return Err(Failure::failed(format!("{what}: a directory cannot be sent")));
        }
        let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let length = meta.is_file().then_some(meta.len());
        Ok(Self { file, what, name, length })
    }

    /// Whether reading would block.
    fn would_block(&self) -> bool {
        let mut fds = [PollFd::new(&self.file, PollFlags::IN)];
        self.length.is_none() && poll(&mut fds, Some(&Timespec::default())) == Ok(0)
    }

    /// Waits until there is input. A signal may arrive between a check and a blocking read, which it
    /// then does not interrupt; so this polls, and checks for signals in between.
    fn wait_for_input(&self) -> Result<(), Failure> {
        while !signal::caught() {
            let mut fds = [PollFd::new(&self.file, PollFlags::IN)];
            if self.length.is_some() {
                return Ok(());
            }
            match poll(&mut fds, Some(&CHECK_INTERVAL)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                _ => return Ok(()),
            }
        }
        Err(Failure::interrupted())
    }

    /// Reads up to a packet directly into a registered buffer. False at the end of the input.
    fn fill(&mut self, buf: &mut Buf, packet: usize) -> Result<bool, Failure> {
        buf.set_len(packet);
        let mut filled = 0;
        while filled < packet {
            self.wait_for_input()?;
            match self.file.read(&mut buf[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::io(&self.what, &error)),
            }
        }
        buf.set_len(filled);
        Ok(filled != 0)
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
}

impl Sender {
    fn open(endpoint: &Endpoint, args: &TransferArgs) -> Result<Self, Failure> {
        let free = args.buffers(endpoint)?;
        let tx = args.channel(endpoint)?.tx_with(args.queue())?;
        Ok(Self {
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

    fn send_file(&mut self, source: &mut Source, context: &Context) -> Result<Totals, Failure> {
        let (mut hash, mut meter) = (Sha256::new(), Meter::new(&self.endpoint));
        let id = frame::random_id();
        self.send_header(source, id)?;
        meter.start(source.length, context);
        loop {
            let mut buf = self.buffer()?;
            if source.would_block() {
                self.flush();
            }
            if !source.fill(&mut buf, self.packet)? {
                self.free.push(buf);
                break;
            }
            hash.update(&buf[..]);
            meter.count(buf.len(), true);
            self.ready.push(buf);
            if self.ready.len() == self.group {
                self.flush();
            }
        }
        let sha256 = hash.finalize().into();
        self.send_trailer(Trailer { id, length: meter.bytes, sha256 })?;
        self.flush();
        while self.tx.outstanding() != 0 {
            self.wait()?;
        }
        Ok(meter.finish(sha256))
    }

    fn send_header(&mut self, source: &Source, id: Id) -> Result<(), Failure> {
        if self.raw {
            return Ok(());
        }
        let header = Header { id, length: source.length, name: source.name.clone() };
        let mut buf = self.buffer()?;
        buf.put(&header.encode());
        self.ready.push(buf);
        self.flush();
        Ok(())
    }

    fn send_trailer(&mut self, trailer: Trailer) -> Result<(), Failure> {
        if self.raw {
            return Ok(());
        }
        let mut buf = self.buffer()?;
        buf.put(&trailer.encode());
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
        let tx = &mut self.tx;
        self.patience.wait("no packet was taken by the far end", |until| tx.wait(until))?;
        self.patience.renew();
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
            buf.put(&[0]);
            let until = Deadline::at_ns(self.endpoint.now_ns().saturating_add(PATIENCE_NS));
            if self.tx.send_ending(buf, End::Eep).is_ok() {
                // There may be no receiver.
                let _ = self.tx.drain(until);
            }
        }
    }
}
