use super::*;

/// Words to fields to words, and fields to words to fields. The bit patterns show a field that
/// is shifted, cut or swapped.
macro_rules! round_trip {
    ($($name:ident: $kind:ident,)*) => {$(
        #[test]
        fn $name() {
            let mut patterns = [[0; 2], [u64::MAX; 2], [0x0123_4567_89ab_cdef; 2], [0; 2]];
            patterns[3] = [0xfedc_ba98_7654_3210, 0x0f1e_2d3c_4b5a_6978];
            for words in patterns {
                assert_eq!($kind::from_words(words).to_words(), words);
            }
            for bit in 0..128 {
                let mut words = [0; 2];
                words[bit / 64] = 1 << (bit % 64);
                let fields = $kind::from_words(words);
                assert_ne!(fields, $kind::default(), "bit {bit} belongs to no field");
                assert_eq!(fields.to_words(), words, "bit {bit}");
            }
            assert_eq!($kind::default().to_words(), [0; 2]);
        }
    )*};
}

round_trip! {
    round_trip_submission: Submission,
    round_trip_inline_submission: InlineSubmission,
    round_trip_burst_ext: BurstExt,
    round_trip_release: Release,
    round_trip_message: Message,
    round_trip_completion: Completion,
    round_trip_work_entry: WorkEntry,
    round_trip_operand: Operand,
}

#[test]
fn completion_layout_word_by_word() {
    let completion = Completion {
        bytes: 0x1122_3344,
        packets: 0x5566,
        vc: 0x77,
        status: 0x88,
        position: 0x99aa,
        reserved0: 0,
        flags: completion_flags::WRAP | completion_flags::STAMPED,
        phase: 0xbbcc,
    };
    assert_eq!(completion.to_words(), [0x8877_5566_1122_3344, 0xbbcc_0030_0000_99aa]);
}

#[test]
fn submission_layout_word_by_word() {
    let flags = u16::from(EntryType::Data.raw())
        | submit_flags::SIGNAL
        | u16::from(EndMarker::None.raw()) << submit_flags::END_SHIFT;
    let submission = Submission { offset: 0x1000, region: 0x5003, length: 4096, flags, phase: 1 };
    assert_eq!(submission.to_words(), [0x5003_0000_0000_1000, 0x0001_0111_0000_1000]);
}

#[test]
fn bits_past_a_field_are_dropped() {
    let wide = Submission { offset: u64::MAX, ..Submission::default() };
    assert_eq!(wide.to_words(), [0x0000_ffff_ffff_ffff, 0]);
    let wide = InlineSubmission { data_hi: u32::MAX, ..InlineSubmission::default() };
    assert_eq!(wide.to_words(), [0, 0xffff_ff00]);
}

#[test]
fn unknown_numbers_have_no_value() {
    assert_eq!(EntryType::from_raw(10), None);
    assert_eq!(EndMarker::from_raw(3), None);
    assert_eq!(QueueKind::from_raw(8), None);
    assert_eq!(PortKind::from_raw(4), None);
    assert_eq!(PortState::from_raw(3), None);
    assert_eq!(QueueState::from_raw(3), None);
    assert_eq!(MessageKind::from_raw(0), None);
    assert_eq!(BlockType::from_raw(u16::MAX), None);
    assert_eq!(Command::from_raw(11), None);
    assert_eq!(MibItem::from_raw(MIB_ITEMS.len() as u8), None);
    assert_eq!(Status::from_raw(0x01), None);
    assert_eq!(Status::from_raw(0xff), None);
}

#[test]
fn every_number_of_an_enum_comes_back() {
    for kind in EntryType::ALL {
        assert_eq!(EntryType::from_raw(kind.raw()), Some(*kind));
    }
    for raw in 0..=u8::MAX {
        let status = Status::from_raw(raw);
        assert_eq!(status.is_some(), Status::ALL.iter().any(|known| known.raw() == raw));
        assert!(status.is_none_or(|status| status.raw() == raw));
    }
}

#[test]
fn every_item_is_at_its_number_and_has_room_in_an_element() {
    let room = u64::from(mib_block::PRESENT_LO) / MIB_VALUE_BYTES;
    assert!(MIB_ITEMS.len() as u64 <= room && MIB_ITEMS.len() <= u64::BITS as usize);
    assert_eq!(MIB_ITEMS.len(), MibItem::ALL.len());
    for (number, info) in MIB_ITEMS.iter().enumerate() {
        assert_eq!(usize::from(info.item.raw()), number);
        assert_eq!(info.item.info(), info);
        assert!(info.min <= info.max && !info.title.is_empty() && !info.doc.is_empty());
        assert!(info.values.is_empty() || info.values.len() as u64 == info.max + 1);
    }
}

#[test]
fn the_class_of_a_status_is_in_its_number() {
    for status in Status::ALL {
        let class = match status.raw() {
            0x00 => StatusClass::Ok,
            0x10..=0x1f => StatusClass::Local,
            0x20..=0x2f => StatusClass::Remote,
            0x30..=0x3f => StatusClass::Link,
            0x40..=0x4f => StatusClass::Usage,
            other => panic!("{}: {other:#x} is in no class", status.name()),
        };
        assert_eq!(status.class(), class, "{}", status.name());
        assert_eq!(status.errno() == 0, *status == Status::Ok, "{}", status.name());
        assert_eq!(status.errno_name() == "0", *status == Status::Ok, "{}", status.name());
        assert!(!status.doc().is_empty());
    }
}

#[test]
fn errors_have_their_linux_numbers() {
    let known = |status: Status| (status.errno_name(), status.errno());
    assert_eq!(known(Status::Cancelled), ("ECANCELED", 125));
    assert_eq!(known(Status::LinkDown), ("ENETDOWN", 100));
    assert_eq!(known(Status::TooLong), ("EMSGSIZE", 90));
}
