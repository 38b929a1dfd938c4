//! The suite of faces: C, Python and libfabric, held to the behaviour that the library has.
//!
//! A face is reached through an *agent*: a program in its language, below `tests/faces`, that reads
//! commands, one a line, and answers each with one line:
//!
//! | answer | meaning |
//! | --- | --- |
//! | `ok VALUE...` | done |
//! | `error NAME` | the face refused, with this status of the contract, or TIMED_OUT |
//! | `lacks REASON` | the face does not have what the command needs |
//!
//! Two agents stand at the ends of a network, which need not be of one language: a case sends from
//! one and looks at the other. A case that hears `lacks` is skipped with that reason. The bytes of
//! packets are a function of a seed ([`pattern`]) and come back as a checksum, so commands stay short.

pub mod cases;

use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// An agent that gives no answer for this long has hung: its own waits are shorter.
const HANGS: Duration = Duration::from_secs(60);

/// Why a case did not pass.
#[derive(Debug)]
pub enum Stop {
    /// The face lacks something, for this reason.
    Lacks(String),
    /// The face does something else than it should.
    Failed(String),
}

/// The result of a step of a case.
pub type Step<T = ()> = Result<T, Stop>;

/// Ends a case with a sentence about what is wrong.
pub fn failed<T>(what: impl Into<String>) -> Step<T> {
    Err(Stop::Failed(what.into()))
}

/// The bytes of packet `seed`, from byte `from` on. Every agent has this function.
pub fn pattern(seed: u32, from: usize, length: usize) -> Vec<u8> {
    (from..from + length).map(|at| (seed as usize * 31 + at * 7 + (at >> 8) * 13) as u8).collect()
}

/// The checksum of agents: CRC-32 as in Ethernet and zlib.
pub fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            sum >> 1 ^ (0xedb8_8320 & (sum & 1).wrapping_neg())
        })
    })
}

/// A program that carries out commands through a face.
pub struct Agent {
    name: &'static str,
    process: Child,
    commands: ChildStdin,
    answers: Receiver<String>,
}

impl Agent {
    /// Starts an agent: a program and its arguments, separated by blanks.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(name: &'static str, command: &str) -> Result<Self, String> {
        let mut words = command.split_whitespace();
        let program = words.next().ok_or("the command of an agent is empty")?;
        let mut process = Command::new(program)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("agent {program}: {error}"))?;
        let (Some(commands), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(format!("agent {program}: no pipes"));
        };
        let (line, answers) = channel();
        std::thread::spawn(move || {
            for answer in BufReader::new(output).lines().map_while(Result::ok) {
                if line.send(answer).is_err() {
                    break;
                }
            }
        });
        Ok(Self { name, process, commands, answers })
    }

    /// Gives a command and returns the answer.
    fn ask(&mut self, command: &str) -> Step<String> {
        let name = self.name;
        if writeln!(self.commands, "{command}").and_then(|()| self.commands.flush()).is_err() {
            return failed(format!("{name}: gone before '{command}'"));
        }
        match self.answers.recv_timeout(HANGS) {
            Ok(answer) => Ok(answer),
            Err(RecvTimeoutError::Timeout) => failed(format!("{name}: no answer to '{command}'")),
            Err(RecvTimeoutError::Disconnected) => failed(format!("{name}: died of '{command}'")),
        }
    }

    /// Gives a command that shall succeed. Returns the values of the answer.
    ///
    /// # Errors
    /// Every other answer.
    pub fn ok(&mut self, command: impl fmt::Display) -> Step<Vec<String>> {
        let command = command.to_string();
        let answer = self.ask(&command)?;
        let mut words = answer.split_whitespace();
        match words.next() {
            Some("ok") => Ok(words.map(str::to_owned).collect()),
            Some("lacks") => Err(Stop::Lacks(answer["lacks".len()..].trim().to_owned())),
            _ => failed(format!("{}: '{command}': '{answer}' instead of ok", self.name)),
        }
    }

    /// Gives a command that shall answer exactly these values.
    ///
    /// # Errors
    /// Every other answer.
    pub fn is(&mut self, command: impl fmt::Display, expected: impl fmt::Display) -> Step {
        let (command, expected) = (command.to_string(), expected.to_string());
        let found = self.ok(&command)?.join(" ");
        if found == expected {
            return Ok(());
        }
        failed(format!("{}: '{command}': '{found}' instead of '{expected}'", self.name))
    }

    /// Gives a command that shall be refused with a status.
    ///
    /// # Errors
    /// Every other answer.
    pub fn refuses(&mut self, command: impl fmt::Display, status: &str) -> Step {
        let command = command.to_string();
        let answer = self.ask(&command)?;
        if let Some(reason) = answer.strip_prefix("lacks") {
            return Err(Stop::Lacks(reason.trim().to_owned()));
        }
        if answer == format!("error {status}") {
            return Ok(());
        }
        failed(format!("{}: '{command}': '{answer}' instead of error {status}", self.name))
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = writeln!(self.commands, "quit");
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What a case works with: an agent at each end, and the device that each opens.
pub struct Ends {
    /// The end that sends.
    pub a: Agent,
    /// The end that receives.
    pub b: Agent,
    devices: [String; 2],
}

impl Ends {
    /// Starts both agents.
    ///
    /// # Errors
    /// If one cannot be started.
    pub fn start(commands: &[String; 2], devices: &[String; 2]) -> Result<Self, String> {
        let [a, b] = commands;
        Ok(Self { a: Agent::start("a", a)?, b: Agent::start("b", b)?, devices: devices.clone() })
    }

    /// Opens both devices anew; whatever was open before is closed.
    ///
    /// # Errors
    /// If an agent refuses.
    pub fn open(&mut self) -> Step {
        let [first, second] = &self.devices;
        self.a.ok("close-all")?;
        self.b.ok("close-all")?;
        let a = self.a.ok(format!("open {first}"))?.concat();
        let b = self.b.ok(format!("open {second}"))?.concat();
        self.a.ok(format!("peer {b}"))?;
        self.b.ok(format!("peer {a}"))?;
        Ok(())
    }
}

/// One behaviour that every face must have.
pub struct FaceCase {
    /// The behaviour, as a sentence that is true when the case passes.
    pub name: &'static str,
    /// Runs the case on devices that were just opened.
    pub run: fn(&mut Ends) -> Step,
}

/// Runs all cases whose name contains `wanted`, and prints TAP. Returns the number of failures.
///
/// # Errors
/// If an agent cannot be started.
pub fn run(commands: &[String; 2], devices: &[String; 2], wanted: &str) -> Result<usize, String> {
    let mut ends = Ends::start(commands, devices)?;
    let (mut count, mut failures) = (0, 0);
    for case in cases::CASES.iter().filter(|case| case.name.contains(wanted)) {
        count += 1;
        let outcome = ends.open().and_then(|()| (case.run)(&mut ends));
        match outcome {
            Ok(()) => println!("ok {count} - {}", case.name),
            Err(Stop::Lacks(reason)) => println!("ok {count} - {} # SKIP {reason}", case.name),
            Err(Stop::Failed(why)) => {
                failures += 1;
                println!("not ok {count} - {}", case.name);
                why.lines().for_each(|line| println!("# {line}"));
                // Whatever state the agents are in, the next case is not concerned.
                drop(ends);
                ends = Ends::start(commands, devices)?;
            }
        }
    }
    println!("1..{count}");
    Ok(failures)
}
