//! A hexadecimal dump.

use std::fmt::Write;

/// Bytes in a line.
const LINE: usize = 16;

/// A dump of bytes: address, hexadecimal digits, characters. Without `increment` all lines have the
/// same address.
pub fn dump(address: u64, increment: bool, data: &[u8]) -> String {
    let mut text = String::new();
    for (index, line) in data.chunks(LINE).enumerate() {
        let at = if increment { address + (index * LINE) as u64 } else { address };
        let digits: Vec<_> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        let shown = |byte: &u8| match byte {
            0x20..=0x7e => char::from(*byte),
            _ => '.',
        };
        let characters: String = line.iter().map(shown).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{at:010x}  {:<47}  |{characters}|", digits.join(" "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_addresses_digits_and_characters() {
        let data: Vec<u8> = (0x38..0x4a).collect();
        let text = "\
ff00000008  38 39 3a 3b 3c 3d 3e 3f 40 41 42 43 44 45 46 47  |89:;<=>?@ABCDEFG|
ff00000018  48 49                                            |HI|
";
        assert_eq!(dump(0xff_0000_0008, true, &data), text);
        assert_eq!(dump(0x10, false, &[0x7f; 17]).matches("0000000010  7f").count(), 2);
        assert_eq!(dump(0, true, &[]), "");
    }
}
