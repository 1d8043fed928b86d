#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    orbit_fuzz::job_part(data);
});
