//! Storage that pods can ask for. The section has its place in the language; nothing is compiled from it yet, and using it is an error that
//! says so.

pub mod spec;
