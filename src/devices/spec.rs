//! The `devices` section as the operator writes it.

use crate::diag::Spanned;
use crate::spec::{DeviceKind, DevicePath, EnvName, Named, Quantity, Text};
use schemars::JsonSchema;
use serde::Deserialize;

/// Devices that pods can ask for, by kind: the kind is the resource's name and the CDI kind.
pub type Devices = Named<DeviceKind, Device>;

/// What a container may do with a device node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Permissions {
    /// Read.
    R,
    /// Read and write.
    Rw,
    /// Read, write and make the node.
    Rwm,
}

/// A kind of device.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend(
    "x-purlin-one-of" = [["paths", "nvidia", "usb", "pci"]],
    "examples" = [{"paths": ["/dev/ttyUSB*"]}]
))]
pub struct Device {
    /// Device nodes; a pattern stands for every node that it matches, each a device of its own.
    #[serde(default)]
    #[schemars(extend("x-purlin-node" = "path"))]
    pub paths: Vec<Spanned<DevicePath>>,
    /// The node's NVIDIA GPUs.
    pub nvidia: Option<Spanned<Nvidia>>,
    /// USB devices.
    #[schemars(extend("x-purlin-planned" = "USB devices come with a later version of purlin"))]
    pub usb: Option<Usb>,
    /// PCI devices.
    #[schemars(extend("x-purlin-planned" = "PCI devices come with a later version of purlin"))]
    pub pci: Option<Pci>,
    /// What a container may do with the nodes.
    #[schemars(extend("x-purlin-default" = "`rw`"))]
    pub permissions: Option<Permissions>,
    /// Environment variables of containers with such a device.
    #[serde(default)]
    #[schemars(extend("x-purlin-node" = "env"))]
    pub env: Named<EnvName, Text>,
    /// Several pods may hold one device.
    #[schemars(extend("x-purlin-planned" = "shared devices come with a later version of purlin"))]
    pub share: Option<Share>,
}

/// NVIDIA GPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Nvidia {}

/// USB devices by what they say of themselves.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Usb {
    /// Vendor id, four hexadecimal digits.
    #[schemars(extend("examples" = ["0403"]))]
    pub vendor: Option<String>,
    /// Product id, four hexadecimal digits.
    #[schemars(extend("examples" = ["6001"]))]
    pub product: Option<String>,
    /// Serial number.
    #[schemars(extend("examples" = ["A50285BI"]))]
    pub serial: Option<String>,
}

/// PCI devices by what they say of themselves.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pci {
    /// Vendor id, four hexadecimal digits.
    #[schemars(extend("examples" = ["8086"]))]
    pub vendor: Option<String>,
    /// Device id, four hexadecimal digits.
    #[schemars(extend("examples" = ["1572"]))]
    pub device: Option<String>,
    /// Class, two to six hexadecimal digits.
    #[schemars(extend("examples" = ["0200"]))]
    pub class: Option<String>,
    /// Address, like `0000:01:00.0`.
    #[schemars(extend("examples" = ["0000:01:00.0"]))]
    pub address: Option<String>,
}

/// How a device is shared.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Share {
    /// The unit in which the device's memory is handed out.
    #[schemars(extend("examples" = ["1GiB"]))]
    pub memory: Option<Quantity>,
}
