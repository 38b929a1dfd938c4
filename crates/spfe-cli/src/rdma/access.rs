//! `spfe rdma read` and `spfe rdma write`: memory of the far node to and from files.

use super::done;
use super::remote::{Place, PlaceArgs, Remote, RemoteArgs};
use crate::context::Context;
use crate::error::Failure;
use crate::rmap::{show, values};
use crate::target::Target;
use crate::{output, parse};
use clap::Args;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;

/// Bytes that are handed to the queue at a time: many requests are outstanding, and a file needs no
/// more memory than this.
const PIECE: usize = 8 << 20;
/// Longest dump on a terminal.
const DUMP_MAX: u64 = 1 << 20;

/// Read remote memory; print a dump, or write the bytes to a file and print their SHA-256.
#[derive(Clone, Debug, Args)]
pub struct ReadArgs {
    #[command(flatten)]
    pub remote: RemoteArgs,
    #[command(flatten)]
    place: PlaceArgs,
    /// Number of bytes, such as 4, 0x40 or 1G [default: to the end of the region].
    #[arg(long, short, value_name = "SIZE", value_parser = length)]
    length: Option<u64>,
    /// Write the bytes to this file instead of a dump; - for standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,
}

/// Write remote memory; every byte is acknowledged. Print the SHA-256 of what was written.
#[derive(Clone, Debug, Args)]
pub struct WriteArgs {
    #[command(flatten)]
    pub remote: RemoteArgs,
    #[command(flatten)]
    place: PlaceArgs,
    /// Bytes to write: hexadecimal digits in pairs, or @FILE; @- for standard input.
    #[arg(long, value_name = "HEX|@FILE")]
    data: String,
}

fn length(text: &str) -> Result<u64, String> {
    values::number(text).or_else(|_| parse::size(text))
}

impl ReadArgs {
    /// Whether the bytes go to standard output.
    pub fn owns_stdout(&self) -> bool {
        self.output.as_deref() == Some("-")
    }
}

/// Runs `spfe rdma read`.
pub fn read(args: &ReadArgs, context: &Context) -> Result<(), Failure> {
    let mut remote = Remote::open(&args.remote, 0, context)?;
    let place = remote.place(&args.place)?;
    let length = args.length.or(place.rest).ok_or_else(|| {
        Failure::usage("--length: needed with --key, which does not tell the size of the region")
    })?;
    let Some(path) = &args.output else {
        if length > DUMP_MAX {
            return Err(Failure::usage(format!(
                "dump of {length} bytes: at most {DUMP_MAX}; use --output FILE, or --length"
            )));
        }
        remote.connect()?;
        return dump(&mut remote, place, length, context);
    };
    remote.connect()?;
    let mut target = Target::open(path)?;
    let mut hash = Sha256::new();
    let start_ns = remote.endpoint.now_ns();
    let mut done_bytes = 0;
    while done_bytes < length {
        let piece = (length - done_bytes).min(PIECE as u64) as usize;
        let at = place.address.wrapping_add(done_bytes);
        let data = remote.queue.read(place.key, at, piece, remote.timeout)?;
        hash.update(&data);
        target.write(&data)?;
        done_bytes += piece as u64;
    }
    target.commit()?;
    report(&remote, place, length, start_ns, hash, path, "read", context);
    Ok(())
}

fn dump(remote: &mut Remote, place: Place, length: u64, context: &Context) -> Result<(), Failure> {
    let data = remote.queue.read(place.key, place.address, length as usize, remote.timeout)?;
    if context.json {
        let mut object = fields(place, length);
        object["data"] = parse::hex(&data).into();
        println!("{object}");
    } else {
        print!("{}", show::dump(place.address, true, &data));
    }
    Ok(())
}

/// Runs `spfe rdma write`.
pub fn write(args: &WriteArgs, context: &Context) -> Result<(), Failure> {
    let path = args.data.strip_prefix('@');
    let mut source: Box<dyn Read> = match path {
        Some("-") => Box::new(std::io::stdin().lock()),
        Some(path) => Box::new(File::open(path).map_err(|error| file_error(path, &error))?),
        None => Box::new(std::io::Cursor::new(values::hex(&args.data)?)),
    };
    let mut remote = Remote::open(&args.remote, 0, context)?;
    let place = remote.place(&args.place)?;
    remote.connect()?;
    let mut hash = Sha256::new();
    let start_ns = remote.endpoint.now_ns();
    let mut written = 0;
    loop {
        let mut piece = Vec::new();
        source
            .by_ref()
            .take(PIECE as u64)
            .read_to_end(&mut piece)
            .map_err(|error| file_error(path.unwrap_or_default(), &error))?;
        let last = piece.len() < PIECE;
        hash.update(&piece);
        let bytes = piece.len() as u64;
        if bytes > 0 || written == 0 {
            let at = place.address.wrapping_add(written);
            remote.queue.write(place.key, at, piece, remote.timeout)?;
        }
        written += bytes;
        if last {
            break;
        }
    }
    let name = path.unwrap_or("-");
    report(&remote, place, written, start_ns, hash, name, "written", context);
    Ok(())
}

fn file_error(path: &str, error: &std::io::Error) -> Failure {
    let path = if path == "-" { "standard input".to_owned() } else { format!("file '{path}'") };
    Failure::io(output::printable(&path), error)
}

fn fields(place: Place, bytes: u64) -> Value {
    json!({
        "key": format!("{:#010x}", place.key),
        "address": format!("{:#x}", place.address),
        "bytes": bytes,
        "status": 0,
    })
}

/// Prints the digest as sha256sum does, and the rate on stderr.
#[allow(clippy::too_many_arguments)] // what a line and a JSON object need
fn report(
    remote: &Remote,
    place: Place,
    bytes: u64,
    start_ns: u64,
    hash: Sha256,
    file: &str,
    verb: &str,
    context: &Context,
) {
    let seconds = remote.endpoint.now_ns().saturating_sub(start_ns) as f64 / 1e9;
    let sha256 = parse::hex(&hash.finalize());
    let (gbps, counts) = (output::gbps(bytes, seconds), remote.queue.counts());
    let mut object = fields(place, bytes);
    object["file"] = file.into();
    object["sha256"] = sha256.clone().into();
    object["seconds"] = output::rounded(seconds).into();
    object["gbps"] = output::rounded(gbps).into();
    object["repeated_packets"] = counts.resent.into();
    if verb == "read" && file == "-" {
        // The bytes have gone to standard output.
        context.say(&format!("{sha256}  -"));
    } else {
        done(context, &object, &format!("{sha256}  {file}"));
    }
    context.say(&format!(
        "{verb} {} in {}, {}, {} repeated",
        output::bytes(bytes),
        output::seconds(seconds),
        output::rate(gbps * 1e9),
        output::plural(counts.resent, "packet")
    ));
}
