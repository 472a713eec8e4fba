// tile: how kernels are tiled. rTiles, tile programs and the tile-graph.
#ifndef TILE_TD
#define TILE_TD

include "Weft.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::weft::tile";
  let useDefaultAttributePrinterParser = 1;
  let summary = "rTiles, tile programs, and the tile-graph they hang in.";
  let description = [{
    A kernel computes one perfect loop nest. Its rTiles (Roller, OSDI'22,
    section 3) say how large a tile of the iteration space is worked on in each
    memory; its loads and stores say through which memory each tensor passes. The
    tile-graph applies kernels to tensors; the memory of every edge stands where
    the tensor is made.

    Types are payload types: signless, booleans as `i8`.
  }];
}

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Weft_Op<Tile_Dialect, mnemonic, traits>;

def Tile_RTileAttr : AttrDef<Tile_Dialect, "RTile"> {
  let mnemonic = "rtile";
  let summary = "One size per loop axis, for one memory";
  let description = [{
    `#tile.rtile<"vreg" [12, 32, 1]>`: tiles of 12 × 32 points, reduced one
    step at a time, are held in the memory `@vreg`.
  }];
  let parameters = (ins StringRefParameter<"name of a device.memory">:$memory,
                        ArrayRefParameter<"int64_t", "sizes, one per axis">:$sizes);
  let assemblyFormat = "`<` $memory `[` $sizes `]` `>`";
}

def Tile_ScheduleAttr : AttrDef<Tile_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "How the tiles of a nest are walked, held in registers and moved";
  let description = [{
    ```mlir
    schedule <order = [1, 0], rows = [2, 0], slide = [3, 4], stream = @stream_f32>
    ```

    The conversion to `device` applies these and derives none of them; editing any changes the
    code. What is left out is done in the plainest way.

    | Field | Says | Left out |
    |---|---|---|
    | `order` | the loops over tiles: parallel axes, the outermost first | axes in their order |
    | `grow` | the axis along which tiles are longer where they end ragged along those that are looped over before it, as many times as they are shorter there; lanes do not count | ragged tiles are as long as others |
    | `rows` | the order in which the registers of a tile are worked on: the slowest axis first | axes in their order |
    | `slide` | the innermost reductions, written out: windows along them slide over the rows, and what several rows read is loaded once | no window slides |
    | `unroll` | reductions that are written out instead of looped over | all are loops |
    | `transpose` | the axis along which registers are stored, after a transpose in registers | along the lanes |
    | `combine_rows` | the rows whose lanes are combined by one transpose for all of them | row by row |
    | `stream` | the move that stores whole registers past the caches | the move that others take |
    | `border` | the memory in which inputs that are read past their ends are laid out with their borders | such a nest is refused |
    | `phases` | for each such input, in how many interleaved parts its rows are laid out | 1 each |
    | `operands` | for each operand of the instruction the number of the nest's, inputs before outputs, or -1 for ones everywhere | the first of the ways in which the instruction does the body |
    | `spread` | the lanes of a group along each axis: `[8, 4, 1]` are 32, each with neighbouring points of its own | all along `lanes` |
    | `interleave` | axes along which neighbours belong to different instructions of a group, so that a lane takes one operand of each by one access: of 8 instructions along 128 columns the first has columns 0, 8, 16 | an instruction's points are neighbours |
    | `neighbours` | points side by side that each lane takes of a tile along the lanes, so that it moves them by one access: of 32 lanes with 4 the first has points 0 to 3 | 1 |
    | `stages` | steps of the innermost looped reduction whose inputs have buffers at the same time; 2 is double buffering | 1 |
    | `ahead` | the move, of an engine, by which groups that share tiles bring those of later steps to rooms of their own | later tiles wait in registers |
    | `cluster` | rTasks along each axis that run at the same time on neighbouring units: `[2, 1, 1]` are two with the same tile of what axis 0 does not move, of which each brings a part and all get it | each rTask brings its tiles for itself |
    | `bands` | rTasks along one axis that are begun before the next ones along the axes behind it: with `[8, 1, 1]` of 32 x 501 rTasks the first 8 of each column follow each other, then those of the next column, so that tiles which units read at the same time are fewer | row by row |
    | `turns` | in so many turns the groups of a softmax between two products go through an rTask, each a barrier behind the ones before, where later tiles wait in registers | 1 |
    | `resident` | rTasks that are in a unit at the same time and share its registers, where `ahead` is a move that a group of its own asks for | 1 |
  }];
  let parameters = (ins
    OptionalParameter<"::mlir::DenseI64ArrayAttr", "loops over tiles, outermost first">:$order,
    OptionalParameter<"std::optional<int64_t>", "axis along which ragged tiles are longer">:$grow,
    OptionalParameter<"::mlir::DenseI64ArrayAttr", "axes of registers, slowest first">:$rows,
    OptionalParameter<"::mlir::DenseI64ArrayAttr", "taps of windows that slide over rows">:$slide,
    OptionalParameter<"::mlir::DenseI64ArrayAttr", "reductions that are written out">:$unroll,
    OptionalParameter<"std::optional<int64_t>", "axis of stored registers">:$transpose,
    OptionalParameter<"std::optional<int64_t>", "rows combined together">:$combine_rows,
    OptionalParameter<"::mlir::FlatSymbolRefAttr", "move past the caches">:$stream,
    OptionalParameter<"::mlir::FlatSymbolRefAttr", "memory of inputs with borders">:$border,
    OptionalParameter<"::mlir::DenseI64ArrayAttr", "interleaved parts of rows">:$phases,
    OptionalParameter<"::mlir::DenseI64ArrayAttr", "lanes along each axis">:$spread,
    OptionalParameter<"::mlir::DenseI64ArrayAttr", "axes whose neighbours different instructions take">:$interleave,
    OptionalParameter<"::mlir::DenseI64ArrayAttr", "the nest's operands as the instruction's">:$operands,
    OptionalParameter<"::mlir::FlatSymbolRefAttr", "move of later steps' inputs">:$ahead,
    OptionalParameter<"::mlir::DenseI64ArrayAttr", "rTasks of a cluster along each axis">:$cluster,
    OptionalParameter<"::mlir::DenseI64ArrayAttr", "rTasks of a band along each axis">:$bands,
    DefaultValuedParameter<"int64_t", "1", "steps that have buffers at the same time">:$stages,
    DefaultValuedParameter<"int64_t", "1", "points side by side of each lane">:$neighbours,
    DefaultValuedParameter<"int64_t", "1", "turns of groups, one barrier behind each other">:$turns,
    DefaultValuedParameter<"int64_t", "1", "rTasks in a unit at the same time">:$resident);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tile_GraphOp : Tile_Op<"graph", [IsolatedFromAbove, Symbol, SingleBlock]> {
  let summary = "The tile-graph: kernels applied to tensors";
  let description = [{
    ```mlir
    tile.graph @double inputs ["x"] outputs ["y"] : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%x: tensor<4xf32>):
      %e = tile.empty in @dram : tensor<4xf32>
      %y = tile.run "add" @add(%x) into(%e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      tile.output %y : tensor<4xf32>
    }
    ```

    The function type gives the graph types that callers see; `lengths`, `aliases` and `repeat` are as in
    `graph.model`. A body is called by a `tile.run`, as a kernel is: it overwrites its states.

    - C1: one input name per block argument, of the payload type of its graph type.
    - C2: the body ends in `tile.output`, with the payload types of the results.
    - C3: there are lengths for every port or for none, one for each dimension, of symbols of the
      module.
    - C4: an alias is of an input and an output of one type, each in no other.
    - C5: as C5 of `graph.model`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$inputs, StrArrayAttr:$outputs,
                       OptionalAttr<ArrayAttr>:$lengths,
                       OptionalAttr<ArrayAttr>:$aliases,
                       OptionalAttr<StrAttr>:$round, OptionalAttr<StrAttr>:$rounds, UnitAttr:$conditional,
                       TypeAttr:$signature);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `inputs` $inputs `outputs` $outputs (`lengths` $lengths^)? (`aliases` $aliases^)?
    (`repeat` $round^)? (`to` $rounds^)? (`while` $conditional^)? `:` $signature attr-dict-with-keyword $body
  }];
}

def Tile_OutputOp : Tile_Op<"output", [Pure, Terminator, HasParent<"GraphOp">]> {
  let summary = "Ends a tile-graph";
  let arguments = (ins Variadic<AnyTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let hasVerifier = 0;
}

def Tile_FindOp : Tile_Op<"find", [HasParent<"GraphOp">]> {
  let summary = "A length that data decide: from here on a name stands for the number in a tensor";
  let description = [{
    ```mlir
    tile.find "n" %count : tensor<1xi64>
    ```

    As `graph.find`.

    - C1: the module has the symbol, and no other operation finds it.
    - C2: the tensor is one integer of 64 bits.
    - C3: no run before it applies a kernel that asks for the length.
  }];
  let arguments = (ins StrAttr:$name, AnyTensor:$count);
  let assemblyFormat = "$name $count attr-dict `:` type($count)";
}

def Tile_EmptyOp : Tile_Op<"empty", []> {
  let summary = "A tensor without content, in a named memory";
  let description = [{
    ```mlir
    %e = tile.empty in @dram : tensor<4xf32>
    %t = tile.empty in @l2 at 4352 : tensor<96x128xf32>
    ```

    The memory carries every edge that leaves the tensor. In a kernel of several computes, `at` is
    the byte of the memory at which the tile that is kept of the tensor begins. Tiles share bytes if
    one was read for the last time before the other is made, or if the compute that makes the other
    one is the last to read the first, each element where it makes its own, and both begin at the
    same byte. Without `at` a tile lies behind all others.

    - C1: the machine has the memory.
    - C2: `at` is a multiple of 64 from 0 on.
  }];
  let arguments = (ins FlatSymbolRefAttr:$memory, OptionalAttr<I64Attr>:$at);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "`in` $memory (`at` $at^)? attr-dict `:` type($result)";
}

def Tile_ViewOp : Tile_Op<"view", [Pure]> {
  let summary = "The same elements, in row-major order, under another shape";
  let description = [{
    ```mlir
    %v = tile.view %x : tensor<2x8xf32> to tensor<16xf32>
    ```

    - C1: both shapes have the same number of elements and the same element type.
  }];
  let arguments = (ins AnyTensor:$source);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
}

def Tile_ConnectOp : Tile_Op<"connect", [Pure, SameOperandsAndResultType]> {
  let summary = "An edge: a tensor is handed to its readers through a memory";
  let description = [{
    ```mlir
    %h = tile.run "expand" @expand(%x, %w) into(%e) : (t, t, t) -> t
    %n = tile.connect %h in @l2 : tensor<96x112x112xf32>
    %d = tile.run "depthwise" @depthwise(%n, %v) into(%f) : (t, t, t) -> t
    ```

    `SetConnect` of Welder (OSDI'23, section 4). In a local memory, the producer of the tensor
    and the consumers of the result become one kernel (`tile-join-kernels`), which keeps a tile of
    the tensor there. Consumers of the tensor itself read it from the device's memory.

    - C1: the machine has the memory.
    - C2: what is connected is the result of a run, or a view of one.
  }];
  let arguments = (ins AnyTensor:$source, FlatSymbolRefAttr:$memory);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$source `in` $memory attr-dict `:` type($source)";
}

def Tile_RunOp : Tile_Op<"run", [AttrSizedOperandSegments]> {
  let summary = "Applies a kernel to whole tensors";
  let description = [{
    ```mlir
    %y = tile.run "conv1" @conv(%x, %w) into(%e) : (t, t, t) -> t
    ```

    The tensors after `into` are overwritten, each by the result at its place; a
    kernel that writes only a window leaves the rest as it was.

    `@conv or [@conv_wide]` names other kernels of the same meaning, in other tiles
    (Rammer's rKernels, OSDI'20, section 3): the schedule takes one of them for each run.

    `at [4096, 0]` lets the kernel see each operand from that element on, in row-major order: so
    one kernel does any box of a tensor, and its result is the operand with that box changed.

    `shifts ["", "64 * past"]` lets it see the second that many elements further on, as callers decide: where
    rows are laid out for the most that there may be, any place along a dimension is that.

    A run of a `tile.graph` that is a body does it as often as that says.

    - C1: each symbol is a `tile.kernel`, a `device.kernel` or a body with these operand types.
    - C2: the results have the types of the tensors after `into`.
    - C3: there is one place for each operand, inside of it.
    - C4: only a stitched kernel, or a `device.kernel`, sees operands from elements on.
    - C5: there is one shift for each operand, of symbols of the module.
  }];
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$kernel,
                       OptionalAttr<FlatSymbolRefArrayAttr>:$others,
                       OptionalAttr<DenseI64ArrayAttr>:$at, OptionalAttr<StrArrayAttr>:$shifts,
                       Variadic<AnyTensor>:$inputs, Variadic<AnyTensor>:$inits);
  let results = (outs Variadic<AnyTensor>:$results);
  let assemblyFormat = [{
    $name $kernel (`or` $others^)? `(` $inputs `)` `into` `(` $inits `)` (`at` $at^)? (`shifts` $shifts^)?
    attr-dict `:` functional-type(operands, $results)
  }];
}

def Tile_KernelOp : Tile_Op<"kernel", [IsolatedFromAbove, Symbol, SingleBlock]> {
  let summary = "One loop nest, as a tile program";
  let description = [{
    ```mlir
    tile.kernel @relu {
    ^bb0(%x: tensor<4096xf32>, %o: tensor<4096xf32>):
      %a = tile.load %x to @vreg : tensor<4096xf32>
      %c = tile.compute ins(%a) outs(%o) on @valu lanes 0
             tiles [#tile.rtile<"l2" [1024]>, #tile.rtile<"vreg" [64]>] : ... {
        ...payload...
      }
      %r = tile.store %c from @vreg to %o : tensor<4096xf32>
      tile.yield %r : tensor<4096xf32>
    }
    ```

    `cycles(n)` is what all its rTasks take on one unit, by the model that chose its tiles; the
    schedule estimates it where it is not said.

    The last arguments are overwritten, one per yielded value. Before tiles are
    chosen the body is the payload itself.

    A kernel of several computes makes a tile of each for one tile of the last (`tile.connect`).
    `stitched` it is one rTask that does all of them whole, one after the other (an instance of a
    sub-graph in GraphTurbo): `tile.empty` inside says in which memory a tensor waits, and computes
    `on` a move copy, or fill, by it.

    - C1: every yielded value has the type of the argument it overwrites.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<I64Attr>:$cycles,
                       UnitAttr:$stitched);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name (`cycles` `(` $cycles^ `)`)? (`stitched` $stitched^)? attr-dict-with-keyword $body
  }];
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator]> {
  let summary = "Ends a kernel or a tile.compute";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let hasVerifier = 0;
}

def Tile_LoadOp : Tile_Op<"load", [Pure, SameOperandsAndResultType]> {
  let summary = "Brings the tiles of a tensor into a memory";
  let description = [{
    ```mlir
    %a = tile.load %x to @vreg : tensor<4096xf32>
    ```

    The value is that of the operand; the tile that lies in the memory is the
    image of the compute's rTile under the access map. Between the shared memory and registers it
    has one dimension for each axis of the nest that moves along it and has several points, in
    their order, the lanes' last; or, where two axes move along one dimension, those of the tensor.

    - C1: the machine has the memory.
  }];
  let arguments = (ins AnyTensor:$source, FlatSymbolRefAttr:$memory);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$source `to` $memory attr-dict `:` type($source)";
}

def Tile_StoreOp : Tile_Op<"store", [Pure, AllTypesMatch<["source", "target", "result"]>]> {
  let summary = "Takes finished tiles from a memory to their tensor";
  let description = [{
    ```mlir
    %r = tile.store %c from @vreg to %o : tensor<4096xf32>
    ```

    - C1: the machine has the memory.
  }];
  let arguments = (ins AnyTensor:$source, FlatSymbolRefAttr:$memory, AnyTensor:$target);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$source `from` $memory `to` $target attr-dict `:` type($result)";
}

def Tile_ComputeOp : Tile_Op<"compute", [AttrSizedOperandSegments, SingleBlock]> {
  let summary = "A loop nest, its rTiles and the instruction that runs it";
  let description = [{
    ```mlir
    %r = tile.compute ins(%a, %b) outs(%c) on @vfma lanes 1
           tiles [#tile.rtile<"l2" [64, 256, 768]>, #tile.rtile<"vreg" [12, 32, 1]>]
           : (...) -> tensor<128x768xf32> { ...payload... }
    ```

    Axes are those of the payload's last `linalg.generic`, in its order; where that
    one has no reduction and only changes what one with a reduction gives it (an
    epilogue: bias, activation, residual, a cast), those of the latter. Where the epilogue
    stores another type, sums are a `tensor.empty` of their own, an input of the epilogue,
    that exists in registers only. The first rTile is
    the tile of one rTask; the last one is in registers. Between them one
    may cut a reduction, whose sums wait in the output, if that is of their type. `lanes` is the axis that the
    instruction's lanes run along; without it every point is done alone. An instruction that has axes of its own has them
    in `axes` instead: for each, the axis of the nest that it is, or -1 where one
    point of it is used. Where one of them is several axes of the nest, fused with
    the last one the fastest, each is a list.

    ```mlir
    on @mac axes [0, -1, 2]           d0 is axis 0, one point of d1, d2 is axis 2
    on @mac axes [[0], [2, 3], [1]]   d1 is axes 2 and 3
    ```

    With `layouts` the first rTile lies in a memory that several groups of lanes share, and
    they run the rTask together, each a tile as large as the last rTile. There is one layout
    per input: the axis whose neighbours lie side by side, the elements from one row to the
    next and, where rows are swizzled, the three numbers of `device.alloc`.

    ```mlir
    on @mma axes [0, 1, 2]
      tiles [#tile.rtile<"smem" [128, 128, 32]>, #tile.rtile<"reg" [64, 32, 16]>]
      layouts [array<i64: 2, 40>, array<i64: 2, 32, 2, 3, 3>]
    ```

    An input that another compute of the kernel makes in the registers of the same lanes has an empty
    layout, `array<i64>`: a factor that is what became of a product's sums.

    Rows or columns of such an instruction may be several axes of the nest, `axes [[0, 1, 2], [3], [6]]`:
    a tile is a box of them, a power of two along each, and so is what a group does of it.

    `schedule` says how the tiles are walked, held in registers and moved (`#tile.schedule`).

    `because` says why the tile was chosen: the rule by which it was constructed, how many tiles were
    compared, and the terms of its predicted cycles. It is for people; no pass reads it.

    - C1: each rTile names a memory of the machine and has one size per axis, of
      which `lanes` is one; so are those of `axes`, each at most once.
    - C2: sizes are at least 1, and an inner rTile is no larger than an outer one.
    - C3: `on` names an instruction, a lane unit or a move of the machine.
    - C4: the register rTile's accumulators fit the register memory.
    - C5: there is one layout per input of the nest, none for what its outputs start from: two
      numbers, or five; or no number for one that is held in registers.
    - C6: the axes of each field of `schedule` are of the nest, each once; those of `order` are all
      that do not reduce, those of `grow`, `rows`, `transpose` and `combine_rows` some of these, and
      those of `slide` and `unroll` reduce; none of the latter six has the lanes. Those of
      `interleave` may be any.
    - C7: `stream` is a streaming move of the machine from the registers, `border` a cache of a
      unit, `ahead` a move of an engine, and there is one number of phases for each input with a border.
    - C8: there are 1 to 16 stages, and more than one only with `axes` or `layouts`; `neighbours`
      `turns` and `resident` are 1 at least.
    - C9: lanes have every field but `stages` and `spread`, an instruction with `axes` has `order`,
      `stages` and `operands`, lanes whose groups share tiles (`layouts`) have `spread`, `stages`
      `ahead` and `operands`, other instructions whose groups do have `interleave`, `stages`, `ahead`,
      `cluster`, `bands`, `turns`, `resident` and `operands`, and moves have none.
    - C10: `spread` has one number from 1 on for each axis, which divides the last rTile's; their
      product are the lanes of its memory.
    - C11: `operands` has one number for each operand of the instruction, of an operand of the nest
      or -1.
    - C12: `cluster` has one number from 1 on for each axis, above 1 along one that does not reduce; so has `bands`.
  }];
  let arguments = (ins Variadic<AnyTensor>:$inputs, Variadic<AnyTensor>:$inits,
                       FlatSymbolRefAttr:$instruction,
                       OptionalAttr<I64Attr>:$lanes, OptionalAttr<ArrayAttr>:$axes,
                       TypedArrayAttrBase<Tile_RTileAttr, "rTiles">:$tiles,
                       OptionalAttr<TypedArrayAttrBase<DenseI64ArrayAttr, "layouts">>:$layouts,
                       OptionalAttr<Tile_ScheduleAttr>:$schedule,
                       OptionalAttr<StrAttr>:$because);
  let results = (outs Variadic<AnyTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `ins` `(` $inputs `)` `outs` `(` $inits `)` `on` $instruction (`lanes` $lanes^)?
    (`axes` $axes^)? `tiles` $tiles (`layouts` $layouts^)? (`schedule` $schedule^)?
    (`because` $because^)? attr-dict-with-keyword
    `:` functional-type(operands, $results) $body
  }];
}

#endif
