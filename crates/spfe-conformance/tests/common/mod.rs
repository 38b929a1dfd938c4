//! A test program in which every case on every device is a test of its own. A case that a device
//! lacks a capability for is reported as ignored, with the reason.

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use spfe_conformance::{CASES, Fixture, Outcome, run_case};
use std::process::ExitCode;

/// Runs the suite on these devices. Takes the arguments of every Rust test program.
pub fn run(fixtures: Vec<Fixture>) -> ExitCode {
    let mut trials = Vec::new();
    for fixture in fixtures {
        let fixture: &'static Fixture = Box::leak(Box::new(fixture));
        for case in CASES.iter().copied().flatten() {
            let name = format!("{}::{}", fixture.name, case.name);
            let body = move || match run_case(fixture, case) {
                Outcome::Passed => Ok(Completion::Completed),
                Outcome::Skipped(missing) => {
                    Ok(Completion::ignored_with(format!("needs {missing}")))
                }
                Outcome::Failed(why) => Err(Failed::from(why)),
            };
            trials.push(Trial::ignorable_test(name, body));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
