//! Frames of the TAP device, in the form that the bridge uses.

use std::io::ErrorKind;

use spfe_tap::TapDevice;

/// Maximum length of a frame without FCS: an MTU of 9000 bytes with a VLAN tag.
const FRAME_MAX: usize = 9018;

/// Takes the next frame that the kernel sends, or `None` if none is waiting.
///
/// # Errors
/// The device was removed or is down.
pub fn receive(tap: &TapDevice) -> Result<Option<Vec<u8>>, String> {
    let mut frame = vec![0; FRAME_MAX];
    match tap.read(&mut frame) {
        Ok(length) => {
            frame.truncate(length);
            Ok(Some(frame))
        }
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
            Ok(None)
        }
        Err(error) => Err(format!("TAP device: read: {error}")),
    }
}

/// Passes a frame to the kernel. Ignores that the kernel refuses a frame, for example a short one.
///
/// # Errors
/// The device was removed or is down.
pub fn send(tap: &TapDevice, frame: &[u8]) -> Result<(), String> {
    match tap.write(frame) {
        Err(error) if error.kind() != ErrorKind::InvalidInput => {
            Err(format!("TAP device: write of {} bytes: {error}", frame.len()))
        }
        _ => Ok(()),
    }
}
