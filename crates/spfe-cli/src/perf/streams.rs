//! Streams of packets in one or both directions, at either end.

use super::case::Case;
use super::meter::{Meter, Tally};
use super::receive::Receiver;
use super::send::Sender;
use serde::{Deserialize, Serialize};
use spfe::{Endpoint, Error, Result, Status};

/// Figures of one end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Streams {
    /// Sending.
    pub send: Option<Tally>,
    /// Receiving.
    pub receive: Option<Tally>,
}

impl Streams {
    /// The figures that are present.
    pub fn each(&self) -> impl Iterator<Item = &Tally> {
        self.send.iter().chain(&self.receive)
    }
}

/// The sending and receiving side of one end, as far as the case uses them.
pub struct StreamEnds {
    sender: Option<Sender>,
    receiver: Option<Receiver>,
}

impl StreamEnds {
    /// Opens the queues to send and to receive. `meter` makes a meter for each and learns whether it is
    /// the first.
    pub fn open(
        endpoint: &Endpoint,
        case: &Case,
        (sends, receives): (bool, bool),
        mut meter: impl FnMut(bool) -> Meter,
    ) -> Result<Self> {
        // Open the receiver first, so that no first packet waits for buffers.
        let receiver = receives.then(|| Receiver::open(endpoint, case, meter(true)));
        let receiver = receiver.transpose()?;
        let sender = sends.then(|| Sender::open(endpoint, case, meter(!receives))).transpose()?;
        Ok(Self { sender, receiver })
    }

    /// Runs until the time is over. With `peered` the far end is ours and is told when it is over.
    /// Sending and receiving at the same time uses a thread each.
    pub fn run(self, peered: bool) -> Result<Streams> {
        std::thread::scope(|scope| {
            let Self { sender, receiver } = self;
            let (send, receive) = match (sender, receiver) {
                (Some(sender), Some(receiver)) => {
                    let sending = scope.spawn(move || sender.run(peered));
                    let receive = receiver.run(peered);
                    let lost =
                        |_| Err(Error::device(Status::BadField, "the sending thread failed"));
                    (Some(sending.join().unwrap_or_else(lost)), Some(receive))
                }
                (sender, receiver) => {
                    let send = sender.map(|sender| sender.run(peered));
                    (send, receiver.map(|receiver| receiver.run(peered)))
                }
            };
            Ok(Streams { send: send.transpose()?, receive: receive.transpose()? })
        })
    }
}
