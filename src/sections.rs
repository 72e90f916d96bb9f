//! The registry of sections: one line each. All that runs over every section is made from this list.

use crate::diag::Findings;
use crate::emission::Emission;
use crate::facts::platform::Platform;
use crate::node::CheckContext;
use crate::spec::{AbsolutePath, Adoption, Named, Symbols, Target};
use schemars::JsonSchema;
use serde::Deserialize;

macro_rules! sections {
    (
        compiled { $($(#[doc = $doc:literal])* $name:ident: $raw:ty, $annotations:tt;)* }
        planned { $($(#[doc = $planned_doc:literal])* $planned:ident: $planned_raw:ty, $why:literal;)* }
    ) => {
        /// What the node offers: an absent section is hands-off.
        #[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct Spec {
            /// What the output must work with.
            pub target: Option<Target>,
            /// Parts to take in: files below the spec's directory, in its syntax, that begin with `part` instead of `node`.
            #[serde(default)]
            #[schemars(extend("x-purlin-node" = "include", "x-purlin-include" = true, "examples" = [["parts/gpu.kdl"]]))]
            pub include: Vec<String>,
            /// Values that hold where neither the spec nor a part gives others. A nearer file's defaults come before those of
            /// the files that it includes.
            #[schemars(extend("x-purlin-defaults" = true, "x-purlin-like" = "#/$defs/Spec"))]
            pub defaults: Option<serde_json::Map<String, serde_json::Value>>,
            /// Foreign files that Purlin may take over or remove.
            #[serde(default)]
            #[schemars(extend("x-purlin-node" = "adopt", "examples" = [{"/etc/cni/net.d/20-theirs.conflist": "remove"}]))]
            pub adopt: Named<AbsolutePath, Adoption>,
            $($(#[doc = $doc])* #[schemars(extend $annotations)] pub $name: Option<$raw>,)*
            $($(#[doc = $planned_doc])* #[schemars(extend("x-purlin-planned" = $why))] pub $planned: Option<$planned_raw>,)*
        }

        /// The checked sections.
        #[derive(Clone, Debug, Default)]
        pub struct Parts {
            $(pub $name: Option<crate::$name::Part>,)*
        }

        /// Every section tells its names.
        pub fn declare(spec: &Spec, platform: &Platform, symbols: &mut Symbols, findings: &mut Findings) {
            $(if let Some(raw) = &spec.$name { crate::$name::declare(raw, platform, symbols, findings); })*
        }

        /// Every section is checked against all names.
        pub fn check(spec: &Spec, context: &CheckContext<'_>, findings: &mut Findings) -> Parts {
            Parts { $($name: spec.$name.as_ref().map(|raw| crate::$name::check(raw, context, findings)),)* }
        }

        /// Every section says what follows from it.
        pub fn emit(parts: &Parts, emission: &mut Emission<'_>) {
            $(if let Some(part) = &parts.$name { crate::$name::emit(part, emission); })*
        }
    };
}

sections! {
    compiled {
        /// Container runtimes, the registries they pull from, and the OCI hooks they run.
        runtimes: crate::runtimes::spec::Runtimes, ("x-purlin-section" = true);
        /// Networks that pods can be attached to, by name.
        networks: crate::networks::spec::Networks, ("x-purlin-section" = true, "x-purlin-block" = true, "x-purlin-node" = "network");
        /// Devices that pods can ask for, by kind.
        devices: crate::devices::spec::Devices, ("x-purlin-section" = true, "x-purlin-block" = true, "x-purlin-node" = "device");
    }
    planned {
        /// Storage that pods can ask for.
        volumes: crate::volumes::spec::Volumes, "volumes come with a later version of purlin";
        /// The kubelet's configuration.
        kubelet: crate::kubelet::spec::Kubelet, "the kubelet's configuration comes with a later version of purlin";
        /// The host below Kubernetes.
        system: crate::system::spec::System, "system settings come with a later version of purlin";
        /// A say in where pods go.
        scheduling: crate::scheduling::spec::Scheduling, "scheduling comes with a later version of purlin";
        /// Decisions on objects before the API server stores them.
        admission: crate::admission::spec::Admission, "admission comes with a later version of purlin";
        /// Rules that pods and specs are held to.
        policies: crate::policies::spec::Policies, "policies come with a later version of purlin";
    }
}
