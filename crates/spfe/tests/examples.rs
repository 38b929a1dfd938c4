//! Runs every example to its end. `cargo test` builds the examples.

use std::path::PathBuf;
use std::process::Command;

/// Path of an example, from that of this test in `deps`.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let profile = test.ancestors().nth(2).expect("tests are in PROFILE/deps");
    profile.join("examples").join(name)
}

fn run(name: &str) {
    let path = example(name);
    assert!(path.exists(), "no {}: run cargo build -p spfe --examples", path.display());
    let output = Command::new(path).output().expect("the example starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {}\n{said}{error}", output.status);
    assert!(!said.is_empty(), "{name} printed nothing");
}

#[test]
fn hello() {
    run("hello");
}

#[test]
fn grouped_send() {
    run("grouped_send");
}

#[test]
fn threshold_receive() {
    run("threshold_receive");
}

#[test]
fn broadcast_ping() {
    run("broadcast_ping");
}

#[test]
fn epoll_loop() {
    run("epoll_loop");
}

#[test]
fn remote_memory() {
    run("remote_memory");
}

#[test]
fn round_trip() {
    run("round_trip");
}
