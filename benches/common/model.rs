//! Specs of a size, for what is measured.

use purlin::diag::{Findings, Sources};
use purlin::source::{Syntax, parse, to_kdl, to_yaml};
use purlin::spec::schema;
use serde_json::{Map, Value as Json, json};

/// A spec of that many lines or a few more, without a finding that a host would not have to decide.
pub fn spec(syntax: Syntax, lines: usize, hooks: bool) -> String {
    (1..)
        .map(|units| write(syntax, &model(units, hooks)))
        .find(|text| text.lines().count() >= lines)
        .expect("units add lines")
}

/// A node with so many handlers, registries, networks and kinds of device, and a hook for each kind where wanted.
fn model(units: usize, with_hooks: bool) -> Json {
    let named = |name: fn(usize) -> String, value: &dyn Fn(usize) -> Json| -> Map<String, Json> {
        (0..units).map(|i| (name(i), value(i))).collect()
    };
    let handlers = named(|i| format!("handler-{i}"), &|i| {
        let mut handler = json!({"binary": format!("/usr/local/bin/runtime-{i}"), "systemdCgroup": true, "runtimeClass": format!("class-{i}")});
        if i == 0 {
            handler["default"] = true.into();
        }
        handler
    });
    let registries = named(
        |i| format!("registry-{i}.example"),
        &|i| json!({"mirrors": [{"url": format!("https://mirror-{i}.example/v2"), "overridePath": true}, {"url": format!("https://far-{i}.example")}]}),
    );
    let networks = named(|i| format!("network-{i}"), &|i| {
        let net = format!("10.{}.{}", i / 250, i % 250);
        let mut network = json!({
            "bridge": {"name": format!("cni{i}"), "mtu": 1450, "ipMasq": true},
            "ipam": {
                "ranges": [{"subnet": format!("{net}.0/24"), "gateway": format!("{net}.1"), "start": format!("{net}.10"), "end": format!("{net}.200")}],
                "routes": [{"to": "192.168.0.0/16", "via": format!("{net}.2")}],
            },
            "portmap": {"snat": true},
        });
        if i == 0 {
            network["default"] = true.into();
        }
        network
    });
    let devices = named(
        |i| format!("example.com/device-{i}"),
        &|i| json!({"paths": [format!("/dev/a{i}"), format!("/dev/b{i}*")], "permissions": "rw", "env": {"DEVICE": format!("{i}")}}),
    );
    let hooks = named(
        |i| format!("hook-{i}"),
        &|i| json!({"stage": "createRuntime", "path": "/usr/local/bin/hook", "when": {"devices": [format!("example.com/device-{i}")]}}),
    );
    let mut model = json!({
        "apiVersion": "purlin.dev/v1alpha1",
        "kind": "NodeSpec",
        "metadata": {"name": "bench", "labels": {"example.com/pool": "bench"}},
        "spec": {
            "target": {"kubelet": "1.36-1.37"},
            "runtimes": {"runtimes": {"main": {"containerd": {"version": "2.1-2.4", "config": "own", "handlers": handlers}}}, "registries": registries},
            "networks": networks,
            "devices": devices,
        },
    });
    if with_hooks {
        model["spec"]["runtimes"]["hooks"] = hooks.into();
    }
    model
}

fn write(syntax: Syntax, model: &Json) -> String {
    let mut sources = Sources::default();
    let file = sources.add("bench", model.to_string());
    let doc =
        parse(&sources, file, Syntax::Json, schema(), &mut Findings::new()).expect("the model is sound");
    match syntax {
        Syntax::Kdl => to_kdl(&doc, schema()),
        Syntax::Yaml => to_yaml(&doc, schema()),
        Syntax::Json => model.to_string(),
    }
}
