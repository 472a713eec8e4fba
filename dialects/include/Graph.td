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

    A dimension that callers may shorten from run to run has a *length*: a sum of products of
    named `graph.symbol`s, such as `seq + 1`. Types say the most that it may be, which is how
    tensors are laid out; a nest along it has an attribute `graph.lengths` with a length for each of
    its axes, empty where all points are done:

    ```mlir
    linalg.generic {graph.lengths = ["seq", ""], ...} ins(%x : tensor<512x768xf32>) ...
    ```

    Points behind the length are neither read nor written, and sums are those of the others.

    Values between operators have *graph types*, which keep signedness
    (`tensor<4xui8>`) and have `i1` for booleans. Inside a payload tensors are
    signless and a boolean is an `i8` that holds 0 or 1, the way it lies in
    memory: the *payload type* of a graph type.
  }];
}

// A length for each dimension of each input, then of each output: ["batch", ""].
def Graph_Lengths : OptionalAttr<TypedArrayAttrBase<StrArrayAttr, "a length for each dimension of each port">>;

// Pairs of an input and the output that lies in its memory: [["past", "present"]].
def Graph_Aliases : OptionalAttr<TypedArrayAttrBase<StrArrayAttr, "pairs of an input and an output">>;

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

    Where callers decide lengths, `lengths` has those of each input's dimensions, then of each
    output's, empty where they are fixed:

    ```mlir
    graph.symbol "seq" from 1 to 512
    graph.model @m inputs ["x"] outputs ["y"] lengths [["", "seq"], ["", "seq"]] {
    ^bb0(%x: tensor<4x512xf32>):
    ```

    An output of `aliases` lies in the memory of an input, as a cache does behind which rows are written:

    ```mlir
    graph.model @m inputs ["past", "new"] outputs ["present"] lengths [...] aliases [["past", "present"]] {
    ```

    A *body* is what a `graph.call` of another model repeats. Its last inputs are states: output number k
    lies in the k-th of them, which holds in each round what the one before has left there:

    ```mlir
    graph.symbol "i" from 0 to 99
    graph.model @body inputs ["x", "on", "sum"] outputs ["more", "next"] aliases [["on", "more"], ["sum", "next"]]
        repeat "i" to "n" while {
    ```

    `repeat` says which name stands for the number of the round, from 0 on; `to` how many rounds there
    are; and with `while` no round begins when the first state, a boolean, is false. Without `to` there are as many rounds
    as the condition holds, and a run in which that are more than the name may stand for ends with an error.

    - C1: one input name per block argument, all different.
    - C2: the body ends in `graph.output`, with one value per output name.
    - C3: there are lengths for every port or for none, one for each dimension, of symbols of the
      module.
    - C4: an alias is of an input and an output of one type, each in no other.
    - C5: what is repeated has an end, its name is a symbol of the module that nothing else decides, its last inputs
      are its states, and the first of them is a boolean if it is a condition.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$inputs, StrArrayAttr:$outputs,
                       Graph_Lengths:$lengths, Graph_Aliases:$aliases,
                       OptionalAttr<StrAttr>:$round, OptionalAttr<StrAttr>:$rounds, UnitAttr:$conditional);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `inputs` $inputs `outputs` $outputs (`lengths` $lengths^)? (`aliases` $aliases^)?
    (`repeat` $round^)? (`to` $rounds^)? (`while` $conditional^)? attr-dict-with-keyword $body
  }];
}

def Graph_SymbolOp : Graph_Op<"symbol"> {
  let summary = "A name that lengths are made of, and the numbers it may stand for";
  let description = [{
    ```mlir
    graph.symbol "seq" from 8 to 512 multiple 8
    ```

    It stands in the module, beside the model or the program, at every stage.

    - C1: it is a name, from zero or more to no less, and some multiple lies between.
    - C2: the module has no other of the name.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$least, I64Attr:$most, OptionalAttr<I64Attr>:$multiple);
  let assemblyFormat = "$name `from` $least `to` $most (`multiple` $multiple^)? attr-dict";
}

def Graph_LengthOp : Graph_Op<"length", [Pure]> {
  let summary = "A length that callers decide, as a number in a payload";
  let description = [{
    ```mlir
    %n = graph.length "past"
    %y = tensor.insert_slice %new into %old[0, %n, 0] [8, 1, 64] [1, 1, 1] : tensor<8x1x64xf32> into tensor<8x513x64xf32>
    ```

    - C1: it is of symbols of the module.
  }];
  let arguments = (ins StrAttr:$length);
  let results = (outs Index:$result);
  let assemblyFormat = "$length attr-dict";
}

def Graph_FindOp : Graph_Op<"find", [HasParent<"ModelOp">]> {
  let summary = "A length that data decide: from here on a name stands for the number in a tensor";
  let description = [{
    ```mlir
    graph.symbol "n" from 0 to 4096
    ...
    %ends, %count = graph.op "NonZero" "nz"(%x) : ...
    graph.find "n" %count : tensor<1xi64>
    ```

    No caller says such a length; whatever is as long as that comes behind it.

    - C1: the module has the symbol, and no other operation finds it.
    - C2: the tensor is one integer of 64 bits.
    - C3: nothing before it asks for the length.
  }];
  let arguments = (ins StrAttr:$name, AnyTensor:$count);
  let assemblyFormat = "$name $count attr-dict `:` type($count)";
}

def Graph_CallOp : Graph_Op<"call", [HasParent<"ModelOp">]> {
  let summary = "Repeats a body as often as it says";
  let description = [{
    ```mlir
    %more, %sum = graph.call "loop" @body(%x, %on, %zero) : (tensor<8xf32>, tensor<i1>, tensor<8xf32>) -> (tensor<i1>, tensor<8xf32>)
    ```

    The operands are those of the body: what it reads in each round, then what its states begin as. The results
    are the states behind the last round; those in front of the first one if there is none.

    - C1: the symbol is a body with these operand types, and is called once.
    - C2: there is one result for each state, of its type.
  }];
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$body, Variadic<AnyTensor>:$operands);
  let results = (outs Variadic<AnyTensor>:$results);
  let assemblyFormat = "$name $body `(` $operands `)` attr-dict `:` functional-type($operands, $results)";
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
