//! Benchmarks of spfe: `benches/rings.rs` (criterion) and the program behind `tools/callgrind.sh`.
