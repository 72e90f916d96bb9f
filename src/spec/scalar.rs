//! The newtypes that a field of a spec can have: each parses once, and the text it refuses gets a message that says
//! what to write.
//!
//! The message reaches the operator through the schema: every type has a `format` word, and [`FORMATS`] hands its
//! parser to validation, so that all bad values of a spec are reported at once. Deserialisation only repeats it.
//! A message ending in "; write `X`" becomes a fix where `X` is of the form itself: X is then the whole value.

use crate::source::{FormatCheck, Formats};
use ipnet::IpNet;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

macro_rules! scalars {
    ($($(#[doc = $doc:literal])* $name:ident($inner:ty) = $format:literal, like $example:literal, by $parse:path;)*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $name($inner);

            impl $name {
                #[must_use]
                pub const fn get(&self) -> &$inner {
                    &self.0
                }
            }

            impl FromStr for $name {
                type Err = String;
                fn from_str(text: &str) -> Result<Self, String> {
                    $parse(text).map(Self)
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    fmt::Display::fmt(&self.0, f)
                }
            }

            impl<'de> Deserialize<'de> for $name {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
                }
            }

            impl JsonSchema for $name {
                fn inline_schema() -> bool {
                    true
                }
                fn schema_name() -> Cow<'static, str> {
                    stringify!($name).into()
                }
                fn json_schema(_: &mut SchemaGenerator) -> Schema {
                    let form = concat!($($doc),*).trim();
                    json_schema!({ "type": "string", "format": $format, "examples": [$example], "x-purlin-form": form })
                }
            }
        )*

        /// The parser behind every `format` word of the schema.
        pub const FORMATS: Formats = Formats(&[
            $(($format, (|text: &str| $parse(text).map(drop)) as FormatCheck),)*
        ]);
    };
}

scalars! {
    /// A name within the spec: lower-case letters, digits, `-` and `.`, at most 63 characters (RFC 1123).
    Name(String) = "purlin-name", like "pods", by name;
    /// A Kubernetes label or annotation key, with an optional DNS prefix.
    LabelKey(String) = "purlin-label-key", like "example.com/pool", by label_key;
    /// A Kubernetes label value: at most 63 characters.
    LabelValue(String) = "purlin-label-value", like "gpu", by label_value;
    /// A kind of device, `vendor.tld/class`: a CDI kind and an extended resource name at once.
    DeviceKind(String) = "purlin-device-kind", like "example.com/serial", by device_kind;
    /// An absolute path without `.` and `..`.
    AbsolutePath(String) = "purlin-path", like "/usr/local/bin/audit", by absolute_path;
    /// An absolute path below /dev in which `*`, `?` and `[…]` stand for what a device's name varies in.
    DevicePath(String) = "purlin-device-path", like "/dev/ttyUSB*", by device_path;
    /// A network in CIDR notation, with no bits set beyond its prefix.
    Subnet(IpNet) = "purlin-subnet", like "10.22.0.0/24", by subnet;
    /// An IPv4 or IPv6 address.
    Address(IpAddr) = "purlin-address", like "10.22.0.1", by address;
    /// A network link's name: at most 15 characters, no blank, no `/` (the kernel's rule).
    LinkName(String) = "purlin-link-name", like "cni0", by link_name;
    /// A version or an inclusive range of versions; `2.1` means every 2.1.x.
    VersionRange(Versions) = "purlin-version-range", like "2.1-2.4", by version_range;
    /// An http or https address without credentials.
    Url(String) = "purlin-url", like "https://mirror.example/v2", by url;
    /// A registry as image names begin with it, or `_default`.
    RegistryHost(String) = "purlin-registry", like "docker.io", by registry_host;
    /// A duration in whole units: `500ms`, `30s`, `5m`, `1h`.
    Duration(Period) = "purlin-duration", like "30s", by duration;
    /// An amount with a unit, as Kubernetes writes it: `200GiB`, `1Gi`, `500M`.
    Quantity(u64) = "purlin-quantity", like "200GiB", by quantity;
    /// The name of an environment variable.
    EnvName(String) = "purlin-env-name", like "MODEM_BAUD", by env_name;
    /// A text that a program can be given: no NUL and no other control characters but tab and line end.
    Text(String) = "purlin-text", like "on", by text;
    /// An annotation's key; `*` at its end stands for any ending.
    AnnotationPattern(String) = "purlin-annotation-pattern", like "example.com/*", by annotation_pattern;
    /// An image reference with a tag or digest.
    Image(String) = "purlin-image", like "registry.k8s.io/pause:3.10", by image;
}

impl Url {
    /// The server and the path that it leads to, whatever the spelling (RFC 3986, section 6.2): case, default port,
    /// percent signs, empty and dotted parts of the path. A user's name is no part of it.
    #[must_use]
    pub fn leads_to(&self) -> (String, String) {
        let Ok(uri) = fluent_uri::Uri::parse(self.0.as_str()).map(|u| u.normalize()) else {
            return (self.0.clone(), String::new());
        };
        let server = uri.authority().map_or(String::new(), |a| {
            let port = a.port().map_or(String::new(), |p| format!(":{p}"));
            format!("{}://{}{port}", uri.scheme(), a.host())
        });
        let parts = uri.path().as_str().split('/').filter(|p| !p.is_empty());
        (server, parts.map(|p| format!("/{p}")).collect())
    }
}

impl DevicePath {
    /// Whether it stands for what it matches rather than for itself.
    #[must_use]
    pub fn is_pattern(&self) -> bool {
        self.0.contains(['*', '?', '['])
    }

    /// What stands before the first sign that stands for others.
    #[must_use]
    pub fn literal(&self) -> &str {
        self.0.split(['*', '?', '[']).next().unwrap_or_default()
    }

    /// Whether the pattern matches a path; `*` and `?` match no `/` and no leading dot.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        let options = glob::MatchOptions {
            require_literal_separator: true,
            require_literal_leading_dot: true,
            ..glob::MatchOptions::new()
        };
        glob::Pattern::new(&self.0).is_ok_and(|pattern| pattern.matches_with(path, options))
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.low == self.high {
            write!(f, "{}", self.low)
        } else {
            write!(f, "{}-{}", self.low, self.high)
        }
    }
}

/// A minor version, `2.1`; patch releases never decide what a file may contain here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Minor(pub u32, pub u32);

impl fmt::Display for Minor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

impl Minor {
    /// The first two numbers of a version, whatever follows them.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim_start_matches('v').splitn(3, '.');
        let digits = |part: &str| {
            let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            part[..end].parse().ok()
        };
        Some(Self(digits(parts.next()?)?, digits(parts.next()?)?))
    }
}

/// An inclusive range of minor versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Versions {
    pub low: Minor,
    pub high: Minor,
}

impl Versions {
    #[must_use]
    pub fn contains(&self, version: Minor) -> bool {
        self.low <= version && version <= self.high
    }
}

fn version_range(text: &str) -> Result<Versions, String> {
    let one = |part: &str| {
        let well_formed = part.split('.').count() == 2
            && part.split('.').all(|n| !n.is_empty() && n.len() < 6 && n.bytes().all(|b| b.is_ascii_digit()));
        well_formed.then(|| Minor::parse(part)).flatten()
    };
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let (Some(low), Some(high)) = (one(low.trim()), one(high.trim())) else {
        return Err(not_a_range(text));
    };
    let range = Versions { low, high };
    if range.low > range.high {
        return Err(format!("the range runs backwards; write `{}-{}`", range.high, range.low));
    }
    Ok(range)
}

/// What other tools take for a version or range, in our form.
fn not_a_range(text: &str) -> String {
    let ends: Vec<&str> = text
        .split(['-', ',', ' ', '<', '>', '=', '~', '^', '+', '|'])
        .flat_map(|part| part.split(".."))
        .filter(|part| !part.is_empty())
        .collect();
    let minors: Option<Vec<Minor>> = ends
        .iter()
        .map(|end| {
            let digits = end.trim_start_matches('v');
            let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'x' || b == b'*');
            plain.then(|| Minor::parse(digits)).flatten()
        })
        .collect();
    let open = text.contains(['<', '>', '+', '^', '~']);
    match minors.as_deref() {
        Some([minor]) if open => {
            format!("`{text}` has no end; write `{minor}`, or a range with both its ends")
        }
        Some([minor]) => {
            format!("`{text}` is not a minor version; write `{minor}`, which is all its patch releases")
        }
        Some([low, high]) if low <= high => {
            let range = Versions { low: *low, high: *high };
            format!("`{text}` is not a range of minor versions; write `{range}`")
        }
        _ => format!("`{text}` is not a minor version; write it like `2.1`, or a range like `2.1-2.4`"),
    }
}

/// A DNS label's or subdomain's worth of ASCII, as most Kubernetes names are.
fn dns_like(text: &str, what: &str, longest: usize, extra: &[char]) -> Result<(), String> {
    if text.is_empty() {
        return Err(format!("{what} is empty; write at least one letter or digit"));
    }
    if text.len() > longest {
        return Err(format!("{what} has {} characters; use at most {longest}", text.len()));
    }
    if let Some(bad) = text.chars().find(|c| !c.is_ascii_alphanumeric() && !extra.contains(c)) {
        let allowed: String = extra.iter().map(|c| format!(" `{c}`")).collect();
        return Err(format!(
            "{what} has the character {}; use ASCII letters, digits and{allowed}",
            shown(bad)
        ));
    }
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    if !ends(text.chars().next()) || !ends(text.chars().next_back()) {
        return Err(format!("{what} begins or ends with a sign; begin and end it with a letter or digit"));
    }
    Ok(())
}

/// A character as a message can show it, even one that looks like an ASCII letter or like nothing.
fn shown(c: char) -> String {
    if c.is_ascii_graphic() { format!("`{c}`") } else { format!("U+{:04X}", c as u32) }
}

/// The part must be lower case; the value is written as `before`, the part, and `after`.
fn lower(part: &str, what: &str, before: &str, after: &str) -> Result<(), String> {
    if part.bytes().any(|b| b.is_ascii_uppercase()) {
        let right = part.to_ascii_lowercase();
        return Err(format!("{what} has upper-case letters; write `{before}{right}{after}`"));
    }
    Ok(())
}

fn name(text: &str) -> Result<String, String> {
    let refused = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '.');
    // All that is wrong with an ASCII name at once; what is beyond ASCII was hardly meant to be so.
    if let Some(bad) = text.chars().find(|c| refused(*c)).filter(|_| text.is_ascii()) {
        let right = text.to_ascii_lowercase().replace(refused, "-");
        let right = right.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        if (1..=63).contains(&right.len()) {
            let upper = text.bytes().any(|b| b.is_ascii_uppercase());
            let upper = if upper { " and upper-case letters" } else { "" };
            return Err(format!("the name has the character {}{upper}; write `{right}`", shown(bad)));
        }
    }
    dns_like(text, "the name", 63, &['-', '.'])?;
    lower(text, "the name", "", "")?;
    Ok(text.to_owned())
}

fn label_key(text: &str) -> Result<String, String> {
    let (prefix, rest) = text.split_once('/').map_or((None, text), |(p, r)| (Some(p), r));
    if let Some(prefix) = prefix {
        dns_like(prefix, "the label's prefix", 253, &['-', '.'])?;
        lower(prefix, "the label's prefix", "", &format!("/{rest}"))?;
    }
    dns_like(rest, "the label's name", 63, &['-', '_', '.'])?;
    Ok(text.to_owned())
}

fn label_value(text: &str) -> Result<String, String> {
    if !text.is_empty() {
        dns_like(text, "the label's value", 63, &['-', '_', '.'])?;
    }
    Ok(text.to_owned())
}

fn device_kind(text: &str) -> Result<String, String> {
    let Some((vendor, class)) = text.split_once('/') else {
        return Err(format!("`{text}` has no vendor; write `vendor.example/class`"));
    };
    dns_like(vendor, "the device's vendor", 63, &['-', '.'])?;
    lower(vendor, "the device's vendor", "", &format!("/{class}"))?;
    if !vendor.contains('.') {
        return Err(format!(
            "the vendor `{vendor}` is not a domain, and an extended resource needs one; write `{vendor}.example/{class}`"
        ));
    }
    if vendor == "kubernetes.io" || vendor.ends_with(".kubernetes.io") {
        return Err("kubernetes.io names are reserved; use a domain of your own".to_owned());
    }
    dns_like(class, "the device's class", 63, &['-', '_', '.'])?;
    Ok(text.to_owned())
}

fn absolute_path(text: &str) -> Result<String, String> {
    if !text.starts_with('/') {
        return Err(format!("`{text}` is not absolute; begin it with `/`"));
    }
    if text.len() > 4000 {
        return Err(format!("the path has {} bytes; the kernel takes 4095", text.len()));
    }
    if let Some(bad) = text.chars().find(|c| c.is_control()) {
        return Err(format!("the path has the control character {}; leave it out", shown(bad)));
    }
    let parts: Vec<&str> = text.split('/').skip(1).collect();
    if parts.contains(&"..") {
        return Err("the path climbs with `..`; write where it leads".to_owned());
    }
    if text.len() > 1 && parts.iter().any(|p| p.is_empty() || *p == ".") {
        let clean: Vec<&str> = parts.into_iter().filter(|p| !p.is_empty() && *p != ".").collect();
        return Err(format!("the path has an empty or `.` part; write `/{}`", clean.join("/")));
    }
    Ok(text.to_owned())
}

fn device_path(text: &str) -> Result<String, String> {
    absolute_path(text)?;
    if !text.starts_with("/dev/") {
        return Err(format!("`{text}` is not below /dev; device nodes are"));
    }
    if text.contains("**") {
        return Err("`**` is not used here; name each directory, with `*` inside a name".to_owned());
    }
    if text.contains(['{', '}', ',']) {
        return Err("braces and commas are no part of a pattern; write `/dev/video[12]`, or a path for each"
            .to_owned());
    }
    glob::Pattern::new(text).map_err(|e| {
        format!(
            "the pattern is broken at character {}: {}; write it like `/dev/ttyUSB*` or `/dev/video[0-3]`",
            e.pos + 1,
            e.msg
        )
    })?;
    Ok(text.to_owned())
}

fn subnet(text: &str) -> Result<IpNet, String> {
    let Ok(net) = text.parse::<IpNet>() else {
        if let Ok(address) = text.parse::<IpAddr>() {
            let bits = if address.is_ipv4() { 24 } else { 64 };
            if let Ok(net) = IpNet::new(address, bits) {
                let net = net.trunc();
                return Err(format!("`{text}` has no prefix length; write `{net}`, or another length"));
            }
        }
        if let Some((address, mask)) = text.split_once('/')
            && let (Ok(address), Ok(mask)) = (address.parse(), mask.parse())
            && let Ok(net) = IpNet::with_netmask(address, mask)
        {
            return Err(format!("`{text}` has a mask for a prefix length; write `{}`", net.trunc()));
        }
        return Err(format!("`{text}` is not a network; write it like `10.22.0.0/24` or `fd00:22::/64`"));
    };
    if net.trunc() != net {
        return Err(format!("`{text}` has bits set beyond its prefix; write `{}`", net.trunc()));
    }
    Ok(net)
}

fn address(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| {
        if text.contains('/') {
            format!("`{text}` is a network; write an address without a prefix length")
        } else {
            format!("`{text}` is not an address; write it like `10.22.0.1` or `fd00:22::1`")
        }
    })
}

fn link_name(text: &str) -> Result<String, String> {
    if text.is_empty() || text.len() > 15 {
        return Err(format!("a link's name has 1 to 15 characters, this has {}; choose another", text.len()));
    }
    if text == "." || text == ".." {
        return Err(format!("the kernel takes no link named `{text}`; choose another name"));
    }
    if let Some(bad) = text.chars().find(|c| !c.is_ascii_graphic() || matches!(c, '/' | ':' | '%')) {
        return Err(format!(
            "a link's name cannot have {}; use letters, digits, `-`, `_` and `.`",
            shown(bad)
        ));
    }
    Ok(text.to_owned())
}

fn url(text: &str) -> Result<String, String> {
    let parsed = fluent_uri::Uri::parse(text)
        .map_err(|_| format!("`{text}` is not an address; write it like `https://mirror.example`"))?;
    let scheme = parsed.scheme().as_str();
    if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
        return Err(format!("the scheme is `{scheme}`; use `https` (or `http`)"));
    }
    let Some(authority) = parsed.authority().filter(|a| !a.host().is_empty()) else {
        return Err(format!("`{text}` names no host; write it like `https://mirror.example`"));
    };
    if authority.port().is_some_and(|p| !p.is_empty() && p.as_str().parse::<u16>().is_err()) {
        return Err("the port is not a number up to 65535; mend it or leave it out".to_owned());
    }
    if parsed.query().is_some() || parsed.fragment().is_some() {
        return Err("a query or fragment has no meaning here; end it after the path".to_owned());
    }
    Ok(text.to_owned())
}

fn registry_host(text: &str) -> Result<String, String> {
    if text == "_default" {
        return Ok(text.to_owned());
    }
    // No image name begins with these; whoever writes them means every registry.
    if matches!(text, "*" | "_") || text.trim_start_matches('_').eq_ignore_ascii_case("default") {
        return Err(format!(
            "`{text}` is no registry; write `_default` for all without an entry of their own"
        ));
    }
    if text.contains("://") || text.contains('/') {
        return Err(
            "a registry is named as images begin with it; write the host alone, like `docker.io`".to_owned()
        );
    }
    let (host, port) = text.rsplit_once(':').map_or((text, None), |(h, p)| (h, Some(p)));
    if port.is_some_and(|p| p.parse::<u16>().is_err()) {
        return Err("the port is not a number up to 65535; mend it or leave it out".to_owned());
    }
    dns_like(host, "the registry", 253, &['-', '.'])?;
    lower(host, "the registry", "", &text[host.len()..])?;
    Ok(text.to_owned())
}

/// A duration as a field holds it: printed the way an operator writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Period(std::time::Duration);

impl std::ops::Deref for Period {
    type Target = std::time::Duration;
    fn deref(&self) -> &std::time::Duration {
        &self.0
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        if millis.is_multiple_of(1000) { write!(f, "{}s", millis / 1000) } else { write!(f, "{millis}ms") }
    }
}

fn duration(text: &str) -> Result<Period, String> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = match text[end..].trim().to_ascii_lowercase().as_str() {
        "s" | "sec" | "secs" | "second" | "seconds" => "s",
        "m" | "min" | "mins" | "minute" | "minutes" => "m",
        "h" | "hr" | "hour" | "hours" => "h",
        _ => "",
    };
    let wrong = || match (&text[..end], &text[end..]) {
        ("", _) => format!("`{text}` is not a duration; write it like `500ms`, `30s`, `5m` or `1h`"),
        (n, "") => format!("`{text}` has no unit; write `{n}s`, or another of `ms`, `m` and `h`"),
        (n, written) if !unit.is_empty() && written != unit => {
            format!("`{text}` is not a duration; write `{n}{unit}`")
        }
        _ => format!("`{text}` is not a duration; write it like `500ms`, `30s`, `5m` or `1h`"),
    };
    let amount: u64 = text[..end].parse().map_err(|_| wrong())?;
    let millis = match &text[end..] {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(wrong()),
    };
    amount.checked_mul(millis).map(|m| Period(std::time::Duration::from_millis(m))).ok_or_else(wrong)
}

fn quantity(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not an amount; write it like `200GiB`, `1Gi` or `500M`");
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let amount: u64 = text[..end].parse().map_err(|_| wrong())?;
    let unit: u64 = match text[end..].strip_suffix('B').unwrap_or(&text[end..]) {
        "" => 1,
        "k" => 1000,
        "M" => 1000_u64.pow(2),
        "G" => 1000_u64.pow(3),
        "T" => 1000_u64.pow(4),
        "Ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        "Ti" => 1 << 40,
        _ => return Err(wrong()),
    };
    amount.checked_mul(unit).ok_or_else(|| format!("`{text}` is more than 16 EiB; write less"))
}

fn env_name(text: &str) -> Result<String, String> {
    if text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit()) {
        return Err("a variable's name begins with a letter or `_`; write it like `MODEM_BAUD`".to_owned());
    }
    if let Some(bad) = text.chars().find(|c| !c.is_ascii_alphanumeric() && *c != '_') {
        return Err(format!(
            "a variable's name cannot have {}; use ASCII letters, digits and `_`",
            shown(bad)
        ));
    }
    Ok(text.to_owned())
}

fn text(text: &str) -> Result<String, String> {
    if let Some(bad) = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Err(format!("the text has the control character {}; leave it out", shown(bad)));
    }
    Ok(text.to_owned())
}

fn annotation_pattern(text: &str) -> Result<String, String> {
    if text == "*" {
        return Ok(text.to_owned());
    }
    let key = text.strip_suffix('*').unwrap_or(text);
    if let Some(bad) = key.chars().find(|c| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.' | '/'))
    {
        let help = "use ASCII letters, digits, `-`, `_`, `.` and one `/`, and a `*` at the end only";
        return Err(format!("an annotation's key cannot have {}; {help}", shown(bad)));
    }
    if key.is_empty() || key.len() > 317 || key.matches('/').count() > 1 {
        return Err("this is no annotation's key; write it like `example.com/name`".to_owned());
    }
    Ok(text.to_owned())
}

fn image(text: &str) -> Result<String, String> {
    let rest = text.rsplit('/').next().unwrap_or(text);
    if text.is_empty() || text.chars().any(|c| !c.is_ascii_graphic()) {
        return Err("an image reference is ASCII without blanks; write it like `registry.k8s.io/pause:3.10`"
            .to_owned());
    }
    if text.len() > 512 {
        return Err(format!("the image reference has {} characters; use at most 512", text.len()));
    }
    if !rest.contains(':') && !rest.contains('@') {
        return Err(format!("`{text}` has no tag or digest; write `{text}:TAG`"));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refuses<T: FromStr<Err = String> + fmt::Debug>(text: &str, because: &str) {
        match text.parse::<T>() {
            Ok(value) => panic!("{text:?} was taken for {value:?}"),
            Err(message) => assert!(message.contains(because), "{message}"),
        }
    }

    #[test]
    fn networks_say_what_to_write() {
        assert_eq!("10.22.0.0/24".parse::<Subnet>().unwrap().to_string(), "10.22.0.0/24");
        refuses::<Subnet>("10.22.0.1/24", "write `10.22.0.0/24`");
        refuses::<Subnet>("10.22.0.1", "write `10.22.0.0/24`");
        refuses::<Subnet>("10.22.0.0/255.255.0.0", "write `10.22.0.0/16`");
        refuses::<Subnet>("usePodCidr", "is not a network");
        refuses::<Address>("10.0.0.1/8", "without a prefix length");
    }

    #[test]
    fn ranges_of_versions() {
        let range: VersionRange = "2.0-2.4".parse().unwrap();
        assert!(range.get().contains(Minor(2, 4)) && !range.get().contains(Minor(1, 7)));
        assert_eq!("1.34".parse::<VersionRange>().unwrap().to_string(), "1.34");
        refuses::<VersionRange>("2.4-2.1", "`2.1-2.4`");
        refuses::<VersionRange>("2", "is not a minor version");
        for (text, right) in [
            ("2.1.3", "2.1"),
            ("v1.35", "1.35"),
            ("1.35+", "1.35"),
            (">=1.35", "1.35"),
            ("1.34..1.35", "1.34-1.35"),
            ("v1.34.2 - v1.35.0", "1.34-1.35"),
            (">=1.34 <=1.36", "1.34-1.36"),
        ] {
            refuses::<VersionRange>(text, &format!("write `{right}`"));
        }
        refuses::<VersionRange>("latest", "like `2.1`");
        assert_eq!(Minor::parse("v2.1.9~ds1-1"), Some(Minor(2, 1)));
    }

    #[test]
    fn paths_stay_where_they_say() {
        refuses::<AbsolutePath>("usr/bin/x", "begin it with `/`");
        refuses::<AbsolutePath>("/etc/../x", "climbs");
        refuses::<AbsolutePath>("/etc//x/", "`/etc/x`");
        refuses::<AbsolutePath>("/etc/\u{1}", "control character U+0001");
        refuses::<DevicePath>("/etc/passwd", "below /dev");
        refuses::<DevicePath>("/dev/[", "broken");
        refuses::<DevicePath>("/dev/{video1,video2}", "/dev/video[12]");
        let pattern: DevicePath = "/dev/video*".parse().unwrap();
        assert!(pattern.is_pattern() && pattern.matches("/dev/video0") && !pattern.matches("/dev/video/0"));
    }

    #[test]
    fn names_and_kinds() {
        refuses::<Name>("Pods", "`pods`");
        refuses::<Name>("Pod_Net", "`_` and upper-case letters; write `pod-net`");
        refuses::<Name>("p\u{43e}ds", "U+043E");
        refuses::<Name>("-a", "begin and end");
        refuses::<DeviceKind>("serial", "no vendor");
        refuses::<DeviceKind>("Example.com/G", "write `example.com/G`");
        refuses::<DeviceKind>("acme/serial", "is not a domain");
        refuses::<DeviceKind>("device.kubernetes.io/x", "reserved");
        refuses::<LinkName>("sixteen-letters-", "1 to 15");
        refuses::<RegistryHost>("https://docker.io", "the host alone");
        refuses::<RegistryHost>("Docker.io:443", "write `docker.io:443`");
        refuses::<RegistryHost>("*", "write `_default`");
    }

    #[test]
    fn what_a_program_is_given_can_be_given() {
        refuses::<EnvName>("A=B", "cannot have `=`");
        refuses::<EnvName>("", "begins with a letter");
        refuses::<EnvName>("X\nY", "U+000A");
        refuses::<Text>("a\0b", "U+0000");
        refuses::<Text>("\u{1b}[31m", "U+001B");
        assert!("two\nlines".parse::<Text>().is_ok() && "".parse::<Text>().is_ok());
        refuses::<AnnotationPattern>("a\nb", "U+000A");
        refuses::<AnnotationPattern>("a*b", "cannot have `*`");
        refuses::<AnnotationPattern>("", "no annotation's key");
        assert!(
            "example.com/*".parse::<AnnotationPattern>().is_ok() && "*".parse::<AnnotationPattern>().is_ok()
        );
    }

    #[test]
    fn amounts_and_durations() {
        assert_eq!(*"200GiB".parse::<Quantity>().unwrap().get(), 200 << 30);
        refuses::<Quantity>("99999999999TiB", "16 EiB");
        refuses::<Quantity>("1.5Gi", "not an amount");
        assert_eq!("5m".parse::<Duration>().unwrap().get().as_secs(), 300);
        refuses::<Duration>("5", "write `5s`");
        refuses::<Duration>("5 min", "write `5m`");
        refuses::<Duration>("99999999999999999999s", "like `500ms`");
    }

    #[test]
    fn addresses_of_mirrors() {
        assert!("https://mirror.example:8443/v2".parse::<Url>().is_ok());
        refuses::<Url>("mirror.example", "https://");
        refuses::<Url>("ftp://mirror.example", "`https`");
        refuses::<Url>("https://mirror.example?x=1", "query");
        let leads = |text: &str| text.parse::<Url>().unwrap().leads_to();
        let to = |server: &str, path: &str| (server.to_owned(), path.to_owned());
        assert_eq!(leads("HTTPS://Mirror.example:443/"), to("https://mirror.example", ""));
        assert_eq!(leads("https://mirror.example:/a//./%7eb/"), to("https://mirror.example", "/a/~b"));
        assert_eq!(leads("http://u:p@[::1]:443/v2"), to("http://[::1]:443", "/v2"));
    }
}
