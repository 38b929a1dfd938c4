//! The configuration space of the device (PCI Express Base Specification, 7.5).
//!
//! | offset | content |
//! | --- | --- |
//! | 0x00 | type 0 header: BAR 0 (registers) and BAR 2 (MSI-X), 64-bit, not prefetchable; INTA# |
//! | 0x40 | PCI Express capability, version 2, endpoint, with function level reset |
//! | 0x80 | MSI-X capability: table at 0 and pending bits at 0x800 of BAR 2 |
//! | 0x100 | advanced error reporting, without which a host never tells the driver of bus errors |

use spfe_contract::{PCI_CLASS, PCI_DEVICE, PCI_VENDOR};
use spfe_plane::registers::EVENTS;

/// Size of the configuration space in bytes.
pub const BYTES: usize = 4096;
/// Size of BAR 2 in bytes.
pub const MSIX_BYTES: u64 = 0x1000;
/// Offset of the pending bits in BAR 2.
pub const PENDING: u64 = 0x800;

const COMMAND: usize = 0x04;
/// The register STATUS.
pub const STATUS: usize = 0x06;
const BAR0: usize = 0x10;
const BAR2: usize = 0x18;
const EXPRESS: usize = 0x40;
const DEVICE_CONTROL: usize = EXPRESS + 0x08;
const MSIX: usize = 0x80;
const ERRORS: usize = 0x100;

/// COMMAND: the device may access memory and send interrupts.
const BUS_MASTER: u8 = 1 << 2;
/// COMMAND, high byte: INTA# stays low.
const LINE_OFF: u8 = 1 << 2;
/// STATUS: INTA# is high, whether or not it is disabled.
const LINE_HIGH: u8 = 1 << 3;
/// Writable bits of COMMAND: memory space, bus master, parity response, SERR#, INTx disable.
const COMMAND_BITS: u16 = 0x0546;
/// High byte of the device control register: initiate function level reset. Reads as 0.
const FLR: u8 = 1 << 7;
/// The uncorrectable errors that may be masked or called fatal, and those that are fatal after
/// power-up.
const UNCORRECTABLE: (u32, u32) = (0x007f_f030, 0x0046_2030);
/// The correctable errors that may be masked, and those that are masked after power-up.
const CORRECTABLE: (u32, u32) = (0x0000_f1c1, 0x0000_2000);
/// BAR type: 64-bit address.
const BAR_64: u8 = 0x4;

/// The actions that a write to the configuration space requires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// Perform a function level reset.
    pub reset: bool,
    /// New value of the bus master bit, if it has changed.
    pub master: Option<bool>,
}

/// A configuration space: its bytes, and a mask of the bits that a host may write.
pub struct ConfigSpace {
    bytes: Vec<u8>,
    writable: Vec<u8>,
    register_bytes: u32,
}

impl ConfigSpace {
    /// Makes the configuration space after power-up of a device whose registers have
    /// `register_bytes` bytes, a power of two. `line`: the device has INTA#.
    pub fn new(register_bytes: u32, line: bool) -> Self {
        let (bytes, writable) = (vec![0; BYTES], vec![0; BYTES]);
        let mut space = Self { bytes, writable, register_bytes };
        space.header();
        space.set(0x3d, &[line.into()]);
        space.express();
        space.msix();
        space.errors();
        space
    }

    fn set(&mut self, at: usize, value: &[u8]) {
        self.bytes[at..at + value.len()].copy_from_slice(value);
    }

    fn allow(&mut self, at: usize, mask: &[u8]) {
        self.writable[at..at + mask.len()].copy_from_slice(mask);
    }

    fn header(&mut self) {
        let ids = [PCI_VENDOR as u16, PCI_DEVICE as u16];
        for (at, id) in [0x00, 0x2c].into_iter().flat_map(|at| [(at, ids[0]), (at + 2, ids[1])]) {
            self.set(at, &id.to_le_bytes());
        }
        self.allow(COMMAND, &COMMAND_BITS.to_le_bytes());
        // STATUS: the device has a list of capabilities.
        self.set(STATUS, &0x0010u16.to_le_bytes());
        self.set(0x09, &(PCI_CLASS as u32).to_le_bytes()[..3]);
        // Cache line size and interrupt line only store values of the host.
        self.allow(0x0c, &[0xff]);
        self.allow(0x3c, &[0xff]);
        let size = u64::from(self.register_bytes);
        for (at, bytes) in [(BAR0, size), (BAR2, MSIX_BYTES)] {
            self.set(at, &[BAR_64]);
            self.allow(at, &(!(bytes - 1)).to_le_bytes());
        }
        self.set(0x34, &[EXPRESS as u8]);
    }

    fn express(&mut self) {
        self.set(EXPRESS, &[0x10, MSIX as u8]);
        self.set(EXPRESS + 0x02, &2u16.to_le_bytes());
        // Device capabilities: role-based error reporting, function level reset.
        self.set(EXPRESS + 0x04, &(1u32 << 15 | 1 << 28).to_le_bytes());
        // All bits of device control except the reset bit, which always reads 0.
        self.allow(DEVICE_CONTROL, &0x7fffu16.to_le_bytes());
        // Link: 8 GT/s, 4 lanes.
        self.set(EXPRESS + 0x0c, &0x0043u32.to_le_bytes());
        self.allow(EXPRESS + 0x10, &0x01cbu16.to_le_bytes());
        self.set(EXPRESS + 0x12, &0x0043u16.to_le_bytes());
        self.set(EXPRESS + 0x2c, &0x000eu32.to_le_bytes());
        self.set(EXPRESS + 0x30, &0x0003u16.to_le_bytes());
    }

    fn msix(&mut self) {
        self.set(MSIX, &[0x11, 0]);
        self.set(MSIX + 0x02, &(EVENTS as u16 - 1).to_le_bytes());
        // MSI-X message control: function mask and enable.
        self.allow(MSIX + 0x03, &[0xc0]);
        self.set(MSIX + 0x04, &2u32.to_le_bytes());
        self.set(MSIX + 0x08, &(PENDING as u32 | 2).to_le_bytes());
    }

    fn errors(&mut self) {
        // Version 2, the last extended capability. The device has no errors of its own, so the
        // status registers stay 0.
        self.set(ERRORS, &0x0002_0001u32.to_le_bytes());
        self.allow(ERRORS + 0x08, &UNCORRECTABLE.0.to_le_bytes());
        self.allow(ERRORS + 0x0c, &UNCORRECTABLE.0.to_le_bytes());
        self.set(ERRORS + 0x0c, &UNCORRECTABLE.1.to_le_bytes());
        self.allow(ERRORS + 0x14, &CORRECTABLE.0.to_le_bytes());
        self.set(ERRORS + 0x14, &CORRECTABLE.1.to_le_bytes());
    }

    /// Reads at any offset. Bytes beyond the end read as all ones.
    pub fn read(&self, offset: u64, data: &mut [u8]) {
        for (at, byte) in places(offset).zip(data) {
            *byte = self.bytes.get(at).copied().unwrap_or(0xff);
        }
    }

    /// Writes at any offset, and returns the actions that the device must perform.
    pub fn write(&mut self, offset: u64, data: &[u8]) -> Effect {
        let was = self.is_master();
        let mut effect = Effect::default();
        for (at, byte) in places(offset).zip(data).take_while(|(at, _)| *at < BYTES) {
            let mask = self.writable[at];
            self.bytes[at] = self.bytes[at] & !mask | byte & mask;
            effect.reset |= at == DEVICE_CONTROL + 1 && byte & FLR != 0;
        }
        let is = self.is_master();
        effect.master = (is != was).then_some(is);
        effect
    }

    /// Whether INTA# is disabled.
    pub fn is_line_off(&self) -> bool {
        self.bytes[COMMAND + 1] & LINE_OFF != 0
    }

    /// Shows in STATUS whether INTA# is high.
    pub fn set_line(&mut self, high: bool) {
        self.bytes[STATUS] &= !LINE_HIGH;
        if high {
            self.bytes[STATUS] |= LINE_HIGH;
        }
    }

    /// Whether the bus master bit is set.
    pub fn is_master(&self) -> bool {
        self.bytes[COMMAND] & BUS_MASTER != 0
    }
}

/// The offsets of the bytes of an access. They saturate, so they never wrap into the space.
pub fn places(offset: u64) -> impl Iterator<Item = usize> {
    let first = usize::try_from(offset).unwrap_or(usize::MAX);
    (0usize..).map(move |at| first.saturating_add(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(space: &ConfigSpace, at: u64) -> u32 {
        let mut data = [0; 4];
        space.read(at, &mut data);
        u32::from_le_bytes(data)
    }

    #[test]
    fn identity_and_capabilities_are_found() {
        let space = ConfigSpace::new(0x20000, true);
        assert_eq!(word(&space, 0), 0x10f5_1af4);
        assert_eq!(word(&space, 0x2c), 0x10f5_1af4);
        assert_eq!(word(&space, 8) >> 8, 0x02_8000);
        // The list holds PCI Express and MSI-X.
        let (mut at, mut list) = (word(&space, 0x34) & 0xff, Vec::new());
        while at != 0 {
            let head = word(&space, u64::from(at));
            list.push(head & 0xff);
            at = head >> 8 & 0xff;
            assert!(list.len() < 8);
        }
        assert_eq!(list, [0x10, 0x11]);
        assert_eq!(word(&space, 0x80) >> 16 & 0x7ff, EVENTS - 1);
        assert_eq!(word(&space, 0x100), 0x0002_0001, "advanced error reporting, and no more");
        assert_eq!(word(&space, 0x1000), u32::MAX);
    }

    #[test]
    fn bars_report_their_sizes() {
        let mut space = ConfigSpace::new(0x20000, true);
        space.write(0x10, &[0xff; 8]);
        assert_eq!((word(&space, 0x10), word(&space, 0x14)), (0xfffe_0004, u32::MAX));
        space.write(0x10, &0x4000_0000u32.to_le_bytes());
        assert_eq!(word(&space, 0x10), 0x4000_0004);
        space.write(0x24, &[0xff; 4]);
        assert_eq!(word(&space, 0x24), 0, "BAR 5 is none");
    }

    #[test]
    fn errors_can_be_masked_and_called_fatal() {
        let mut space = ConfigSpace::new(0x20000, true);
        assert_eq!((word(&space, 0x108), word(&space, 0x10c)), (0, 0x0046_2030));
        for at in (0x100..0x148).step_by(4) {
            space.write(at, &[0xff; 4]);
        }
        let words: Vec<u32> = (0x100..0x11c).step_by(4).map(|at| word(&space, at)).collect();
        let fatal = 0x007f_f030;
        assert_eq!(words, [0x0002_0001, 0, fatal, fatal, 0, 0xf1c1, 0]);
        assert!((0x11c..0x148).step_by(4).all(|at| word(&space, at) == 0));
    }

    #[test]
    fn writes_change_writable_bits_only() {
        let mut space = ConfigSpace::new(0x20000, true);
        assert_eq!(space.write(0, &[0xff; 4]), Effect::default());
        assert_eq!(word(&space, 0), 0x10f5_1af4);
        let effect = space.write(4, &0x0006u16.to_le_bytes());
        assert_eq!(effect, Effect { reset: false, master: Some(true) });
        assert!(space.is_master());
        assert_eq!(space.write(4, &0x0006u16.to_le_bytes()).master, None);
        assert_eq!(space.write(4, &[0]).master, Some(false));
        let effect = space.write(0x48, &0xffffu16.to_le_bytes());
        assert!(effect.reset);
        assert_eq!(word(&space, 0x48) & 0xffff, 0x7fff, "the reset bit reads 0");
        assert_eq!(space.write(u64::MAX, &[1, 2]), Effect::default());
    }
}
