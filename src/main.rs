//! The `purlin` command.
fn main() {}
