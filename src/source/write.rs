use super::*;
pub fn to_kdl(_doc: &Doc, _schema: &Schema) -> String {
    String::new()
}
pub fn to_yaml(_doc: &Doc, _schema: &Schema) -> String {
    String::new()
}
