//! The CRC against vectors, the standard's table, and a model.

use crate::lab::{hex, model_crc};
use proptest::prelude::*;
use spfe_proto::rmap::crc::{RmapCrc, crc};

/// The table of the standard: CRC of each single byte.
const TABLE: &str = "
00 91 E3 72 07 96 E4 75 0E 9F ED 7C 09 98 EA 7B
1C 8D FF 6E 1B 8A F8 69 12 83 F1 60 15 84 F6 67
38 A9 DB 4A 3F AE DC 4D 36 A7 D5 44 31 A0 D2 43
24 B5 C7 56 23 B2 C0 51 2A BB C9 58 2D BC CE 5F
70 E1 93 02 77 E6 94 05 7E EF 9D 0C 79 E8 9A 0B
6C FD 8F 1E 6B FA 88 19 62 F3 81 10 65 F4 86 17
48 D9 AB 3A 4F DE AC 3D 46 D7 A5 34 41 D0 A2 33
54 C5 B7 26 53 C2 B0 21 5A CB B9 28 5D CC BE 2F
E0 71 03 92 E7 76 04 95 EE 7F 0D 9C E9 78 0A 9B
FC 6D 1F 8E FB 6A 18 89 F2 63 11 80 F5 64 16 87
D8 49 3B AA DF 4E 3C AD D6 47 35 A4 D1 40 32 A3
C4 55 27 B6 C3 52 20 B1 CA 5B 29 B8 CD 5C 2E BF
90 01 73 E2 97 06 74 E5 9E 0F 7D EC 99 08 7A EB
8C 1D 6F FE 8B 1A 68 F9 82 13 61 F0 85 14 66 F7
A8 39 4B DA AF 3E 4C DD A6 37 45 D4 A1 30 42 D3
B4 25 57 C6 B3 22 50 C1 BA 2B 59 C8 BD 2C 5E CF";

#[test]
fn table() {
    let table = hex(TABLE);
    assert_eq!(table.len(), 256);
    for (byte, value) in (0..=255).zip(table) {
        assert_eq!((crc(&[byte]), model_crc(&[byte])), (value, value), "{byte:#04x}");
    }
}

#[test]
fn vectors() {
    let long = "10 56 C3 95 A5 75 38 63 2F 86 7B 01 32 DE 35 7A";
    let cases: [(Vec<u8>, u8); 9] = [
        (hex("01 02 03 04 05 06 07 08"), 0xb0),
        (b"SpaceWire is beautiful!!".to_vec(), 0x84),
        (hex(long), 0x18),
        (b"123456789".to_vec(), 0x20),
        (vec![0x01], 0x91),
        (vec![0x80], 0xe0),
        (vec![0xff], 0xcf),
        (vec![0; 16], 0),
        (vec![], 0),
    ];
    for (bytes, value) in cases {
        assert_eq!((crc(&bytes), model_crc(&bytes)), (value, value), "{bytes:02x?}");
    }
}

proptest! {
    #[test]
    fn crc_matches_the_model(bytes in prop::collection::vec(any::<u8>(), 0..100), at in any::<prop::sample::Index>()) {
        let value = crc(&bytes);
        prop_assert_eq!(value, model_crc(&bytes));
        let (first, second) = bytes.split_at(at.index(bytes.len() + 1));
        prop_assert_eq!(RmapCrc::new().bytes(first).bytes(second).value(), value);
        prop_assert_eq!(crc(&[&bytes[..], &[value]].concat()), 0);
    }
}
