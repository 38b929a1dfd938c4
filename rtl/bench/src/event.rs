//! Events of the core: `{type 8, session 16, data 40}`.

/// An event of the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Kind of the event.
    pub kind: Kind,
    /// Session of the event.
    pub sid: u16,
    /// Data of the event, 40 bits.
    pub data: u64,
    /// Clock in which the core reported it.
    pub clock: u64,
}

macro_rules! kinds {
    ($($name:ident = $code:literal, $text:literal;)*) => {
        /// Kinds of events, equal to `event_e` of `spfe_tcp_pkg.sv`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind {
            $(#[doc = $text] $name,)*
            /// A number that the bench does not know.
            Unknown(u8),
        }

        impl Kind {
            /// Number of the kind on the bus.
            #[must_use]
            pub fn code(self) -> u8 {
                match self {
                    $(Kind::$name => $code,)*
                    Kind::Unknown(code) => code,
                }
            }
        }

        impl From<u8> for Kind {
            fn from(code: u8) -> Self {
                match code {
                    $($code => Kind::$name,)*
                    code => Kind::Unknown(code),
                }
            }
        }
    };
}

kinds! {
    Opened = 1, "A session is established.";
    Closed = 2, "A session is over; data: why.";
    PeerFin = 3, "The peer sends no more.";
    Credit = 4, "Data: bytes free in the ring.";
    TxDeferred = 5, "A message could not leave at once.";
    TxAborted = 6, "A frame was broken off.";
    TxBadSum = 7, "The sum of a message was wrong.";
    TxRefused = 8, "A message was discarded.";
    RxBad = 9, "A segment was bad.";
    ArpFailed = 10, "Nobody has an address.";
    Status = 11, "A session has a new state.";
}

impl Event {
    /// Decodes an event from the bus.
    #[must_use]
    pub fn decode(word: u64, clock: u64) -> Self {
        Self {
            kind: Kind::from((word >> 56) as u8),
            sid: (word >> 40) as u16,
            data: word & 0xff_ffff_ffff,
            clock,
        }
    }
}
