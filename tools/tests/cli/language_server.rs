//! Editors: the first reading opens without an error.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

/// What `weft-lsp-server` says of a document.
fn diagnostics(text: &str) -> String {
    let document = json!({
        "uri": "file:///journey.mlir", "languageId": "mlir", "version": 1, "text": text
    });
    let messages = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {"processId": 1, "rootPath": "", "capabilities": {}, "trace": "off"}}),
        json!({"jsonrpc": "2.0", "method": "textDocument/didOpen",
            "params": {"textDocument": document}}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "shutdown"}),
        json!({"jsonrpc": "2.0", "method": "exit"}),
    ];
    let session = messages.map(|message| message.to_string()).join("\n// -----\n");
    let folder = super::folder();
    let file = super::write(&folder, "session.json", session);
    let output = Command::new(env!("CARGO_BIN_EXE_weft-lsp-server"))
        .arg("-lit-test")
        .stdin(Stdio::from(std::fs::File::open(file).expect("it was written")))
        .output()
        .expect("the server starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Upstream's server takes a line that begins with five dashes for the end of a program.
#[test]
fn journeys_open_without_an_error() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lit-tests/journeys");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("there are journeys") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("text");
        if text.contains("RUN: split-file") {
            continue;
        }
        let said = diagnostics(&text);
        assert!(said.contains("textDocument/publishDiagnostics"), "{said}");
        assert!(said.contains("\"diagnostics\": []"), "{}: {said}", path.display());
        seen += 1;
    }
    assert!(seen >= 3, "{seen} journeys");
    // A mistake is seen.
    assert!(diagnostics("func.func @f() { retrun }").contains("retrun"));
}
