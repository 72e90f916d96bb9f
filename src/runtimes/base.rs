//! The base runtime spec: what containerd starts from for every container of a handler, here with hooks in it.
//!
//! containerd replaces its own default by the file, then sets what CRI asks for on top; so the file must be a whole
//! spec (namespaces, mounts, masked paths), and oci-spec's default is one. Hooks stay as they stand.

use super::Hook;
use super::spec::Stage;
use oci_spec::runtime::{HookBuilder, HooksBuilder, Spec};
use std::path::PathBuf;

/// A whole runtime spec with these hooks, as JSON with a final newline.
///
/// # Errors
/// When the builders or the serialiser refuse; every field that they require is set.
pub fn text(hooks: &[Hook]) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let at = |stage: Stage| {
        hooks
            .iter()
            .filter(|h| h.raw.stage == stage)
            .map(|hook| {
                let mut builder = HookBuilder::default().path(PathBuf::from(hook.raw.path.get())).args(hook.raw.argv());
                if !hook.raw.env.is_empty() {
                    builder = builder.env(hook.raw.environment());
                }
                if let Some(seconds) = hook.raw.seconds().and_then(|s| i64::try_from(s).ok()) {
                    builder = builder.timeout(seconds);
                }
                builder.build()
            })
            .collect::<Result<Vec<_>, _>>()
    };
    let mut builder = HooksBuilder::default();
    for (stage, hooks) in [
        (Stage::CreateRuntime, at(Stage::CreateRuntime)?),
        (Stage::CreateContainer, at(Stage::CreateContainer)?),
        (Stage::StartContainer, at(Stage::StartContainer)?),
        (Stage::Poststart, at(Stage::Poststart)?),
        (Stage::Poststop, at(Stage::Poststop)?),
    ] {
        if hooks.is_empty() {
            continue;
        }
        builder = match stage {
            Stage::CreateRuntime => builder.create_runtime(hooks),
            Stage::CreateContainer => builder.create_container(hooks),
            Stage::StartContainer => builder.start_container(hooks),
            Stage::Poststart => builder.poststart(hooks),
            Stage::Poststop => builder.poststop(hooks),
        };
    }
    let mut spec = Spec::default();
    spec.set_hooks(Some(builder.build()?));
    let mut text = serde_json::to_string_pretty(&spec)?;
    text.push('\n');
    Ok(text)
}
