//! A core with open sessions, and single measurements.

use super::partner::{Partner, Sent};
use crate::drill::endpoint::Settings;
use crate::mac::LINE_OVERHEAD;
use crate::random::Random;
use crate::rate::Pattern;
use crate::station::Station;
use crate::user::{Message, Mode};

/// Maximum number of clocks for a packet of any size through an idle core.
const PACKET_CLOCKS: u64 = 20_000;
/// Clocks between two single packets, after which the core is idle again.
const PAUSE: u64 = 200;
/// Ticks within which the core acknowledges what it has received.
const ROOM_TICKS: u32 = 8;

/// A core with open sessions and their peer.
#[derive(Debug)]
pub struct CoreBench {
    /// The core with models at its pins.
    pub station: Station,
    /// The peer of all sessions.
    pub partner: Partner,
    /// Session of the next packet.
    sid: u16,
    random: Random,
}

impl CoreBench {
    /// Loads a build and opens all its sessions.
    ///
    /// # Errors
    /// The build cannot be loaded, or a session does not open.
    pub fn new(build: &str, settings: &Settings) -> Result<Self, String> {
        let mut station = Station::new(build).map_err(|error| error.to_string())?;
        let count = station.build.get("SessionCount") as u16;
        let partner = Partner::open(&mut station, settings, count)
            .map_err(|error| format!("{build}: {error}"))?;
        Ok(Self { station, partner, sid: 0, random: Random::new(1) })
    }

    /// Selects the next session in turn.
    pub fn next_sid(&mut self) -> u16 {
        self.sid = (self.sid + 1) % self.partner.count();
        self.sid
    }

    /// Selects the next session in turn whose window has room for so many bytes. Sessions share the
    /// memory of a receiver that stores segments, so windows can be small.
    ///
    /// # Errors
    /// No session gets room.
    fn next_with_room(&mut self, n: u64) -> Result<u16, String> {
        for _ in 0..ROOM_TICKS {
            for _ in 0..self.partner.count() {
                let sid = self.next_sid();
                if self.partner.room(sid) >= n {
                    return Ok(sid);
                }
            }
            self.rest()?;
        }
        Err(format!("no session offers {n} bytes"))
    }

    /// Lets a tick pass, with which the core acknowledges what it has received.
    ///
    /// # Errors
    /// Those of [`Partner::settle`].
    pub fn rest(&mut self) -> Result<(), String> {
        self.station.tick();
        // The core looks at the timers of one session after the other.
        let walk = 8 * u64::from(self.partner.count());
        self.partner.settle(&mut self.station, PAUSE + walk)
    }

    /// Random payload.
    pub fn payload(&mut self, n: u64) -> Vec<u8> {
        self.random.bytes(n as usize)
    }

    /// A random number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.random.below(limit)
    }

    /// Sets the pattern of both directions of the MAC, without a gap between frames.
    pub fn set_pace(&mut self, pattern: Pattern) {
        self.station.mac_rx.set_pace(pattern, 0);
        self.station.mac_tx.set_pace(pattern, 0);
    }

    /// Sets the pattern of both directions of the MAC, with the gaps of a line.
    pub fn set_line(&mut self, pattern: Pattern) {
        self.station.mac_rx.set_pace(pattern, LINE_OVERHEAD);
        self.station.mac_tx.set_pace(pattern, LINE_OVERHEAD);
    }

    /// Sends one segment from the line to the user. Returns the clocks from its first word to the
    /// first beat. `pattern` starts with the clock in which the frame is ready.
    ///
    /// # Errors
    /// The segment does not arrive, or arrives changed.
    pub fn receive(&mut self, n: u64, pattern: Pattern) -> Result<u64, String> {
        let (sid, payload) = (self.next_with_room(n)?, self.payload(n));
        let station = &mut self.station;
        station.mac_rx.set_pace(pattern, 0);
        self.partner.send(station, sid, payload.clone());
        station.run_until(PACKET_CLOCKS, |station| !station.user_rx.segments.is_empty());
        let segment = station
            .user_rx
            .segments
            .pop_front()
            .ok_or_else(|| format!("session {sid}: the core does not deliver {n} bytes"))?;
        if segment.sid != sid || segment.data != payload || segment.err {
            return Err(format!("session {sid}: {n} bytes arrive as {segment:?}"));
        }
        let span = station.mac_rx.spans.pop().ok_or("no frame was sent to the core")?;
        self.partner.settle(station, PAUSE)?;
        Ok(segment.first - span.first)
    }

    /// Sends one message from the user to the line. Returns the clocks from its first beat to the
    /// first word.
    ///
    /// # Errors
    /// The message does not leave the core, or leaves it changed.
    pub fn send(&mut self, n: u64, mode: Mode) -> Result<u64, String> {
        let (sid, data) = (self.next_sid(), self.payload(n));
        let station = &mut self.station;
        station.user_tx.push(Message { sid, data: data.clone(), mode, ..Message::default() });
        station.run_until(PACKET_CLOCKS, |station| !station.mac_tx.frames.is_empty());
        let sent: Vec<Sent> = self.partner.take(station)?;
        let [sent] = &sent[..] else {
            return Err(format!("session {sid}: {n} bytes leave in {} segments", sent.len()));
        };
        if sent.sid != sid || sent.segment.payload != data {
            return Err(format!("session {sid}: {n} bytes leave as {}", sent.segment.text()));
        }
        let span = station.user_tx.spans.pop().ok_or("the core accepted no message")?;
        self.partner.acknowledge(station, sid);
        self.partner.settle(station, PAUSE)?;
        Ok(sent.frame.first - span.offered)
    }
}
