//! A mailbox: messages to a queue pair of another node, each with immediate data.
//!
//! Sender and receiver are two endpoints of one network here, each in a thread.
//!
//!     cargo run -p spfe-remote --example mailbox

use spfe::{Embedded, Endpoint, LinkRate, Mode, Topology};
use spfe_remote::engine::{Local, RdmaTarget, TargetFile, TargetNode, WorkRequest};
use spfe_remote::{RdmaQueue, RdmaQueueOptions, RdmaServer};
use std::time::Duration;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const PATIENCE: Duration = Duration::from_secs(5);
/// Queue pair of the mailbox, buffers that are posted to it, and their size.
const QUEUE: u16 = 7;
const BUFFERS: u64 = 4;
const BYTES: usize = 4096;
const MESSAGES: u32 = 10;

fn receive(endpoint: &Endpoint) -> Result<()> {
    // A node without regions: it has a mailbox only.
    let file = TargetFile { regions: Vec::new(), rmap: None, ..TargetFile::of_size(1) };
    let mut node = TargetNode::new(&file)?;
    node.target.open_queue(QUEUE)?;
    for id in 0..BUFFERS {
        node.target.post_receive(QUEUE, id, vec![0; BYTES])?;
    }
    let mut server = RdmaServer::open(&endpoint.port(0)?.vc(0)?, node)?;
    let mut expected = 0;
    while expected < MESSAGES {
        server.serve(endpoint.deadline_after(PATIENCE))?;
        let target: &mut RdmaTarget = &mut server.node().target;
        while let Some(message) = target.received(QUEUE)? {
            let text = String::from_utf8_lossy(&message.buffer[..message.bytes as usize]);
            println!("{:?}: {text}", message.immediate);
            if message.immediate != Some(expected) {
                return Err(format!("message {expected} is missing").into());
            }
            expected += 1;
            // The buffer can be used again, which gives the sender credit.
            target.post_receive(QUEUE, message.id, message.buffer)?;
        }
    }
    // Acknowledgements that are still on their way; a sender that has them all may be gone.
    let _ = server.flush(endpoint.deadline_after(Duration::from_millis(100)));
    Ok(())
}

fn send(endpoint: &Endpoint) -> Result<()> {
    let mut options = RdmaQueueOptions::default();
    options.initiator.target_queue = QUEUE;
    let mut queue = RdmaQueue::open(&endpoint.port(0)?.vc(0)?, options)?;
    queue.connect(PATIENCE)?;
    let text = b"a message for you".to_vec();
    let length = text.len() as u32;
    let memory = queue.register(text)?;
    for number in 0..MESSAGES {
        let local = Local { memory, offset: 0, length };
        let message = WorkRequest::send(number.into(), local);
        queue.post(WorkRequest { immediate: Some(number), ..message })?;
    }
    // One doorbell; more messages than buffers wait for credit.
    queue.ring()?;
    queue.wait(MESSAGES as usize, PATIENCE)?;
    while let Some(completion) = queue.poll()? {
        completion.result?;
    }
    println!("{MESSAGES} messages are acknowledged");
    Ok(())
}

fn main() -> Result<()> {
    let network = Embedded::new(Topology::pairs(2, LinkRate::Unlimited, Mode::Inline))?;
    let near = Endpoint::attach(&network, 0, "sender")?;
    let far = Endpoint::attach(&network, 1, "receiver")?;
    std::thread::scope(|scope| {
        let receiver = scope.spawn(|| receive(&far));
        let sent = send(&near);
        let received = receiver.join().map_err(|_| "the receiver panicked")?;
        sent.and(received)
    })
}
