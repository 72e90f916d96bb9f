//! The language server, spoken to over stdio as an editor does it.
#![cfg(feature = "lsp")]
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Far more than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Json>,
    /// What came while something else was waited for.
    kept: Vec<Json>,
    next: i64,
    versions: BTreeMap<String, i64>,
}

fn frame(body: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{body}", body.len())
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

impl Editor {
    /// A server to which nothing was said yet.
    fn silent(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_purlin"))
            .arg("lsp")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            loop {
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    if output.read_line(&mut line).unwrap_or_default() == 0 {
                        return;
                    }
                    match line.trim().strip_prefix("Content-Length: ") {
                        Some(n) => length = n.parse().unwrap(),
                        None if line.trim().is_empty() => break,
                        None => {}
                    }
                }
                let mut body = vec![0; length];
                output.read_exact(&mut body).unwrap();
                let message = serde_json::from_slice(&body).expect("the server writes JSON");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, messages, kept: Vec::new(), next: 1, versions: BTreeMap::new() }
    }

    fn with(capabilities: Json, arguments: &[&str]) -> (Self, Json) {
        let mut editor = Self::silent(arguments);
        let answer = editor
            .ask("initialize", json!({ "processId": null, "rootUri": null, "capabilities": capabilities }));
        editor.tell("initialized", json!({}));
        (editor, answer.unwrap())
    }

    fn start() -> Self {
        let capabilities = json!({
            "textDocument": {
                "completion": { "completionItem": { "snippetSupport": true } },
                "publishDiagnostics": { "relatedInformation": true, "versionSupport": true },
            },
            "workspace": { "workspaceEdit": { "documentChanges": true } },
        });
        Self::with(capabilities, &[]).0
    }

    fn raw(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        input.flush().unwrap();
    }

    fn tell(&mut self, method: &str, params: Json) {
        self.raw(&frame(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()));
    }

    fn begin(&mut self, method: &str, params: Json) -> i64 {
        let id = self.next;
        self.next += 1;
        let mut request = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        if !params.is_null() {
            request["params"] = params;
        }
        self.raw(&frame(&request.to_string()));
        id
    }

    /// The first message that fits, of those kept and those to come.
    fn wait(&mut self, fits: impl Fn(&Json) -> bool) -> Json {
        if let Some(at) = self.kept.iter().position(&fits) {
            return self.kept.remove(at);
        }
        loop {
            let message = self.messages.recv_timeout(PATIENCE).expect("the server answers");
            if fits(&message) {
                return message;
            }
            self.kept.push(message);
        }
    }

    fn answer(&mut self, id: i64) -> Result<Json, Json> {
        let message = self.wait(|m| m["id"] == id && m.get("method").is_none());
        match message.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(message["result"].clone()),
        }
    }

    fn ask(&mut self, method: &str, params: Json) -> Result<Json, Json> {
        let id = self.begin(method, params);
        self.answer(id)
    }

    fn open(&mut self, uri: &str, text: &str) {
        self.versions.insert(uri.to_owned(), 1);
        let language = uri.rsplit('.').next().unwrap();
        self.tell(
            "textDocument/didOpen",
            json!({ "textDocument": { "uri": uri, "languageId": language, "version": 1, "text": text } }),
        );
    }

    fn change(&mut self, uri: &str, changes: Json) -> i64 {
        let version = self.versions.get_mut(uri).map(|v| {
            *v += 1;
            *v
        });
        let version = version.unwrap_or(7);
        self.tell(
            "textDocument/didChange",
            json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": changes }),
        );
        version
    }

    /// What is shown of a file in that version.
    fn shown(&mut self, uri: &str, version: Option<i64>) -> Vec<Json> {
        let message = self.wait(|m| {
            m["method"] == "textDocument/publishDiagnostics"
                && m["params"]["uri"] == uri
                && version.is_none_or(|version| m["params"]["version"] == version)
        });
        message["params"]["diagnostics"].as_array().unwrap().clone()
    }

    fn at(
        &mut self,
        method: &str,
        uri: &str,
        (line, character): (u32, u32),
        more: Json,
    ) -> Result<Json, Json> {
        let mut params =
            json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } });
        for (key, value) in more.as_object().into_iter().flatten() {
            params[key] = value.clone();
        }
        self.ask(method, params)
    }

    fn labels(&mut self, uri: &str, place: (u32, u32)) -> Vec<String> {
        let answer = self.at("textDocument/completion", uri, place, json!({})).unwrap();
        let items = answer["items"].as_array().cloned().unwrap_or_default();
        items.iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
    }

    fn end(mut self) -> Option<i32> {
        assert_eq!(self.ask("shutdown", Json::Null), Ok(Json::Null));
        self.tell("exit", Json::Null);
        self.child.wait().unwrap().code()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn codes(diagnostics: &[Json]) -> Vec<&str> {
    diagnostics.iter().map(|d| d["code"].as_str().unwrap()).collect()
}

fn range(start: (u32, u32), end: (u32, u32)) -> Json {
    json!({
        "start": { "line": start.0, "character": start.1 },
        "end": { "line": end.0, "character": end.1 },
    })
}

const SPEC: &str = "purlin \"v1alpha1\"\nnode \"a\" {\n    networks {\n        network \"pods\" default=#true {\n            bridge name=\"cni0\"\n            ipam { range \"10.22.0.0/24\"; }\n        }\n    }\n}\n";

#[test]
fn what_it_can_do_is_what_it_says() {
    let (editor, answer) = Editor::with(json!({}), &["--stdio"]);
    let can = &answer["capabilities"];
    assert_eq!(can["positionEncoding"], "utf-16");
    assert_eq!(can["textDocumentSync"]["change"], 2);
    for key in [
        "completionProvider",
        "hoverProvider",
        "definitionProvider",
        "renameProvider",
        "codeActionProvider",
        "documentFormattingProvider",
    ] {
        assert!(can.get(key).is_some(), "{key}");
    }
    assert_eq!(editor.end(), Some(0));
    let (editor, answer) =
        Editor::with(json!({ "general": { "positionEncodings": ["utf-16", "utf-8"] } }), &[]);
    assert_eq!(answer["capabilities"]["positionEncoding"], "utf-8");
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn every_example_is_fine_and_every_place_of_one_has_an_answer() {
    let mut editor = Editor::start();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for name in ["edge.kdl", "edge.yaml", "gpu-sim.kdl", "gpu-sim.yaml", "laptop.kdl", "laptop.yaml"] {
        let path = examples.join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        editor.open(&uri(&path), &text);
        assert_eq!(editor.shown(&uri(&path), Some(1)), Vec::<Json>::new(), "{name}");
        let symbols =
            editor.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri(&path) } }));
        assert!(!symbols.unwrap().as_array().unwrap().is_empty());
        for (line, text) in (0..).zip(text.lines()) {
            let place = (line, u32::try_from(text.len()).unwrap() / 2);
            for method in [
                "textDocument/hover",
                "textDocument/completion",
                "textDocument/definition",
                "textDocument/prepareRename",
            ] {
                editor.at(method, &uri(&path), place, json!({})).unwrap();
            }
        }
    }
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn findings_follow_the_text_and_go_with_it() {
    let mut editor = Editor::start();
    let file = "file:///nowhere/a.kdl";
    editor.open(file, &SPEC.replace("bridge", "brigde"));
    let shown = editor.shown(file, Some(1));
    assert_eq!(codes(&shown), ["PUR0101"]);
    assert_eq!(shown[0]["range"], range((4, 12), (4, 18)));
    assert_eq!((&shown[0]["severity"], &shown[0]["source"]), (&json!(1), &json!("purlin")));
    assert!(shown[0].get("codeDescription").is_none() && shown[0].get("tags").is_none());
    let message = shown[0]["message"].as_str().unwrap();
    assert!(message.contains("brigde") && message.contains("help: did you mean `bridge`?"), "{message}");
    // One change, then two in one message, the second on what the first made.
    let version = editor.change(file, json!([{ "range": range((4, 12), (4, 18)), "text": "bridge" }]));
    assert_eq!(editor.shown(file, Some(version)), Vec::<Json>::new());
    let version = editor.change(
        file,
        json!([
            { "range": range((5, 0), (5, 0)), "text": "            hairpin\n" },
            { "range": range((5, 12), (5, 19)), "text": "portmpa" },
        ]),
    );
    let shown = editor.shown(file, Some(version));
    assert_eq!((codes(&shown), &shown[0]["range"]), (vec!["PUR0101"], &range((5, 12), (5, 19))));
    // Half-written text is told as such, and the whole text anew is taken, too.
    let version = editor.change(file, json!([{ "text": "purlin \"v1alpha1\"\nnode \"a\" {" }]));
    assert_eq!(codes(&editor.shown(file, Some(version))), ["PUR0001"]);
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": file } }));
    assert_eq!(editor.shown(file, None), Vec::<Json>::new());
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn a_file_of_another_program_is_left_alone() {
    let mut editor = Editor::start();
    for (file, text) in [
        ("file:///nowhere/zellij.kdl", "layout {\n pane\n}\n"),
        ("file:///nowhere/pod.yaml", "apiVersion: v1\nkind: Pod\nspec: {}\n"),
        ("file:///nowhere/x.txt", SPEC),
    ] {
        editor.open(file, text);
        assert_eq!(editor.at("textDocument/hover", file, (0, 1), json!({})), Ok(Json::Null));
        assert_eq!(editor.at("textDocument/completion", file, (1, 1), json!({})), Ok(Json::Null));
    }
    // Of what comes after it is told that nothing was shown of it.
    editor.open("file:///nowhere/a.kdl", SPEC);
    editor.shown("file:///nowhere/a.kdl", Some(1));
    assert!(
        editor.kept.iter().all(|m| m["method"] != "textDocument/publishDiagnostics"),
        "{:?}",
        editor.kept
    );
    assert_eq!(editor.end(), Some(0));
}

/// A directory with a spec, and a part that it includes.
fn tree() -> (tempfile::TempDir, String, String) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("parts")).unwrap();
    std::fs::write(dir.path().join("a.kdl"), HOOK).unwrap();
    std::fs::write(dir.path().join("parts/p.kdl"), PART).unwrap();
    let path = dir.path().canonicalize().unwrap();
    let (spec, part) = (uri(&path.join("a.kdl")), uri(&path.join("parts/p.kdl")));
    (dir, spec, part)
}

const HOOK: &str = "purlin \"v1alpha1\"\nnode \"a\" {\n    include \"parts/p.kdl\"\n    runtimes {\n        runtime \"m\" { containerd version=\"2.1\" config=\"own\" { handler \"runc\" default=#true; }; }\n        hook \"h\" stage=\"poststop\" path=\"/x\" { when { device \"a.b/cc\"; }; }\n    }\n}\n";
const PART: &str =
    "purlin \"v1alpha1\"\npart {\n    devices { device \"a.b/cc\" { path \"/dev/c\"; }; }\n}\n";

#[test]
fn a_finding_in_a_part_is_shown_at_the_part() {
    let (dir, spec, part) = tree();
    std::fs::write(dir.path().join("parts/p.kdl"), PART.replace("path", "paht")).unwrap();
    let mut editor = Editor::start();
    editor.open(&spec, HOOK);
    let shown = editor.shown(&part, None);
    assert_eq!((codes(&shown), &shown[0]["range"]), (vec!["PUR0101"], &range((2, 32), (2, 36))));
    assert_eq!(editor.shown(&spec, Some(1)), Vec::<Json>::new());
    // The part as it is in the editor counts, once it is open.
    editor.open(&part, PART);
    assert_eq!(editor.shown(&part, Some(1)), Vec::<Json>::new());
    // A name that goes from the part is missed in the spec.
    editor.change(&part, json!([{ "range": range((2, 22), (2, 28)), "text": "x.y/zz" }]));
    let shown = editor.shown(&spec, Some(1));
    assert_eq!(codes(&shown), ["PUR0201"]);
    // The spec closed, only the part itself is told of.
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": spec } }));
    assert_eq!(editor.shown(&spec, None), Vec::<Json>::new());
    let version = editor.change(&part, json!([{ "range": range((2, 14), (2, 20)), "text": "devise" }]));
    assert_eq!(codes(&editor.shown(&part, Some(version))), ["PUR0101"]);
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": part } }));
    assert_eq!(editor.shown(&part, None), Vec::<Json>::new());
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn a_contradiction_is_shown_with_its_other_place() {
    let (_dir, spec, part) = tree();
    let mut editor = Editor::start();
    editor.open(&part, &PART.replace("devices", "target kubelet=\"1.35\"\n    devices"));
    editor.open(&spec, &HOOK.replace("runtimes {", "target kubelet=\"1.36\"\n    runtimes {"));
    let shown = editor.shown(&part, None);
    let shown = if shown.is_empty() { editor.shown(&part, None) } else { shown };
    assert_eq!(codes(&shown), ["PUR0110"]);
    let related = &shown[0]["relatedInformation"][0];
    assert_eq!(related["location"]["uri"], spec);
    assert_eq!(related["location"]["range"]["start"]["line"], 3);
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn completes_keys_words_names_and_files() {
    let (_dir, spec, _part) = tree();
    let mut editor = Editor::start();
    editor.open(&spec, &HOOK.replace("a.b/cc", ""));
    editor.shown(&spec, Some(1));
    assert!(editor.labels(&spec, (3, 4)).contains(&"networks".to_owned()));
    assert_eq!(editor.labels(&spec, (5, 61)), ["a.b/cc"]);
    assert_eq!(editor.labels(&spec, (2, 13)), ["parts/p.kdl"]);
    assert_eq!(editor.labels(&spec, (4, 55)), ["drop-in", "own"]);
    let answer = editor.at("textDocument/completion", &spec, (2, 0), json!({})).unwrap();
    let networks = answer["items"].as_array().unwrap().iter().find(|i| i["label"] == "networks").unwrap();
    assert_eq!(
        (&networks["insertTextFormat"], &networks["textEdit"]["newText"]),
        (&json!(2), &json!("networks {\n\t$0\n}"))
    );
    // Also in a text that breaks off.
    editor.change(
        &spec,
        json!([{ "text": "purlin \"v1alpha1\"\nnode \"a\" {\n networks {\n  network \"p\" {\n   br" }]),
    );
    assert!(editor.labels(&spec, (4, 5)).contains(&"bridge".to_owned()));
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn yaml_is_served_as_well() {
    let mut editor = Editor::start();
    let file = "file:///nowhere/a.yaml";
    let text = "apiVersion: purlin.dev/v1alpha1\r\nkind: NodeSpec\r\nmetadata:\r\n  name: a\r\nspec:\r\n  networks:\r\n    pods:\r\n      default: true\r\n      bridge:\r\n        name: cni0\r\n        mtu: 1450\r\n      \r\n";
    editor.open(file, text);
    assert_eq!(codes(&editor.shown(file, Some(1))), ["PUR0105"]);
    assert_eq!(editor.labels(file, (7, 15)), ["false", "true"]);
    let keys = editor.labels(file, (11, 6));
    assert!(keys.contains(&"ipam".to_owned()) && !keys.contains(&"bridge".to_owned()), "{keys:?}");
    let hover = editor.at("textDocument/hover", file, (10, 9), json!({})).unwrap();
    assert!(hover["contents"]["value"].as_str().unwrap().starts_with("**mtu**"), "{hover}");
    assert_eq!(hover["range"], range((10, 8), (10, 11)));
    let edit = editor.at("textDocument/rename", file, (6, 5), json!({ "newName": "main" })).unwrap();
    assert_eq!(
        edit["documentChanges"][0]["edits"],
        json!([{ "range": range((6, 4), (6, 8)), "newText": "main" }])
    );
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn definitions_references_and_renames_go_through_all_files() {
    let (_dir, spec, part) = tree();
    let mut editor = Editor::start();
    editor.open(&spec, HOOK);
    let place = (5, 64);
    let found = editor.at("textDocument/definition", &spec, place, json!({})).unwrap();
    assert_eq!(found, json!([{ "uri": part, "range": range((2, 21), (2, 29)) }]));
    let file = editor.at("textDocument/definition", &spec, (2, 16), json!({})).unwrap();
    assert_eq!(file["uri"], part);
    let all = editor.at(
        "textDocument/references",
        &spec,
        place,
        json!({ "context": { "includeDeclaration": true } }),
    );
    assert_eq!(all.unwrap().as_array().unwrap().len(), 2);
    let prepared = editor.at("textDocument/prepareRename", &spec, place, json!({})).unwrap();
    assert_eq!(prepared, json!({ "range": range((5, 61), (5, 67)), "placeholder": "a.b/cc" }));
    let edit = editor.at("textDocument/rename", &spec, place, json!({ "newName": "x.y/zz" })).unwrap();
    let changes = edit["documentChanges"].as_array().unwrap();
    assert_eq!(changes.len(), 2);
    assert_eq!(changes[0]["textDocument"], json!({ "uri": spec, "version": 1 }));
    assert_eq!(changes[1]["textDocument"], json!({ "uri": part, "version": null }));
    assert_eq!(changes[1]["edits"], json!([{ "range": range((2, 21), (2, 29)), "newText": "\"x.y/zz\"" }]));
    for (place, name, word) in [(place, "x", "vendor"), ((3, 5), "x.y/zz", "no name"), (place, "", "vendor")]
    {
        let error = editor.at("textDocument/rename", &spec, place, json!({ "newName": name })).unwrap_err();
        assert!(error["message"].as_str().unwrap().contains(word), "{error}");
    }
    assert_eq!(editor.at("textDocument/prepareRename", &spec, (3, 5), json!({})), Ok(Json::Null));
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn fixes_are_offered_and_mend_the_text() {
    let mut editor = Editor::start();
    let file = "file:///nowhere/a.kdl";
    let text = SPEC.replace("bridge", "brigde").replace("default=#true", "default=true");
    editor.open(file, &text);
    let shown = editor.shown(file, Some(1));
    assert_eq!(shown.len(), 2, "{shown:?}");
    let ask = |editor: &mut Editor, only: Json| {
        let params = json!({
            "textDocument": { "uri": file }, "range": range((4, 14), (4, 14)),
            "context": { "diagnostics": [], "only": only },
        });
        editor.ask("textDocument/codeAction", params).unwrap().as_array().unwrap().clone()
    };
    let fixes = ask(&mut editor, json!(["quickfix"]));
    assert_eq!(fixes.len(), 1);
    assert_eq!((&fixes[0]["isPreferred"], &fixes[0]["diagnostics"][0]), (&json!(true), &shown[1]));
    let edits = |action: &Json| action["edit"]["documentChanges"][0]["edits"].clone();
    assert_eq!(edits(&fixes[0])[0]["newText"], "bridge");
    let all = ask(&mut editor, json!(["source.fixAll"]));
    assert_eq!((all.len(), &all[0]["kind"]), (1, &json!("source.fixAll")));
    let mut changes = edits(&all[0]).as_array().unwrap().clone();
    changes.reverse();
    let changes: Vec<Json> =
        changes.iter().map(|e| json!({ "range": e["range"], "text": e["newText"] })).collect();
    let version = editor.change(file, changes.into());
    assert_eq!(editor.shown(file, Some(version)), Vec::<Json>::new());
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn columns_count_in_the_units_agreed_on() {
    let text = "purlin \"v1alpha1\"\nnode \"a\" { label \"a.b/c\" \"\u{1f600}\"; networkz; }\n";
    for (encodings, column) in [(json!(["utf-16"]), 31), (json!(["utf-8"]), 33)] {
        let mut editor = Editor::with(json!({ "general": { "positionEncodings": encodings } }), &[]).0;
        let file = "file:///nowhere/\u{e9}%20a.kdl".replace('\u{e9}', "%C3%A9");
        editor.open(&file, text);
        let shown = editor.shown(&file, Some(1));
        let unknown = shown.iter().find(|d| d["code"] == "PUR0101").unwrap();
        assert_eq!(unknown["range"], range((1, column), (1, column + 8)));
        // A change behind the pair, and one that ends within it, which counts to its start.
        let version = editor
            .change(&file, json!([{ "range": range((1, column), (1, column + 8)), "text": "netwirk" }]));
        let shown = editor.shown(&file, Some(version));
        assert!(shown.iter().any(|d| d["message"].as_str().unwrap().contains("netwirk")), "{shown:?}");
        editor.change(&file, json!([{ "range": range((1, 0), (1, 27)), "text": "" }]));
        editor.at("textDocument/hover", &file, (9, 9), json!({})).unwrap();
        assert_eq!(editor.end(), Some(0));
    }
}

#[test]
fn what_comes_at_the_wrong_time_or_makes_no_sense_is_refused() {
    let mut editor = Editor::silent(&[]);
    // Before the greeting.
    let error = editor.at("textDocument/hover", "file:///a.kdl", (0, 0), json!({})).unwrap_err();
    assert_eq!(error["code"], -32002);
    editor.open("file:///a.kdl", SPEC);
    // No messages at all.
    editor.raw("Content-Length: 5\r\n\r\n{\"a\":");
    assert_eq!(editor.wait(|m| m["id"].is_null() && m.get("error").is_some())["error"]["code"], -32700);
    editor.raw("Something: else\r\n\r\n");
    assert_eq!(editor.wait(|m| m["id"].is_null() && m.get("error").is_some())["error"]["code"], -32700);
    editor.raw("Content-Length: nine\r\n\r\n");
    assert_eq!(editor.wait(|m| m["id"].is_null() && m.get("error").is_some())["error"]["code"], -32700);
    editor.raw("Content-Length: 3\r\n\r\n\u{fffd}");
    assert!(editor.wait(|m| m["id"].is_null())["error"]["code"] == -32700);
    editor.raw(&frame(r#"{"jsonrpc":"2.0","method":7}"#));
    assert_eq!(editor.wait(|m| m["id"].is_null())["error"]["code"], -32600);
    editor.raw(&frame("[]"));
    editor.raw(&frame(r#"{"jsonrpc":"2.0","id":99,"result":null}"#));
    editor.ask("initialize", json!({ "capabilities": {} })).unwrap();
    editor.tell("initialized", json!({}));
    assert!(editor.ask("initialize", json!({ "capabilities": {} })).is_err());
    // Unknown methods, unknown documents, wrong parameters, places beyond the text.
    assert_eq!(editor.ask("purlin/none", json!({})).unwrap_err()["code"], -32601);
    editor.tell("$/unknown", json!({}));
    editor.tell("textDocument/unknown", json!({}));
    assert_eq!(editor.ask("textDocument/hover", json!({ "x": 1 })).unwrap_err()["code"], -32602);
    editor.change("file:///unknown.kdl", json!([{ "text": "x" }]));
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": "file:///unknown.kdl" } }));
    for method in ["hover", "completion", "definition", "rename", "prepareRename"] {
        let _ = editor.at(
            &format!("textDocument/{method}"),
            "file:///unknown.kdl",
            (1, 1),
            json!({ "newName": "x" }),
        );
    }
    let file = "untitled:Untitled-1";
    editor.tell(
        "textDocument/didOpen",
        json!({ "textDocument": { "uri": file, "languageId": "kdl", "version": 1, "text": SPEC } }),
    );
    assert_eq!(editor.shown(file, Some(1)), Vec::<Json>::new());
    editor.versions.insert(file.to_owned(), 1);
    editor.change(file, json!([{ "range": range((900, 7), (3, 1)), "text": "\n// end\n" }]));
    editor.change(file, json!([{ "range": range((0, 9999), (0, 9999)), "text": " " }]));
    assert!(editor.labels(file, (8000, 8000)).is_empty());
    // An id that is in use, and one of another type.
    editor.raw(&frame(r#"{"jsonrpc":"2.0","id":"word","method":"shutdown"}"#));
    assert!(editor.wait(|m| m["id"] == "word").get("result").is_some());
    // After the goodbye.
    assert!(editor.at("textDocument/hover", file, (0, 0), json!({})).is_err());
    editor.tell("exit", Json::Null);
    assert_eq!(editor.child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_exit_code_says_whether_the_goodbye_was_said() {
    let (mut editor, _) = Editor::with(json!({}), &[]);
    editor.tell("exit", Json::Null);
    assert_eq!(editor.child.wait().unwrap().code(), Some(1));
    // An editor that is gone, in the middle of a message.
    let (mut editor, _) = Editor::with(json!({}), &[]);
    editor.raw("Content-Length: 100\r\n\r\n{");
    editor.input = None;
    assert_eq!(editor.child.wait().unwrap().code(), Some(1));
}

#[test]
fn requests_can_be_called_off() {
    let mut editor = Editor::start();
    let file = "file:///nowhere/a.kdl";
    // Enough to read that questions about it wait.
    let label = |n: usize| format!("    label \"example.com/x{n}\" \"y\"\n");
    let many: String = (0..4000).map(label).collect();
    editor.open(file, &SPEC.replace("    networks {", &format!("{many}    networks {{")));
    let ids: Vec<i64> = (0..20)
        .map(|_| {
            let params =
                json!({ "textDocument": { "uri": file }, "position": { "line": 4004, "character": 15 } });
            editor.begin("textDocument/definition", params)
        })
        .collect();
    ids.iter().for_each(|id| editor.tell("$/cancelRequest", json!({ "id": id })));
    editor.tell("$/cancelRequest", json!({ "id": 123456 }));
    let called_off = ids.iter().filter(|id| editor.answer(**id).is_err_and(|e| e["code"] == -32800)).count();
    assert!(called_off > 0, "each of them was answered before it was called off");
    editor.shown(file, Some(1));
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn many_changes_in_a_row_end_with_the_last_one() {
    let mut editor = Editor::start();
    let file = "file:///nowhere/a.kdl";
    editor.open(file, SPEC);
    let mut version = 0;
    for n in 0..300 {
        version = editor.change(file, json!([{ "range": range((4, 12), (4, 12)), "text": "x" }]));
        if n % 10 == 0 {
            editor.begin(
                "textDocument/completion",
                json!({ "textDocument": { "uri": file }, "position": { "line": 4, "character": 12 } }),
            );
        }
    }
    let shown = editor.shown(file, Some(version));
    let unknown = shown.iter().find(|d| d["code"] == "PUR0101").unwrap();
    assert_eq!(unknown["range"], range((4, 12), (4, 318)));
    let hover = editor.at("textDocument/hover", file, (4, 20), json!({})).unwrap();
    assert!(hover["contents"]["value"].as_str().unwrap().contains("PUR0101"), "{hover}");
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn texts_beyond_the_limits_cost_nothing() {
    let mut editor = Editor::start();
    for (name, text) in [
        ("bytes.kdl", format!("purlin \"v1alpha1\"\n{}", "label \"a\" \"b\"\n".repeat(1 << 17))),
        ("depth.kdl", format!("purlin \"v1alpha1\"\n{}", "a {\n".repeat(60_000))),
        ("stray.kdl", format!("purlin \"v1alpha1\"\n{}", "}".repeat(200_000))),
        ("comments.kdl", format!("purlin \"v1alpha1\"\n{}", "/*".repeat(100_000))),
        ("depth.yaml", format!("apiVersion: purlin.dev/v1alpha1\nspec: {}", "[".repeat(200_000))),
        ("items.yaml", format!("apiVersion: purlin.dev/v1alpha1\nspec:\n  {}", "- ".repeat(100_000))),
        ("dashes.yaml", format!("apiVersion: purlin.dev/v1alpha1\nspec: {}", "- ".repeat(100_000))),
        (
            "depth.json",
            format!("{{\"apiVersion\": \"purlin.dev/v1alpha1\", \"spec\": {}", "[".repeat(200_000)),
        ),
    ] {
        let file = format!("file:///nowhere/{name}");
        editor.open(&file, &text);
        assert!(!editor.shown(&file, Some(1)).is_empty(), "{name}");
        for place in [(1, 4), (60, 1), (1, 150_000)] {
            for method in ["completion", "hover", "definition", "documentSymbol"] {
                editor.at(&format!("textDocument/{method}"), &file, place, json!({})).unwrap();
            }
        }
        editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": file } }));
    }
    assert_eq!(editor.end(), Some(0));
}
