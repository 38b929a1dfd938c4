//! How messages are cut into packets.

use proptest::prelude::*;
use spfe_proto::sfrp::{SEGMENT_MAX, SfrpSegment, SfrpSegments};

fn lengths(address: u64, length: u32) -> Vec<u32> {
    SfrpSegments::new(address, length, 4096).map(|segment| segment.length).collect()
}

#[test]
fn segments_end_at_multiples_of_their_size() {
    assert_eq!(lengths(0, 0), [0]);
    assert_eq!(lengths(0, 4096), [4096]);
    assert_eq!(lengths(0, 4097), [4096, 1]);
    assert_eq!(lengths(4095, 4098), [1, 4096, 1]);
    assert_eq!(lengths(u64::MAX - 1, 4), [2, 2]);
    let only = SfrpSegment { offset: 0, length: 0, first: true, last: true };
    assert_eq!(SfrpSegments::new(7, 0, 4096).collect::<Vec<_>>(), [only]);
    let rest: Vec<_> = SfrpSegments::new(0, 9000, 4096).starting_at(8192).collect();
    assert_eq!(rest, [SfrpSegment { offset: 8192, length: 808, first: false, last: true }]);
    assert_eq!(SfrpSegments::new(0, 9000, 4096).starting_at(9000).next(), None);
}

proptest! {
    #[test]
    fn segments_cover_a_message_once(
        address: u64,
        length in 0u32..1 << 20,
        log2 in 8u32..=SEGMENT_MAX.ilog2(),
    ) {
        let size = 1u32 << log2;
        let segments: Vec<_> = SfrpSegments::new(address, length, size).collect();
        let mut at = 0;
        for (index, segment) in segments.iter().enumerate() {
            prop_assert_eq!(segment.offset, at);
            prop_assert_eq!(segment.first, index == 0);
            prop_assert_eq!(segment.last, index + 1 == segments.len());
            prop_assert!(segment.length <= size && (segment.length > 0 || length == 0));
            at += segment.length;
            if !segment.last {
                prop_assert_eq!(address.wrapping_add(at.into()) % u64::from(size), 0);
            }
        }
        prop_assert_eq!(at, length);
    }
}
