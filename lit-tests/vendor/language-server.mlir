// The language server knows what a document declares.
// RUN: split-file %s %t
// RUN: sed -e "s|FOLDER|%t|" %t/session.json | weft-lsp-server -lit-test | FileCheck %s

// CHECK: "method": "textDocument/publishDiagnostics"
// CHECK: op expects exactly 1 operands, but got 2

//--- document.mlir
irdl.dialect @toy {
  irdl.operation @mac {
    %address = irdl.is index
    irdl.operands(a: %address)
  }
}

//--- session.json
{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":1,"rootPath":"","capabilities":{},"trace":"off"}}
// -----
{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file://FOLDER/document.mlir","languageId":"mlir","version":1,"text":"func.func @f(%a: index) {\n  \"toy.mac\"(%a, %a) : (index, index) -> ()\n  return\n}\n"}}}
// -----
{"jsonrpc":"2.0","id":3,"method":"shutdown"}
// -----
{"jsonrpc":"2.0","method":"exit"}
