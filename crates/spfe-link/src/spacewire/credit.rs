//! Flow control (50-12C 5.5.4): one FCT lets the far end send eight N-Chars.

/// N-Chars per FCT.
pub const FCT_N_CHARS: u8 = 8;
/// Maximum credit of either side.
pub const MAX_N_CHARS: u8 = 56;

/// The two credit counters of a port. Both are 0 in ErrorReset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpaceWireCredit {
    transmit: u8,
    receive: u8,
}

/// The far end sent more than the credit allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreditError;

impl SpaceWireCredit {
    /// No credit in either direction.
    pub const fn new() -> Self {
        Self { transmit: 0, receive: 0 }
    }

    /// Number of N-Chars that this end may send, 0 to 56.
    pub const fn transmit(&self) -> u8 {
        self.transmit
    }

    /// Number of N-Chars that the far end may still send, 0 to 56.
    pub const fn receive(&self) -> u8 {
        self.receive
    }

    /// Uses one unit of transmit credit. Returns false if there is none.
    pub const fn send_n_char(&mut self) -> bool {
        if self.transmit == 0 {
            return false;
        }
        self.transmit -= 1;
        true
    }

    /// Counts a received FCT. Fails, and adds nothing, if the credit would exceed 56.
    pub const fn receive_fct(&mut self) -> Result<(), CreditError> {
        if self.transmit > MAX_N_CHARS - FCT_N_CHARS {
            return Err(CreditError);
        }
        self.transmit += FCT_N_CHARS;
        Ok(())
    }

    /// Counts a received N-Char. Fails if the far end had no credit.
    pub const fn receive_n_char(&mut self) -> Result<(), CreditError> {
        if self.receive == 0 {
            return Err(CreditError);
        }
        self.receive -= 1;
        Ok(())
    }

    /// Whether an FCT may be sent while the receive queue has `free` places.
    pub const fn may_send_fct(&self, free: usize) -> bool {
        self.receive <= MAX_N_CHARS - FCT_N_CHARS
            && free >= self.receive as usize + FCT_N_CHARS as usize
    }

    /// Counts a sent FCT. Only allowed if [`SpaceWireCredit::may_send_fct`].
    pub const fn send_fct(&mut self) {
        self.receive += FCT_N_CHARS;
    }
}
