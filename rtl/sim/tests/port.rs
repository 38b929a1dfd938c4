//! A whole port of the core, at full speed, with a port of the model as its far end: words of every
//! channel and broadcast messages arrive once and in order, in both directions, whatever happens on
//! the cable short of a link reset.

use std::collections::VecDeque;

use spfe_link::datalink::{Buffers, DataLink, DataLinkConfig, DataLinkParameters, LinkBroadcast};
use spfe_link::multilane::{MultiLane, MultiLaneConfig};
use spfe_link::qos::QosParameters;
use spfe_link::word::k;
use spfe_link::{SpaceFibrePort, Word};
use spfe_rtl_sim::{Core, Packer, Unpacker, damage, link, once_in, seeds};

const CHANNELS: usize = 4;
/// Words that each end sends on each channel: whole packets.
const WORDS: u32 = 37 * 216;
const MOST_CYCLES: u64 = 400_000;

/// Width of `link_event_t`, and the bits of it that a test looks at.
const EVENTS: usize = 28;
const PROTOCOL_ERROR: usize = 22;
const INPUT_OVERFLOW: usize = 21;
const RECOVERY: usize = 19;

type Port = SpaceFibrePort<Vec<Word>, 1, CHANNELS>;

fn model() -> Port {
    let memory = || vec![Word::default(); 512];
    let buffers = Buffers {
        output: std::array::from_fn(|_| memory()),
        input: std::array::from_fn(|_| memory()),
        recovery: memory(),
    };
    let link = DataLink::new(DataLinkConfig::default(), buffers).expect("is valid");
    SpaceFibrePort::new_starting(link, MultiLane::new(&MultiLaneConfig::new()))
}

/// What one end sends on a channel, and what the other has received of it.
#[derive(Clone, Copy, Default)]
struct Stream {
    written: u32,
    read: u32,
}

/// Word `number` of a channel of an end: mostly data, sometimes the end of a packet.
fn stream_word(end: usize, vc: usize, number: u32) -> Word {
    let data = (end as u32) << 31 | (vc as u32) << 24 | number;
    match number % 37 {
        36 => Word::from_symbols([data as u8, k::EOP, k::FILL, k::FILL], 0b1110),
        _ => Word::data(data),
    }
}

fn message(end: usize, number: u32) -> LinkBroadcast {
    LinkBroadcast {
        channel: end as u8,
        kind: number as u8,
        data: (u64::from(number) << 32 | u64::from(!number)).to_le_bytes(),
        ..LinkBroadcast::default()
    }
}

struct Outputs {
    line: Option<Word>,
    broadcast: Option<LinkBroadcast>,
    broadcast_ready: bool,
    rx: [Option<Word>; CHANNELS],
    tx_ready: [bool; CHANNELS],
    events: u64,
    initialised: bool,
}

fn unpack(words: &[u32]) -> Outputs {
    let mut bits = Unpacker::new(words);
    let _invert_and_receive = bits.get(2);
    let line_on = bits.flag();
    let line = bits.word();
    let valid = bits.flag();
    let message = link::get_broadcast(&mut bits);
    let broadcast_ready = bits.flag();
    let rx_valid: [bool; CHANNELS] = std::array::from_fn(|_| bits.flag());
    let rx = rx_valid.map(|valid| {
        let word = bits.word();
        valid.then_some(word)
    });
    let tx_ready = std::array::from_fn(|_| bits.flag());
    let _vc_status = bits.get(5 * CHANNELS);
    let _lane_status = bits.get(37);
    Outputs {
        line: line_on.then_some(line),
        broadcast: valid.then_some(message),
        broadcast_ready,
        rx,
        tx_ready,
        events: bits.get(EVENTS),
        initialised: {
            let _broadcast_credit_and_empty = bits.get(10);
            bits.get(2) == 3
        },
    }
}

/// A direction of the cable.
struct Cable {
    words: VecDeque<Option<Word>>,
}

impl Cable {
    fn pass(&mut self, word: Option<Word>, errors: u32, rng: &mut fastrand::Rng) -> Option<Word> {
        let hit = errors != 0 && once_in(rng, errors);
        self.words.push_back(word.map(|word| if hit { damage(rng, word) } else { word }));
        self.words.pop_front().flatten()
    }
}

#[derive(Debug, Default)]
struct Counts {
    recoveries: u64,
    unplugged: u32,
    cycles: u64,
}

fn run(seed: u64, faults: bool) -> Counts {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut core = Core::new("spfe_sim_port", &[("Vcs", CHANNELS)], seed);
    let mut far = model();
    let delay = rng.usize(1..40);
    let mut cables = [(); 2].map(|()| Cable { words: vec![None; delay].into() });
    let (mut packer, mut counts) = (Packer::default(), Counts::default());
    let parameters = DataLinkParameters::default();
    let qos: [QosParameters; CHANNELS] = std::array::from_fn(|_| QosParameters {
        priority: rng.u8(..16),
        expected_bandwidth: *rng.choice(&[256, 6554, 30000]).expect("not empty"),
        time_slots: u64::MAX,
    });
    for (vc, qos) in qos.iter().enumerate() {
        far.link.set_qos_parameters(vc, *qos);
    }
    let mut streams = [[Stream::default(); CHANNELS]; 2];
    // Broadcast messages sent by each end, and received from it.
    let mut messages = [Stream::default(); 2];
    let (mut errors, mut activity, mut unplugged) = (0, [100; 2], 0u32);
    // Both ends reset the link when they start; what they got before is lost.
    let mut started = 0;
    let mut to_core = None;
    // A word on offer stays until it is taken.
    let mut offers = [false; CHANNELS];
    let mut offers_message = false;
    loop {
        let cycle = core.cycles();
        let at = || format!("seed {seed} cycle {cycle}");
        let done = streams.iter().flatten().all(|stream| stream.read == WORDS);
        if done && messages.iter().all(|message| message.read == message.written) {
            counts.cycles = cycle;
            return counts;
        }
        assert!(
            cycle < MOST_CYCLES,
            "{}: not all has arrived: {:?} {:?}",
            at(),
            streams.map(|end| end.map(|stream| stream.read)),
            messages.map(|message| (message.written, message.read))
        );
        if started < 100 {
            activity = [0; 2];
        } else if cycle % 1000 == 0 {
            activity = [(); 2].map(|()| *rng.choice(&[100, 100, 60, 20]).expect("not empty"));
            let rates: &[u32] = if faults { &[0, 0, 3000, 1000, 300] } else { &[0] };
            errors = *rng.choice(rates).expect("not empty");
        }
        if faults && started == 100 && once_in(&mut rng, 40_000) {
            unplugged = rng.u32(1..2000);
            counts.unplugged += 1;
        }

        // Inputs of the core.
        for (vc, offer) in offers.iter_mut().enumerate() {
            *offer |= streams[0][vc].written < WORDS && rng.u32(..100) < activity[0];
        }
        offers_message |= started == 100 && !done && once_in(&mut rng, 100);
        let ready: [bool; CHANNELS] = std::array::from_fn(|_| rng.u32(..100) < activity[1]);
        packer.clear();
        packer.flag(false).flag(to_core.is_some()).word(to_core.unwrap_or_default());
        packer.flag(true).flag(offers_message);
        link::put_broadcast(&mut packer, &message(0, messages[0].written));
        for ready in ready {
            packer.flag(ready);
        }
        for offer in offers {
            packer.flag(offer);
        }
        for (vc, stream) in streams[0].iter().enumerate() {
            packer.word(stream_word(0, vc, stream.written));
        }
        // lane_start, auto_start; lane_reset and both loopbacks; rx_en, tx_en; standby_reason
        packer.put(0b11, 2).put(0, 3).put(0b11, 2).put(0, 8);
        link::put_channels(&mut packer, &parameters, &qos);
        link::put_parameters(&mut packer, &parameters, 0, link::Commands::default());
        packer.flag(cycle < 3);
        let out = unpack(core.step(packer.words()));
        if cycle < 3 {
            continue;
        }

        let initialised = out.initialised && far.link.is_initialised();
        started = if initialised { 100.min(started + 1) } else { 0 };

        // Users of the core.
        let resets = out.events >> PROTOCOL_ERROR & 1 | out.events >> INPUT_OVERFLOW & 1;
        assert_eq!(resets, 0, "{}: protocol error or overflow", at());
        counts.recoveries += out.events >> RECOVERY & 1;
        for vc in 0..CHANNELS {
            if offers[vc] && out.tx_ready[vc] {
                streams[0][vc].written += 1;
                offers[vc] = false;
            }
            if let (Some(word), true) = (out.rx[vc], ready[vc]) {
                let stream = &mut streams[1][vc];
                assert_eq!(word, stream_word(1, vc, stream.read), "{}: channel {vc}", at());
                stream.read += 1;
            }
        }
        if offers_message && out.broadcast_ready {
            messages[0].written += 1;
            offers_message = false;
        }
        if let Some(got) = out.broadcast {
            let got = LinkBroadcast { late: false, ..got };
            assert_eq!(got, message(1, messages[1].read), "{}: message to the core", at());
            messages[1].read += 1;
        }

        // Users of the far end.
        for vc in 0..CHANNELS {
            let stream = &mut streams[1][vc];
            if stream.written < WORDS && rng.u32(..100) < activity[1] {
                let word = stream_word(1, vc, stream.written);
                stream.written += far.link.write(vc, &[word]) as u32;
            }
            let mut word = [Word::default()];
            if rng.u32(..100) < activity[0] && far.link.read(vc, &mut word) != 0 {
                let stream = &mut streams[0][vc];
                assert_eq!(word[0], stream_word(0, vc, stream.read), "{}: far {vc}", at());
                stream.read += 1;
            }
        }
        if !done
            && once_in(&mut rng, 100)
            && far.link.send_broadcast(message(1, messages[1].written))
        {
            messages[1].written += 1;
        }
        while let Some(got) = far.link.receive_broadcast() {
            let got = LinkBroadcast { late: false, ..got };
            assert_eq!(got, message(0, messages[0].read), "{}: message from the core", at());
            messages[0].read += 1;
        }

        // The cable.
        unplugged = unplugged.saturating_sub(1);
        let plug = |word: Option<Word>| word.filter(|_| unplugged == 0);
        let [from_far] = far.transmit();
        to_core = cables[1].pass(plug(from_far), errors, &mut rng);
        far.receive([cables[0].pass(plug(out.line), errors, &mut rng)]);
    }
}

#[test]
fn port_with_a_clean_cable() {
    let counts = run(1, false);
    assert_eq!(counts.recoveries, 0, "{counts:?}");
    println!("{counts:?}");
}

#[test]
fn port_with_faults() {
    let mut total = Counts::default();
    for seed in seeds(2) {
        let counts = run(seed, true);
        total.recoveries += counts.recoveries;
        total.unplugged += counts.unplugged;
        total.cycles += counts.cycles;
    }
    println!("{total:?}");
    assert!(total.recoveries > 20 && total.unplugged > 1, "{total:?}");
}
