//! The two spellings of a name: camelCase in the model and YAML, kebab-case in KDL.

/// `systemdCgroup` → `systemd-cgroup`.
#[must_use]
pub fn kebab(camel: &str) -> String {
    let mut out = String::with_capacity(camel.len() + 4);
    for c in camel.chars() {
        if c.is_ascii_uppercase() {
            if !out.is_empty() {
                out.push('-');
            }
            out.push(c.to_ascii_lowercase());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_both_ways() {
        assert_eq!(kebab("systemdCgroup"), "systemd-cgroup");
        assert_eq!(kebab("name"), "name");
        assert_eq!(kebab("apiVersion"), "api-version");
    }
}
