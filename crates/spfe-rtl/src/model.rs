//! The shared library with a Verilated core (`rtl/sim/shim.cpp`).

use crate::pins::Shape;
use spfe_contract::Status;
use spfe_host::{Error, Result};
use std::ffi::{CStr, CString, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

type New = unsafe extern "C" fn(u32) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void);
type Words = unsafe extern "C" fn(*mut c_void, u32) -> u32;
type Step = unsafe extern "C" fn(*mut c_void, *const u32, *mut u32) -> u32;
type Failure = unsafe extern "C" fn(*mut c_void) -> *const c_char;

/// A simulated core. It is used by the thread that made it.
pub struct Model {
    handle: *mut c_void,
    step: Step,
    failure: Failure,
    free: Free,
    inputs: usize,
    outputs: Vec<u32>,
}

/// The directory of models: SPFE_RTL_MODELS, that of the source tree, or that of a package.
pub fn models() -> PathBuf {
    if let Some(directory) = std::env::var_os("SPFE_RTL_MODELS") {
        return directory.into();
    }
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/rtl/models");
    if tree.is_dir() { tree } else { "/usr/lib/spfe/rtl".into() }
}

/// The file of the model with these parameters.
pub fn file(shape: Shape) -> PathBuf {
    let Shape { ports, wires, lanes, vcs, pair, target, .. } = shape;
    let wires = if wires == 0 { String::new() } else { format!("_wires{wires}") };
    let rdma = if target { "_target" } else { ["", "_pair"][usize::from(pair)] };
    models().join(format!("spfe_sim_endpoint_{ports}_{lanes}_{vcs}{wires}{rdma}.so"))
}

fn missing(path: &Path, why: &str) -> Error {
    let what = format!("model of the core {}: {why}; make rtl-model builds it", path.display());
    Error::device(Status::NotFound, what)
}

fn last_error() -> String {
    // SAFETY: the text belongs to the C library, and is copied before the next call.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into() }
    }
}

/// The address of a function of a library.
fn symbol(library: *mut c_void, path: &Path, name: &CStr) -> Result<*mut c_void> {
    // SAFETY: the library is open, and the name ends with a zero byte.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    if found.is_null() {
        return Err(missing(path, &format!("it has no {}", name.to_string_lossy())));
    }
    Ok(found)
}

impl Model {
    /// Makes a core, before its reset. Registers without a reset have random values.
    ///
    /// # Errors
    /// NOT_FOUND without a model, BAD_VERSION for one with other pins.
    pub fn new(path: &Path, shape: Shape, seed: u32) -> Result<Self> {
        if !path.exists() {
            return Err(missing(path, "there is no such file"));
        }
        let name = CString::new(path.as_os_str().as_bytes())
            .map_err(|_| missing(path, "a zero byte in its name"))?;
        // The library stays loaded: C++ libraries do not unload cleanly, and there are few of them.
        // SAFETY: loading runs constructors of C++ globals only, if it is what build.sh made. The
        // file is as trusted as the program itself.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if library.is_null() {
            return Err(missing(path, &last_error()));
        }
        let get = |name| symbol(library, path, name);
        // SAFETY: the types are those of shim.cpp.
        let (new, words, step, failure, free) = unsafe {
            (
                std::mem::transmute::<*mut c_void, New>(get(c"spfe_sim_new")?),
                std::mem::transmute::<*mut c_void, Words>(get(c"spfe_sim_words")?),
                std::mem::transmute::<*mut c_void, Step>(get(c"spfe_sim_step")?),
                std::mem::transmute::<*mut c_void, Failure>(get(c"spfe_sim_failure")?),
                std::mem::transmute::<*mut c_void, Free>(get(c"spfe_sim_free")?),
            )
        };
        // SAFETY: the functions belong to the library, which stays loaded.
        let (handle, found) = unsafe {
            let handle = new(seed & 0x7fff_ffff | 1);
            (handle, (words(handle, 0) as usize, words(handle, 1) as usize))
        };
        let outputs = vec![0; found.1];
        let model = Self { handle, step, failure, free, inputs: found.0, outputs };
        if found != shape.words() {
            let what = format!(
                "model of the core {}: its pins have {found:?} words, those of {shape:?} have \
                 {:?}; make rtl-model builds it anew",
                path.display(),
                shape.words()
            );
            return Err(Error::device(Status::BadVersion, what));
        }
        Ok(model)
    }

    /// Simulates a cycle. Returns the outputs before the rising edge.
    ///
    /// # Errors
    /// The first assertion of the core that failed.
    pub fn step(&mut self, inputs: &[u32]) -> std::result::Result<&[u32], String> {
        assert_eq!(inputs.len(), self.inputs, "words of the inputs");
        // SAFETY: handle and function belong to the same library; the sizes are those it told.
        let failures =
            unsafe { (self.step)(self.handle, inputs.as_ptr(), self.outputs.as_mut_ptr()) };
        if failures == 0 {
            return Ok(&self.outputs);
        }
        // SAFETY: the text ends with a zero byte and lives until the next call.
        let text = unsafe { CStr::from_ptr((self.failure)(self.handle)) };
        Err(format!("an assertion of the core failed: {}", text.to_string_lossy()))
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // SAFETY: the handle is not used anywhere else, and never again.
        unsafe { (self.free)(self.handle) }
    }
}
