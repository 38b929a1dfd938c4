//! A driver in user space on a device whose registers have any contents. It must not touch a
//! register behind the end, free memory that the device may use, wait long or panic.

use arbitrary::Arbitrary;

#[path = "../../../crates/spfe-registers/tests/common/image.rs"]
mod image;

use image::{Habits, Image, exercise};

/// A device.
#[derive(Arbitrary, Debug)]
pub struct Device {
    /// Words in the first blocks that are other than those of a soft device.
    near: Vec<(u8, u32)>,
    /// Words anywhere.
    far: Vec<(u16, u32)>,
    deaf_from: u8,
    status: u8,
    key_off: u8,
}

crate::target!(|device: Device| {
    let near = device.near.iter().map(|(at, value)| (u32::from(*at), *value));
    let far = device.far.iter().map(|(at, value)| (u32::from(*at), *value));
    let patches: Vec<(u32, u32)> = near.chain(far).collect();
    let habits = Habits {
        deaf_from: device.deaf_from,
        // A device that is busy for ever is polite, and takes as long as the driver is patient.
        status: if device.status == 0x14 { 0 } else { device.status.into() },
        key_off: device.key_off.into(),
    };
    exercise(Image::new(&patches, habits));
});
