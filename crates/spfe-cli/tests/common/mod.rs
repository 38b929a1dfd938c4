//! Running `spfe`, and what it has said.

// Each test program uses a part of this.
#![allow(dead_code)]

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

/// What a run came to.
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

    /// It exited with this code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.text(), self.stderr);
        self
    }

    /// It failed with this code and one line on stderr that holds these words.
    #[track_caller]
    pub fn fails(self, code: i32, words: &str) -> Self {
        let run = self.exits(code);
        let errors: Vec<_> = run.stderr.lines().filter(|line| line.starts_with("spfe: ")).collect();
        assert_eq!(errors.len(), 1, "{}", run.stderr);
        assert!(errors[0].contains(words), "no '{words}' in: {}", errors[0]);
        run
    }
}

/// `spfe` with words, in a clean environment.
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

/// Waits for one that was started.
pub fn end(child: Child) -> Run {
    Run::from(child.wait_with_output().unwrap())
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
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
