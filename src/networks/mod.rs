//! Networks: the conflists that the container runtime hands to CNI plugins.

mod check;
mod emit;
pub mod spec;

pub use check::{check, declare};
pub use emit::emit;

use crate::diag::Span;

/// The checked section, in the order of the networks' names.
#[derive(Clone, Debug)]
pub struct Part {
    networks: Vec<Network>,
}

/// A checked network.
#[derive(Clone, Debug)]
struct Network {
    name: String,
    span: Span,
    default: bool,
    raw: spec::Network,
}

impl Network {
    fn path(&self) -> String {
        format!("networks.{}", self.name)
    }
}
