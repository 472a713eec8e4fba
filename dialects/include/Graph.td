// graph: what is computed. Whole tensors and operators; no memory, no machine.
#ifndef GRAPH_TD
#define GRAPH_TD

include "Weft.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::weft::graph";
  let summary = "A model: weights by name and operators with a payload.";
  let description = [{
    A model is a list of operators on whole tensors. What an operator computes
    is written in its region with upstream `linalg`, `tensor`, `arith` and
    `math`; its kind and name are for people. Nothing here knows a memory or a
    machine.

    Values between operators have *graph types*, which keep signedness
    (`tensor<4xui8>`) and have `i1` for booleans. Inside a payload tensors are
    signless and a boolean is an `i8` that holds 0 or 1, the way it lies in
    memory: the *payload type* of a graph type.
  }];
}

class Graph_Op<string mnemonic, list<Trait> traits = []>
    : Weft_Op<Graph_Dialect, mnemonic, traits>;

def Graph_ModelOp : Graph_Op<"model", [IsolatedFromAbove, Symbol, SingleBlock]> {
  let summary = "A model with named inputs and outputs";
  let description = [{
    ```mlir
    graph.model @double inputs ["x"] outputs ["y"] {
    ^bb0(%x: tensor<4xf32>):
      ...
      graph.output %y : tensor<4xf32>
    }
    ```

    - C1: one input name per block argument, all different.
    - C2: the body ends in `graph.output`, with one value per output name.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$inputs, StrArrayAttr:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `inputs` $inputs `outputs` $outputs attr-dict-with-keyword $body";
}

def Graph_WeightOp : Graph_Op<"weight", [Pure]> {
  let summary = "A weight, named by file, tensor and content";
  let description = [{
    ```mlir
    %w = graph.weight "conv1.weight" in "model" hash "9f86d0…" : tensor<64x3x7x7xf32>
    ```

    The bytes stay in the model's file; `--weights` says where that is. The hash
    is BLAKE3 over the little-endian elements, first 32 hexadecimal digits.

    - C1: the shape is static.
  }];
  let arguments = (ins StrAttr:$tensor, StrAttr:$file, StrAttr:$hash);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$tensor `in` $file `hash` $hash attr-dict `:` type($result)";
}

def Graph_ConstantOp : Graph_Op<"constant", [Pure, ConstantLike]> {
  let summary = "A small tensor written in the text";
  let description = [{
    ```mlir
    %c = graph.constant dense<[1, 2]> : tensor<2xi64> -> tensor<2xi64>
    ```

    For scalars and short vectors. Weights are `graph.weight`.

    - C1: the literal has the type of the result.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "attr-dict $value `->` type($result)";
  let hasFolder = 0;
}

def Graph_OpOp : Graph_Op<"op", [IsolatedFromAbove, Pure, SingleBlock]> {
  let summary = "An operator: name, operands, parameters and a payload";
  let description = [{
    ```mlir
    %y = graph.op "Relu" "relu_1"(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %e = tensor.empty() : tensor<4xf32>
      %r = linalg.generic ... ins(%a) outs(%e) { ... }
      graph.yield %r : tensor<4xf32>
    }
    ```

    The payload is the operator's whole meaning.

    - C1: the payload has one argument per operand, of its payload type.
    - C2: the payload yields one value per result, of its payload type.
  }];
  let arguments = (ins StrAttr:$kind, StrAttr:$name, Variadic<AnyTensor>:$operands,
                       OptionalAttr<DictionaryAttr>:$parameters);
  let results = (outs Variadic<AnyTensor>:$results);
  let regions = (region SizedRegion<1>:$payload);
  let assemblyFormat = [{
    $kind $name `(` $operands `)` (`with` $parameters^)? attr-dict-with-keyword
    `:` functional-type($operands, $results) $payload
  }];
}

def Graph_YieldOp : Graph_Op<"yield", [Pure, Terminator, HasParent<"OpOp">]> {
  let summary = "Ends a payload";
  let arguments = (ins Variadic<AnyTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let hasVerifier = 0;
}

def Graph_OutputOp : Graph_Op<"output", [Pure, Terminator, HasParent<"ModelOp">]> {
  let summary = "Ends a model";
  let arguments = (ins Variadic<AnyTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let hasVerifier = 0;
}

#endif
