use super::{Doc, Schema};
pub fn to_kdl(_d: &Doc, _s: &Schema) -> String { String::new() }
pub fn to_yaml(_d: &Doc, _s: &Schema) -> String { String::new() }
