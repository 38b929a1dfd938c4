//! `spfed`: the daemon on the command line.

use clap::Parser;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use spfed::{Options, Server, Stopper, notify, say};
use std::process::ExitCode;

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            say(format_args!("{what}"));
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    let config = options.config()?;
    let signals = block_signals();
    raise_descriptors();
    let mut server = Server::start(config).map_err(|error| error.to_string())?;
    stop_on_signal(signals, server.stopper()).map_err(|error| format!("signals: {error}"))?;
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
    if let Err(error) = notify::notify("READY=1") {
        say(format_args!("NOTIFY_SOCKET: {error}"));
    }
    server.wait().map_err(|error| error.to_string())
}

/// Keeps SIGTERM and SIGINT for the thread that waits for them. Before any thread is started.
fn block_signals() -> libc::sigset_t {
    // SAFETY: the set is initialised by sigemptyset before it is used.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGTERM);
        libc::sigaddset(&mut set, libc::SIGINT);
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
        set
    }
}

/// The first signal stops in good order, the second at once.
fn stop_on_signal(set: libc::sigset_t, stopper: Stopper) -> std::io::Result<()> {
    std::thread::Builder::new().name("spfed-signals".into()).spawn(move || {
        let mut signal = 0;
        // SAFETY: the set was initialised by `block_signals`, which every thread inherited.
        let wait = |signal: &mut libc::c_int| unsafe { libc::sigwait(&set, signal) };
        wait(&mut signal);
        stopper.stop();
        wait(&mut signal);
        std::process::exit(1);
    })?;
    Ok(())
}

/// Every region and event of a client is a descriptor: 1024 are few for 64 clients.
fn raise_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
