//! Comparison of sequence numbers.

/// Whether a < b in sequence space (RFC 9293, 3.4).
#[must_use]
pub fn lt(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// Whether a <= b in sequence space.
#[must_use]
pub fn le(a: u32, b: u32) -> bool {
    !lt(b, a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_compare_across_the_wrap() {
        assert!(lt(0xffff_fff0, 5));
        assert!(!lt(5, 0xffff_fff0));
        assert!(le(7, 7) && !lt(7, 7));
    }
}
