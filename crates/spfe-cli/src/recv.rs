//! `spfe recv`: receives what `spfe send` sends, into a file or to standard output.

use crate::answers::Answers;
use crate::assembly::{Assembly, Step, whole};
use crate::context::{Context, DeviceArg, Patience, Role};
use crate::error::{Failure, Kind};
use crate::frame::{Answer, Header, Id, Trailer};
use crate::target::Target;
use crate::transfer::{Meter, Totals, TransferArgs, check_file};
use crate::{output, parse, signal};
use clap::Args;
use sha2::{Digest, Sha256};
use spfe::{Buf, Endpoint, Received, Rx, Threshold, Vc};
use std::time::Duration;

/// An incomplete group is taken this long after its first packet.
const GROUP_TIMEOUT: Duration = Duration::from_millis(1);

const AFTER: &str = "\
The file gets its name only when all of it has come, its SHA-256 is right and it is on the disk; \
until then it is FILE.XXXXXX.part, with random characters. With - the bytes go to standard output and the digest to standard error.

With --raw packets are written as they come, one behind the other, until --count, --bytes or \
--idle says so, or until it is interrupted.";

/// Receive a file.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = AFTER, allow_missing_positional = true)]
pub struct RecvArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// File to write; - for standard output.
    #[arg(value_name = "FILE")]
    file: String,
    #[command(flatten)]
    transfer: TransferArgs,
    /// With --raw: end after this many packets.
    #[arg(long, value_name = "N", requires = "raw", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// With --raw: end after the packet with which this many bytes are reached.
    #[arg(long, value_name = "BYTES", requires = "raw", value_parser = parse::size)]
    bytes: Option<u64>,
    /// With --raw: end when no packet arrives for this time after the first one.
    #[arg(long, value_name = "TIME", requires = "raw", value_parser = parse::time)]
    idle: Option<Duration>,
}

impl RecvArgs {
    /// Whether the data go to standard output.
    pub fn owns_stdout(&self) -> bool {
        self.file == "-"
    }

    fn is_enough(&self, meter: &Meter) -> bool {
        self.count.is_some_and(|count| meter.packets >= count)
            || self.bytes.is_some_and(|bytes| meter.bytes >= bytes)
    }

    /// Whether only a signal ends the reception.
    fn is_endless(&self) -> bool {
        self.count.is_none() && self.bytes.is_none() && self.idle.is_none()
    }
}

/// Runs `spfe recv`.
pub fn run(args: &RecvArgs, context: &Context) -> Result<(), Failure> {
    check_file(&args.file)?;
    let endpoint = context.open_shared(args.transfer.port, Role::Receive)?;
    let mut receiver = Receiver::open(&endpoint, &args.transfer)?;
    let mut target = Target::open(&args.file)?;
    let totals = if args.transfer.raw {
        let totals = receiver.receive_raw(args, &mut target, context)?;
        target.commit()?;
        totals
    } else {
        let received = receiver.receive_file(&mut target, context);
        let outcome = received.and_then(|totals| target.commit().map(|()| totals));
        receiver.answer_at_end(&outcome);
        outcome?
    };
    totals.report(&args.file, &args.transfer, context, "received");
    Ok(())
}

/// The receive queue with its buffers: most are posted, some wait to be reposted.
struct Receiver {
    rx: Rx,
    endpoint: Endpoint,
    patience: Patience,
    used: Vec<Buf>,
    group: usize,
    goal: Threshold,
    place: String,
    vc: Vc,
    answers: Option<Answers>,
    /// The transfer, if its sender wants answers.
    id: Option<Id>,
}

impl Receiver {
    fn open(endpoint: &Endpoint, args: &TransferArgs) -> Result<Self, Failure> {
        let mut buffers = args.buffers(endpoint, 0)?;
        let vc = args.channel(endpoint)?;
        let mut rx = vc.rx_with(args.queue())?;
        rx.post_all(&mut buffers);
        Ok(Self {
            rx,
            endpoint: endpoint.clone(),
            patience: Patience::new(endpoint, args.deadline),
            used: buffers,
            group: args.group,
            goal: Threshold::count(args.group as u32).or_after_first(GROUP_TIMEOUT),
            place: format!("port {} VC {}", args.port, args.vc),
            vc,
            answers: None,
            id: None,
        })
    }

    /// Answers the header.
    fn answer_header(&mut self, header: &Header) -> Result<(), Failure> {
        let Some(address) = &header.reply else { return Ok(()) };
        // The way back that strangers were told on may have another address.
        self.answers = None;
        let answers = Answers::open(&self.endpoint, &self.vc, address)?;
        answers.say(header.id, Answer::Ready);
        (self.answers, self.id) = (Some(answers), Some(header.id));
        Ok(())
    }

    /// Tells a sender whose receiver has died, once and with every sign of life.
    fn answer_stranger(&mut self) {
        // An instrument takes no answers.
        if self.answers.is_none() && self.endpoint.embedded().is_none() {
            self.answers = Answers::open(&self.endpoint, &self.vc, &[]).ok();
            if let Some(answers) = &self.answers {
                answers.say([0; 16], Answer::Stranger);
            }
        }
    }

    /// Tells the sender how it ended, and waits until the answer has left.
    fn answer_at_end<T>(&mut self, outcome: &Result<T, Failure>) {
        let answer = match outcome {
            Ok(_) => Answer::Done,
            Err(failure) => Answer::Failed(failure.what.clone()),
        };
        if let Some((answers, id)) = self.answers.take().zip(self.id) {
            answers.say(id, answer);
        }
    }

    /// Waits for the next packet or part of one. Reposts used buffers before it waits.
    fn next(&mut self) -> Result<Received, Failure> {
        loop {
            // Under full load there are no waits, which otherwise notice signals.
            if signal::caught() {
                return Err(Failure::interrupted());
            }
            if let Some(received) = self.rx.poll() {
                self.patience.renew();
                return Ok(received);
            }
            self.rx.post_all(&mut self.used);
            let (rx, goal) = (&mut self.rx, &self.goal);
            let what = format!("{}: no packet", self.place);
            self.patience.wait(&what, |until| rx.wait(goal, until))?;
        }
    }

    /// Takes back a buffer whose bytes have been used.
    fn give_back(&mut self, buf: Buf) {
        self.used.push(buf);
        if self.used.len() >= self.group {
            self.rx.post_all(&mut self.used);
        }
    }

    fn receive_file(&mut self, target: &mut Target, context: &Context) -> Result<Totals, Failure> {
        let mut meter = Meter::new(&self.endpoint);
        let (mut assembly, mut hash) = (Assembly::new(&self.place), Sha256::new());
        loop {
            let received = self.next()?;
            match assembly.take(&received, meter.bytes)? {
                Step::Header(header) => {
                    meter.start(header.length, context);
                    context.say(&announce(&header));
                    self.answer_header(&header)?;
                }
                Step::Again => {
                    if let Some((answers, id)) = self.answers.as_ref().zip(self.id) {
                        answers.say(id, Answer::Ready);
                    }
                }
                Step::Stranger => self.answer_stranger(),
                Step::Data(offset) => {
                    let bytes = received.buf.get(offset..).unwrap_or_default();
                    hash.update(bytes);
                    target.write(bytes)?;
                    meter.count(bytes.len(), !received.more());
                }
                Step::Done(trailer) => {
                    let sha256 = hash.finalize().into();
                    check(&trailer, meter.bytes, sha256)?;
                    return Ok(meter.finish(sha256));
                }
            }
            self.give_back(received.buf);
        }
    }

    fn receive_raw(
        &mut self,
        args: &RecvArgs,
        target: &mut Target,
        context: &Context,
    ) -> Result<Totals, Failure> {
        let (mut meter, mut hash) = (Meter::new(&self.endpoint), Sha256::new());
        while !args.is_enough(&meter) {
            let received = match self.next() {
                Ok(received) => received,
                Err(failure) if is_end(&failure, args, meter.bytes) => break,
                Err(failure) => return Err(failure),
            };
            if meter.bytes == 0 {
                meter.start(args.bytes, context);
                if args.idle.is_some() {
                    self.patience = Patience::new(&self.endpoint, args.idle);
                }
            }
            whole(&received, &self.place, meter.bytes)?;
            hash.update(&received.buf[..]);
            target.write(&received.buf)?;
            meter.count(received.buf.len(), !received.more());
            self.give_back(received.buf);
        }
        Ok(meter.finish(hash.finalize().into()))
    }
}

/// Whether a failure is the regular end of a raw reception.
fn is_end(failure: &Failure, args: &RecvArgs, bytes: u64) -> bool {
    match failure.kind {
        Kind::TimedOut => args.idle.is_some() && bytes != 0,
        Kind::Interrupted => args.is_endless(),
        _ => false,
    }
}

fn announce(header: &Header) -> String {
    let name = if header.name.is_empty() { "standard input" } else { &header.name };
    let length = header.length.map_or("unknown length".to_owned(), output::bytes);
    format!("receiving {}, {length}", output::printable(name))
}

/// Compares the trailer with the received bytes.
fn check(trailer: &Trailer, bytes: u64, sha256: [u8; 32]) -> Result<(), Failure> {
    if trailer.length != bytes {
        let what = format!("{} bytes were sent and {bytes} have come", trailer.length);
        return Err(Failure::damaged(what));
    }
    if trailer.sha256 != sha256 {
        return Err(Failure::damaged(format!(
            "SHA-256 {} was sent and {} has come",
            parse::hex(&trailer.sha256),
            parse::hex(&sha256)
        )));
    }
    Ok(())
}
