//! Every ring entry against the golden bytes, which all languages read.

use serde_json::Value;
use spfe_contract::{
    BESIDE_BYTES, BurstExt, Completion, InlineSubmission, Message, Operand, Release, Submission,
    WorkEntry, completion_flags, wide_completion as wide,
};

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contract/vectors/entries.json");

fn number(text: &str) -> u64 {
    let digits = text.strip_prefix("0x").expect("numbers are hexadecimal");
    u64::from_str_radix(digits, 16).expect("a number of at most 64 bits")
}

/// The two little-endian words in 16 bytes.
fn words(hex: &str) -> [u64; 2] {
    assert_eq!(hex.len(), 32, "{hex}");
    let word = |digits: &str| u64::from_str_radix(digits, 16).expect("hexadecimal").swap_bytes();
    [word(&hex[..16]), word(&hex[16..])]
}

/// Compares an entry type with the vectors of its name: both ways, and field by field.
macro_rules! check {
    ($all:expr, $seen:expr, $name:literal, $kind:ident { $($field:ident),* $(,)? }) => {
        let cases = $all[$name].as_array().expect($name);
        assert!(cases.len() >= 3, "{}: {} examples", $name, cases.len());
        for case in cases {
            let label = format!("{} {}", $name, case["name"]);
            let words = words(case["hex"].as_str().expect("hex"));
            let fields = case["fields"].as_object().expect("fields");
            let entry = $kind::from_words(words);
            let names = [$(stringify!($field).trim_start_matches("r#")),*];
            assert_eq!(fields.len(), names.len(), "{label}");
            $(
                let name = stringify!($field).trim_start_matches("r#");
                let want = number(fields[name].as_str().expect("a string"));
                assert_eq!(u64::from(entry.$field), want, "{label}: {name}");
            )*
            assert_eq!(entry.to_words(), words, "{label}");
        }
        $seen.push($name);
    };
}

#[test]
fn entries_are_the_golden_bytes() {
    let text = std::fs::read_to_string(VECTORS).expect(VECTORS);
    let file: Value = serde_json::from_str(&text).expect(VECTORS);
    let all = &file["entries"];
    let mut seen = Vec::new();
    check!(all, seen, "submission", Submission { offset, region, length, flags, phase });
    check!(
        all,
        seen,
        "inline_submission",
        InlineSubmission { data_lo, count, data_hi, flags, phase }
    );
    check!(all, seen, "burst_ext", BurstExt { stride, count, reserved0, reserved1, flags, phase });
    check!(all, seen, "release", Release { bytes, completions, reserved0, flags, phase });
    check!(all, seen, "message", Message { data, channel, r#type, kind, status, flags, phase });
    check!(all, seen, "work_entry", WorkEntry { address, key, flags, phase });
    check!(all, seen, "operand", Operand { value, immediate, flags, phase });
    check!(
        all,
        seen,
        "completion",
        Completion { bytes, packets, vc, status, position, reserved0, flags, phase }
    );
    let mut names: Vec<&str> = all.as_object().expect("entries").keys().map(|k| &**k).collect();
    names.sort_unstable();
    seen.sort_unstable();
    assert_eq!(names, seen, "every entry of the contract is checked");
}

#[test]
fn the_wide_completion_is_the_golden_bytes() {
    let text = std::fs::read_to_string(VECTORS).expect(VECTORS);
    let file: Value = serde_json::from_str(&text).expect(VECTORS);
    let golden = &file["structures"]["wide_completion"];
    let hex = golden["hex"].as_str().expect("hex");
    let bytes: Vec<u8> = (0..wide::SIZE)
        .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hexadecimal"))
        .collect();
    let at = |offset: usize| {
        u64::from_le_bytes(bytes[offset..offset + 8].try_into().expect("eight bytes"))
    };
    let time = number(golden["fields"]["time"].as_str().expect("a string"));
    assert_eq!(at(wide::TIME_OFFSET), time);
    let done = Completion::from_words([at(wide::WORD0_OFFSET), at(wide::WORD1_OFFSET)]);
    assert_eq!((done.bytes, done.vc, done.position, done.phase), (21, 3, 41, 1));
    assert_eq!(done.flags, completion_flags::BESIDE);
    let data = &bytes[wide::DATA0_OFFSET..];
    assert_eq!(data.len() as u64, BESIDE_BYTES);
    assert!(data[..21].iter().copied().eq(1..=21) && data[21..].iter().all(|byte| *byte == 0));
}
