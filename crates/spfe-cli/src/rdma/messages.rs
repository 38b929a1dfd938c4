//! `spfe rdma send` and `spfe rdma receive`: messages to queue pairs.

use super::remote::{self, Remote, RemoteArgs};
use super::{done, serve};
use crate::context::{Context, DeviceArg, Patience, Role, end_at_signal};
use crate::error::{Failure, Kind};
use crate::rmap::{show, values};
use crate::target::Target;
use crate::{output, parse};
use clap::Args;
use serde_json::json;
use sha2::{Digest, Sha256};
use spfe::{Deadline, Endpoint};
use spfe_proto::sfrp::SfrpStatus;
use spfe_remote::engine::target::ReceivedMessage;
use spfe_remote::engine::{Local, WorkRequest};
use spfe_remote::{RdmaError, RdmaServer};
use std::time::Duration;

/// Messages outstanding, and receive buffers posted.
const AHEAD: usize = 8;
/// Time for the last acknowledgements.
const FAREWELL: Duration = Duration::from_secs(2);
/// Longest message that a receiver takes.
const MESSAGE_MAX: u64 = 256 << 20;

/// Send a file or bytes as messages; the receiver acknowledges each.
#[derive(Clone, Debug, Args)]
pub struct SendArgs {
    #[command(flatten)]
    pub remote: RemoteArgs,
    /// Bytes to send: hexadecimal digits in pairs, or @FILE.
    #[arg(long, value_name = "HEX|@FILE")]
    data: String,
    /// Queue pair of the receiver; 0: a target-only endpoint, which takes up to 32 bytes as a
    /// notification.
    #[arg(long, value_name = "N", default_value_t = 1)]
    queue: u16,
    /// Longest message; longer data is sent as several.
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = message)]
    message: usize,
    /// Immediate data of each message.
    #[arg(long, value_name = "N", value_parser = immediate)]
    immediate: Option<u32>,
}

/// Take messages to a queue pair; print them, or append them to a file and print its SHA-256.
#[derive(Clone, Debug, Args)]
pub struct ReceiveArgs {
    #[command(flatten)]
    pub device: DeviceArg,
    /// Own queue pair, from 1.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    queue: u16,
    /// Longest message.
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = message)]
    message: usize,
    /// End after this many messages; 0: until interrupted.
    #[arg(long, value_name = "N", default_value_t = 1)]
    count: u64,
    /// End when messages of this many bytes in all have come.
    #[arg(long, value_name = "SIZE", value_parser = parse::size, conflicts_with = "count")]
    bytes: Option<u64>,
    /// Write the messages to this file, one after the other; - for standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<String>,
    /// Own logical address.
    #[arg(long, value_name = "BYTE", default_value = "0xfe", value_parser = parse::byte)]
    logical: u8,
    /// Protocol identifier.
    #[arg(long, value_name = "BYTE", default_value = "0xf0", value_parser = remote::protocol)]
    protocol: u8,
    /// Port.
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u32,
    /// Virtual channel.
    #[arg(long, value_name = "N", default_value_t = 0)]
    vc: u32,
    /// Fail if nothing comes for this time [default: wait forever].
    #[arg(long, value_name = "TIME", value_parser = parse::time)]
    deadline: Option<Duration>,
}

fn message(text: &str) -> Result<usize, String> {
    let bytes = parse::size(text)?;
    if !(1..=MESSAGE_MAX).contains(&bytes) {
        return Err(format!("message of {bytes} bytes: 1 to {MESSAGE_MAX} allowed"));
    }
    Ok(bytes as usize)
}

fn immediate(text: &str) -> Result<u32, String> {
    let value = values::number(text)?;
    u32::try_from(value).map_err(|_| format!("immediate data {value:#x}: at most 0xffffffff"))
}

impl ReceiveArgs {
    /// Whether the messages go to standard output.
    pub fn owns_stdout(&self) -> bool {
        self.output.as_deref() == Some("-")
    }
}

/// Runs `spfe rdma send`.
pub fn send(args: &SendArgs, context: &Context) -> Result<(), Failure> {
    let data = values::data(&args.data)?;
    let mut remote = Remote::open(&args.remote, args.queue, context)?;
    remote.connect()?;
    let total = data.len();
    let sha256 = parse::hex(&Sha256::digest(&data));
    let queue = &mut remote.queue;
    let memory = queue.register(data)?;
    let count = total.div_ceil(args.message).max(1);
    let (mut posted, mut sent) = (0, 0);
    while sent < count {
        while posted < count && posted - sent < AHEAD {
            let offset = posted * args.message;
            let length = (total - offset).min(args.message) as u32;
            let local = Local { memory, offset: offset as u64, length };
            let request = WorkRequest {
                immediate: args.immediate,
                ..WorkRequest::send(posted as u64, local)
            };
            queue.post(request).map_err(RdmaError::from)?;
            posted += 1;
        }
        queue.ring()?;
        queue.wait(1, remote.timeout)?;
        while let Some(completion) = queue.poll()? {
            let what = format!("SEND of message {} to queue pair {}", completion.id, args.queue);
            completion.result.map_err(|error| RdmaError::Work { what, error })?;
            sent += 1;
        }
    }
    let object = json!({ "messages": count, "bytes": total, "sha256": sha256, "status": 0 });
    let text = format!("{sha256}  {}", args.data.strip_prefix('@').unwrap_or("-"));
    done(context, &object, &text);
    context.say(&format!("sent {} in {}", output::bytes(total as u64), messages(count as u64)));
    Ok(())
}

fn messages(count: u64) -> String {
    output::plural(count, "message")
}

/// Runs `spfe rdma receive`.
pub fn receive(args: &ReceiveArgs, context: &Context) -> Result<(), Failure> {
    let endpoint = context.open_shared(args.port, Role::Serve)?;
    let mut node = serve::mailbox(args.logical, args.protocol)?;
    let target = &mut node.target;
    let opened = target.open_queue(args.queue).and_then(|()| {
        (0..AHEAD as u64)
            .try_for_each(|id| target.post_receive(args.queue, id, vec![0; args.message]))
    });
    opened.map_err(|error| Failure::usage(error.to_string()))?;
    let vc = endpoint.port(args.port)?.vc(args.vc)?;
    let mut server = RdmaServer::open(&vc, node)?;
    end_at_signal(server.canceller());
    let mut sink = args.output.as_deref().map(Target::open).transpose()?;
    context.say(&format!("queue pair {} on port {} VC {}", args.queue, args.port, args.vc));
    let mut patience = Patience::new(&endpoint, args.deadline);
    let mut hash = Sha256::new();
    let (mut count, mut bytes) = (0u64, 0u64);
    let ended = |count: u64, bytes: u64| match args.bytes {
        Some(wanted) => bytes >= wanted,
        None => args.count > 0 && count >= args.count,
    };
    while !ended(count, bytes) {
        let messages = match next(&mut server, args.queue, &patience) {
            Err(failure) if failure.kind == Kind::Interrupted && args.count == 0 => break,
            messages => messages?,
        };
        patience.renew();
        for message in &messages {
            if message.status != SfrpStatus::OK {
                let what = format!(
                    "message of {} bytes: longer than --message {}",
                    message.bytes, args.message
                );
                say_farewell(&mut server, &endpoint)?;
                return Err(Failure::failed(what));
            }
            count += 1;
            bytes += u64::from(message.bytes);
            let data = &message.buffer[..message.bytes as usize];
            hash.update(data);
            match &mut sink {
                Some(sink) => sink.write(data)?,
                None => print_message(count, message, context),
            }
        }
        if ended(count, bytes) {
            // The sender may be gone already: it gets no more credit.
            break;
        }
        let target = &mut server.node().target;
        for message in messages {
            let posted = target.post_receive(args.queue, message.id, message.buffer);
            posted.map_err(|error| Failure::failed(error.to_string()))?;
        }
    }
    say_farewell(&mut server, &endpoint)?;
    let Some(sink) = sink else { return Ok(()) };
    sink.commit()?;
    let (sha256, file) = (parse::hex(&hash.finalize()), args.output.as_deref().unwrap_or("-"));
    if args.owns_stdout() {
        context.say(&format!("{sha256}  -"));
    } else {
        let object = json!({ "messages": count, "bytes": bytes, "sha256": sha256, "file": file });
        done(context, &object, &format!("{sha256}  {file}"));
    }
    context.say(&format!("received {} in {}", output::bytes(bytes), messages(count)));
    Ok(())
}

/// Waits for messages and takes them.
fn next(
    server: &mut RdmaServer,
    queue: u16,
    patience: &Patience,
) -> Result<Vec<ReceivedMessage>, Failure> {
    patience.wait("no message", |until: Deadline| {
        // A server has no other error.
        if let Err(RdmaError::Device(error)) = server.serve(until) {
            return Err(error);
        }
        let target = &mut server.node().target;
        let messages: Vec<_> =
            std::iter::from_fn(|| target.received(queue).ok().flatten()).collect();
        if messages.is_empty() { Err(spfe::Error::TimedOut("message")) } else { Ok(messages) }
    })
}

/// Sends the last acknowledgements. A sender that has gone does not take them.
fn say_farewell(server: &mut RdmaServer, endpoint: &Endpoint) -> Result<(), Failure> {
    match server.flush(endpoint.deadline_after(FAREWELL)) {
        Err(RdmaError::Device(error)) if !error.is_timeout() => Err(error.into()),
        _ => Ok(()),
    }
}

fn print_message(number: u64, message: &ReceivedMessage, context: &Context) {
    let data = &message.buffer[..message.bytes as usize];
    if context.json {
        let object = json!({
            "message": number,
            "bytes": message.bytes,
            "immediate": message.immediate,
            "data": parse::hex(data),
        });
        println!("{object}");
        return;
    }
    let immediate =
        message.immediate.map_or(String::new(), |value| format!(", immediate {value:#x}"));
    println!("message {number} of {} bytes{immediate}", message.bytes);
    print!("{}", show::dump(0, true, data));
}
