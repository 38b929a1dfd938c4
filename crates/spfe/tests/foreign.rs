//! A device whose link leads to a foreign end: here a thread that sends everything back.

use spfe::{Deadline, Endpoint, PortState};
use spfe_foreign::{ForeignEnd, StreamShape};
use spfe_link::datalink::{Buffers, DataLink, DataLinkConfig};
use spfe_link::multilane::{MultiLane, MultiLaneConfig};
use spfe_link::{SpaceFibrePort, Word};
use spfe_sim::foreign::{FarStream, cell_of_word, word_of_cell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// An end of two lanes and eight virtual channels that returns the words of channel 3, until the
/// stream ends or it is told to stop.
fn echo(stream: String) -> (JoinHandle<()>, Arc<AtomicBool>) {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = stop.clone();
    let thread = thread::spawn(move || {
        let patience = Some(Duration::from_secs(20));
        let stream = stream.parse().unwrap();
        let mut line = ForeignEnd::wait(&stream, StreamShape::ANY, "echo", patience).unwrap();
        let memory = |words: usize| vec![Word::default(); words];
        let buffers = Buffers {
            output: std::array::from_fn::<_, 8, _>(|_| memory(1024)),
            input: std::array::from_fn(|_| memory(2048)),
            recovery: memory(2048),
        };
        let config = DataLinkConfig {
            fct_multiplier: 2,
            segment_multiplier: 2,
            multi_lane_capable: true,
            ..DataLinkConfig::default()
        };
        let lanes = MultiLane::new(&MultiLaneConfig::new());
        let mut end =
            SpaceFibrePort::<_, 2, 8>::new(DataLink::new(config, buffers).unwrap(), lanes);
        let mut waiting: Vec<Word> = Vec::new();
        let (mut received, mut sent) = (vec![0; 2 * line.words()], vec![0; 2 * line.words()]);
        while !stopped.load(Ordering::Relaxed) {
            for (from, to) in received.chunks(2).zip(sent.chunks_mut(2)) {
                let out = end.transmit();
                to.copy_from_slice(&out.map(cell_of_word));
                end.receive([word_of_cell(from[0]), word_of_cell(from[1])]);
            }
            let mut words = [Word::default(); 64];
            let count = end.link.read(3, &mut words);
            waiting.extend(&words[..count]);
            let taken = end.link.write(3, &waiting);
            waiting.drain(..taken);
            if !line.exchange(&sent, &mut received) {
                return;
            }
        }
    });
    (thread, stop)
}

fn open(name: &str, options: &str) -> (String, String) {
    let path = std::env::temp_dir().join(format!("spfe-{}-{name}.sock", std::process::id()));
    let path = path.to_str().unwrap();
    let uri = format!("virtual:?link=exact:2x6.25G&peer=foreign:unix-listen:{path}{options}");
    (uri, format!("unix:{path}"))
}

fn packets_return(endpoint: &Endpoint) {
    let vc = || endpoint.port(0).unwrap().vc(3).unwrap();
    let (mut tx, mut rx) = (vc().tx().unwrap(), vc().rx().unwrap());
    let limit = Deadline::after(Duration::from_secs(20));
    for length in [1, 4, 300, 5000] {
        rx.post(endpoint.alloc(8192).unwrap().buf(0..8192).unwrap()).unwrap();
        let mut buf = endpoint.alloc(length).unwrap().buf(0..length).unwrap();
        buf.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at * 3 + length) as u8);
        let sent = buf.to_vec();
        tx.send(buf).unwrap();
        let got = rx.recv(limit).unwrap();
        assert!(got.buf[..] == sent[..], "{length} bytes");
    }
}

#[test]
fn packets_pass_in_virtual_time() {
    let times = [0, 1].map(|_| {
        let (uri, stream) = open("virtual", ",words=32&time=virtual");
        let (far, _) = echo(stream);
        let endpoint = Endpoint::open(&uri).unwrap();
        packets_return(&endpoint);
        let now = endpoint.now_ns();
        drop(endpoint);
        far.join().unwrap();
        now
    });
    assert_eq!(times[0], times[1], "the same times in every run");
}

#[test]
fn foreign_ends_come_and_go_in_real_time() {
    let (uri, stream) = open("real", "");
    let endpoint = Endpoint::open(&uri).unwrap();
    let state = || endpoint.port(0).unwrap().info().unwrap().state;
    assert_eq!(state(), PortState::Starting);
    for _ in 0..2 {
        let (far, stop) = echo(stream.clone());
        packets_return(&endpoint);
        stop.store(true, Ordering::Relaxed);
        far.join().unwrap();
        while state() == PortState::Up {
            thread::sleep(Duration::from_millis(1));
        }
    }
}
