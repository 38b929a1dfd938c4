//! Opcodes.

/// What a packet asks for or answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Opcode {
    /// Writes the payload to remote memory.
    Write = 0x01,
    /// Reads remote memory.
    Read = 0x02,
    /// Delivers the payload into a receive buffer.
    Send = 0x03,
    /// Adds 8 bytes to 8 bytes of remote memory; answers the old value.
    FetchAdd = 0x04,
    /// Exchanges 8 bytes of remote memory if they have an expected value; answers the old value.
    CompareSwap = 0x05,
    /// Is answered when all earlier writes are in memory.
    Flush = 0x06,
    /// Asks what the target can do.
    Info = 0x07,
    /// Asks for the list of regions.
    Regions = 0x08,
    /// Tells how many receive buffers have been posted. Has no response.
    Credit = 0x09,
    /// Starts a new sequence of messages.
    Connect = 0x0a,
    /// Ends a sequence of messages.
    Disconnect = 0x0b,
}

/// Bit of the code that makes a packet a response.
pub const RESPONSE: u8 = 0x80;

impl Opcode {
    /// All opcodes, by code.
    pub const ALL: [Self; 11] = [
        Self::Write,
        Self::Read,
        Self::Send,
        Self::FetchAdd,
        Self::CompareSwap,
        Self::Flush,
        Self::Info,
        Self::Regions,
        Self::Credit,
        Self::Connect,
        Self::Disconnect,
    ];

    /// The opcode in a header, whether of a request or of a response.
    pub fn of(code: u8) -> Option<Self> {
        let code = code & !RESPONSE;
        Self::ALL.into_iter().find(|opcode| *opcode as u8 == code)
    }

    /// Whether requests carry a payload.
    pub const fn request_has_payload(self) -> bool {
        matches!(self, Self::Write | Self::Send | Self::FetchAdd | Self::CompareSwap)
    }

    /// Whether responses with status OK carry a payload.
    pub const fn response_has_payload(self) -> bool {
        matches!(self, Self::Read | Self::FetchAdd | Self::CompareSwap | Self::Info | Self::Regions)
    }

    /// Whether this is one of the atomic operations.
    pub const fn is_atomic(self) -> bool {
        matches!(self, Self::FetchAdd | Self::CompareSwap)
    }

    /// Whether requests take a sequence number and are executed in its order. The others are
    /// questions and announcements, which may be repeated at any time.
    pub const fn is_sequenced(self) -> bool {
        matches!(
            self,
            Self::Write
                | Self::Read
                | Self::Send
                | Self::FetchAdd
                | Self::CompareSwap
                | Self::Flush
        )
    }

    /// Name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "WRITE",
            Self::Read => "READ",
            Self::Send => "SEND",
            Self::FetchAdd => "FETCH_ADD",
            Self::CompareSwap => "CMP_SWAP",
            Self::Flush => "FLUSH",
            Self::Info => "INFO",
            Self::Regions => "REGIONS",
            Self::Credit => "CREDIT",
            Self::Connect => "CONNECT",
            Self::Disconnect => "DISCONNECT",
        }
    }
}
