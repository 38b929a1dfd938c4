//! `spfe capture`: what goes over the links of a running network, as a pcapng file.

use crate::context::Context;
use crate::error::Failure;
use crate::output::plural;
use crate::signal;
use clap::Args;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde_json::json;
use spfe::CaptureRequest;
use spfe::backend::daemon::LiveCapture;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How a pcapng file begins.
const BEGINNING: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// How often to look at signals and at the clock.
const BEAT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Capture what goes over the links of a running daemon: packets, messages, time-codes, events.
///
/// The file is pcapng (docs/capture.md). It ends at SIGINT, after --seconds or --packets. The daemon
/// never waits for it: what is not read in time is left out and counted. Live in Wireshark's words:
///   spfe capture unix:/run/spfe.sock -w - | tshark -X lua_script:wireshark/spfe.lua -i -
#[derive(Clone, Debug, Args)]
pub struct CaptureArgs {
    /// Daemon, unix:SOCKET [default: that of --device].
    #[arg(value_name = "DEVICE")]
    daemon: Option<String>,
    /// File to write; - for standard output.
    #[arg(short = 'w', long = "write", value_name = "FILE.pcapng")]
    write: String,
    /// Link to capture, such as 0.0-1.0 (endpoint.port at both ends) or a name of the scenario; may
    /// be given several times [default: all]. A name that is none is answered with those there are.
    #[arg(long = "link", value_name = "NAME")]
    links: Vec<String>,
    /// Capture every word, or character, of exact links, too.
    #[arg(long)]
    words: bool,
    /// End after so many packets.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    packets: Option<u64>,
    /// End after so many seconds.
    #[arg(long, value_name = "S", value_parser = seconds, conflicts_with = "packets")]
    seconds: Option<Duration>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| format!("'{text}' is no number of seconds such as 10 or 0.5"))
}

impl CaptureArgs {
    /// Whether the file goes where results go.
    pub fn owns_stdout(&self) -> bool {
        self.write == "-"
    }
}

/// The socket of a device name, with or without an endpoint behind it.
fn socket(name: &str) -> Result<PathBuf, Failure> {
    let path = name.strip_prefix("unix:").or_else(|| name.strip_prefix("spfed:"));
    let Some(path) = path.filter(|path| !path.is_empty()) else {
        let what = format!(
            "device '{name}': captures are of a daemon, unix:SOCKET; a program captures its own \
             networks with Embedded::capture"
        );
        return Err(Failure::usage(what));
    };
    let path = Path::new(path);
    let is_socket = |path: &Path| path.metadata().is_ok_and(|meta| meta.file_type().is_socket());
    let parent = path.parent().filter(|parent| is_socket(parent));
    Ok(parent.unwrap_or(path).to_owned())
}

/// Captures.
pub fn run(args: &CaptureArgs, context: &Context) -> Result<(), Failure> {
    let name = args.daemon.as_deref().or(context.device.as_deref());
    let name = name.ok_or_else(|| Failure::usage("no daemon: give unix:SOCKET"))?;
    let socket = socket(name)?;
    let CaptureArgs { links, words, packets, .. } = args.clone();
    let mut live = LiveCapture::open(&socket, CaptureRequest { links, words, packets })?;
    let mut target = Target::open(&args.write)?;
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

/// Where it goes.
struct Target {
    file: Box<dyn Write>,
    name: String,
}

impl Target {
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

/// Copies the file to its end, which a signal or the time brings about.
fn copy(
    live: &mut LiveCapture,
    target: &mut Target,
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
        match poll(&mut fds, Some(&BEAT)) {
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
        if !std::mem::replace(&mut begun, true) && !read.starts_with(&BEGINNING) {
            return Err(Failure::failed("the daemon sent no pcapng file: is it of this release?"));
        }
        target.write(read)?;
    }
}
