//! Keeps `wireshark/spfe/names.lua` equal to the names and constants of the code.
//!
//! After an intended change: `SPFE_BLESS=1 cargo test -p spfe-capture --test lua`.

use spfe_capture::event::reason_number;
use spfe_capture::layout::flag;
use spfe_capture::{EventCode, LinkKind, PacketEnd, RecordDirection, RecordKind, Severity};
use spfe_link::datalink::LinkResetState;
use spfe_link::lane::{LaneState, LostSignalCause};
use spfe_link::multilane::mib::{Alignment, Misaligned};
use spfe_link::network::DiscardReason;
use spfe_link::spacewire::{ErrorResetCause, SpaceWireState};
use spfe_link::word::k;
use spfe_link::{ControlWord, Word};
use spfe_proto::rmap::RmapStatus;
use spfe_proto::sfrp::{Opcode, SfrpStatus};
use std::fmt::{Debug, Display, Write};
use std::path::PathBuf;

/// Writes a Lua table from numbers to texts.
fn texts(out: &mut String, name: &str, rows: &[(u32, String)]) {
    writeln!(out, "M.{name} = {{").unwrap();
    for (number, text) in rows {
        writeln!(out, "    [{number}] = \"{text}\",").unwrap();
    }
    writeln!(out, "}}").unwrap();
}

/// Writes a Lua table from names to numbers.
fn numbers<T: Display>(out: &mut String, name: &str, rows: &[(T, u32)]) {
    writeln!(out, "M.{name} = {{").unwrap();
    for (key, number) in rows {
        writeln!(out, "    {key} = {number},").unwrap();
    }
    writeln!(out, "}}").unwrap();
}

/// Pairs each value's number with its name in the code.
fn of<T: Copy + Debug>(all: &[T], number: impl Fn(T) -> u32) -> Vec<(u32, String)> {
    all.iter().map(|value| (number(*value), format!("{value:?}"))).collect()
}

fn given(rows: &[(u32, &str)]) -> Vec<(u32, String)> {
    rows.iter().map(|(number, text)| (*number, (*text).to_owned())).collect()
}

fn kinds(out: &mut String) {
    let kinds: Vec<_> =
        RecordKind::ALL.iter().map(|kind| (format!("{kind:?}"), *kind as u32)).collect();
    numbers(out, "kind", &kinds);
    texts(out, "kinds", &of(RecordKind::ALL, |kind| kind as u32));
    texts(out, "links", &of(LinkKind::ALL, |link| link as u32));
    texts(
        out,
        "directions",
        &given(&[
            (RecordDirection::Unknown as u32, "unknown"),
            (RecordDirection::Sent as u32, "the sender"),
            (RecordDirection::Received as u32, "the receiver"),
        ]),
    );
    texts(
        out,
        "ends",
        &given(&[
            (PacketEnd::None as u32, "no end"),
            (PacketEnd::Eop as u32, "EOP"),
            (PacketEnd::Eep as u32, "EEP"),
        ]),
    );
    numbers(
        out,
        "flags",
        &[
            ("ERROR", flag::ERROR.into()),
            ("FAULT", flag::FAULT.into()),
            ("TRUNCATED", flag::TRUNCATED.into()),
            ("RESENT", flag::RESENT.into()),
            ("SCRAMBLED", flag::SCRAMBLED.into()),
            ("PLAIN", flag::PLAIN.into()),
        ],
    );
    texts(
        out,
        "characters",
        &given(&[
            (0, "Data"),
            (1, "EOP"),
            (2, "EEP"),
            (3, "FCT"),
            (4, "NULL"),
            (5, "Broadcast code"),
            (6, "Parity error"),
            (7, "Escape error"),
        ]),
    );
}

fn events(out: &mut String) {
    let code = |code: &EventCode| *code as u32;
    let rows: Vec<_> =
        EventCode::ALL.iter().map(|event| (format!("{event:?}"), code(event))).collect();
    numbers(out, "event", &rows);
    let rows: Vec<_> =
        EventCode::ALL.iter().map(|event| (code(event), event.name().to_owned())).collect();
    texts(out, "events", &rows);
    let all = [Severity::Note, Severity::Warning, Severity::Error];
    texts(out, "severities", &of(&all, |severity| severity as u32));
}

fn states(out: &mut String) {
    use LaneState as L;
    let all = [
        L::ClearLine,
        L::Disabled,
        L::Wait,
        L::Started,
        L::InvertRxPolarity,
        L::Connecting,
        L::Connected,
        L::Active,
        L::PrepareStandby,
        L::LossOfSignal,
    ];
    texts(out, "lane_states", &of(&all, |state| state as u32));
    use Alignment as A;
    let all = [A::NotReady, A::NearEndReady, A::BothEndsReady];
    texts(out, "alignment_states", &of(&all, |state| state as u32));
    use LinkResetState as R;
    let all = [R::ConfigurationReset, R::NearEndReset, R::CheckFarEndReset, R::LinkInitialised];
    texts(out, "link_reset_states", &of(&all, |state| state as u32));
    use SpaceWireState as S;
    let all = [S::ErrorReset, S::ErrorWait, S::Ready, S::Started, S::Connecting, S::Run];
    texts(out, "spacewire_states", &of(&all, |state| state as u32));
}

fn causes(out: &mut String) {
    use ErrorResetCause as C;
    let all = [
        C::Disconnect,
        C::Parity,
        C::Escape,
        C::Credit,
        C::Sequence,
        C::Timeout,
        C::Disabled,
        C::Reset,
    ];
    texts(out, "spacewire_causes", &of(&all, |cause| cause as u32));
    use LostSignalCause as L;
    let all = [L::NoSignal, L::RxerrOverflow, L::Init1Received];
    texts(out, "lost_signal_causes", &of(&all, |cause| cause as u32));
    use Misaligned as M;
    let all = [
        M::ActiveLanes,
        M::FarEndActiveLanes,
        M::DataReceivingLanes,
        M::FifoOverflow,
        M::InvalidAlign,
        M::HeldAlign,
        M::InvalidRow,
        M::EarlyRxErr,
        M::RxErrRow,
    ];
    texts(out, "misaligned_causes", &of(&all, |cause| cause as u32));
    use DiscardReason as R;
    let all = [
        R::Empty,
        R::InvalidAddress,
        R::NoPort,
        R::InputUnmapped,
        R::OutputUnmapped,
        R::NotRunning,
        R::Blocked,
        R::Timeout,
    ];
    texts(out, "drop_reasons", &of(&all, |reason| reason_number(reason).into()));
}

fn words(out: &mut String) {
    numbers(
        out,
        "k",
        &[
            ("COMMA", k::COMMA.into()),
            ("INIT_COMMA", k::INIT_COMMA.into()),
            ("EDF", k::EDF.into()),
            ("EBF", k::EBF.into()),
            ("FCT", k::FCT.into()),
            ("FILL", k::FILL.into()),
            ("EOP", k::EOP.into()),
            ("EEP", k::EEP.into()),
        ],
    );
    let symbol = |control: ControlWord, index| u32::from(control.encode().symbol(index));
    let (seq, crc) = (0, 0);
    let of_comma = [
        ("SDF", ControlWord::Sdf { vc: 0 }),
        ("SIF", ControlWord::Sif { seq, crc }),
        ("ACK", ControlWord::Ack { seq, crc }),
        ("NACK", ControlWord::Nack { seq, crc }),
        ("FULL", ControlWord::Full { seq, crc }),
        ("SBF", ControlWord::Sbf { channel: 0, kind: 0 }),
        ("RETRY", ControlWord::Retry),
        ("ACTIVE", ControlWord::Active { lanes: 0 }),
        ("ALIGN", ControlWord::Align { lanes: 0, inverse: 0 }),
    ];
    numbers(out, "symbol1", &of_comma.map(|(name, control)| (name, symbol(control, 1))));
    let of_lane = [
        ("SKIP", ControlWord::Skip),
        ("IDLE", ControlWord::Idle),
        ("STANDBY", ControlWord::Standby { reason: 0 }),
        ("LOST_SIGNAL", ControlWord::LostSignal { cause: 0 }),
        ("INIT1", ControlWord::Init1),
        ("INIT2", ControlWord::Init2),
        ("INIT3", ControlWord::Init3 { capability: 0 }),
        ("iINIT1", ControlWord::Init1Inverted),
        ("iINIT2", ControlWord::Init2Inverted),
    ];
    numbers(out, "lane_symbol2", &of_lane.map(|(name, control)| (name, symbol(control, 2))));
    let field = |word: Word| {
        let other = Word { bits: word.bits ^ 0x0100_0000, k: word.k };
        ControlWord::decode(other).is_some()
    };
    let select = |out: &mut String, name, choose: &dyn Fn(Word) -> bool| {
        writeln!(out, "M.{name} = {{").unwrap();
        for (name, _) in of_lane.iter().filter(|(_, control)| choose(control.encode())) {
            writeln!(out, "    {name} = true,").unwrap();
        }
        writeln!(out, "}}").unwrap();
    };
    select(out, "init", &|word| word.symbol(0) == k::INIT_COMMA);
    select(out, "symbol3_is_field", &field);
    writeln!(out, "M.llcw = {}", symbol(ControlWord::Skip, 1)).unwrap();
    writeln!(out, "M.llcw_inverted = {}", symbol(ControlWord::Init1Inverted, 1)).unwrap();
}

fn protocols(out: &mut String) {
    texts(
        out,
        "pids",
        &given(&[
            (0, "Extended"),
            (spfe_proto::rmap::PID.into(), "RMAP"),
            (spfe_proto::ptp::PID.into(), "CCSDS packet transfer"),
            (238, "GRDDP"),
            (239, "STUP"),
            (spfe_proto::sfrp::PID.into(), "SFRP"),
            (255, "Reserved"),
        ]),
    );
    let status = |number: u8| (u32::from(number), RmapStatus(number).text().to_owned());
    let rows: Vec<_> = (0..=12).map(status).collect();
    texts(out, "rmap_status", &rows);
    let opcode = |opcode: &Opcode| (*opcode as u32, opcode.name().to_owned());
    texts(out, "sfrp_opcodes", &Opcode::ALL.iter().map(opcode).collect::<Vec<_>>());
    let status = |code: u8| Some((u32::from(code), SfrpStatus(code).meaning()?.to_owned()));
    texts(out, "sfrp_status", &(0..=255).filter_map(status).collect::<Vec<_>>());
}

#[test]
fn names_lua_matches_the_code() {
    let mut lua = String::from(
        "-- SPDX-License-Identifier: MIT OR Apache-2.0\n\
         -- Names and constants. Generated: SPFE_BLESS=1 cargo test -p spfe-capture --test lua\n\n\
         local M = {}\n",
    );
    kinds(&mut lua);
    events(&mut lua);
    states(&mut lua);
    causes(&mut lua);
    words(&mut lua);
    protocols(&mut lua);
    lua.push_str("return M\n");
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../wireshark/spfe/names.lua");
    if std::env::var_os("SPFE_BLESS").is_some() {
        std::fs::write(&path, &lua).expect("names.lua is writable");
    }
    let found = std::fs::read_to_string(&path).expect("names.lua is there");
    let line = found.lines().zip(lua.lines()).position(|(old, new)| old != new);
    assert!(found == lua, "names.lua differs, first in line {:?}", line.map(|line| line + 1));
}
