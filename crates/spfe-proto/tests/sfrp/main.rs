//! SFRP packets: vectors of an independent encoder, refusals, segmentation.

mod segments;
mod strict;
mod vectors;

/// Bytes of hexadecimal digits.
fn hex(text: &str) -> Vec<u8> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    assert!(rest.is_empty(), "{text}");
    let pair = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    pairs.iter().map(pair).collect()
}
