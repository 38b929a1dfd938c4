use super::*;
use fastrand::Rng;
use spfe_link::Word;
use spfe_link::network::PacketUnit;
use spfe_link::word::k;
use spfe_proto::PacketEnd;

const HEADER: PacketHeader = PacketHeader { target: 254, flow: 0x0234, number: 77, bytes: 0 };

fn words(mut maker: PacketMaker, step: usize) -> Vec<Word> {
    let mut all = Vec::new();
    while !maker.is_done() {
        let mut some = vec![Word::default(); step];
        let count = maker.fill(&mut some);
        all.extend_from_slice(&some[..count]);
    }
    all
}

fn receive(words: &[Word], step: usize) -> Vec<ArrivedPacket> {
    let (mut checker, mut all) = (PacketChecker::new(), Vec::new());
    for mut chunk in words.chunks(step) {
        while !chunk.is_empty() {
            let (taken, arrived) = checker.take(chunk);
            chunk = &chunk[taken..];
            all.extend(arrived);
        }
    }
    assert!(!checker.is_open());
    all
}

fn good(header: PacketHeader) -> ArrivedPacket {
    ArrivedPacket::Traffic {
        header,
        bytes: header.bytes.into(),
        altered: None,
        end: PacketEnd::Eop,
    }
}

/// Words of SpaceWire: the same N-Chars, four to a word from the first on.
fn repacked(words: &[Word]) -> Vec<Word> {
    let symbols = words.iter().flat_map(|word| (0..4).map(|i| (word.symbol(i), word.is_k(i))));
    let n_chars: Vec<_> = symbols.filter(|symbol| *symbol != (k::FILL, true)).collect();
    let word = |chunk: &[(u8, bool)]| {
        let mut word = [(k::FILL, true); 4];
        word[..chunk.len()].copy_from_slice(chunk);
        let mask = (0..4).fold(0, |mask, i| mask | u8::from(word[i].1) << i);
        Word::from_symbols(word.map(|symbol| symbol.0), mask)
    };
    n_chars.chunks(4).map(word).collect()
}

#[test]
fn generated_packets_of_all_lengths_pass() {
    for bytes in (HEADER_BYTES..60).chain([1000, 1001, 65_536]) {
        let header = PacketHeader { bytes, ..HEADER };
        for path in 0..9u8 {
            let path: Vec<u8> = (1..=path).collect();
            let mut sent = words(PacketMaker::traffic(&path, header), 7);
            assert_eq!(sent.len(), (path.len() + bytes as usize) / 4 + 1);
            // Routers take the path off.
            for _ in &path {
                let first = sent[0].without_address();
                sent.splice(..1, first);
            }
            for sent in [repacked(&sent), sent] {
                for step in [1, 5, 64] {
                    assert_eq!(receive(&sent, step), [good(header)], "{bytes} {path:?}");
                }
            }
        }
    }
}

#[test]
fn other_packets_keep_their_bytes() {
    for length in [0, 1, 3, 11, 12, 13, 500] {
        let bytes: Vec<u8> = (0..length).map(|i| (i * 7) as u8).collect();
        let sent = words(PacketMaker::bytes(bytes.clone(), PacketEnd::Eop), 3);
        assert_eq!(receive(&sent, 2), [ArrivedPacket::Other { bytes, end: PacketEnd::Eop }]);
    }
}

#[test]
fn each_altered_byte_is_found() {
    let mut rng = Rng::with_seed(3);
    for _ in 0..500 {
        let header = PacketHeader { bytes: rng.u64(13..=300) as u32, ..HEADER };
        let mut sent = words(PacketMaker::traffic(&[], header), 64);
        let byte = rng.u64(12..=u64::from(header.bytes) - 1);
        sent[byte as usize / 4].bits ^= 1 << (8 * (byte % 4) + rng.u64(..8));
        let arrived = receive(&sent, 9);
        let [ArrivedPacket::Traffic { altered: Some(at), .. }] = arrived[..] else {
            panic!("byte {byte} of {}: {arrived:?}", header.bytes);
        };
        assert_eq!(at, byte / 4 * 4);
    }
}

#[test]
fn short_long_and_truncated_packets_are_found() {
    let header = PacketHeader { bytes: 40, ..HEADER };
    let sent = words(PacketMaker::traffic(&[], header), 64);
    let short = [&sent[..5], &sent[10..]].concat();
    let traffic = |bytes, altered, end| ArrivedPacket::Traffic { header, bytes, altered, end };
    assert_eq!(receive(&short, 4), [traffic(20, None, PacketEnd::Eop)]);
    let cut = [&sent[..5], &[Word::EEP]].concat();
    assert_eq!(receive(&cut, 4), [traffic(20, None, PacketEnd::Eep)]);
    let long = [&sent[..10], &sent[9..]].concat();
    assert_eq!(receive(&long, 4), [traffic(44, Some(40), PacketEnd::Eop)]);
    let runt = [&sent[..2], &[Word::EEP]].concat();
    let arrived = receive(&runt, 4);
    assert!(
        matches!(&arrived[..], [ArrivedPacket::Other { bytes, end: PacketEnd::Eep }] if bytes.len() == 8)
    );
}
