//! The `system` section as the operator writes it.

use crate::spec::Named;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;

/// The host below Kubernetes.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct System {
    /// Kernel parameters.
    #[serde(default)]
    #[schemars(extend("examples" = [{"net.ipv4.ip_forward": 1}], "x-purlin-node" = "sysctl"))]
    pub sysctls: Named<String, SysctlValue>,
    /// Kernel modules to load.
    #[serde(default)]
    #[schemars(extend("examples" = [["br_netfilter"]], "x-purlin-node" = "module"))]
    pub modules: Vec<String>,
}

/// A kernel parameter's value: a whole number or a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SysctlValue(pub String);

impl<'de> Deserialize<'de> for SysctlValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl serde::de::Visitor<'_> for Either {
            type Value = SysctlValue;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a whole number or a string")
            }
            fn visit_i64<E>(self, n: i64) -> Result<SysctlValue, E> {
                Ok(SysctlValue(n.to_string()))
            }
            fn visit_u64<E>(self, n: u64) -> Result<SysctlValue, E> {
                Ok(SysctlValue(n.to_string()))
            }
            fn visit_str<E>(self, text: &str) -> Result<SysctlValue, E> {
                Ok(SysctlValue(text.to_owned()))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for SysctlValue {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "SysctlValue".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"], "examples": [1] })
    }
}
