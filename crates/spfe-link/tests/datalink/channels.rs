//! One link type serves any number of virtual channels up to `V`.

use crate::harness::EOP;
use spfe_link::control::ControlWord;
use spfe_link::datalink::{Buffers, DataLink, DataLinkConfig, DataLinkConfigError, LinkBroadcast};
use spfe_link::word::Word;
use spfe_link::{ReceivedRow, Row, qos};

type Store = Vec<Word>;

/// An end with buffers of 256 words per channel.
pub fn end<const V: usize>(used: u8) -> Result<DataLink<Store, 1, V>, DataLinkConfigError> {
    let count = if used == 0 { V } else { usize::from(used) };
    let memory = |vc: usize| vec![Word::default(); if vc < count { 256 } else { 0 }];
    let buffers = Buffers {
        output: std::array::from_fn(memory),
        input: std::array::from_fn(memory),
        recovery: vec![Word::default(); 512],
    };
    DataLink::new(DataLinkConfig { virtual_channels: used, ..DataLinkConfig::default() }, buffers)
}

fn received(row: Option<Row<1>>, damaged: bool) -> Option<ReceivedRow<1>> {
    row.map(|row| match row {
        _ if damaged => ReceivedRow::RxErr,
        Row::Control(word) => ReceivedRow::Control { word, crc16_good: true },
        Row::Data { words, count } => ReceivedRow::Data { words, count },
    })
}

/// A link of `N` channels, and a link of 32 with `N` in use: rows, reads and status are the same,
/// whatever the user and the far end do.
fn same_as<const N: usize>(seed: u64) {
    eprintln!("seed {seed}, {N} channels");
    let mut exact = [end::<N>(0).unwrap(), end::<N>(0).unwrap()];
    let mut wide = [end::<32>(N as u8).unwrap(), end::<32>(N as u8).unwrap()];
    let mut random = fastrand::Rng::with_seed(seed);
    let mut taken = 0;
    for period in 0..8000u32 {
        let up = period > 10;
        if period == 10 {
            for side in 0..2 {
                exact[side].far_end_capability(0, 1, false);
                wide[side].far_end_capability(0, 1, false);
            }
        }
        let mut rows = [None; 2];
        for side in 0..2 {
            let (a, b) = (&mut exact[side], &mut wide[side]);
            let vc = random.u32(..40) as usize;
            let word = if random.u32(..8) == 0 { EOP } else { Word::data(random.u32(..)) };
            assert_eq!(a.write(vc, &[word; 3]), b.write(vc, &[word; 3]));
            assert_eq!(a.writable(vc), b.writable(vc));
            assert_eq!(a.readable(vc), b.readable(vc));
            let (mut left, mut right) = ([Word::default(); 40], [Word::default(); 40]);
            assert_eq!(a.read(vc, &mut left), b.read(vc, &mut right));
            assert_eq!(left, right);
            taken += left.iter().filter(|word| **word != Word::default()).count();
            let parameters = qos::QosParameters {
                priority: random.u32(..16) as u8,
                expected_bandwidth: random.u32(..65536) as u16,
                time_slots: u64::MAX,
            };
            if random.u32(..50) == 0 {
                let set = a.set_qos_parameters(vc, parameters);
                assert_eq!(set, b.set_qos_parameters(vc, parameters));
                assert_eq!(set, vc < N);
            }
            if random.u32(..90) == 0 {
                let message = LinkBroadcast { channel: vc as u8, ..LinkBroadcast::default() };
                assert_eq!(a.send_broadcast(message), b.send_broadcast(message));
            }
            assert_eq!(a.receive_broadcast(), b.receive_broadcast());
            rows[side] = a.transmit(usize::from(up));
            assert_eq!(rows[side], b.transmit(usize::from(up)));
            assert_eq!(a.take_lane_reset(), b.take_lane_reset());
        }
        for side in 0..2 {
            if let Some(row) = received(rows[1 - side], random.u32(..300) == 0) {
                exact[side].receive(row);
                wide[side].receive(row);
            }
            assert_eq!(exact[side].status(), wide[side].status());
            assert_eq!(exact[side].qos().status(), wide[side].qos().status());
        }
    }
    assert!(taken > 1000, "{taken} words");
}

#[test]
fn channels_in_use_behave_like_a_smaller_link() {
    same_as::<1>(1);
    same_as::<2>(2);
    same_as::<7>(3);
    same_as::<31>(4);
    same_as::<32>(5);
}

/// Data frames and FCTs for a channel above those in use are accepted and have no effect.
#[test]
fn frames_to_an_unused_channel() {
    let mut link = end::<32>(3).unwrap();
    for _ in 0..3 {
        link.transmit(0);
        link.take_lane_reset();
    }
    link.far_end_capability(0, 1, false);
    let control = |word| ReceivedRow::Control { word, crc16_good: true };
    link.receive(control(ControlWord::Fct { multiplier: 1, vc: 3, seq: 1, crc: 0 }.sealed()));
    link.receive(control(ControlWord::Fct { multiplier: 1, vc: 2, seq: 2, crc: 0 }.sealed()));
    assert_eq!((link.fct_credit(3), link.fct_credit(2)), (0, 64));
    link.receive(control(ControlWord::Sdf { vc: 3 }.encode()));
    link.receive(ReceivedRow::Data { words: [Word::data(1)], count: 1 });
    link.receive(control(ControlWord::Edf { seq: 3, crc: 0 }.encode()));
    assert_eq!(link.sequence().count(), 3);
    assert_eq!(link.readable(3), 0);
    assert_eq!(link.status().input_buffer_overflow, 0);
    // Each channel in use gets its FCTs, the others get none.
    let mut given = [0; 32];
    for _ in 0..200 {
        if let Some(Row::Control(word)) = link.transmit(1)
            && let Some(ControlWord::Fct { vc, .. }) = ControlWord::decode(word)
        {
            given[usize::from(vc)] += 1;
        }
    }
    assert_eq!(given[..3], [4; 3]);
    assert_eq!(given[3..], [0; 29]);
}

#[test]
fn too_many_channels_are_refused() {
    assert_eq!(end::<4>(5).err(), Some(DataLinkConfigError::ChannelsInUse));
    assert_eq!(end::<4>(4).unwrap().virtual_channels(), 4);
    assert_eq!(end::<4>(0).unwrap().virtual_channels(), 4);
    assert_eq!(end::<4>(1).unwrap().virtual_channels(), 1);
    let buffers = |words: usize| Buffers {
        output: std::array::from_fn(|_| vec![Word::default(); words]),
        input: std::array::from_fn(|_| vec![Word::default(); 64]),
        recovery: vec![Word::default(); 64],
    };
    let make =
        |words| DataLink::<Store, 1, 2>::new(DataLinkConfig::default(), buffers(words)).err();
    assert_eq!(make(64), None);
    assert_eq!(make(32), Some(DataLinkConfigError::Buffer));
    assert_eq!(make(96), Some(DataLinkConfigError::Buffer));
}
