//! Pieces of a spec as messages quote them: in the syntax that the operator writes.

use super::Syntax;
use super::case::kebab;
use super::validate::string;
use serde_json::Value as Json;

impl Syntax {
    /// One of two spellings of the same piece of a spec, between backticks: KDL, or YAML on one line. JSON's is made
    /// from YAML's.
    #[must_use]
    pub fn example(self, kdl: &str, yaml: &str) -> String {
        match self {
            Self::Kdl => format!("`{kdl}`"),
            Self::Yaml => format!("`{yaml}`"),
            Self::Json => {
                // Our own text: what is no YAML is shown as it is.
                let json =
                    serde_yaml::from_str::<Json>(yaml).map_or_else(|_| yaml.to_owned(), |v| on_one_line(&v));
                let bare = json.strip_prefix("{ ").and_then(|j| j.strip_suffix(" }")).unwrap_or(&json);
                format!("`{bare}`")
            }
        }
    }

    /// A string as it stands in the text.
    #[must_use]
    pub fn string(self, text: &str) -> String {
        string(self, text)
    }

    /// A field's name, which the model spells in camelCase.
    #[must_use]
    pub fn key(self, model: &str) -> String {
        if self == Self::Kdl { kebab(model) } else { model.to_owned() }
    }
}

fn on_one_line(value: &Json) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    match value {
        Json::Object(object) if !object.is_empty() => {
            let parts = object.iter().map(|(k, v)| format!("{}: {}", Json::from(k.as_str()), on_one_line(v)));
            format!("{{ {} }}", joined(parts.collect()))
        }
        Json::Array(list) => format!("[{}]", joined(list.iter().map(on_one_line).collect())),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_syntax_has_its_own_spelling() {
        let shown =
            |syntax: Syntax| syntax.example("when { always }", "when: { always: true, devices: [a.b/c] }");
        assert_eq!(shown(Syntax::Kdl), "`when { always }`");
        assert_eq!(shown(Syntax::Yaml), "`when: { always: true, devices: [a.b/c] }`");
        assert_eq!(shown(Syntax::Json), r#"`"when": { "always": true, "devices": ["a.b/c"] }`"#);
        assert_eq!(Syntax::Kdl.key("hasBindMounts"), "has-bind-mounts");
        assert_eq!(Syntax::Json.key("hasBindMounts"), "hasBindMounts");
        assert_eq!(
            (Syntax::Kdl.string("30s"), Syntax::Yaml.string("on")),
            ("\"30s\"".into(), "\"on\"".into())
        );
    }
}
