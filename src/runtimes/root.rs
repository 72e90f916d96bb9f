//! The root configuration of a containerd that someone else keeps, as far as a drop-in beside it depends on it.
//!
//! Rules of containerd 2.x: it imports only what the root file itself lists; of patterns only `*` counts; a relative one
//! starts at the importing file; tables merge key by key, and a drop-in of another version than its root is lost or stops
//! the daemon before 2.3.5.

use toml::{Table, Value};

/// A key that the root and our drop-in set to different values.
pub struct Conflict {
    /// Dotted, as TOML spells it.
    pub key: String,
    /// The values as a message shows them.
    pub theirs: String,
    pub ours: String,
}

/// What the root configuration says.
pub struct Root {
    table: Table,
}

impl Root {
    /// Reads the root file.
    ///
    /// # Errors
    /// When it is not TOML: the daemon would not start on it either.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        text.parse().map(|table| Self { table })
    }

    /// Its configuration version; a file without one is of version 1.
    #[must_use]
    pub fn version(&self) -> i64 {
        self.table.get("version").and_then(Value::as_integer).unwrap_or(1)
    }

    /// The value of a key of the CRI runtime plugin, under a path of tables.
    #[must_use]
    pub fn cri(&self, path: &[&str]) -> Option<&Value> {
        let plugin = self.table.get("plugins")?.get("io.containerd.cri.v1.runtime")?;
        path.iter().try_fold(plugin, |value, key| value.get(*key))
    }

    /// Whether there is a list of imports at all.
    #[must_use]
    pub fn has_imports(&self) -> bool {
        self.table.contains_key("imports")
    }

    /// Whether it imports a file.
    #[must_use]
    pub fn imports(&self, root_path: &str, file: &str) -> bool {
        let directory = root_path.rsplit_once('/').map_or("", |(d, _)| d);
        self.table
            .get("imports")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .any(|pattern| {
                let absolute = if pattern.starts_with('/') {
                    pattern.to_owned()
                } else {
                    format!("{directory}/{pattern}")
                };
                matches(&absolute, file)
            })
    }

    /// Leaves that both set to different values.
    #[must_use]
    pub fn conflicts(&self, ours: &Table) -> Vec<Conflict> {
        let mut found = Vec::new();
        compare(&self.table, ours, "", &mut found);
        found
    }
}

/// `*` stands for anything but `/`; nothing else is special.
fn matches(pattern: &str, path: &str) -> bool {
    let mut quoted = String::new();
    for c in pattern.chars() {
        match c {
            '?' | '[' | ']' => {
                quoted.push('[');
                quoted.push(c);
                quoted.push(']');
            }
            _ => quoted.push(c),
        }
    }
    let options = glob::MatchOptions { require_literal_separator: true, ..glob::MatchOptions::new() };
    glob::Pattern::new(&quoted).is_ok_and(|p| p.matches_with(path, options))
}

/// A key between dots.
fn spelt(key: &str) -> String {
    let bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    if bare { key.to_owned() } else { format!("'{key}'") }
}

/// A value as a message can hold it.
fn shown(value: &Value) -> String {
    match value {
        Value::Table(_) => "a table".to_owned(),
        Value::Array(list) => format!("a list of {}", list.len()),
        scalar => format!("`{scalar}`"),
    }
}

fn compare(theirs: &Table, ours: &Table, at: &str, found: &mut Vec<Conflict>) {
    for (key, our) in ours {
        let path = if at.is_empty() { spelt(key) } else { format!("{at}.{}", spelt(key)) };
        match (theirs.get(key), our) {
            (Some(Value::Table(their)), Value::Table(our)) => compare(their, our, &path, found),
            // The version and the list of required plugins are not ours alone: versions are compared before, lists joined.
            (Some(their), our)
                if their != our && !matches!(path.as_str(), "version" | "required_plugins") =>
            {
                found.push(Conflict { key: path, theirs: shown(their), ours: shown(our) });
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_root_lists_is_imported() {
        let root = |imports: &str| Root::parse(&format!("version = 3\nimports = [{imports}]")).unwrap();
        let (path, file) = ("/etc/containerd/config.toml", "/etc/containerd/conf.d/50-purlin.toml");
        assert!(root("\"/etc/containerd/conf.d/*.toml\"").imports(path, file));
        assert!(root("\"conf.d/*.toml\"").imports(path, file));
        assert!(root("\"/etc/containerd/conf.d/50-purlin.toml\"").imports(path, file));
        assert!(!root("\"/etc/containerd/*.toml\"").imports(path, file));
        assert!(!root("\"/etc/containerd/conf.d/5?-purlin.toml\"").imports(path, file));
        assert!(!root("").imports(path, file));
        assert_eq!(Root::parse("").unwrap().version(), 1);
    }

    #[test]
    fn a_key_that_both_set_is_named() {
        let root = Root::parse("version = 3\n[plugins.x]\na = 1\nb = [1]\n[plugins.x.t]\nc = \"d\"").unwrap();
        let ours =
            "version = 4\n[plugins.x]\na = 2\nb = [1]\n[plugins.x.t]\nc = \"e\"\nn = 1".parse().unwrap();
        let keys: Vec<_> = root.conflicts(&ours).into_iter().map(|c| (c.key, c.theirs, c.ours)).collect();
        let want = [("plugins.x.a", "`1`", "`2`"), ("plugins.x.t.c", "`\"d\"`", "`\"e\"`")];
        assert_eq!(keys, want.map(|(k, t, o)| (k.to_owned(), t.to_owned(), o.to_owned())));
        assert_eq!(spelt("io.containerd.cri.v1.runtime"), "'io.containerd.cri.v1.runtime'");
    }
}
