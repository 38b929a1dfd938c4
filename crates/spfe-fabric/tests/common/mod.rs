//! A fabric in this process: a backplane and nodes without interfaces, each in a thread.

#![allow(dead_code, reason = "each test program uses a part")]

use spfe_fabric::backplane::Backplane;
use spfe_fabric::client::FabricClient;
use spfe_fabric::node::{NodeEvent, NodeOptions, NodeRunner};
use spfe_fabric::status::FabricStatus;
use spfe_fabric::topology::{FabricTopology, NodeNumber};
use spfe_fabric::wire::{FabricChange, FabricRequest, PeerState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A thread that ends when it is dropped.
pub struct Worker {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// What happened to the node.
    pub events: Arc<Mutex<Vec<NodeEvent>>>,
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "a thread of the fabric panicked");
        }
    }
}

/// A backplane in a folder of its own.
pub struct Fabric {
    pub path: PathBuf,
    worker: Option<Worker>,
    topology: FabricTopology,
    folder: PathBuf,
}

impl Fabric {
    pub fn new(topology: FabricTopology) -> Self {
        let number = fastrand::u64(..);
        let folder = std::env::temp_dir().join(format!("spfe-fabric-{number:016x}"));
        std::fs::create_dir(&folder).unwrap();
        let path = folder.join("sock");
        let mut fabric = Self { path, worker: None, topology, folder };
        fabric.start();
        fabric
    }

    pub fn preset(name: &str) -> Self {
        Self::new(FabricTopology::preset(name).unwrap())
    }

    /// Starts a backplane.
    pub fn start(&mut self) {
        let mut backplane = Backplane::open(&self.path, self.topology.clone()).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            backplane.run(|| seen.load(Ordering::Relaxed)).unwrap();
        });
        self.worker = Some(Worker { stop, thread: Some(thread), events: Arc::default() });
    }

    /// Starts a node.
    pub fn node(&self, number: u8) -> Worker {
        node(&self.path, number)
    }

    pub fn client(&self) -> FabricClient {
        FabricClient::connect(&self.path).unwrap()
    }

    pub fn status(&self) -> FabricStatus {
        self.client().document(&FabricRequest::Status).unwrap()
    }

    pub fn change(&self, change: FabricChange) -> Result<(), spfe_fabric::wire::FabricError> {
        self.client().call(&FabricRequest::Change(change), &[]).map(drop)
    }

    /// Waits until the state is as wanted.
    pub fn wait(&self, what: &str, is_so: impl Fn(&FabricStatus) -> bool) -> FabricStatus {
        for _ in 0..2000 {
            let status = self.status();
            if is_so(&status) {
                return status;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("never: {what}\n{}", self.status().table(NodeNumber(1), true));
    }

    /// Waits until these nodes and no others are READY, with each other.
    pub fn wait_ready(&self, numbers: &[u8]) -> FabricStatus {
        self.wait("READY", |status| {
            status.nodes.iter().all(|node| {
                let wanted = numbers.contains(&node.node.0);
                node.state == if wanted { PeerState::Ready } else { PeerState::Absent }
            })
        })
    }
}

/// Starts a node of the fabric at a path.
pub fn node(path: &Path, number: u8) -> Worker {
    let stop = Arc::new(AtomicBool::new(false));
    let events = Arc::new(Mutex::new(Vec::new()));
    let (seen, told) = (Arc::clone(&stop), Arc::clone(&events));
    let options = NodeOptions {
        socket: path.to_owned(),
        node: NodeNumber(number),
        spin_ns: 0,
        addresses: Vec::new(),
    };
    let thread = std::thread::spawn(move || {
        let mut node = NodeRunner::join(options).unwrap();
        node.run(|| seen.load(Ordering::Relaxed), |event| told.lock().unwrap().push(event))
            .unwrap();
    });
    Worker { stop, thread: Some(thread), events }
}

impl Drop for Fabric {
    fn drop(&mut self) {
        self.worker = None;
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
