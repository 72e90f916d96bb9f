//! `purlin-cni` as a container runtime sees it.

use serde_json::Value;
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn run(verb: Option<&str>, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_purlin-cni"));
    command.args(arguments).env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.envs(verb.map(|v| ("CNI_COMMAND", v)));
    let mut child = command.spawn().unwrap();
    // One that does not read its input may be gone by now.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn error(verb: &str, input: &str) -> Value {
    let output = run(Some(verb), &[], input);
    assert_eq!(output.status.code(), Some(1));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(value["msg"].is_string() && value["details"].is_string(), "{value}");
    value
}

#[test]
fn version_answers_in_the_protocol_of_the_caller() {
    for (input, version) in [
        (r#"{"cniVersion":"1.0.0"}"#, "1.0.0"),
        (r#"{"cniVersion":"1.1.0"}"#, "1.1.0"),
        (r#"{"cniVersion":"9.9.9"}"#, "1.1.0"),
        ("{}", "1.1.0"),
        ("", "1.1.0"),
    ] {
        let output = run(Some("VERSION"), &[], input);
        assert!(output.status.success() && output.stderr.is_empty());
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        let supported = serde_json::json!(["0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"]);
        assert_eq!(
            value,
            serde_json::json!({ "cniVersion": version, "supportedVersions": supported }),
            "{input}"
        );
    }
}

#[test]
fn other_verbs_are_errors_of_the_specification() {
    for (verb, code) in
        [("ADD", 100), ("DEL", 100), ("CHECK", 100), ("GC", 100), ("STATUS", 50), ("add", 4), ("", 4)]
    {
        let value = error(verb, r#"{"cniVersion":"0.4.0","name":"n","type":"purlin-cni"}"#);
        assert_eq!((&value["code"], &value["cniVersion"]), (&code.into(), &"0.4.0".into()), "{verb}");
    }
}

#[test]
fn an_input_that_is_no_configuration_is_an_error() {
    let large = format!(r#"{{"a":"{}"}}"#, "x".repeat(2 << 20));
    let deep = "[".repeat(100_000);
    for input in ["{", "[]", "null", "\u{0}", &large, &deep] {
        assert_eq!(error("VERSION", input)["code"], 6);
    }
}

#[test]
fn people_get_help() {
    let output = run(None, &[], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty() && String::from_utf8_lossy(&output.stderr).contains("CNI plugin"));
    let output = run(None, &["--version"], "");
    assert!(output.status.success());
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        format!("purlin-cni {}\n", env!("CARGO_PKG_VERSION"))
    );
}
