//! Refusals of the decoder, and the file store and shared map. Round trips of every resolver are in `tests/laws.rs`.
