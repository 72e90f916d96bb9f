//! The `purlin-cni` binary: a CNI plugin that runs on any host.
//!
//! It is static and small: nothing of the `purlin` library, no runtime, no shared library may be used here. In this
//! version it answers VERSION only.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::process::ExitCode;

/// The protocol of answers to callers that name none we know.
const NEWEST: &str = "1.1.0";
const SUPPORTED: &[&str] = &["0.3.0", "0.3.1", "0.4.0", "1.0.0", NEWEST];
const VERBS: &[&str] = &["ADD", "DEL", "CHECK", "GC", "STATUS"];
/// More than any network configuration needs.
const INPUT: u64 = 1 << 20;

const USAGE: &str = "\
purlin-cni is a CNI plugin: container runtimes run it, with CNI_COMMAND in its environment and a network configuration
on its standard input. See its version with `purlin-cni --version`, what it speaks with `CNI_COMMAND=VERSION purlin-cni`.";

/// Error codes of CNI 1.1.0, section 5; those from 100 on are a plugin's own.
mod code {
    pub const INVALID_ENVIRONMENT: u32 = 4;
    pub const IO_FAILURE: u32 = 5;
    pub const DECODING_FAILURE: u32 = 6;
    pub const NOT_AVAILABLE: u32 = 50;
    pub const NOT_IMPLEMENTED: u32 = 100;
}

struct Failure {
    code: u32,
    msg: String,
    details: &'static str,
}

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|a| a == "--version") {
        return print(&format!("purlin-cni {}", env!("CARGO_PKG_VERSION")), ExitCode::SUCCESS);
    }
    let Some(verb) = std::env::var_os("CNI_COMMAND") else {
        // With nowhere to complain about it, a failure to complain is of no interest.
        let _ = writeln!(std::io::stderr(), "{USAGE}");
        return ExitCode::from(2);
    };
    let (version, config) = match read() {
        Ok(config) => (protocol(&config), Ok(config)),
        Err(failure) => (NEWEST, Err(failure)),
    };
    match config.and_then(|_| answer(&verb.to_string_lossy(), version)) {
        Ok(result) => print(&result.to_string(), ExitCode::SUCCESS),
        Err(Failure { code, msg, details }) => {
            let error = json!({ "cniVersion": version, "code": code, "msg": msg, "details": details });
            print(&error.to_string(), ExitCode::FAILURE)
        }
    }
}

fn answer(verb: &str, version: &str) -> Result<Value, Failure> {
    const DETAILS: &str = "this version of purlin-cni answers VERSION only; use the reference plugins";
    match verb {
        "VERSION" => Ok(json!({ "cniVersion": version, "supportedVersions": SUPPORTED })),
        "STATUS" => Err(Failure {
            code: code::NOT_AVAILABLE,
            msg: "purlin-cni cannot serve ADD: it is not implemented in this version".to_owned(),
            details: DETAILS,
        }),
        verb if VERBS.contains(&verb) => Err(Failure {
            code: code::NOT_IMPLEMENTED,
            msg: format!("{verb} is not implemented in this version of purlin-cni"),
            details: DETAILS,
        }),
        verb => Err(Failure {
            code: code::INVALID_ENVIRONMENT,
            msg: format!("CNI_COMMAND is {verb:?}, which is no verb of CNI"),
            details: "it is one of ADD, DEL, CHECK, GC, STATUS and VERSION",
        }),
    }
}

/// The configuration on the standard input. An empty one is what early callers of VERSION send.
fn read() -> Result<Value, Failure> {
    let mut text = Vec::new();
    let failed = |e: std::io::Error| Failure {
        code: code::IO_FAILURE,
        msg: format!("cannot read the network configuration: {e}"),
        details: "it comes on the standard input",
    };
    std::io::stdin().take(INPUT + 1).read_to_end(&mut text).map_err(failed)?;
    let invalid =
        |msg: String| Failure { code: code::DECODING_FAILURE, msg, details: "it is one JSON object" };
    if text.len() as u64 > INPUT {
        return Err(invalid(format!("the network configuration is larger than {INPUT} bytes")));
    }
    if text.trim_ascii().is_empty() {
        return Ok(json!({}));
    }
    match serde_json::from_slice(&text) {
        Ok(config @ Value::Object(_)) => Ok(config),
        Ok(_) => Err(invalid("the network configuration is no JSON object".to_owned())),
        Err(e) => Err(invalid(format!("the network configuration is not valid JSON: {e}"))),
    }
}

/// The protocol in which the caller wants its answer.
fn protocol(config: &Value) -> &'static str {
    let asked = config.get("cniVersion").and_then(Value::as_str);
    SUPPORTED.iter().find(|v| Some(**v) == asked).copied().unwrap_or(NEWEST)
}

fn print(text: &str, code: ExitCode) -> ExitCode {
    match writeln!(std::io::stdout(), "{text}") {
        Ok(()) => code,
        Err(_) => ExitCode::FAILURE,
    }
}
