//! Broadcast messages and time-codes: rings of their own, never behind data.

use crate::cancel::Canceller;
use crate::device::Device;
use crate::engine::MessageRunner;
use crate::queue::{Place, Queue, QueueOptions, QueueStats, status_of};
use crate::wait::{Deadline, Ready, Strategy, Threshold};
use crate::{Error, Result};
use rustix::fd::BorrowedFd;
use spfe_contract::message_filter::{MATCH_CHANNEL, MATCH_TYPE};
use spfe_contract::{
    Completion, EntryType, Message, MessageKind, QueueKind, Release, Status,
    completion_flags as cf, message_flags, submit_flags as sf,
};
use spfe_host::port::TimeCodeValue;
use std::sync::Arc;

/// A SpaceFibre broadcast message (ECSS-E-ST-50-11C 5.7.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BroadcastMessage {
    /// Broadcast channel.
    pub channel: u8,
    /// Broadcast type.
    pub kind: u8,
    /// The eight data bytes.
    pub data: [u8; 8],
    /// It was sent late because a retry held it up (received messages).
    pub late: bool,
    /// It waited for another broadcast message (received messages).
    pub delayed: bool,
    /// Messages were dropped before this one: the ring was full (received messages).
    pub lost_before: bool,
    /// Device time in ns at which it was received.
    pub time_ns: u64,
}

/// How the messages of a port are opened.
#[derive(Clone, Copy, Debug)]
pub struct MessageOptions {
    /// Receive only broadcast messages of this channel.
    pub channel: Option<u8>,
    /// Receive only broadcast messages of this type.
    pub kind: Option<u8>,
    /// Everything else; the depth is in messages. Messages are always stamped.
    pub queue: QueueOptions,
}

impl Default for MessageOptions {
    fn default() -> Self {
        Self { channel: None, kind: None, queue: QueueOptions::default().depth(DEPTH) }
    }
}

impl MessageOptions {
    /// Only broadcast messages of this channel.
    pub fn channel(mut self, channel: u8) -> Self {
        self.channel = Some(channel);
        self
    }

    /// Only broadcast messages of this type.
    pub fn kind(mut self, kind: u8) -> Self {
        self.kind = Some(kind);
        self
    }

    /// With these queue options.
    pub fn queue(mut self, options: QueueOptions) -> Self {
        self.queue = options;
        self
    }

    fn filter(&self) -> u32 {
        self.channel.map_or(0, |channel| MATCH_CHANNEL | u32::from(channel))
            | self.kind.map_or(0, |kind| MATCH_TYPE | u32::from(kind) << 8)
    }
}

const DEPTH: u32 = 64;
/// Longest time closing waits for messages that are on their way, on the device's clock.
const LINGER_NS: u64 = 1_000_000_000;

/// Both directions of a port's messages of one kind.
struct Messages {
    out: Queue,
    into: Queue,
    runner: Option<MessageRunner>,
    back: Option<MessageRunner>,
    /// Why a message was not sent, the first since the last drain.
    refused: Option<Status>,
}

impl Messages {
    fn open(device: Arc<Device>, port: u32, options: &MessageOptions) -> Result<Self> {
        let open = |kind, event| {
            let place = Place { port, vc: 255, kind };
            let queue = options.queue.stamps(true).event(event);
            Queue::open(device.clone(), place, &queue, |request| request.filter = options.filter())
        };
        let out = open(QueueKind::MessageTx, false)?;
        let into = open(QueueKind::MessageRx, options.queue.event)?;
        let engine = device.engine(port).map(|engine| engine.messages(device.endpoint(), port));
        let (runner, back) = engine.map_or((None, None), |(runner, back)| (Some(runner), back));
        Ok(Self { out, into, runner, back, refused: None })
    }

    /// Takes the completions of what was sent.
    fn collect(&mut self) {
        while let Some(words) = self.out.peek() {
            let done = Completion::from_words(words);
            if self.out.take(&done).is_none() {
                break;
            }
            match status_of(&done) {
                Status::Ok => {}
                status => drop(self.refused.get_or_insert(status)),
            }
        }
    }

    fn post(&mut self, message: Message) -> Result<()> {
        self.collect();
        if self.out.free() == 0 {
            self.out.check()?;
            let most = self.out.sq.ring.size();
            let what = format!("{most} messages are waiting to be sent, the most there can be");
            return Err(Error::device(Status::Busy, what));
        }
        self.out.sq.push(message.to_words());
        match &mut self.runner {
            Some(runner) => {
                runner.run(DEPTH);
            }
            None if self.out.device_line().needs_doorbell() => self.out.device.backend().ring(),
            None => {}
        }
        Ok(())
    }

    /// Somebody may have posted without being able to deliver.
    fn fetch(&mut self) {
        if self.back.as_ref().is_some_and(MessageRunner::has_work)
            && let Some(back) = &mut self.back
        {
            back.run(DEPTH);
        }
    }

    fn poll(&mut self) -> Option<(Message, u64)> {
        let words = match self.into.peek() {
            Some(words) => words,
            None => {
                self.fetch();
                self.into.peek()?
            }
        };
        let time_ns = self.into.stamp(self.into.cq.position);
        self.into.taken_bytes += 8;
        self.into.cq.advance(1);
        let release = Release {
            completions: 1,
            flags: u16::from(EntryType::Release.raw()),
            ..Release::default()
        };
        self.into.sq.push(release.to_words());
        Some((Message::from_words(words), time_ns))
    }

    fn recv(&mut self, deadline: Deadline) -> Result<(Message, u64)> {
        loop {
            if let Some(message) = self.poll() {
                return Ok(message);
            }
            self.into.wait(&Threshold::ONE, deadline)?;
        }
    }

    /// Sends what this thread is able to send, and takes the completions.
    fn go_on(&mut self) {
        if let Some(runner) = &mut self.runner {
            runner.run(DEPTH);
        }
        self.collect();
    }

    /// Waits until everything posted has completed.
    fn drain(&mut self, deadline: Deadline) -> Result<()> {
        loop {
            self.go_on();
            if let Some(status) = self.refused.take() {
                let what = format!("a message was not sent: {}", status.doc());
                return Err(Error::device(status, what));
            }
            if self.out.outstanding() == 0 {
                return Ok(());
            }
            self.out.wait(&Threshold::ONE, deadline)?;
        }
    }
}

impl Drop for Messages {
    /// What was posted is on its way at once, but a device thread takes a moment to take it, and
    /// so does a link in virtual time.
    fn drop(&mut self) {
        let now = self.out.device.backend().clock().now_ns();
        let end = Deadline::at_ns(now.saturating_add(LINGER_NS));
        loop {
            self.go_on();
            if self.out.outstanding() == 0 {
                return;
            }
            match self.out.wait(&Threshold::ONE, end) {
                Err(error) if !error.is_cancelled() => return,
                _ => {}
            }
        }
    }
}

/// Sends and receives broadcast messages of a SpaceFibre port.
///
/// ```
/// use spfe::{BroadcastMessage, Deadline, Endpoint, LinkRate, Mode};
/// let (a, b) = Endpoint::pair(LinkRate::Unlimited, Mode::Inline)?;
/// let (mut sender, mut listener) = (a.port(0)?.broadcast()?, b.port(0)?.broadcast()?);
/// sender.send(1, 0x20, *b"8 bytes!")?;
/// assert_eq!(listener.recv(Deadline::NEVER)?.data, *b"8 bytes!");
/// # Ok::<(), spfe::Error>(())
/// ```
pub struct Broadcast {
    messages: Messages,
}

impl Broadcast {
    pub(crate) fn open(device: Arc<Device>, port: u32, options: &MessageOptions) -> Result<Self> {
        Ok(Self { messages: Messages::open(device, port, options)? })
    }

    /// Sends a message on a channel. It goes ahead of all data.
    ///
    /// # Errors
    /// BUSY when as many wait to be sent as the queue holds (64).
    pub fn send(&mut self, channel: u8, kind: u8, data: [u8; 8]) -> Result<()> {
        self.messages.post(Message {
            data: u64::from_le_bytes(data),
            channel,
            r#type: kind,
            kind: MessageKind::Broadcast.raw(),
            flags: u16::from(EntryType::Message.raw()) | sf::SIGNAL,
            ..Message::default()
        })
    }

    /// The next message, if one is there.
    pub fn poll(&mut self) -> Option<BroadcastMessage> {
        self.messages.poll().map(|(message, time)| broadcast(&message, time))
    }

    /// Waits for a message.
    ///
    /// # Errors
    /// Timed out (nothing is consumed), or why nothing will come any more.
    pub fn recv(&mut self, deadline: Deadline) -> Result<BroadcastMessage> {
        let (message, time) = self.messages.recv(deadline)?;
        Ok(broadcast(&message, time))
    }
}

/// What both kinds have.
macro_rules! both_directions {
    ($end:ident) => {
        impl $end {
            /// Waits until everything sent has gone out.
            ///
            /// # Errors
            /// Timed out; or the first error since the last drain that a message ended with.
            pub fn drain(&mut self, deadline: Deadline) -> Result<()> {
                self.messages.drain(deadline)
            }

            /// Messages sent that have not gone out yet.
            pub fn outstanding(&mut self) -> u32 {
                self.messages.collect();
                self.messages.out.outstanding()
            }

            /// Waits until this many have come, or for a time after the first. Takes nothing: poll
            /// afterwards.
            ///
            /// # Errors
            /// Timed out (nothing is consumed), or why nothing will come any more.
            pub fn wait(&mut self, threshold: &Threshold, deadline: Deadline) -> Result<Ready> {
                self.messages.into.wait(threshold, deadline)
            }

            /// The descriptor for poll or epoll (open with [`QueueOptions::event`]).
            pub fn fd(&self) -> Result<BorrowedFd<'_>> {
                self.messages.into.event()
            }

            /// Asks for the descriptor to become readable when this many have come; true if they
            /// are there already.
            pub fn request_event(&mut self, threshold: &Threshold) -> Result<bool> {
                self.messages.fetch();
                self.messages.into.request_event(threshold)
            }

            /// Waits this way from now on.
            pub fn set_strategy(&mut self, strategy: Strategy) {
                self.messages.into.strategy = strategy;
                self.messages.out.strategy = strategy;
            }

            /// A handle with which any thread ends a wait for messages.
            pub fn canceller(&mut self) -> Canceller {
                self.messages.into.canceller()
            }

            /// Counters of the receive end.
            pub fn stats(&self) -> QueueStats {
                self.messages.into.stats
            }
        }
    };
}

both_directions!(Broadcast);
both_directions!(TimeCode);

fn broadcast(message: &Message, time_ns: u64) -> BroadcastMessage {
    BroadcastMessage {
        channel: message.channel,
        kind: message.r#type,
        data: message.data.to_le_bytes(),
        late: message.status & message_flags::LATE != 0,
        delayed: message.status & message_flags::DELAYED != 0,
        lost_before: message.flags & cf::LOST != 0,
        time_ns,
    }
}

/// Sends and receives time-codes of a SpaceWire port.
pub struct TimeCode {
    messages: Messages,
    next: u8,
}

impl TimeCode {
    pub(crate) fn open(device: Arc<Device>, port: u32, options: &MessageOptions) -> Result<Self> {
        Ok(Self { messages: Messages::open(device, port, options)?, next: 1 })
    }

    /// Sends a time-code.
    ///
    /// # Errors
    /// BAD_FIELD for a time over 63 or flags over 3; BUSY when as many wait to be sent as the
    /// queue holds (64).
    pub fn send(&mut self, time: u8, flags: u8) -> Result<()> {
        if time > 63 || flags > 3 {
            let what = format!("time-code {time} with flags {flags}: 0 to 63 and 0 to 3 allowed");
            return Err(Error::device(Status::BadField, what));
        }
        self.messages.post(Message {
            data: u64::from(flags << 6 | time),
            kind: MessageKind::TimeCode.raw(),
            flags: u16::from(EntryType::Message.raw()) | sf::SIGNAL,
            ..Message::default()
        })
    }

    /// Sends the time-code after the last one this object sent (the first is 1).
    pub fn tick(&mut self) -> Result<u8> {
        let time = self.next;
        self.send(time, 0)?;
        self.next = (time + 1) % 64;
        Ok(time)
    }

    /// The next time-code, if one is there.
    pub fn poll(&mut self) -> Option<TimeCodeValue> {
        self.messages.poll().map(|(message, time)| time_code(&message, time))
    }

    /// Waits for a time-code.
    ///
    /// # Errors
    /// Timed out (nothing is consumed), or why nothing will come any more.
    pub fn recv(&mut self, deadline: Deadline) -> Result<TimeCodeValue> {
        let (message, time) = self.messages.recv(deadline)?;
        Ok(time_code(&message, time))
    }
}

fn time_code(message: &Message, time_ns: u64) -> TimeCodeValue {
    TimeCodeValue::new(message.data as u8, time_ns)
}
