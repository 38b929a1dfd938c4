//! CRC-32C with the processor's instruction.
#![allow(unsafe_code)]

/// Continues a CRC. `None` if the processor has no instruction for it.
#[cfg(target_arch = "x86_64")]
pub fn update(crc: u32, bytes: &[u8]) -> Option<u32> {
    use core::arch::x86_64::{_mm_crc32_u8, _mm_crc32_u64};

    #[target_feature(enable = "sse4.2")]
    fn run(crc: u32, bytes: &[u8]) -> u32 {
        let (words, rest) = bytes.as_chunks::<8>();
        let step = |crc, word: &[u8; 8]| _mm_crc32_u64(crc, u64::from_le_bytes(*word));
        let crc = words.iter().fold(u64::from(crc), step) as u32;
        rest.iter().fold(crc, |crc, byte| _mm_crc32_u8(crc, *byte))
    }

    // SAFETY: the processor has the instructions.
    std::is_x86_feature_detected!("sse4.2").then(|| unsafe { run(crc, bytes) })
}

/// Continues a CRC. `None` if the processor has no instruction for it.
#[cfg(target_arch = "aarch64")]
pub fn update(crc: u32, bytes: &[u8]) -> Option<u32> {
    use core::arch::aarch64::{__crc32cb, __crc32cd};

    #[target_feature(enable = "crc")]
    fn run(crc: u32, bytes: &[u8]) -> u32 {
        let (words, rest) = bytes.as_chunks::<8>();
        let step = |crc, word: &[u8; 8]| __crc32cd(crc, u64::from_le_bytes(*word));
        let crc = words.iter().fold(crc, step);
        rest.iter().fold(crc, |crc, byte| __crc32cb(crc, *byte))
    }

    // SAFETY: the processor has the instructions.
    std::arch::is_aarch64_feature_detected!("crc").then(|| unsafe { run(crc, bytes) })
}

/// Continues a CRC. `None` if the processor has no instruction for it.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn update(_crc: u32, _bytes: &[u8]) -> Option<u32> {
    None
}
