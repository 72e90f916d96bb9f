//! What an editor asks about a spec, answered from texts and offsets alone: what may be written here, what this is, where
//! it is defined, what to change. Half-written text is the normal case, so nothing here needs a text that parses.
//!
//! KDL is read from its tokens, YAML and JSON from their tree, and at the cursor from their lines. What a field is for, the
//! schema says; nothing here may name a section or a field of one. Files, documents and the protocol are the shell's
//! (src/cli/lsp.rs).

mod analysis;
mod complete;
mod fixes;
mod hover;
mod kdl;
mod names;
mod position;
mod site;
mod spots;
mod symbols;
mod yaml;

pub use analysis::{Analysis, File, is_spec, look};
pub use complete::{Completion, CompletionKind, Known, complete};
pub use fixes::{certain_fixes, fixes};
pub use hover::hover;
pub use names::{Edit, RenameError, Target, names, occurrences, rename, target};
pub use position::{Encoding, Lines, Position};
pub use spots::{Role, Spot, at, spots};
pub use symbols::{Symbol, symbols};

#[cfg(test)]
mod tests;
