//! Receive counter, receive error state machine and replies (50-11C 5.7.6.3, 5.7.7).

/// Builds a sequence number: bits 6:0 count, bit 7 polarity.
#[inline(always)]
pub const fn seq_num(count: u8, negative: bool) -> u8 {
    count & 0x7f | (negative as u8) << 7
}

/// States of the receive error state machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReceiveError {
    /// No error, polarity positive. State after a link reset.
    #[default]
    ValidPositive,
    /// No error, polarity negative.
    ValidNegative,
    /// An error was reported; waiting for the resend with positive polarity.
    ErrorPositive,
    /// An error was reported; waiting for the resend with negative polarity.
    ErrorNegative,
}

/// Reply that is due to the far end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acknowledgement {
    /// No reply is due.
    #[default]
    None,
    /// An ACK is due.
    Ack,
    /// A NACK is due.
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
    /// State after a link reset.
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

    /// Reply that is due to the far end.
    #[inline(always)]
    pub const fn reply(&self) -> Acknowledgement {
        self.reply
    }

    /// Whether the receive polarity is negative.
    pub const fn is_negative(&self) -> bool {
        matches!(self.state, ReceiveError::ValidNegative | ReceiveError::ErrorNegative)
    }

    /// Whether an EDF, EBF or FCT has the next number.
    pub const fn is_next(&self, seq: u8) -> bool {
        seq == seq_num(self.count.wrapping_add(1), self.is_negative())
    }

    /// Whether a SIF or FULL has the number of the last accepted item.
    pub const fn is_current(&self, seq: u8) -> bool {
        seq == seq_num(self.count, self.is_negative())
    }

    /// Counts an accepted item and requests an ACK.
    pub fn accept(&mut self) {
        self.count = (self.count + 1) & 0x7f;
        self.request_ack();
    }

    /// Requests an ACK; it replaces a pending NACK.
    pub fn request_ack(&mut self) {
        self.reply = Acknowledgement::Ack;
        self.state = match self.state {
            ReceiveError::ErrorPositive => ReceiveError::ValidPositive,
            ReceiveError::ErrorNegative => ReceiveError::ValidNegative,
            valid => valid,
        };
    }

    /// Requests a NACK after a damaged frame; it replaces a pending ACK.
    pub fn request_nack(&mut self) {
        self.reply = Acknowledgement::Nack;
        self.state = match self.state {
            ReceiveError::ValidPositive => ReceiveError::ErrorNegative,
            ReceiveError::ValidNegative => ReceiveError::ErrorPositive,
            error => error,
        };
    }

    /// A word with a good CRC had the wrong number: requests a NACK.
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

    /// Number for the reply: count and polarity for an ACK, count and inverse polarity for a NACK.
    pub const fn reply_seq(&self) -> u8 {
        match self.reply {
            Acknowledgement::Nack => seq_num(self.count, !self.is_negative()),
            _ => seq_num(self.count, self.is_negative()),
        }
    }

    /// The reply was sent.
    pub fn replied(&mut self) {
        self.reply = Acknowledgement::None;
    }
}
