//! The text form of an RMAP unit.

use spfe_topology::*;

#[test]
fn text_forms() {
    let unit: RmapUnit = "4G:base=0xff00000000:key=0:logical=32:allow=r".parse().unwrap();
    let allow = Allow { read: true, write: false, modify: false };
    let expected =
        RmapUnit { bytes: 1 << 32, base: 0xff << 32, key: Some(0), logical_address: 32, allow };
    assert_eq!(unit, expected);
    let words = "RMAP target 0x20 with 4294967296 bytes at 0xff00000000, r, key 0x00";
    assert_eq!(unit.to_string(), words);
    assert_eq!("".parse::<RmapUnit>().unwrap(), RmapUnit::default());
    for (text, words) in [
        ("x", "RMAP memory: 'x' is not a size such as"),
        ("0", "1 to 4G"),
        ("5G", "1 to 4G"),
        ("99999999999999999999G", "not a size such as"),
        ("4K:base=0xffffffffff", "ends at 0xffffffffff"),
        ("4K:base=0xffffffffffffffff", "ends at"),
        ("4K:key=256", "key=KEY"),
        ("4K:key", "key=KEY"),
        ("4K:colour=1", "key=KEY"),
        ("4K:key=+1", "key=KEY"),
        ("4K:logical=31", "32 to 254"),
        ("4K:allow=x", "some of r, w, m"),
    ] {
        let error = text.parse::<RmapUnit>().unwrap_err();
        assert!(error.contains(words), "{text}: {error}");
    }
}
