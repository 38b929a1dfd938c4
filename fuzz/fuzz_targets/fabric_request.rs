#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    spfe_fuzz::targets::fabric_request::fuzz(data);
});
