//! Flow control (50-12C 5.5.4): one FCT is leave to send eight N-Chars.

/// N-Chars per FCT.
pub const FCT_N_CHARS: u8 = 8;
/// The most credit either side may hold.
pub const MAX_N_CHARS: u8 = 56;

/// The two credit counters of a port, both 0 in ErrorReset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpaceWireCredit {
    transmit: u8,
    receive: u8,
}

/// More than the credit allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreditError;

impl SpaceWireCredit {
    /// None in either direction.
    pub const fn new() -> Self {
        Self { transmit: 0, receive: 0 }
    }

    /// N-Chars that may be sent, 0 to 56.
    pub const fn transmit(&self) -> u8 {
        self.transmit
    }

    /// N-Chars that may still come, 0 to 56.
    pub const fn receive(&self) -> u8 {
        self.receive
    }

    /// Takes one N-Char of transmit credit; false if there is none.
    pub const fn send_n_char(&mut self) -> bool {
        if self.transmit == 0 {
            return false;
        }
        self.transmit -= 1;
        true
    }

    /// An FCT came. One that would lead above 56 is not added.
    pub const fn receive_fct(&mut self) -> Result<(), CreditError> {
        if self.transmit > MAX_N_CHARS - FCT_N_CHARS {
            return Err(CreditError);
        }
        self.transmit += FCT_N_CHARS;
        Ok(())
    }

    /// An N-Char came.
    pub const fn receive_n_char(&mut self) -> Result<(), CreditError> {
        if self.receive == 0 {
            return Err(CreditError);
        }
        self.receive -= 1;
        Ok(())
    }

    /// Whether an FCT may be sent with so many places free in the receive queue.
    pub const fn may_send_fct(&self, free: usize) -> bool {
        self.receive <= MAX_N_CHARS - FCT_N_CHARS
            && free >= self.receive as usize + FCT_N_CHARS as usize
    }

    /// An FCT is sent; only if [`SpaceWireCredit::may_send_fct`].
    pub const fn send_fct(&mut self) {
        self.receive += FCT_N_CHARS;
    }
}
