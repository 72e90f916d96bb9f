//! The table of codes: the only place where a code, its severity and its page are tied together.

use super::Severity;

macro_rules! codes {
    ($($name:ident $severity:ident $title:literal;)*) => {
        /// A stable name of a kind of finding. Codes are never reused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $title] $name,)*
        }

        /// Every code, in order.
        pub const CODES: &[Code] = &[$(Code::$name,)*];

        impl Code {
            /// `PUR0104`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }

            /// The kind of mistake in a few words.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }
            }

            #[must_use]
            pub const fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }

            /// The long form that `explain` prints: Markdown, with a wrong and a right example.
            #[must_use]
            pub const fn page(self) -> &'static str {
                match self { $(Self::$name => include_str!(concat!("pages/", stringify!($name), ".md")),)* }
            }
        }
    };
}

codes! {
    // 00xx: the text
    PUR0001 Error "the text cannot be parsed";
    PUR0002 Error "the file is not plain UTF-8 text";
    PUR0003 Error "the file is beyond a limit";
    PUR0004 Error "the version word is missing or unknown";
    PUR0005 Error "a feature of the syntax that a spec does not use";
    PUR0006 Warning "a silencer that silences nothing";
    PUR0007 Error "an include that cannot be followed";
    // 01xx: the shape
    PUR0101 Error "a key that the spec does not know";
    PUR0102 Error "a key given twice";
    PUR0103 Error "a value of the wrong type";
    PUR0104 Error "a value that is not of the form asked for";
    PUR0105 Error "a required key is missing";
    PUR0106 Error "none or several of a choice";
    PUR0107 Error "a KDL node with arguments, properties or children that it does not take";
    PUR0108 Error "a part of the spec that this version does not compile yet";
    PUR0109 Error "something that is gone from Kubernetes";
    PUR0110 Error "two files give one value differently";
    // 02xx: the meaning
    PUR0201 Error "a reference to a name that is not defined";
    PUR0202 Error "not exactly one default";
    PUR0203 Warning "no network is the default";
    PUR0204 Error "an unsafe path";
    PUR0205 Error "two parts of the spec claim one place";
    PUR0206 Error "two runtimes claim one socket";
    PUR0207 Error "two networks claim one link";
    PUR0208 Error "subnets overlap";
    PUR0209 Error "an address outside its subnet";
    PUR0210 Error "a field that a version in the target's range cannot carry";
    PUR0211 Error "a version or range that Purlin cannot work with";
    PUR0212 Error "a condition that the runtime cannot evaluate";
    PUR0213 Error "a secret written into the spec";
    PUR0214 Warning "a part of the spec that nothing uses";
    PUR0215 Error "two specs make one cluster-wide object differently";
    // 03xx: the spec against a node's facts
    PUR0301 Error "a foreign file stands in a place of ours";
    PUR0302 Error "a foreign file shadows one of ours";
    PUR0303 Error "a CNI plugin is missing or too old";
    PUR0304 Error "the daemon's version is outside the spec's range";
    PUR0305 Error "the root configuration does not load our drop-in";
    PUR0306 Error "the root configuration and our drop-in set the same key";
    PUR0307 Error "a foreign CDI file defines the same device";
    PUR0308 Error "a binary is not on the node";
    PUR0309 Warning "nothing on the node matches";
    PUR0310 Error "a subnet overlaps with an address of the node";
    PUR0311 Warning "an adoption that adopts nothing";
    PUR0312 Error "the root configuration has other directories than ours";
    PUR0313 Error "the node cannot do what the spec asks";
    PUR0314 Warning "a foreign directory keeps a registry from `_default`";
}

impl Code {
    /// The code of that name, in either case, or of its number alone.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        CODES.iter().copied().find(|c| c.name().eq_ignore_ascii_case(name) || &c.name()[3..] == name)
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
