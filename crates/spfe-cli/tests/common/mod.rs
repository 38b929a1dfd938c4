//! Runs `spfe` and checks its output.

// Each test program uses only some of these functions.
#![allow(dead_code)]

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// The output of a finished run.
pub struct Run {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Run {
    pub fn from(output: Output) -> Self {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Self { code: output.status.code(), stdout: output.stdout, stderr }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// The last line of stdout as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        let text = self.text();
        let line = text.lines().last().unwrap_or_default();
        serde_json::from_str(line)
            .unwrap_or_else(|error| panic!("{error}: {text}\n{}", self.stderr))
    }

    /// Checks the exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.text(), self.stderr);
        self
    }

    /// Checks that the run failed with this code and one line on stderr that contains these words.
    #[track_caller]
    pub fn fails(self, code: i32, words: &str) -> Self {
        let run = self.exits(code);
        let errors: Vec<_> = run.stderr.lines().filter(|line| line.starts_with("spfe: ")).collect();
        assert_eq!(errors.len(), 1, "{}", run.stderr);
        assert!(errors[0].contains(words), "no '{words}' in: {}", errors[0]);
        run
    }
}

/// A command `spfe` with arguments, in a clean environment.
pub fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spfe"));
    command.args(words).stdin(Stdio::null());
    for name in ["SPFE_DEVICE", "SPFE_SOCKET", "XDG_RUNTIME_DIR"] {
        command.env_remove(name);
    }
    command
}

/// Runs `spfe` to its end.
pub fn spfe(words: &[&str]) -> Run {
    Run::from(command(words).output().unwrap())
}

/// Starts `spfe`.
pub fn start(words: &[&str]) -> Child {
    command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for a started `spfe`.
pub fn end(child: Child) -> Run {
    Run::from(child.wait_with_output().unwrap())
}

/// Polls a condition until it holds, for at most about 30 s. The condition must become true however
/// slow the machine is.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("never happened: {what}");
}

/// Waits until a command catches SIGINT, which it does before it opens its device.
#[track_caller]
pub fn wait_until_it_catches_signals(child: &Child) {
    const SIGINT_BIT: u64 = 1 << (libc::SIGINT - 1);
    let status = format!("/proc/{}/status", child.id());
    wait_until("a handler of SIGINT", || {
        let text = std::fs::read_to_string(&status).unwrap();
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() & SIGINT_BIT != 0
    });
}

/// Sends SIGINT to a child.
pub fn interrupt(child: &Child) {
    // SAFETY: the child has not been waited for, so its process id is still valid.
    let result = unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
    assert_eq!(result, 0);
}

/// Waits for the first line of a child's stderr that begins with these words. Later lines are lost.
#[track_caller]
pub fn wait_for_message(child: &mut Child, words: &str) {
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let found = lines.any(|line| line.unwrap().starts_with(words));
    assert!(found, "the command ended without the message '{words}'");
    // Keeps the pipe open and empty until the command ends.
    std::thread::spawn(move || lines.for_each(drop));
}

/// Waits until a child has read all that was written to its standard input.
#[track_caller]
pub fn wait_until_read(input: &impl std::os::fd::AsRawFd) {
    wait_until("the command reads its input", || {
        let mut waiting: libc::c_int = 0;
        // SAFETY: the descriptor is open and FIONREAD writes one int.
        let result = unsafe { libc::ioctl(input.as_raw_fd(), libc::FIONREAD, &raw mut waiting) };
        assert_eq!(result, 0);
        waiting == 0
    });
}

/// A directory that is removed when it is dropped.
pub struct Directory(PathBuf);

impl Directory {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("spfe-cli-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// The files that are not yet complete.
    pub fn parts(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_some_and(|end| end == "part")).collect()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
