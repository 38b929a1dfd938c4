//! A Verilated top of rtl/sim.

use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;

use libloading::Library;

type Step = unsafe extern "C" fn(*mut c_void, *const u32, *mut u32) -> u32;

/// A simulated top.
pub struct Core {
    handle: *mut c_void,
    step: Step,
    failure: unsafe extern "C" fn(*mut c_void) -> *const c_char,
    free: unsafe extern "C" fn(*mut c_void),
    inputs: usize,
    out: Vec<u32>,
    cycles: u64,
    // This field must be dropped last, because it contains the functions above.
    _library: Library,
}

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core").field("cycles", &self.cycles).finish_non_exhaustive()
    }
}

fn root() -> PathBuf {
    // Tests of planted bugs build a changed copy of the core.
    std::env::var_os("SPFE_SIM_ROOT")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), PathBuf::from)
}

/// Makes the library of a top if it is missing or its sources have changed.
fn make(top: &str, parameters: &[(&str, usize)]) -> PathBuf {
    let values: String = parameters.iter().map(|(_, value)| format!("_{value}")).collect();
    let name = format!("{top}{values}");
    let output = Command::new(root().join("rtl/bench/model/build.sh"))
        .arg(&name)
        .args(parameters.iter().map(|(name, value)| format!("-G{name}={value}")))
        .env("SPFE_RTL_TOP", top)
        .env("SPFE_RTL_SHIM", "rtl/sim/shim.cpp")
        .output()
        .unwrap_or_else(|error| panic!("{top}: build.sh cannot be run: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{top}: build.sh: {}\n{said}", output.status);
    root().join("target/rtl/models").join(format!("{name}.so"))
}

impl Core {
    /// Makes a new core, before its reset. Registers without a reset have random values.
    ///
    /// # Panics
    /// The library cannot be built or loaded.
    #[must_use]
    pub fn new(top: &str, parameters: &[(&str, usize)], seed: u64) -> Self {
        let path = make(top, parameters);
        // SAFETY: build.sh has just made the library. Loading it only runs constructors of C++
        // globals.
        let library = unsafe { Library::new(&path) };
        let library = library.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        // SAFETY: the types are those of shim.cpp.
        unsafe {
            let make_one: unsafe extern "C" fn(u32) -> *mut c_void =
                *library.get(b"spfe_sim_new\0").expect("shim.cpp has it");
            let words: unsafe extern "C" fn(*mut c_void, u32) -> u32 =
                *library.get(b"spfe_sim_words\0").expect("shim.cpp has it");
            let handle = make_one(seed as u32 & 0x7fff_ffff | 1);
            Self {
                step: *library.get(b"spfe_sim_step\0").expect("shim.cpp has it"),
                failure: *library.get(b"spfe_sim_failure\0").expect("shim.cpp has it"),
                free: *library.get(b"spfe_sim_free\0").expect("shim.cpp has it"),
                inputs: words(handle, 0) as usize,
                out: vec![0; words(handle, 1) as usize],
                handle,
                cycles: 0,
                _library: library,
            }
        }
    }

    /// Simulates a cycle. Returns the outputs before the rising edge.
    ///
    /// # Panics
    /// The inputs have another size than those of the top, or an assertion of the core failed.
    pub fn step(&mut self, inputs: &[u32]) -> &[u32] {
        assert_eq!(inputs.len(), self.inputs, "words of the inputs");
        // SAFETY: handle and function belong to the same library; the sizes are those it told.
        let failures = unsafe { (self.step)(self.handle, inputs.as_ptr(), self.out.as_mut_ptr()) };
        assert!(failures == 0, "cycle {}: an assertion failed: {}", self.cycles, self.failure());
        self.cycles += 1;
        &self.out
    }

    /// Cycles so far.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    fn failure(&self) -> String {
        // SAFETY: the text ends with a zero byte and lives until the next call.
        unsafe { CStr::from_ptr((self.failure)(self.handle)) }.to_string_lossy().into_owned()
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        // SAFETY: the handle is not used anywhere else, and never again.
        unsafe { (self.free)(self.handle) }
    }
}
