//! Queues of a TAP device with offload headers, and the program that chooses a queue.

use crate::request::{self, interface_request};
use crate::{TapDevice, TapError, open_driver};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::io::{self, IoSlice, IoSliceMut};

/// Bytes of the offload header (`struct virtio_net_hdr`) before each frame of a [`TapQueue`].
pub const OFFLOAD_HEADER: usize = 10;

/// Flags of an interface with several queues that carry offload headers.
const QUEUE_FLAGS: libc::c_int =
    libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR | libc::IFF_MULTI_QUEUE;

/// What the kernel may leave to the reader of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TapOffloads(libc::c_ulong);

impl TapOffloads {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// Checksums, which all others need.
    pub const CHECKSUM: Self = Self(1);
    /// Segments of TCP over IPv4.
    pub const TCP_IPV4: Self = Self(2);
    /// Segments of TCP over IPv6.
    pub const TCP_IPV6: Self = Self(4);
    /// Segments of TCP with ECN.
    pub const TCP_ECN: Self = Self(8);
    /// Segments of UDP over IPv4 and IPv6, since Linux 6.2.
    pub const UDP: Self = Self(0x20 | 0x40);
    /// Checksums and segments of TCP.
    pub const BASIC: Self = Self(15);
    /// Everything.
    pub const ALL: Self = Self(Self::BASIC.0 | Self::UDP.0);

    /// What is in either set.
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in both sets.
    pub fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// A queue of a TAP device. Each frame has an offload header of [`OFFLOAD_HEADER`] bytes in
/// little-endian order, so that the kernel can leave out checksums and pass segments of up to 64 KiB
/// whole.
#[derive(Debug)]
pub struct TapQueue {
    file: OwnedFd,
}

impl TapQueue {
    /// File descriptor for `poll`.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Reads the next frame that the kernel sends, and its offload header. Returns the length of the
    /// frame; one that is longer than `frame` is cut.
    ///
    /// # Errors
    /// `WouldBlock` if no frame is waiting. Other errors mean that the interface was removed or is
    /// down.
    pub fn read_offloaded(
        &self,
        header: &mut [u8; OFFLOAD_HEADER],
        frame: &mut [u8],
    ) -> io::Result<usize> {
        let mut parts = [IoSliceMut::new(header), IoSliceMut::new(frame)];
        let read = rustix::io::readv(&self.file, &mut parts)?;
        Ok(read.saturating_sub(OFFLOAD_HEADER))
    }

    /// Passes a frame with its offload header to the kernel, which receives it.
    ///
    /// # Errors
    /// `InvalidInput` if the kernel does not accept header or frame. Other errors mean that the
    /// interface was removed or is down.
    pub fn write_offloaded(&self, header: &[u8; OFFLOAD_HEADER], frame: &[u8]) -> io::Result<()> {
        rustix::io::writev(&self.file, &[IoSlice::new(header), IoSlice::new(frame)])?;
        Ok(())
    }

    /// Reads header and frame to an address. Returns their length.
    ///
    /// # Safety
    /// `bytes` bytes at the address may be written. Other processes may write them, too.
    ///
    /// # Errors
    /// `WouldBlock` if no frame is waiting. Other errors mean that the interface was removed or is
    /// down.
    pub unsafe fn read_to(&self, at: *mut u8, bytes: usize) -> io::Result<usize> {
        // SAFETY: the caller promises that the memory may be written.
        let read = unsafe { libc::read(self.file.as_raw_fd(), at.cast(), bytes) };
        usize::try_from(read).map_err(|_| io::Error::last_os_error())
    }

    /// Passes header and frame at an address to the kernel, which receives them.
    ///
    /// # Safety
    /// `bytes` bytes at the address may be read. Other processes may write them meanwhile.
    ///
    /// # Errors
    /// `InvalidInput` if the kernel does not accept header or frame. Other errors mean that the
    /// interface was removed or is down.
    pub unsafe fn write_from(&self, at: *const u8, bytes: usize) -> io::Result<()> {
        // SAFETY: the caller promises that the memory may be read.
        let written = unsafe { libc::write(self.file.as_raw_fd(), at.cast(), bytes) };
        if written < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

impl TapDevice {
    /// Opens or creates an interface with one queue, whose frames have offload headers. The kernel
    /// leaves out nothing until [`TapDevice::set_offloads`] says what it may.
    ///
    /// # Errors
    /// As for [`TapDevice::open`].
    pub fn open_queue(name: &str) -> Result<(Self, TapQueue), TapError> {
        let device = Self::open_with(name, QUEUE_FLAGS & !libc::IFF_MULTI_QUEUE)?;
        let queue = device.first_queue()?;
        Ok((device, queue))
    }

    /// The same with several queues. Frames pass through the queues only: [`TapDevice::read`] and
    /// [`TapDevice::write`] of the device itself must not be used.
    ///
    /// # Errors
    /// As for [`TapDevice::open`]; an interface of this name has other queues.
    pub fn open_queues(name: &str, queues: usize) -> Result<(Self, Vec<TapQueue>), TapError> {
        let device = Self::open_with(name, QUEUE_FLAGS)?;
        let mut all = vec![device.first_queue()?];
        for _ in 1..queues {
            let file = open_driver()?;
            let mut request = interface_request(device.name());
            request.ifr_ifru.ifru_flags = QUEUE_FLAGS as libc::c_short;
            let attached = request::ATTACH.send(&file, &mut request);
            device.checked(attached, || "queue".to_owned())?;
            all.push(TapQueue { file });
        }
        Ok((device, all))
    }

    /// The queue of the device's own file. Its offload headers become little-endian.
    fn first_queue(&self) -> Result<TapQueue, TapError> {
        let order = request::SET_LITTLE_ENDIAN.send(&self.file, &mut 1);
        self.checked(order, || "byte order of offload headers".to_owned())?;
        let file = self.file.try_clone();
        let file = file.map_err(|error| TapError::interface(self.name(), "queue", error))?;
        Ok(TapQueue { file })
    }

    /// Sets what the kernel may leave out of frames that have offload headers. Frames that it has
    /// queued before are as it made them.
    ///
    /// # Errors
    /// The kernel does not know one of them, or the interface was removed.
    pub fn set_offloads(&self, offloads: TapOffloads) -> io::Result<()> {
        // SAFETY: this request takes a number.
        match unsafe { libc::ioctl(self.file.as_raw_fd(), libc::TUNSETOFFLOAD, offloads.0) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }

    /// Lets the kernel choose the queue of a frame by its destination: the last byte of an address
    /// that starts with these three bytes, if there are so many queues, else queue 0.
    ///
    /// # Errors
    /// The caller may not load programs into the kernel.
    pub fn steer_by_destination(&self, start: [u8; 3], queues: u8) -> io::Result<()> {
        let program = load(&steering(start, queues))?;
        let mut fd = program.as_raw_fd();
        request::SET_STEERING.send(&self.file, &mut fd)
    }
}

/// An instruction of the kernel's virtual machine.
#[repr(C)]
struct Instruction {
    code: u8,
    /// Source register << 4 | destination register.
    registers: u8,
    offset: i16,
    value: i32,
}

/// The program of [`TapDevice::steer_by_destination`].
fn steering(start: [u8; 3], queues: u8) -> Vec<Instruction> {
    let instruction =
        |code, registers, offset, value| Instruction { code, registers, offset, value };
    const COPY: u8 = 0xbf;
    const LOAD_BYTE: u8 = 0x30;
    const JUMP_UNEQUAL: u8 = 0x55;
    const JUMP_BELOW: u8 = 0xa5;
    const SET: u8 = 0xb7;
    const END: u8 = 0x95;
    // Loads from the frame need its descriptor in register 6.
    let mut program = vec![instruction(COPY, 0x16, 0, 0)];
    for (index, byte) in start.iter().enumerate() {
        program.push(instruction(LOAD_BYTE, 0, 0, index as i32));
        // To the instruction that chooses queue 0: two for each byte that is left, and two more.
        let offset = 2 * (start.len() - 1 - index) as i16 + 2;
        program.push(instruction(JUMP_UNEQUAL, 0, offset, i32::from(*byte)));
    }
    program.push(instruction(LOAD_BYTE, 0, 0, 5));
    program.push(instruction(JUMP_BELOW, 0, 1, i32::from(queues)));
    program.push(instruction(SET, 0, 0, 0));
    program.push(instruction(END, 0, 0, 0));
    program
}

/// The start of `union bpf_attr` for loading a program.
#[repr(C)]
#[derive(Default)]
struct LoadProgram {
    kind: u32,
    instructions: u32,
    program: u64,
    licence: u64,
    log: [u32; 4],
    kernel: u32,
    flags: u32,
}

fn load(program: &[Instruction]) -> io::Result<OwnedFd> {
    const LOAD: libc::c_int = 5;
    const SOCKET_FILTER: u32 = 1;
    let licence = c"Dual MIT/GPL";
    let request = LoadProgram {
        kind: SOCKET_FILTER,
        instructions: program.len() as u32,
        program: program.as_ptr() as u64,
        licence: licence.as_ptr() as u64,
        ..LoadProgram::default()
    };
    let size = size_of::<LoadProgram>();
    // SAFETY: the kernel reads the request of this size, and what it points to, which outlives the
    // call.
    let fd = unsafe { libc::syscall(libc::SYS_bpf, LOAD, &raw const request, size) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the program on a frame, as the kernel would.
    fn run(program: &[Instruction], frame: &[u8]) -> i32 {
        let (mut at, mut result) = (0, 0);
        loop {
            let step = &program[at];
            at += 1;
            match step.code {
                0x30 => result = i32::from(frame[step.value as usize]),
                0x55 if result != step.value => at += step.offset as usize,
                0xa5 if result < step.value => at += step.offset as usize,
                0xb7 => result = step.value,
                0x95 => return result,
                _ => {}
            }
        }
    }

    #[test]
    fn the_last_byte_of_a_known_address_chooses_the_queue() {
        let program = steering([2, 0x56, 0x58], 13);
        assert_eq!(run(&program, &[2, 0x56, 0x58, 0, 6, 12]), 12);
        assert_eq!(run(&program, &[2, 0x56, 0x58, 0, 6, 1]), 1);
        assert_eq!(run(&program, &[2, 0x56, 0x58, 0, 7, 13]), 0, "no such queue");
        for frame in [[0xff; 6], [2, 0x57, 0x58, 0, 1, 1], [2, 0x56, 0x59, 0, 1, 1]] {
            assert_eq!(run(&program, &frame), 0);
        }
    }
}
