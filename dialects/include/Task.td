// task: who does it, when. rTasks on virtual execution units, waits, buffers.
#ifndef TASK_TD
#define TASK_TD

include "Weft.td"

def Task_Dialect : Dialect {
  let name = "task";
  let cppNamespace = "::weft::task";
  let useDefaultTypePrinterParser = 1;
  let summary = "Programs for a virtual device: ranges of rTasks, waits, buffers.";
  let description = [{
    A program is Rammer's rProgram (OSDI'20, section 3): ranges of rTasks placed
    on virtual execution units at compile time. The order of the text is one
    total order that satisfies every wait, so fewer workers than units cannot
    hang.
  }];
}

class Task_Op<string mnemonic, list<Trait> traits = []>
    : Weft_Op<Task_Dialect, mnemonic, traits>;

def Task_TokenType : TypeDef<Task_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "That a range of rTasks is done";
}
def Task_BufferType : Type<CPred<"::llvm::isa<::mlir::MemRefType>($_self)">, "buffer">;

def Task_ProgramOp : Task_Op<"program", [IsolatedFromAbove, Symbol] # GraphRegionNoTerminator.traits> {
  let summary = "A whole model on a virtual device";
  let description = [{
    ```mlir
    task.program @double on @core units 2 arena 4096 : (tensor<4xf32>) -> tensor<4xf32> {
      %x = task.input 0 "x" : memref<4xf32>
      %y = task.output 0 "y" : memref<4xf32>
      %t = task.range "add" @add[0 to 1] on 0 (%x, %y) after() : memref<4xf32>, memref<4xf32>
    }
    ```

    `arena` is the bytes that all `task.buffer`s together need, but those in the memory of the
    host (`host_arena`) and those in the memory of a cluster of units (`cluster_arena`, in each).
    `lengths` is as in `graph.model`.

    A body (`repeat`, as in `graph.model`) is called by a range of another program. All units do it together: they wait for
    each other in front of each round and behind the last one. Its arena is memory of its own.

    Behind the units come their clusters: with eight units to a cluster, number 34 of a program
    on 32 units is the third, to which the units 16 to 23 belong.

    - C1: the machine has the unit, and at least that many of it.
    - C2: every range's unit is below `units`, or the number of a cluster.
    - C3: every buffer ends inside the arena.
    - C4: every input and output of the signature is there once, as a memref of its
      payload type.
    - C5: every range that reads an output or a buffer comes, through tokens, after
      one that writes there, nothing else having been written over it, and none
      writes an input, a weight, a literal, a constant or bytes that another of its
      operands holds.

    - C6: whatever a statement uses is made before it in the text, tokens among them: that
      order satisfies every wait, and no wait goes in a circle.
    - C7: a range touches no buffer in the memory of another cluster than its unit's.
    - C8: there are lengths for every port or for none, one for each dimension, of symbols of the
      module.
    - C9: as C5 of `graph.model`; every output of a body lies in an input.

    C5 holds of whole buffers, so ranges that work on different windows of one need
    no token. Which bytes each rTask touches, and so every order that the data
    needs, is checked by the pass `task-check-order`, which looks into the kernels.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$unit, I64Attr:$units,
                       I64Attr:$arena, OptionalAttr<ArrayAttr>:$lengths,
                       OptionalAttr<StrAttr>:$round, OptionalAttr<StrAttr>:$rounds, UnitAttr:$conditional,
                       TypeAttr:$signature);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `on` $unit `units` $units `arena` $arena (`lengths` $lengths^)?
    (`repeat` $round^)? (`to` $rounds^)? (`while` $conditional^)? `:` $signature attr-dict-with-keyword $body
  }];
}

def Task_InputOp : Task_Op<"input", [HasParent<"ProgramOp">]> {
  let summary = "A buffer the caller fills";
  let arguments = (ins I64Attr:$index, StrAttr:$name);
  let results = (outs Task_BufferType:$result);
  let assemblyFormat = "$index $name attr-dict `:` type($result)";
  let hasVerifier = 0;
}

def Task_OutputOp : Task_Op<"output", [HasParent<"ProgramOp">]> {
  let summary = "A buffer the caller reads afterwards";
  let description = [{
    ```mlir
    %y = task.output 0 "y" : memref<4xf32>
    %z = task.output 1 "z" in 0 : memref<4xf32>
    ```

    The second one lies in the memory of input 0, which the caller fills.

    - C1: the program has the input that it lies in, of its type, and no other output lies there.
  }];
  let arguments = (ins I64Attr:$index, StrAttr:$name, OptionalAttr<I64Attr>:$within);
  let results = (outs Task_BufferType:$result);
  let assemblyFormat = "$index $name (`in` $within^)? attr-dict `:` type($result)";
}

def Task_WeightOp : Task_Op<"weight", [HasParent<"ProgramOp">, Pure]> {
  let summary = "A weight of the model, as it lies in its file";
  let description = [{
    ```mlir
    %w = task.weight "conv1.weight" in "model" hash "9f86d0…" : memref<64x3x7x7xf32>
    ```
  }];
  let arguments = (ins StrAttr:$tensor, StrAttr:$file, StrAttr:$hash);
  let results = (outs Task_BufferType:$result);
  let assemblyFormat = "$tensor `in` $file `hash` $hash attr-dict `:` type($result)";
  let hasVerifier = 0;
}

def Task_LiteralOp : Task_Op<"literal", [HasParent<"ProgramOp">, Pure]> {
  let summary = "A small constant written in the text";
  let description = [{
    - C1: the literal has the shape and element type of the buffer.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Task_BufferType:$result);
  let assemblyFormat = "attr-dict $value `->` type($result)";
}

def Task_ConstantOp : Task_Op<"constant", [HasParent<"ProgramOp">]> {
  let summary = "An expression over weights, evaluated when the artifact is written";
  let description = [{
    ```mlir
    %p = task.constant "conv1" @pack(%w) : (memref<64x3x7x7xf32>) -> memref<4x3x7x7x16xf32>
    ```

    The kernel's last arguments are its results. They start as zeros, or as copies
    of the last operands, one per result, where the operands are as many as the
    kernel's arguments: for a kernel that writes only a window.

    - C1: the operands are weights, literals, constants or views of them.
    - C2: the symbol is a `tile.kernel` of these types; a result has the type of
      what it starts as.
  }];
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$kernel, Variadic<Task_BufferType>:$operands);
  let results = (outs Variadic<Task_BufferType>:$results);
  let assemblyFormat = [{
    $name $kernel `(` $operands `)` attr-dict `:` functional-type($operands, $results)
  }];
}

def Task_BufferOp : Task_Op<"buffer", [HasParent<"ProgramOp">]> {
  let summary = "A buffer in an arena";
  let description = [{
    ```mlir
    %b = task.buffer at 4096 in @dram : memref<64x56x56xf32>
    ```

    Buffers whose live ranges do not overlap may share bytes. `in @llb of 2` is the memory of the third
    cluster.

    - C1: the offset is a multiple of 64 bytes.
    - C2: the machine has the memory, and says of which cluster where that is shared by one.
  }];
  let arguments = (ins I64Attr:$offset, FlatSymbolRefAttr:$memory, OptionalAttr<I64Attr>:$cluster);
  let results = (outs Task_BufferType:$result);
  let assemblyFormat = "`at` $offset `in` $memory (`of` $cluster^)? attr-dict `:` type($result)";
}

def Task_ViewOp : Task_Op<"view", [HasParent<"ProgramOp">, Pure]> {
  let summary = "The same elements, in row-major order, under another shape";
  let description = [{
    - C1: both shapes have the same number of elements and the same element type.
  }];
  let arguments = (ins Task_BufferType:$source);
  let results = (outs Task_BufferType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
}

def Task_RangeOp : Task_Op<"range", [HasParent<"ProgramOp">, AttrSizedOperandSegments]> {
  let summary = "rTasks of one kernel, in order, on one unit";
  let description = [{
    ```mlir
    %t1 = task.range "conv1" @conv[0 to 14] on 0 (%x, %w, %y) after(%t0)
          : memref<...>, memref<...>, memref<...>
    ```

    The range starts when every token after `after` is given, and gives its own
    when its last rTask is done. Tokens name every dependence of the data, also
    those that the order of one unit would keep by itself: moving a range to
    another unit is always right.

    `at [4096, 0]` gives the kernel each buffer from that element on, and `shifts ["", "64 * past"]` from one that
    callers decide (`tile.run`).

    Where callers decide how many rTasks there are, ranges of all of them say which of several
    equal parts each does, in a run of fewer as well:

    ```mlir
    %t1 = task.range "conv1" @conv[0 to 14] part 0 of 2 on 0 (%x, %w, %y) after(%t0) : ...
    ```

    `cycles(n)` is what it takes at least on one unit by the machine's facts: the larger of
    what it computes and what it moves. It orders and reports, and changes no result.

    The symbol may be a body instead of a kernel, which has one rTask.

    - C1: begin is less than end, and end at most the kernel's number of rTasks.
    - C2: the symbol is a kernel, or a body, whose arguments have the types of the buffers.
    - C3: there is one place for each buffer, inside of it.
    - C4: a part is one of those that there are, of all rTasks of the kernel.
    - C5: there is one shift for each buffer, of symbols of the module.
  }];
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$kernel, I64Attr:$begin, I64Attr:$end,
                       OptionalAttr<I64Attr>:$part, OptionalAttr<I64Attr>:$parts, I64Attr:$unit, OptionalAttr<DenseI64ArrayAttr>:$at,
                       OptionalAttr<StrArrayAttr>:$shifts,
                       Variadic<Task_BufferType>:$buffers,
                       Variadic<Task_TokenType>:$waits, OptionalAttr<I64Attr>:$cycles);
  let results = (outs Task_TokenType:$token);
  let assemblyFormat = [{
    $name $kernel `[` $begin `to` $end `]` (`part` $part^ `of` $parts)? `on` $unit `(` $buffers `)` (`at` $at^)? (`shifts` $shifts^)?
    `after` `(` $waits `)`
    (`cycles` `(` $cycles^ `)`)? attr-dict `:` type($buffers)
  }];
}

def Task_FindOp : Task_Op<"find", [HasParent<"ProgramOp">]> {
  let summary = "A length that data decide: a name stands for the number in a buffer";
  let description = [{
    ```mlir
    %t = task.range "nz" @count[0 to 1] on 0(%ends, %n) after(%s) : memref<64xi64>, memref<1xi64>
    task.find "n" in %n after(%t) : memref<1xi64>
    ```

    The unit that does the range reads the number when it is done, before the token is given. Ranges that ask for
    the length wait for that token (`task-check-order`).

    - C1: the module has the symbol, and no other operation finds it.
    - C2: the buffer is one integer of 64 bits.
    - C3: it comes behind one range, which has the buffer and is no part of several.
  }];
  let arguments = (ins StrAttr:$name, Task_BufferType:$count, Task_TokenType:$after);
  let assemblyFormat = "$name `in` $count `after` `(` $after `)` attr-dict `:` type($count)";
}

def Task_LaunchOp : Task_Op<"launch", [HasParent<"ProgramOp">]> {
  let summary = "Where one rProgram ends and the next one begins";
  let description = [{
    ```mlir
    %t0 = task.range "a" @k[0 to 4] on 0(%x, %b) after() : memref<64xf32>, memref<64xf32>
    task.launch
    %t1 = task.range "b" @k[0 to 4] on 1(%b, %y) after(%t0) : memref<64xf32>, memref<64xf32>
    ```

    The ranges that follow start when all before are done, as a launch of their own
    (Rammer, OSDI'20, section 4: a plan is a sequence of rPrograms). It takes
    the unit's `launch_cycles`. Tokens are written across it as anywhere: without
    the line the program means the same.
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 0;
}

#endif
