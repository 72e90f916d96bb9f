//! Purlin: one node spec becomes checked files, actions and endpoints of a Kubernetes node.
#![forbid(unsafe_code)]

pub mod diag;
pub mod source;
