//! Conversion of simulation events to capture events.

use crate::fault::{FaultKind, FaultTarget, LastingFault, WireFault};
use spfe_capture::{EventCode, LinkEvent};
use spfe_link::control::ControlWord;
use spfe_link::spacewire;

/// Names of the lane states (50-11C 5.5.2), by number.
pub const LANE_STATES: [&str; 10] = [
    "ClearLine",
    "Disabled",
    "Wait",
    "Started",
    "InvertRxPolarity",
    "Connecting",
    "Connected",
    "Active",
    "PrepareStandby",
    "LossOfSignal",
];
/// Names of the alignment states (50-11C 5.6.4.3), by number.
pub const ALIGNMENTS: [&str; 3] = ["Not Ready", "Near-End Ready", "Both-Ends Ready"];
/// Names of the link reset states (50-11C 5.7.9), by number.
pub const RESETS: [&str; 4] =
    ["ConfigurationReset", "NearEndReset", "CheckFarEndReset", "LinkInitialised"];
/// Names of the states of a SpaceWire link (50-12C 5.5.7), by number.
pub const SPACEWIRE_STATES: [&str; 6] =
    ["ErrorReset", "ErrorWait", "Ready", "Started", "Connecting", "Run"];

/// Number of a state, combined with the previous number in `place`, which it updates.
pub fn change(names: &[&str], name: &str, place: Option<&mut u8>) -> u32 {
    let now = names.iter().position(|known| *known == name).unwrap_or_default() as u8;
    let before = place.map_or(0, |place| std::mem::replace(place, now));
    u32::from(before) | u32::from(now) << 8
}

/// Capture event for an error, by its name in the tables of the standard.
pub fn error(name: &'static str) -> LinkEvent<'static> {
    let code = match name {
        "RXERR" => EventCode::RxErr,
        "CRC-16 error" => EventCode::Crc16Error,
        "CRC-8 error" => EventCode::Crc8Error,
        "frame error" => EventCode::FrameError,
        "sequence error" => EventCode::SequenceError,
        "protocol error" => EventCode::ProtocolError,
        "far-end link reset" => EventCode::FarEndLinkReset,
        "input buffer overflow" => EventCode::InputBufferOverflow,
        "FCT credit overflow" => EventCode::FctCreditOverflow,
        _ => EventCode::SpaceWireError,
    };
    let cause = match name {
        "disconnect" => spacewire::ErrorResetCause::Disconnect as u32,
        "parity error" => spacewire::ErrorResetCause::Parity as u32,
        "escape error" => spacewire::ErrorResetCause::Escape as u32,
        "credit error" => spacewire::ErrorResetCause::Credit as u32,
        _ => 0,
    };
    LinkEvent::new(code, cause).text(name)
}

/// Name and symbol 1 of the control word that a fault waited for.
fn control_word(target: FaultTarget) -> Option<(&'static str, u8)> {
    let (seq, crc) = (0, 0);
    let (name, control) = match target {
        FaultTarget::Ack => ("ACK", ControlWord::Ack { seq, crc }),
        FaultTarget::Nack => ("NACK", ControlWord::Nack { seq, crc }),
        FaultTarget::Retry => ("RETRY", ControlWord::Retry),
        FaultTarget::Full => ("FULL", ControlWord::Full { seq, crc }),
        FaultTarget::Fct => ("FCT", ControlWord::Fct { multiplier: 1, vc: 0, seq, crc }),
        FaultTarget::Sdf => ("SDF", ControlWord::Sdf { vc: 0 }),
        FaultTarget::Edf => ("EDF", ControlWord::Edf { seq, crc: 0 }),
        FaultTarget::Sbf => ("SBF", ControlWord::Sbf { channel: 0, kind: 0 }),
        FaultTarget::Ebf => ("EBF", ControlWord::Ebf { status: 0, seq, crc }),
        FaultTarget::Sif => ("SIF", ControlWord::Sif { seq, crc }),
        FaultTarget::Any
        | FaultTarget::Data
        | FaultTarget::Null
        | FaultTarget::EndMarker
        | FaultTarget::Code => {
            return None;
        }
    };
    Some((name, control.encode().symbol(1)))
}

/// Capture event for a single fault. `swapped` tells whether the pair is swapped afterwards.
pub fn fault(lane: u8, fault: &WireFault, bit_ps: u32, swapped: bool) -> LinkEvent<'static> {
    let word = control_word(fault.target);
    let (code, value) = match (fault.kind, word) {
        (FaultKind::BitError, Some((_, symbol))) => (EventCode::FaultControlWord, symbol.into()),
        (kind, _) => of_kind(kind, bit_ps, swapped),
    };
    let text = word.map_or("", |(name, _)| name);
    LinkEvent { lane: Some(lane), ..LinkEvent::new(code, value) }.text(text)
}

fn of_kind(kind: FaultKind, bit_ps: u32, swapped: bool) -> (EventCode, u32) {
    match kind {
        FaultKind::BitError => (EventCode::FaultBitError, 1),
        FaultKind::Burst { bits } => (EventCode::FaultBurst, bits),
        FaultKind::Cut { .. } => (EventCode::FaultLaneCut, 0),
        FaultKind::Stuck { high, .. } => (EventCode::FaultStuck, high.into()),
        FaultKind::Delay { delay_ps } => (EventCode::FaultSkew, delay_ps as u32),
        FaultKind::PolaritySwap => (EventCode::FaultPolarity, swapped.into()),
        FaultKind::Skew { bits } => (EventCode::FaultSkew, bits.wrapping_mul(bit_ps as i32) as u32),
        FaultKind::Drop => (EventCode::FaultWordDropped, 1),
        FaultKind::Duplicate => (EventCode::FaultWordDuplicated, 1),
        FaultKind::Reorder => (EventCode::FaultWordReordered, 2),
    }
}

/// Capture event for a lasting fault, and whether it belongs to the sending end.
pub fn lasting(fault: &LastingFault, begins: bool) -> (bool, LinkEvent<'static>) {
    let (code, vc) = match *fault {
        LastingFault::Babbling { channel } => (EventCode::FaultBabbling, Some(channel)),
        LastingFault::Blocked { channel } => (EventCode::FaultBlocked, channel),
        LastingFault::BitErrorRate { lane, rate } => {
            let errors = if begins { (rate * 1e12).round() as u32 } else { 0 };
            return (true, LinkEvent { lane, ..LinkEvent::new(EventCode::FaultErrorRate, errors) });
        }
    };
    let of_sender = matches!(fault, LastingFault::Babbling { .. });
    (of_sender, LinkEvent { vc, ..LinkEvent::new(code, begins.into()) })
}
