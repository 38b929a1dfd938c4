//! Packet-level and exact links in virtual time: the rates of both agree, and are those of theory.

use spfe::{
    Deadline, Embedded, Endpoint, Link, LinkCommand, LinkModel, LinkRate, MibItem, Mode,
    QueueOptions, Received, Rx, Topology, Tx,
};

/// Two endpoints, and the port of both that the link joins.
struct Rig {
    ends: [Endpoint; 2],
    port: u32,
    rate: LinkRate,
}

impl Rig {
    fn new(rate: &str, model: LinkModel) -> Self {
        let rate: LinkRate = rate.parse().unwrap();
        let space_wire = matches!(rate, LinkRate::SpaceWire { .. });
        let topology = match space_wire {
            true => Topology::pairs(2, "1x6.25G".parse().unwrap(), Mode::Inline)
                .with_spacewire(Link { rate, model }),
            false => Topology::pairs(2, rate, Mode::Inline).with_model(model),
        };
        let network = Embedded::new(Topology { virtual_time: true, ..topology }).unwrap();
        let open = |endpoint| Endpoint::attach(&network, endpoint, "rig").unwrap();
        Self { ends: [open(0), open(1)], port: u32::from(space_wire), rate }
    }

    /// Packets of `bytes` that fill `frames` data frames, in numbers that queues can hold.
    fn packets(&self, bytes: usize, frames: usize) -> usize {
        let words = frames * 64 * self.rate.lanes() as usize;
        (words / (bytes / 4 + 1)).clamp(12, 16384)
    }
}

/// Packets of one size that are sent again whenever one has arrived.
struct Stream {
    tx: Tx,
    rx: Rx,
    times: Vec<u64>,
}

impl Stream {
    /// Sends `window` packets from an end.
    fn new(rig: &Rig, from: usize, vc: u32, bytes: usize, window: usize) -> Self {
        let vc = |end: usize| rig.ends[end].port(rig.port).unwrap().vc(vc).unwrap();
        let options = QueueOptions::default().depth(2 * window.next_power_of_two() as u32);
        let (mut tx, mut rx) =
            (vc(from).tx_with(options).unwrap(), vc(1 - from).rx_with(options).unwrap());
        let split = |end: usize, count: usize| {
            rig.ends[end].alloc(bytes * count).unwrap().split(bytes, count).unwrap()
        };
        assert_eq!(rx.post_all(&mut split(1 - from, window + 1)), window + 1);
        split(from, window).into_iter().for_each(|buf| tx.send(buf).unwrap());
        Self { tx, rx, times: Vec::new() }
    }

    /// Receives a packet and sends another one.
    fn turn(&mut self) {
        let got = self.rx.recv(Deadline::NEVER).unwrap();
        self.take(got);
    }

    fn take(&mut self, got: Received) {
        self.times.push(got.time_ns.unwrap());
        self.rx.post(got.buf).unwrap();
        while let Some(sent) = self.tx.poll() {
            assert_eq!(sent.status, spfe::Status::Ok);
            let buf = self.tx.take().unwrap();
            self.tx.send(buf).unwrap();
        }
    }

    /// ns from one packet to the next in the later part of the run: the slope of a line through all
    /// times, because packets arrive together in frames.
    fn pace(&self) -> f64 {
        let times = &self.times[self.times.len() / 3..];
        let middle = (times.len() - 1) as f64 / 2.0;
        let mean =
            times.iter().map(|time| (time - times[0]) as f64).sum::<f64>() / times.len() as f64;
        let (mut up, mut down) = (0.0, 0.0);
        for (index, time) in times.iter().enumerate() {
            let x = index as f64 - middle;
            up += x * ((time - times[0]) as f64 - mean);
            down += x * x;
        }
        up / down
    }
}

/// Rate of packets of `bytes` in one or both directions, bit/s.
fn measure(rate: &str, model: LinkModel, bytes: usize, both: bool) -> f64 {
    let rig = Rig::new(rate, model);
    let window = rig.packets(bytes, 12);
    let count = rig.packets(bytes, 60).max(8 * window);
    let mut streams = vec![Stream::new(&rig, 0, 0, bytes, window)];
    if both {
        streams.push(Stream::new(&rig, 1, 0, bytes, window));
    }
    for _ in 0..count {
        streams.iter_mut().for_each(Stream::turn);
    }
    8e9 * bytes as f64 / streams[0].pace()
}

/// Largest part by which rates may differ.
const TOLERANCE: f64 = 0.01;

fn compare(rates: &[&str], sizes: &[usize]) {
    for rate in rates {
        let timing = rate.parse::<LinkRate>().unwrap().timing().unwrap();
        for both in [false, true] {
            for bytes in sizes {
                let theory = timing.payload_bps(*bytes as u64, both);
                for model in [LinkModel::Packet, LinkModel::Exact] {
                    let ratio = measure(rate, model, *bytes, both) / theory;
                    let what = format!("{model:?} {rate}, {bytes} bytes, both ways {both}");
                    println!("{what}: {ratio}");
                    assert!((ratio - 1.0).abs() < TOLERANCE, "{what}: {ratio} of theory");
                }
            }
        }
    }
}

#[test]
fn spacewire_packets_take_ten_bits_a_byte_and_four() {
    compare(&["spw:200M"], &[1, 2, 3, 4, 7, 8, 60, 255, 1000]);
    compare(&["spw:10M"], &[1, 60]);
}

#[test]
fn spacefibre_packets_take_words_in_frames() {
    compare(&["1x6.25G"], &[1, 3, 4, 60, 255, 1000]);
    compare(&["2x3.125G"], &[3, 255]);
    compare(&["3x2.5G"], &[1, 64]);
    compare(&["4x7.5G"], &[1, 64, 4096]);
    compare(&["16x6.25G"], &[255]);
}

/// Time over which shares are counted, after the same time in which channels use up their credit, ns.
const SHARED_NS: u64 = 1_200_000;

/// Parts of the link that three full channels get, whose expected bandwidths are these.
fn shares(model: LinkModel, expected: [f64; 3]) -> [f64; 3] {
    let rig = Rig::new("1x6.25G", model);
    for (vc, share) in expected.iter().enumerate() {
        let (item, value) = (MibItem::ExpectedBandwidth.raw(), (share * 65536.0) as u64);
        rig.ends[0].link_command(0, LinkCommand::Set { item, index: vc as u32, value }).unwrap();
    }
    let mut streams = [0, 1, 2].map(|vc| Stream::new(&rig, 0, vc, 1000, 8));
    let mut idle = rig.ends[1].port(0).unwrap().vc(3).unwrap().rx().unwrap();
    let start = rig.ends[0].now_ns();
    let mut now = start;
    while now < start + 2 * SHARED_NS {
        now += 500;
        assert!(idle.recv(Deadline::at_ns(now)).unwrap_err().is_timeout());
        for stream in &mut streams {
            while let Some(got) = stream.rx.poll() {
                stream.take(got);
            }
        }
    }
    let from = start + SHARED_NS;
    let counts = streams.map(|stream| stream.times.iter().filter(|time| **time > from).count());
    let all = counts.iter().sum::<usize>() as f64;
    let limit = rig.rate.timing().unwrap().payload_bps(1000, false);
    let rate = 8e9 * 1000.0 * all / SHARED_NS as f64;
    // Frames of an exact link are shorter when the windows are small.
    let less = if model == LinkModel::Exact { 0.06 } else { TOLERANCE };
    assert!((1.0 - less..1.0 + TOLERANCE).contains(&(rate / limit)), "{rate} of {limit} bit/s");
    counts.map(|count| count as f64 / all)
}

#[test]
fn full_channels_get_the_same_shares_on_both_kinds_of_links() {
    const NONE: f64 = 256.0 / 65536.0;
    for (expected, share) in [
        ([0.5, 0.3, 0.2], [0.5, 0.3, 0.2]),
        // What nobody has reserved is for those who have least.
        ([0.6, NONE, NONE], [0.6, 0.2, 0.2]),
        ([NONE, 0.1, NONE], [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]),
    ] {
        for model in [LinkModel::Packet, LinkModel::Exact] {
            let got = shares(model, expected);
            println!("{model:?} {expected:?}: {got:?}");
            let same = got.iter().zip(share).all(|(got, share)| (got - share).abs() < 0.02);
            assert!(same, "{model:?}: {got:?} for expected bandwidths {expected:?}");
        }
    }
}
