//! `spfed`: the daemon on the command line.

use clap::Parser;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use spfe_host::Error;
use spfed::failure::FailureKind;
use spfed::options::DeviceKind;
use spfed::{Devices, Options, Server, Stopper, notify, say};
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err((kind, what)) => {
            what.lines().for_each(|line| say(format_args!("{line}")));
            ExitCode::from(kind.code())
        }
    }
}

/// The failure of an operation of the daemon or the library.
fn failed(error: impl Into<Error>) -> (FailureKind, String) {
    let error = error.into();
    (FailureKind::of(&error), error.to_string())
}

/// Serves simulated cores until a signal ends it. SIGUSR1 and SIGUSR2 work as in [`on_signal`].
#[cfg(feature = "rtl")]
fn run_cores(name: &str, options: &Options) -> Result<(), (FailureKind, String)> {
    let configs = options.cores().map_err(|what| (FailureKind::Usage, what))?;
    let signals = block_signals();
    raise_descriptors();
    let name = spfe_rtl::Name::parse(name).map_err(failed)?;
    let devices = spfed::rtl::start(&name, &configs).map_err(failed)?;
    for (core, path) in devices.list() {
        say(format_args!("simulated core {core} is a device at {}", path.display()));
    }
    if let Err(error) = notify::notify("READY=1") {
        say(format_args!("NOTIFY_SOCKET: {error}"));
    }
    loop {
        match next_signal(&signals) {
            libc::SIGUSR1 => devices.unplug(),
            libc::SIGUSR2 => {
                if let Err(error) = devices.plug() {
                    say(format_args!("SIGUSR2: {error}"));
                }
            }
            _ => return Ok(()),
        }
    }
}

#[cfg(not(feature = "rtl"))]
fn run_cores(_: &str, _: &Options) -> Result<(), (FailureKind, String)> {
    let what = "--device rtl: this spfed was built without the cargo feature rtl";
    Err((FailureKind::Usage, what.to_owned()))
}

fn run(options: &Options) -> Result<(), (FailureKind, String)> {
    if let DeviceKind::Rtl(name) = &options.device {
        return run_cores(name, options);
    }
    let config = options.config()?;
    let signals = block_signals();
    raise_descriptors();
    let mut server = Server::start(config).map_err(failed)?;
    on_signal(signals, server.stopper(), server.devices().clone())
        .map_err(|error| failed(Error::io("signals", error)))?;
    let path = server.path().map(|path| path.display().to_string()).unwrap_or_default();
    let (topology, names) = (server.network().topology(), server.network().names());
    let (mode, count) = (topology.mode, topology.endpoints.len());
    match &options.scenario {
        None => {
            let link = options.link;
            say(format_args!("listening on {path} (mode {mode}, link {link}, {count} endpoints)"));
        }
        Some(file) => {
            let (file, names) = (file.display(), names.join(", "));
            say(format_args!("listening on {path} (mode {mode}, {file}, endpoints: {names})"));
        }
    }
    for (endpoint, path) in server.devices().list() {
        say(format_args!("endpoint {endpoint} is a device at {}", path.display()));
    }
    if let Err(error) = notify::notify("READY=1") {
        say(format_args!("NOTIFY_SOCKET: {error}"));
    }
    server.wait().map_err(failed)
}

/// Blocks the signals that a thread of their own waits for. Call before any thread is started.
fn block_signals() -> libc::sigset_t {
    // SAFETY: the set is initialised by sigemptyset before it is used.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGUSR1, libc::SIGUSR2] {
            libc::sigaddset(&mut set, signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
        set
    }
}

/// Waits for a signal.
fn next_signal(set: &libc::sigset_t) -> i32 {
    let mut signal = 0;
    // SAFETY: the set was initialised by `block_signals`, which every thread inherited.
    unsafe { libc::sigwait(set, &mut signal) };
    signal
}

/// Starts the thread that handles signals. The first SIGTERM or SIGINT stops the server, the second
/// exits at once. SIGUSR1 removes the devices of virtual machines, SIGUSR2 inserts them again.
fn on_signal(set: libc::sigset_t, stopper: Stopper, devices: Arc<Devices>) -> std::io::Result<()> {
    let mut stopping = false;
    let run = move || loop {
        match next_signal(&set) {
            libc::SIGUSR1 => devices.unplug(),
            libc::SIGUSR2 => {
                if let Err(error) = devices.plug() {
                    say(format_args!("SIGUSR2: {error}"));
                }
            }
            _ if stopping => std::process::exit(FailureKind::Interrupted.code().into()),
            _ => {
                stopping = true;
                stopper.stop();
            }
        }
    };
    std::thread::Builder::new().name("spfed-signals".into()).spawn(run)?;
    Ok(())
}

/// Raises the limit of descriptors: each region and event of a client needs one.
fn raise_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
