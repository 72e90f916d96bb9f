//! A file of ours beside a root configuration that someone else keeps: theirs stays, byte for byte and in effect.

use crate::sandbox::{CONTAINERDS, Node, path, peers, purlin, said};
use serde_json::json;

const ROOT: &str = "/etc/containerd/config.toml";
const DROP_IN: &str = "/etc/containerd/conf.d/50-purlin.toml";

pub const SPEC: &str = r#"purlin "v1alpha1"

node "shared" {
    runtimes {
        runtime "main" {
            containerd version="2.1-2.4" config="drop-in" {
                handler "test" binary="/usr/bin/crun"
                handler "nvidia" binary="/usr/local/bin/nvidia-container-runtime" systemd-cgroup=#true
                ignore-image-defined-volumes #true
            }
        }
        hook "everywhere" {
            stage "createRuntime"
            path "/usr/local/bin/purlin-test-hook"
            when { always }
        }
    }
}
"#;

/// The root file of whoever keeps it: its own default handler, pause image, mirrors and limits.
fn root(version: i64) -> String {
    let socket = if version == 3 {
        "[grpc]\naddress = '/run/containerd/containerd.sock'\nmax_recv_message_size = 33554432"
    } else {
        "[plugins.'io.containerd.server.v1.grpc']\naddress = '/run/containerd/containerd.sock'\nmax_recv_message_size = 33554432"
    };
    format!(
        "# Theirs.
version = {version}
imports = ['/etc/containerd/conf.d/*.toml']
{socket}

[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = 'purlin.test/pause:1'

[plugins.'io.containerd.cri.v1.images'.registry]
config_path = '/etc/theirs'

[plugins.'io.containerd.cri.v1.runtime']
restrict_oom_score_adj = true
max_container_log_line_size = 4096

[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = ['/opt/cni/bin', '/opt/theirs']

[plugins.'io.containerd.cri.v1.runtime'.containerd]
default_runtime_name = 'theirs'

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.theirs]
runtime_type = 'io.containerd.runc.v2'
pod_annotations = ['theirs.test/*']

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.theirs.options]
BinaryName = '/usr/bin/runc'
"
    )
}

#[test]
fn case_containerd_pr12891_root_and_drop_in_both_count() {
    let Some(peers) = peers() else { return };
    for (version, format) in [("2.1.9", 3), ("2.4.2", 3), ("2.4.2", 4)] {
        let node = Node::new(version);
        node.put(ROOT, &root(format));
        node.put(
            "/etc/theirs/docker.io/hosts.toml",
            "server = 'http://127.0.0.1:5005'\n[host.'http://127.0.0.1:5001']\n",
        );
        node.put(
            "/etc/cni/net.d/10-theirs.conflist",
            r#"{"cniVersion":"1.0.0","name":"theirs","plugins":[{"type":"bridge","bridge":"theirs0","ipam":{"type":"host-local","subnet":"10.24.0.0/24"}}]}"#,
        );
        let facts = node.observe(&peers);
        node.render(&node.spec(SPEC), &facts);
        assert_eq!(node.read(ROOT), root(format), "the root file is theirs");
        let ours: toml::Table = node.read(DROP_IN).parse().unwrap();
        assert_eq!(ours["version"].as_integer(), Some(format), "one version for all files");

        let seen = node.inside(&peers, &[], &["drop_in"]);
        assert_eq!(seen.code, 0, "{version} with a root of version {format}: {}", seen.trouble());
        let info = seen.json("info.json");
        let config = &info["config"];
        let runtimes = &config["containerd"]["runtimes"];
        let mut handlers: Vec<_> = runtimes.as_object().unwrap().keys().collect();
        // The daemon's own is always there.
        handlers.retain(|name| *name != "runc");
        assert_eq!(handlers, ["nvidia", "test", "theirs"]);
        assert_eq!(config["containerd"]["defaultRuntimeName"], "theirs");
        assert_eq!(runtimes["theirs"]["options"], json!({ "BinaryName": "/usr/bin/runc" }));
        assert_eq!(runtimes["theirs"]["PodAnnotations"], json!(["theirs.test/*"]));
        assert_eq!(runtimes["theirs"]["baseRuntimeSpec"], "");
        assert_eq!(config["restrictOOMScoreAdj"], true);
        assert_eq!(config["maxContainerLogLineSize"], 4096);
        assert_eq!(config["cni"]["binDirs"], json!(["/opt/cni/bin", "/opt/theirs"]));
        assert_eq!(config["ignoreImageDefinedVolumes"], true, "ours");
        let dump: toml::Table = seen.text("dump.toml").parse().unwrap();
        let grpc = dump.get("grpc").unwrap_or_else(|| &dump["plugins"]["io.containerd.server.v1.grpc"]);
        assert_eq!(grpc["max_recv_message_size"].as_integer(), Some(33_554_432));

        for (pod, handler, binary) in [
            ("p", "", "/usr/bin/runc"),
            ("ptest", "test", "/usr/bin/crun"),
            ("ptheirs", "theirs", "/usr/bin/runc"),
        ] {
            let pod = &seen.json(&format!("pod-{pod}.json"))["info"];
            assert_eq!(pod["runtimeOptions"]["binary_name"], binary, "{version}, {handler}");
            assert_eq!(pod["image"], "purlin.test/pause:1", "their pause image");
        }
        let asked = seen.text("asked.txt");
        assert!(asked.starts_with("5001 HEAD /v2/library/purlin-test/manifests/1"), "their mirror: {asked}");
        let hooks = seen.text("hooks.log");
        let container =
            |name: &str| hooks.contains(&format!("\"io.kubernetes.cri.container-name\":\"{name}\""));
        assert!(container("ctest") && !container("ctheirs"), "our hook is for our handlers: {hooks}");
    }
}

#[test]
fn case_containerd_pr12891_a_mixed_pair_is_refused_with_both_names() {
    let node = Node::files(CONTAINERDS[0].0);
    let old = "version = 2\nimports = ['/etc/containerd/conf.d/*.toml']\n[plugins.'io.containerd.grpc.v1.cri']\n\
               sandbox_image = 'purlin.test/pause:1'\n\
               [plugins.'io.containerd.grpc.v1.cri'.registry.mirrors.'docker.io']\nendpoint = ['http://127.0.0.1:5001']\n";
    node.put(ROOT, old);
    let spec = node.spec(SPEC);
    let output = purlin(&["render", path(&spec), "-o", path(&node.tree())]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("PUR0305") && text.contains(ROOT) && text.contains(DROP_IN), "{text}");
    assert!(!node.path(DROP_IN).exists());
    assert_eq!(node.read(ROOT), old);
}
