//! Devices: which nodes belong to which kind, the CDI file that injects them, and the device plugin that offers them.

mod check;
mod emit;
pub mod spec;

pub use check::{check, declare};
pub use emit::emit;

use crate::diag::Span;
use crate::spec::DeviceKind;

/// The checked section, in the order of the kinds.
#[derive(Clone, Debug)]
pub struct Part {
    devices: Vec<Device>,
}

/// A checked kind of device.
#[derive(Clone, Debug)]
struct Device {
    kind: DeviceKind,
    span: Span,
    raw: spec::Device,
}

impl Device {
    fn path(&self) -> String {
        format!("devices.{}", self.kind)
    }
}
