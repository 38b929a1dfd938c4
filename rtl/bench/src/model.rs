//! The Verilated core: a shared library with the C functions of `model/pins.h`.

use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};

use libloading::{Library, Symbol};

/// Version of `model/pins.h` that these structures match.
const ABI: u32 = 1;

/// Inputs of the core in a clock.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the pins of spfe_tcp.sv, without s_axil_ and _i")]
pub struct PinsIn {
    pub mac_rx_data: u64,
    pub user_tx_data: [u64; 2],
    pub wdata: u32,
    pub user_tx_keep: u16,
    pub user_tx_sid: u16,
    pub user_tx_len: u16,
    pub user_tx_sum: u16,
    pub awaddr: u16,
    pub araddr: u16,
    pub mac_rx_keep: u8,
    pub mac_rx_valid: bool,
    pub mac_rx_last: bool,
    pub mac_rx_err: bool,
    pub mac_tx_ready: bool,
    pub user_tx_valid: bool,
    pub user_tx_last: bool,
    pub user_tx_mode: u8,
    pub user_tx_push: bool,
    pub user_rx_ready: bool,
    pub event_ready: bool,
    pub wstrb: u8,
    pub awvalid: bool,
    pub wvalid: bool,
    pub bready: bool,
    pub arvalid: bool,
    pub rready: bool,
    pub rst: bool,
    pub tick: bool,
    reserved: [u8; 5],
}

/// Outputs of the core in a clock, before its rising edge.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the pins of spfe_tcp.sv, without s_axil_ and _o")]
pub struct PinsOut {
    pub mac_tx_data: u64,
    pub user_rx_data: [u64; 2],
    pub event_data: u64,
    pub user_rx_rel: u32,
    pub rdata: u32,
    pub user_rx_keep: u16,
    pub user_rx_sid: u16,
    pub mac_tx_keep: u8,
    pub mac_tx_valid: bool,
    pub mac_tx_last: bool,
    pub mac_tx_err: bool,
    pub user_tx_ready: bool,
    pub user_rx_valid: bool,
    pub user_rx_last: bool,
    pub user_rx_err: bool,
    pub user_rx_oos: bool,
    pub event_valid: bool,
    pub awready: bool,
    pub wready: bool,
    pub bresp: u8,
    pub bvalid: bool,
    pub arready: bool,
    pub rresp: u8,
    pub rvalid: bool,
    reserved: [u8; 3],
}

const _: () = assert!(size_of::<PinsIn>() == 64 && size_of::<PinsOut>() == 64);

/// Behaviour of the retransmission memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Cycles from a read to its answer, 1 to 64.
    pub latency: u32,
    /// Number of cycles in 256 in which writes are refused.
    pub wr_stall: u32,
    /// Number of cycles in 256 in which reads are refused.
    pub rd_stall: u32,
    /// Seed that selects these cycles.
    pub seed: u32,
}

impl Default for Memory {
    /// Full duplex with answers after 2 cycles, as in the published runs.
    fn default() -> Self {
        Self { latency: 2, wr_stall: 0, rd_stall: 0, seed: 1 }
    }
}

/// Why a library cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The library cannot be loaded.
    #[error("{0}: cannot be loaded: {1}; make it with: tcp-bench build")]
    Load(PathBuf, #[source] libloading::Error),
    /// The library has another version of the structures.
    #[error("{0}: has version {1} of model/pins.h, this program has {ABI}; run: tcp-bench build")]
    Abi(PathBuf, u32),
}

type Step = unsafe extern "C" fn(*mut c_void, *const PinsIn, *mut PinsOut) -> u32;
type Idle = unsafe extern "C" fn(*mut c_void, *const PinsIn, u32) -> u32;

/// A simulated core.
pub struct Model {
    handle: *mut c_void,
    step: Step,
    idle: Idle,
    memory: unsafe extern "C" fn(*mut c_void, *const Memory),
    failure: unsafe extern "C" fn(*mut c_void) -> *const c_char,
    free: unsafe extern "C" fn(*mut c_void),
    // This field must be dropped last, because it contains the functions above.
    _library: Library,
}

// SAFETY: the only thread-local state of a model is a pointer that each call sets.
unsafe impl Send for Model {}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").finish_non_exhaustive()
    }
}

impl Model {
    /// Makes a new core from a library, before its reset.
    ///
    /// # Errors
    /// The library does not exist, or was not made by `model/build.sh`.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let load = |error| Error::Load(path.to_owned(), error);
        // SAFETY: `model/build.sh` makes the library. Loading it only runs constructors of C++
        // globals.
        let library = unsafe { Library::new(path) }.map_err(load)?;
        // SAFETY: the types are those of model/pins.h, whose version is checked first.
        unsafe {
            let abi: Symbol<unsafe extern "C" fn() -> u32> =
                library.get(b"spfe_tcp_abi\0").map_err(load)?;
            let abi = abi();
            if abi != ABI {
                return Err(Error::Abi(path.to_owned(), abi));
            }
            let new: Symbol<unsafe extern "C" fn() -> *mut c_void> =
                library.get(b"spfe_tcp_new\0").map_err(load)?;
            Ok(Self {
                step: *library.get(b"spfe_tcp_step\0").map_err(load)?,
                idle: *library.get(b"spfe_tcp_idle\0").map_err(load)?,
                memory: *library.get(b"spfe_tcp_set_memory\0").map_err(load)?,
                failure: *library.get(b"spfe_tcp_failure\0").map_err(load)?,
                free: *library.get(b"spfe_tcp_free\0").map_err(load)?,
                handle: new(),
                _library: library,
            })
        }
    }

    /// Simulates one clock.
    ///
    /// # Panics
    /// An assertion of the core failed.
    pub fn step(&mut self, pins: &PinsIn) -> PinsOut {
        let mut out = PinsOut::default();
        // SAFETY: handle and function belong to the same library, where bools are 0 or 1 as well.
        let failures = unsafe { (self.step)(self.handle, pins, &mut out) };
        assert!(failures == 0, "an assertion of the core failed: {}", self.failure());
        out
    }

    /// Simulates at most `most` idle clocks, and stops before a clock in which the core has output.
    /// Returns the number of clocks.
    pub fn idle(&mut self, pins: &PinsIn, most: u32) -> u32 {
        // SAFETY: handle and function belong to the same library.
        unsafe { (self.idle)(self.handle, pins, most) }
    }

    /// Changes the behaviour of the retransmission memory. Its content stays.
    pub fn set_memory(&mut self, memory: Memory) {
        // SAFETY: handle and function belong to the same library.
        unsafe { (self.memory)(self.handle, &memory) }
    }

    /// Text of the first assertion that failed.
    fn failure(&self) -> String {
        // SAFETY: the text ends with a zero byte and lives until the next call.
        unsafe { CStr::from_ptr((self.failure)(self.handle)) }.to_string_lossy().into_owned()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: the handle is not used anywhere else, and never again.
        unsafe { (self.free)(self.handle) }
    }
}
