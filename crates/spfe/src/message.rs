//! Broadcast messages, time-codes and distributed interrupts. They have rings of their own and never
//! wait behind data.

use crate::cancel::Canceller;
use crate::device::Device;
use crate::engine::MessageRunner;
use crate::queue::{Place, Queue, QueueOptions, QueueStats, status_of};
use crate::wait::{Deadline, Ready, Strategy, Threshold};
use crate::{Error, Result};
use rustix::fd::BorrowedFd;
use spfe_contract::message_filter::{INTERRUPTS, MATCH_CHANNEL, MATCH_TYPE};
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
    /// A retry of the link delayed the message (flag of the received message).
    pub late: bool,
    /// The message waited for another broadcast message (flag of the received message).
    pub delayed: bool,
    /// The receiver's ring was full and earlier messages were dropped.
    pub lost_before: bool,
    /// Device time of reception in ns.
    pub time_ns: u64,
}

/// Options for the messages of a port.
#[derive(Clone, Copy, Debug)]
pub struct MessageOptions {
    /// Receive only broadcast messages of this channel.
    pub channel: Option<u8>,
    /// Receive only broadcast messages of this type.
    pub kind: Option<u8>,
    /// Options of the queues. The depth is in messages; messages are always stamped.
    pub queue: QueueOptions,
}

impl Default for MessageOptions {
    fn default() -> Self {
        Self { channel: None, kind: None, queue: QueueOptions::default().depth(DEPTH) }
    }
}

impl MessageOptions {
    /// Receives only broadcast messages of a channel.
    pub fn channel(mut self, channel: u8) -> Self {
        self.channel = Some(channel);
        self
    }

    /// Receives only broadcast messages of a type.
    pub fn kind(mut self, kind: u8) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Sets the options of the queues.
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
/// Longest time that closing waits for messages to be sent, ns of the device's clock.
const LINGER_NS: u64 = 1_000_000_000;

/// Transmit and receive queue for one kind of messages of a port.
struct Messages {
    out: Queue,
    into: Queue,
    runner: Option<MessageRunner>,
    back: Option<MessageRunner>,
    /// The first error of a message since the last drain.
    refused: Option<Status>,
}

impl Messages {
    fn open(device: Arc<Device>, port: u32, queue: &QueueOptions, filter: u32) -> Result<Self> {
        let open = |kind, event| {
            let place = Place { port, vc: 255, kind };
            let options = queue.stamps(true).event(event);
            Queue::open(device.clone(), place, &options, |request| request.filter = filter)
        };
        let out = open(QueueKind::MessageTx, false)?;
        let into = open(QueueKind::MessageRx, queue.event)?;
        let engine = device.engine(port).map(|engine| engine.messages(device.endpoint(), port));
        let (runner, back) = engine.map_or((None, None), |(runner, back)| (Some(runner), back));
        Ok(Self { out, into, runner, back, refused: None })
    }

    /// Takes the completions of sent messages.
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

    /// Posts a message; its flags are set here.
    fn post(&mut self, mut message: Message) -> Result<()> {
        message.flags = u16::from(EntryType::Message.raw()) | sf::SIGNAL;
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

    /// Delivers messages that another endpoint has posted but could not deliver.
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

    /// Runs the engine, where this thread can, and takes completions.
    fn progress(&mut self) {
        if let Some(runner) = &mut self.runner {
            runner.run(DEPTH);
        }
        self.collect();
    }

    /// Waits until all posted messages have completed.
    fn drain(&mut self, deadline: Deadline) -> Result<()> {
        loop {
            self.progress();
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
    /// Waits for posted messages: a device thread, or a link in virtual time, sends them later.
    fn drop(&mut self) {
        let now = self.out.device.backend().clock().now_ns();
        let end = Deadline::at_ns(now.saturating_add(LINGER_NS));
        loop {
            self.progress();
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
        Ok(Self { messages: Messages::open(device, port, &options.queue, options.filter())? })
    }

    /// Sends a message on a broadcast channel. It goes ahead of all data.
    ///
    /// # Errors
    /// BUSY if the queue is full (64 messages by default).
    pub fn send(&mut self, channel: u8, kind: u8, data: [u8; 8]) -> Result<()> {
        self.messages.post(Message {
            data: u64::from_le_bytes(data),
            channel,
            r#type: kind,
            kind: MessageKind::Broadcast.raw(),
            ..Message::default()
        })
    }
}

/// Methods that all kinds of messages have. `$make` makes an item of a received message and its time.
macro_rules! both_directions {
    ($end:ident, $item:ident, $make:expr) => {
        impl $end {
            /// The next message, if there is one.
            pub fn poll(&mut self) -> Option<$item> {
                self.messages.poll().map(|(message, time_ns)| $make(&message, time_ns))
            }

            /// Waits for a message and takes it.
            ///
            /// # Errors
            /// Timed out, or why no more messages will arrive.
            pub fn recv(&mut self, deadline: Deadline) -> Result<$item> {
                let (message, time_ns) = self.messages.recv(deadline)?;
                Ok($make(&message, time_ns))
            }

            /// Waits until all messages have been sent.
            ///
            /// # Errors
            /// Timed out, or the first error of a message since the last call.
            pub fn drain(&mut self, deadline: Deadline) -> Result<()> {
                self.messages.drain(deadline)
            }

            /// Number of messages that have not been sent yet.
            pub fn outstanding(&mut self) -> u32 {
                self.messages.collect();
                self.messages.out.outstanding()
            }

            /// Waits for a threshold of messages and leaves them to `poll`.
            ///
            /// # Errors
            /// Timed out, or why no more messages will arrive.
            pub fn wait(&mut self, threshold: &Threshold, deadline: Deadline) -> Result<Ready> {
                self.messages.into.wait(threshold, deadline)
            }

            /// The descriptor for poll or epoll.
            ///
            /// # Errors
            /// BAD_FIELD if opened without [`QueueOptions::event`].
            pub fn fd(&self) -> Result<BorrowedFd<'_>> {
                self.messages.into.event()
            }

            /// Makes the descriptor readable when the threshold is met. True if it is met already;
            /// then the descriptor may stay silent.
            ///
            /// # Errors
            /// BAD_FIELD if opened without [`QueueOptions::event`].
            pub fn request_event(&mut self, threshold: &Threshold) -> Result<bool> {
                self.messages.fetch();
                self.messages.into.request_event(threshold)
            }

            /// Sets how waits spend their time.
            pub fn set_strategy(&mut self, strategy: Strategy) {
                self.messages.into.strategy = strategy;
                self.messages.out.strategy = strategy;
            }

            /// A handle with which other threads end waits for messages.
            pub fn canceller(&mut self) -> Canceller {
                self.messages.into.canceller()
            }

            /// Counters of the receive queue.
            pub fn stats(&self) -> QueueStats {
                self.messages.into.stats()
            }
        }
    };
}

both_directions!(Broadcast, BroadcastMessage, broadcast);
both_directions!(TimeCode, TimeCodeValue, |of: &Message, time| TimeCodeValue::new(
    of.data as u8,
    time
));
both_directions!(InterruptCodes, InterruptCode, interrupt);

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
    pub(crate) fn open(device: Arc<Device>, port: u32, options: &QueueOptions) -> Result<Self> {
        Ok(Self { messages: Messages::open(device, port, options, 0)?, next: 1 })
    }

    /// Sends a time-code.
    ///
    /// # Errors
    /// BAD_FIELD for a time over 63 or flags over 3; BUSY if the queue is full (64 time-codes by
    /// default).
    pub fn send(&mut self, time: u8, flags: u8) -> Result<()> {
        if time > 63 || flags > 3 {
            let what = format!("time-code {time} with flags {flags}: 0 to 63 and 0 to 3 allowed");
            return Err(Error::device(Status::BadField, what));
        }
        self.messages.post(Message {
            data: u64::from(flags << 6 | time),
            kind: MessageKind::TimeCode.raw(),
            ..Message::default()
        })
    }

    /// Sends the time-code that follows the last one sent here. The first is 1.
    ///
    /// # Errors
    /// BUSY if the queue is full.
    pub fn tick(&mut self) -> Result<u8> {
        let time = self.next;
        self.send(time, 0)?;
        self.next = (time + 1) % 64;
        Ok(time)
    }
}

/// A distributed interrupt of SpaceWire (ECSS-E-ST-50-12C 5.6.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterruptCode {
    /// Its identifier, 0 to 31.
    pub number: u8,
    /// The code acknowledges the interrupt.
    pub acknowledge: bool,
    /// The receiver's ring was full and earlier interrupts were dropped.
    pub lost_before: bool,
    /// Device time of reception in ns.
    pub time_ns: u64,
}

/// Bit of an interrupt code that makes it an acknowledgement.
const ACKNOWLEDGE: u64 = 1 << 5;

fn interrupt(message: &Message, time_ns: u64) -> InterruptCode {
    InterruptCode {
        number: message.data as u8 & 31,
        acknowledge: message.data & ACKNOWLEDGE != 0,
        lost_before: message.flags & cf::LOST != 0,
        time_ns,
    }
}

/// Sends and receives distributed interrupts of a SpaceWire port. When a node may send an interrupt
/// again, and how long it waits for the acknowledgement, is up to the program.
pub struct InterruptCodes {
    messages: Messages,
}

impl InterruptCodes {
    pub(crate) fn open(device: Arc<Device>, port: u32, options: &QueueOptions) -> Result<Self> {
        Ok(Self { messages: Messages::open(device, port, options, INTERRUPTS)? })
    }

    /// Sends an interrupt.
    ///
    /// # Errors
    /// BAD_FIELD for a number over 31, BUSY if the queue is full (64 codes by default).
    pub fn send(&mut self, number: u8) -> Result<()> {
        self.post(number, 0)
    }

    /// Acknowledges an interrupt.
    ///
    /// # Errors
    /// Those of [`InterruptCodes::send`].
    pub fn acknowledge(&mut self, number: u8) -> Result<()> {
        self.post(number, ACKNOWLEDGE)
    }

    fn post(&mut self, number: u8, flag: u64) -> Result<()> {
        if number > 31 {
            let what = format!("interrupt {number}: 0 to 31 allowed");
            return Err(Error::device(Status::BadField, what));
        }
        let (data, kind) = (flag | u64::from(number), MessageKind::Interrupt.raw());
        self.messages.post(Message { data, kind, ..Message::default() })
    }
}
