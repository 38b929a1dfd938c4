//! The receive window: how the sessions share the FIFO of store-and-forward.
//!
//! Bytes in the FIFO and twice the bytes on offer stay within its size, and each session has a least
//! window of it set aside. Cut-through has no FIFO; its window is the configured one.

use super::Reference;

impl Reference {
    /// Bytes of the FIFO in use. Each segment begins a beat.
    pub(super) fn fifo_used(&self) -> u32 {
        let beat = self.build.beat_bytes();
        self.fifo.iter().map(|d| (d.bytes.len() as u32).next_multiple_of(beat)).sum()
    }

    /// Bytes of the window beyond RCV.NXT that a segment may fill.
    pub(super) fn offered(&self, id: usize) -> u32 {
        let s = &self.sessions[id];
        if self.build.rx_checksum { s.edge.wrapping_sub(s.rcv_nxt) } else { self.settings.rcv_wnd }
    }

    /// The configured window as far as it can be kept and announced.
    fn limit(&self, scaled: bool) -> u32 {
        let ring = if self.build.rx_reordering { self.build.kept_bytes() } else { u32::MAX };
        let shift = if scaled { self.settings.wscale.unwrap_or(0) } else { 0 };
        self.settings.rcv_wnd.min(ring).min(65535 << shift)
    }

    /// What the budget leaves of this size.
    fn left_of(&self, size: u32) -> u32 {
        let open = (0..self.sessions.len()).filter(|id| self.sessions[*id].matches());
        let offers: u32 = open.map(|id| self.offered(id)).sum();
        size.saturating_sub(self.fifo_used()).saturating_sub(2 * offers) / 2
    }

    /// What all sessions share.
    fn available(&self) -> u32 {
        let aside = 2 * self.build.least_window() * u32::from(self.build.session_count);
        self.left_of(self.build.fifo_bytes() - aside)
    }

    /// What a session with less than the least window may have.
    fn rest(&self) -> u32 {
        self.left_of(self.build.fifo_bytes())
    }

    fn least(&self) -> u32 {
        self.limit(false).min(self.build.least_window())
    }

    /// The smallest step by which a window opens towards the least one.
    fn bit(&self) -> u32 {
        self.least().min(self.piece())
    }

    /// The smallest step by which a window opens (RFC 9293, 3.8.6.2.2).
    fn piece(&self) -> u32 {
        let half = (self.limit(false) / 2).min(self.build.fifo_bytes() / 8);
        half.min(self.settings.mss.into())
    }

    /// A session opens without an offer: its first segment makes one.
    pub(super) fn first_offer(&mut self, id: usize) {
        let s = self.session(id);
        s.edge = s.rcv_nxt;
        s.cut = false;
    }

    /// Opens the window as far as possible and returns it.
    pub(super) fn offer(&mut self, id: usize, scaled: bool) -> u32 {
        if !self.build.rx_checksum {
            return self.settings.rcv_wnd;
        }
        let (left, limit, available) = (self.offered(id), self.limit(scaled), self.available());
        let want = limit.saturating_sub(left);
        let grant = match want <= available {
            true => want,
            false if available >= self.piece() => available,
            false if self.opens_least(left) => (self.least() - left).min(self.rest()),
            false => 0,
        };
        let low = left + grant < 2 * self.piece();
        let s = self.session(id);
        s.cut = want > available && low;
        s.edge = s.edge.wrapping_add(grant);
        left + grant
    }

    /// Whether this window can grow towards the least one.
    fn opens_least(&self, left: u32) -> bool {
        left <= self.least() - self.bit() && self.rest() >= self.bit()
    }

    /// Announces windows that were cut short, now that the user has made room.
    pub(super) fn tell_windows(&mut self) {
        for id in 0..self.sessions.len() {
            let s = &self.sessions[id];
            if !self.build.rx_checksum || !s.cut || !s.receiving() {
                continue;
            }
            if self.available() >= self.piece() || self.opens_least(self.offered(id)) {
                self.send_ack(id);
            }
        }
    }
}
