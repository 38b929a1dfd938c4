//! `spfe capture`: writes the traffic of a running network's links to a pcapng file.

use crate::context::{Context, DeviceArg};
use crate::error::Failure;
use crate::output::plural;
use crate::{parse, signal};
use clap::Args;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde_json::json;
use spfe::CaptureRequest;
use spfe::backend::daemon::{self, LiveCapture};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// First bytes of a pcapng file: the type of a section header block.
const MAGIC: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// Interval between checks of signals and of the clock.
const CHECK_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Capture the traffic on the links of a daemon: packets, messages, time-codes, events.
///
/// The file is pcapng (docs/capture.md). It ends at SIGINT, or after --seconds or --packets. The daemon
/// never waits for the reader: records that are not read in time are dropped and counted. To decode
/// the capture live:
///   spfe capture unix:/run/spfe.sock -w - | tshark -X lua_script:wireshark/spfe.lua -i -
#[derive(Clone, Debug, Args)]
pub struct CaptureArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// File to write; - for standard output.
    #[arg(short = 'w', long = "write", value_name = "FILE.pcapng")]
    write: String,
    /// Link to capture, such as 0.0-1.0 (endpoint.port at both ends) or a name of the scenario. May
    /// be repeated [default: all links]. The error for an unknown name lists the known ones.
    #[arg(long = "link", value_name = "NAME")]
    links: Vec<String>,
    /// Also capture every word or character of exact links.
    #[arg(long)]
    words: bool,
    /// End after this many packets.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    packets: Option<u64>,
    /// End after this time.
    #[arg(long, value_name = "TIME", value_parser = parse::time, conflicts_with = "packets")]
    seconds: Option<Duration>,
}

impl CaptureArgs {
    /// Whether the file is written to standard output.
    pub fn owns_stdout(&self) -> bool {
        self.write == "-"
    }
}

/// The socket in a device name, with or without an endpoint. `what` is what needs a daemon.
pub fn socket(name: &str, what: &str) -> Result<PathBuf, Failure> {
    daemon::socket(name).map(Path::to_owned).ok_or_else(|| {
        Failure::usage(format!(
            "device '{name}': {what} need a daemon, unix:SOCKET; a program has those of its own \
             networks with spfe::Embedded"
        ))
    })
}

/// Runs `spfe capture`.
pub fn run(args: &CaptureArgs, context: &Context) -> Result<(), Failure> {
    let name =
        context.device.as_deref().ok_or_else(|| Failure::usage("no daemon: give unix:SOCKET"))?;
    let socket = socket(name, "captures")?;
    let CaptureArgs { links, words, packets, .. } = args.clone();
    let mut live = LiveCapture::open(&socket, CaptureRequest { links, words, packets })?;
    let mut target = Output::open(&args.write)?;
    copy(&mut live, &mut target, args.seconds)?;
    let (records, left_out) = live.end()?;
    let path = &target.name;
    context.say(&format!("{} captured in {path}", plural(records, "record")));
    if left_out != 0 {
        let left_out = plural(left_out, "record");
        context.say(&format!("{left_out} left out: what reads {path} did not keep up"));
    }
    if context.json && !args.owns_stdout() {
        println!("{}", json!({ "records": records, "left_out": left_out }));
    }
    Ok(())
}

/// Destination of the file.
struct Output {
    file: Box<dyn Write>,
    name: String,
}

impl Output {
    fn open(path: &str) -> Result<Self, Failure> {
        if path == "-" {
            let name = "standard output".to_owned();
            return Ok(Self { file: Box::new(io::stdout().lock()), name });
        }
        let name = format!("'{path}'");
        let file = File::create(path).map_err(|error| Failure::io(&name, &error))?;
        Ok(Self { file: Box::new(file), name })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let written = self.file.write_all(bytes).and_then(|()| self.file.flush());
        written.map_err(|error| Failure::io(&self.name, &error))
    }
}

/// Copies the file until it ends; a signal or the time limit ends the capture.
fn copy(
    live: &mut LiveCapture,
    target: &mut Output,
    time: Option<Duration>,
) -> Result<(), Failure> {
    let until = time.and_then(|time| Instant::now().checked_add(time));
    let mut bytes = vec![0; 64 << 10];
    let (mut ended, mut begun) = (false, false);
    loop {
        if !ended && (signal::caught() || until.is_some_and(|until| Instant::now() >= until)) {
            ended = true;
            live.end()?;
        }
        let mut fds = [PollFd::new(live.pipe(), PollFlags::IN)];
        match poll(&mut fds, Some(&CHECK_INTERVAL)) {
            Ok(0) | Err(Errno::INTR) => continue,
            Ok(_) => {}
            Err(error) => return Err(Failure::io("capture", &error.into())),
        }
        let count = match rustix::io::read(live.pipe(), &mut bytes[..]) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(Errno::INTR | Errno::AGAIN) => continue,
            Err(error) => return Err(Failure::io("capture", &error.into())),
        };
        let read = bytes.get(..count).unwrap_or_default();
        if !std::mem::replace(&mut begun, true) && !read.starts_with(&MAGIC) {
            return Err(Failure::failed("the daemon sent no pcapng file: is it of this release?"));
        }
        target.write(read)?;
    }
}
