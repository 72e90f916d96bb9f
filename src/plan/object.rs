//! What has to be known of the kinds of API objects that Purlin makes: how they are spelt, and what a change of one does.

use super::{Impact, Place};

/// The place of an object by the parts of its manifest's name, the kind and group in lower case.
pub fn place(group: &str, kind: &str, name: &str) -> Place {
    let (kind, api_version) = match kind {
        "runtimeclass" => ("RuntimeClass".to_owned(), format!("{group}/v1")),
        other => (other.to_owned(), group.to_owned()),
    };
    Place::Object { api_version, kind, name: name.to_owned() }
}

/// What removing an object, or putting another text in its place, does to running work, and what a reader should know
/// of it. `None` for a file, whose consumer decides.
pub fn impact(
    place: &Place,
    before: Option<&str>,
    after: Option<&str>,
) -> Option<(Impact, Option<&'static str>)> {
    let Place::Object { kind, .. } = place else { return None };
    if kind != "RuntimeClass" {
        return Some((Impact::None, None));
    }
    let Some(after) = after else {
        // The admission plugin refuses pods of a class that is not there, and the kubelet looks the class up for every
        // sandbox that it makes, so one that is made anew fails too. Which pods name the class is in no facts.
        let note = "new pods that name it are refused, and running ones cannot be started again: move them off first";
        return Some((Impact::Drain, Some(note)));
    };
    let (old, new) = (before.and_then(handler), handler(after));
    if old.is_some() && old == new {
        return Some((Impact::None, None));
    }
    // ValidateRuntimeClassUpdate of the API server: the field is immutable.
    let note = "the API server changes no class's handler: it is deleted and made anew, and pods that name it are \
                refused in between; move them off first";
    Some((Impact::Drain, Some(note)))
}

/// The handler that a RuntimeClass leads to.
fn handler(text: &str) -> Option<String> {
    let object: serde_json::Value = serde_yaml::from_str(text).ok()?;
    object.get("handler")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_that_pods_name_is_not_changed_under_them() {
        let class = place("node.k8s.io", "runtimeclass", "gpu");
        assert_eq!(class.to_string(), "RuntimeClass/gpu");
        let does = |before, after| impact(&class, before, after).unwrap().0;
        assert_eq!(does(Some("handler: a\n"), None), Impact::Drain);
        assert_eq!(does(Some("handler: a\n"), Some("handler: b\n")), Impact::Drain);
        // What cannot be read may have been another one.
        assert_eq!(does(None, Some("handler: a\n")), Impact::Drain);
        assert_eq!(does(Some("{"), Some("handler: a\n")), Impact::Drain);
        assert_eq!(does(Some("# old\nhandler: a\n"), Some("handler: a\n")), Impact::None);
        assert_eq!(impact(&Place::File("/etc/x".to_owned()), None, None), None);
    }
}
