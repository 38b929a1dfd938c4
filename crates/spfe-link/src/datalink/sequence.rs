//! Receive counter, receive error state machine and replies (50-11C 5.7.6.3, 5.7.7).

/// Sequence number byte: bits 6:0 count, bit 7 polarity.
#[inline(always)]
pub const fn seq_num(count: u8, negative: bool) -> u8 {
    count & 0x7f | (negative as u8) << 7
}

/// States of the receive error state machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReceiveError {
    /// After link reset.
    #[default]
    ValidPositive,
    /// No error, polarity negative.
    ValidNegative,
    /// Waits for the resend with positive polarity.
    ErrorPositive,
    /// Waits for the resend with negative polarity.
    ErrorNegative,
}

/// What is to be told to the far end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acknowledgement {
    /// Nothing.
    #[default]
    None,
    /// An ACK.
    Ack,
    /// A NACK.
    Nack,
}

/// Receiving side of the error recovery.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sequence {
    count: u8,
    state: ReceiveError,
    reply: Acknowledgement,
}

impl Sequence {
    /// After link reset.
    pub const fn new() -> Self {
        Self { count: 0, state: ReceiveError::ValidPositive, reply: Acknowledgement::None }
    }

    /// Count of the last accepted item.
    pub const fn count(&self) -> u8 {
        self.count
    }

    /// State of the receive error state machine.
    pub const fn state(&self) -> ReceiveError {
        self.state
    }

    /// What is to be told to the far end.
    #[inline(always)]
    pub const fn reply(&self) -> Acknowledgement {
        self.reply
    }

    /// Receive polarity flag: true is negative.
    pub const fn is_negative(&self) -> bool {
        matches!(self.state, ReceiveError::ValidNegative | ReceiveError::ErrorNegative)
    }

    /// Whether an EDF, EBF or FCT is the next one.
    pub const fn is_next(&self, seq: u8) -> bool {
        seq == seq_num(self.count.wrapping_add(1), self.is_negative())
    }

    /// Whether a SIF or FULL has the number of the last accepted item.
    pub const fn is_current(&self, seq: u8) -> bool {
        seq == seq_num(self.count, self.is_negative())
    }

    /// An item is accepted.
    pub fn accept(&mut self) {
        self.count = (self.count + 1) & 0x7f;
        self.request_ack();
    }

    /// An ACK is asked for; it replaces a NACK that waits.
    pub fn request_ack(&mut self) {
        self.reply = Acknowledgement::Ack;
        self.state = match self.state {
            ReceiveError::ErrorPositive => ReceiveError::ValidPositive,
            ReceiveError::ErrorNegative => ReceiveError::ValidNegative,
            valid => valid,
        };
    }

    /// A NACK is asked for by a damaged frame; it replaces an ACK that waits.
    pub fn request_nack(&mut self) {
        self.reply = Acknowledgement::Nack;
        self.state = match self.state {
            ReceiveError::ValidPositive => ReceiveError::ErrorNegative,
            ReceiveError::ValidNegative => ReceiveError::ErrorPositive,
            error => error,
        };
    }

    /// A word with a good CRC had the wrong number.
    pub fn sequence_error(&mut self, seq: u8) {
        let same = seq >> 7 == self.is_negative() as u8;
        self.reply = Acknowledgement::Nack;
        self.state = match (self.state, same) {
            (ReceiveError::ValidPositive, _) => ReceiveError::ErrorNegative,
            (ReceiveError::ValidNegative, _) => ReceiveError::ErrorPositive,
            (ReceiveError::ErrorPositive, true) => ReceiveError::ErrorNegative,
            (ReceiveError::ErrorNegative, true) => ReceiveError::ErrorPositive,
            (error, false) => error,
        };
    }

    /// Number in an ACK: count and polarity; in a NACK: count and the other polarity.
    pub const fn reply_seq(&self) -> u8 {
        match self.reply {
            Acknowledgement::Nack => seq_num(self.count, !self.is_negative()),
            _ => seq_num(self.count, self.is_negative()),
        }
    }

    /// The reply is sent.
    pub fn replied(&mut self) {
        self.reply = Acknowledgement::None;
    }
}
