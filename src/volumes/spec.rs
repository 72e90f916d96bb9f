//! The `volumes` section as the operator writes it.

use crate::spec::{AbsolutePath, Name, Named, Quantity};
use schemars::JsonSchema;
use serde::Deserialize;

/// Storage that pods can ask for.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Volumes {
    /// Where volumes are made.
    #[serde(default)]
    #[schemars(extend("examples" = [{"fast": {"directory": "/var/lib/purlin/fast"}}], "x-purlin-node" = "pool"))]
    pub pools: Named<Name, Pool>,
    /// Names by which pods ask for volumes of a pool.
    #[serde(default)]
    #[schemars(extend("examples" = [{"scratch": {"pool": "fast"}}], "x-purlin-node" = "class"))]
    pub classes: Named<Name, Class>,
}

/// A place for volumes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pool {
    /// Volumes are folders of this directory.
    #[schemars(extend("examples" = ["/var/lib/purlin/fast"]))]
    pub directory: Option<AbsolutePath>,
    /// Bytes that all volumes together may hold.
    pub capacity: Option<Quantity>,
}

/// A storage class.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Class {
    /// The pool that its volumes are of.
    #[schemars(extend("examples" = ["fast"], "x-purlin-refers" = "volumes.pools"))]
    pub pool: Name,
}
