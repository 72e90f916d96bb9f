//! Purlin: one node spec becomes checked files, actions and endpoints of a Kubernetes node.
//!
//! ```text
//! text ── source ──▶ Doc ── validate, serde ──▶ NodeSpec ── node::check ──▶ Node
//! Node × Facts ── emission::emit ──▶ Plan          Plan × Facts ── plan::diff ──▶ Diff
//! ```
//!
//! Everything but [`host`] and [`cli`] is pure: the same input gives the same bytes on any machine.
#![forbid(unsafe_code)]
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod cli;
pub mod compile;
pub mod diag;
pub mod editor;
pub mod emission;
pub mod explain;
pub mod facts;
pub mod host;
pub mod node;
pub mod plan;
pub mod sections;
pub mod source;
pub mod spec;

pub mod admission;
pub mod devices;
pub mod kubelet;
pub mod networks;
pub mod policies;
pub mod runtimes;
pub mod scheduling;
pub mod system;
pub mod volumes;
