//! Packets as words of a virtual channel.

use proptest::prelude::*;
use spfe_link::Word;
use spfe_link::datalink::{WordContent, content};
use spfe_link::packet::{EndMarker, PacketWords, n_chars};
use spfe_link::spacewire::NChar;

#[test]
fn words_of_a_packet_in_the_order_of_the_line() {
    let words = |count: usize, end| -> Vec<Word> {
        PacketWords::new(&[1, 2, 3, 4, 5, 6, 7, 8][..count], end).collect()
    };
    let full = Word { bits: 0x0403_0201, k: 0 };
    // An end marker takes a word of its own after four characters, and Fill follows it.
    assert_eq!(words(4, EndMarker::Eop), [full, Word { bits: 0xfbfb_fbfd, k: 0xf }]);
    assert_eq!(words(5, EndMarker::Eep), [full, Word { bits: 0xfbfb_fe05, k: 0xe }]);
    assert_eq!(words(7, EndMarker::Eop), [full, Word { bits: 0xfd07_0605, k: 0x8 }]);
    assert_eq!(words(6, EndMarker::None), [full, Word { bits: 0xfbfb_0605, k: 0xc }]);
    assert_eq!(words(4, EndMarker::None), [full]);
    assert_eq!(words(0, EndMarker::Eep), [Word { bits: 0xfbfb_fbfe, k: 0xf }]);
    assert_eq!(words(0, EndMarker::None), []);
}

#[test]
fn characters_that_no_virtual_channel_has_are_left_out() {
    // A comma, Fill, data, EEP.
    let word = Word::from_symbols([0xfc, 0xfb, 0xfb, 0xfe], 0b1011);
    assert!(n_chars(word).eq([NChar::Data(0xfb), NChar::Eep]));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    /// A packet in parts arrives as it was, in words that the data link layer takes.
    #[test]
    fn a_packet_comes_out_as_it_went_in(
        parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..6),
        complete in any::<bool>(),
    ) {
        let end = if complete { EndMarker::Eop } else { EndMarker::Eep };
        let mut words = Vec::new();
        for part in &parts {
            let part = PacketWords::new(part, EndMarker::None);
            let before = words.len();
            words.extend(part.clone());
            prop_assert_eq!(words.len() - before, part.len());
        }
        words.extend(PacketWords::new(&[], end));
        for (index, word) in words.iter().enumerate() {
            let last = index + 1 == words.len();
            let expected = if last { WordContent::End } else { WordContent::Data };
            prop_assert_eq!(content(*word), expected);
        }
        let last = if complete { NChar::Eop } else { NChar::Eep };
        let sent: Vec<_> = parts.concat().into_iter().map(NChar::Data).chain([last]).collect();
        let received: Vec<_> = words.into_iter().flat_map(n_chars).collect();
        prop_assert_eq!(received, sent);
    }
}
