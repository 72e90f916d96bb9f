//! The `purlin-cni` binary.
fn main() {}
