// device: with which instructions. A machine, and programs in its instructions.
#ifndef DEVICE_TD
#define DEVICE_TD

include "Weft.td"

def Device_Dialect : Dialect {
  let name = "device";
  let cppNamespace = "::weft::device";
  let useDefaultTypePrinterParser = 1;
  let summary = "Machines described as facts, and programs in their instructions.";
  let description = [{
    The machine half says what a chip is: memories, moves, units, instructions.
    An instruction's *meaning* is a payload of the same form as a kernel's, its
    *lowering* says how it is written in lower-level IR.

    The program half names those facts: a kernel allocates in a named memory,
    copies by a named move and invokes a named instruction. A tensor in a memory
    is a `memref` whose memory space is the memory's name; kernel arguments lie
    in the memory that the whole device shares and carry none.

    A machine may hold the vendor's own dialect, an `irdl.dialect` whose operations
    stand in lowerings, and `pdl.pattern`s on them.
  }];
  let extraClassDeclaration = [{
    /// What texts of this context declared by `irdl.dialect`, by name.
    ::llvm::StringMap<std::string> vendorDialects;
  }];
}

class Device_Op<string mnemonic, list<Trait> traits = []>
    : Weft_Op<Device_Dialect, mnemonic, traits>;

def Device_MemRef : Type<CPred<"::llvm::isa<::mlir::MemRefType>($_self)">, "memref">;

def Device_TokenType : TypeDef<Device_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "That an asynchronous copy or instruction is done";
}

//===----------------------------------------------------------------------===//
// The machine half
//===----------------------------------------------------------------------===//

def Device_MachineOp : Device_Op<"machine", [IsolatedFromAbove, Symbol, SymbolTable,
                                             SingleBlock, NoTerminator]> {
  let summary = "Everything weft knows about a machine";
  let description = [{
    ```mlir
    device.machine @host arch("x86-64") features(["avx2", "fma"]) { ... }
    ```

    `features` are those that a processor must have to run the code, by LLVM's
    names. `tune("icelake-server")` names the processor, as LLVM does, for which the instructions
    of a kernel are ordered; code runs on others as well. Without it LLVM's order is that for
    an old one, which spills registers that large tiles need.

    - C1: there is a memory of scope `device` that is no cache.
    - C2: there is a unit.
    - C3: a `pdl.pattern` calls no native function, since a machine file has none.
    - C4: the operations of a pattern that bear the name of a dialect of the machine are
      declared there.
    - C5: every number in braces of a vendor operation's encoding is that of an operand.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$arch, OptionalAttr<StrAttr>:$tune,
                       StrArrayAttr:$features);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `arch` `(` $arch `)` (`tune` `(` $tune^ `)`)?
    `features` `(` $features `)` attr-dict-with-keyword $body
  }];
}

def Device_MemoryOp : Device_Op<"memory", [Symbol, HasParent<"MachineOp">]> {
  let summary = "A memory, a cache or a register file";
  let description = [{
    ```mlir
    device.memory @l2 scope("core") capacity_bytes(1048576) caches(@dram) bytes_per_cycle(64)
    device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)
    ```

    `scope` says who shares it: `thread`, `warp`, `warpgroup`, `core`,
    `cluster`, `device` or `host`. A cache is filled by access, not by a move. A
    memory with `register_bytes` holds that many bytes a register. Where registers
    are spread over `lanes`, threads that go in step, a register holds one element
    of any type for each of them, and a lane moves `access_bytes` at once between its registers and
    other memories (16 without it). With `row_bytes` a register is a *tile*: rows of so many bytes, one behind the other, which
    instructions take whole and no lane unit works in. Tiles do not take `reserved_bytes` of a register file, which are
    left to addresses and what instructions work with: a quarter without it.
    What is stored through a cache is read first and written back later: it takes
    `store_bytes_per_cycle`, half of `bytes_per_cycle` without it.
    A run of bytes that does not follow the one before it takes `jump_cycles` beside its bytes, for
    nothing brings it before it is asked for. Of rows that are read side by side, `prefetch_streams` are followed:
    each goes on where it stopped, and what comes next was brought.
    Addresses a multiple of `way_bytes` apart compete for the same places of a cache,
    which has capacity / way of them.
    `static_bytes` is what a kernel may have of it without asking for more when it is
    started, where that is less than the capacity: blocks of matrix instructions ask.
    `host` names the host's own fact that takes the place of the capacity where the machine is
    the one that compiles: `l1d`, `l2`, `l3` or `memory`.
    `within` names the memory among whose addresses are those of this one: what moves to or
    from that memory reaches this one, too, at the rate of this one.

    Clauses behind the capacity stand in any order.

    - C1: capacities, bandwidths, transaction, jump, way, banks, register size and lanes are above zero.
    - C2: the scope is one of those above.
    - C3: a cache caches a memory of the machine, and a row of caches does not lead
      back to itself.
    - C4: registers divide the capacity.
    - C5: `host` is one of those above.
    - C6: only registers are spread over lanes, 1,024 at most, and only these have `access_bytes`.
    - C7: only registers have a part in `core_bytes` and `reserved_bytes`, which are less than all.
    - C8: what has addresses within those of another memory is shared by a cluster, is no cache
      and no registers, and the only one; the other is the one that the whole device shares.
    - C9: rows divide a register, which is spread over no lanes.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$scope, I64Attr:$capacity_bytes,
                       OptionalAttr<FlatSymbolRefAttr>:$caches,
                       OptionalAttr<FlatSymbolRefAttr>:$within,
                       OptionalAttr<I64Attr>:$register_bytes,
                       OptionalAttr<I64Attr>:$row_bytes,
                       OptionalAttr<I64Attr>:$lanes,
                       OptionalAttr<I64Attr>:$access_bytes,
                       OptionalAttr<I64Attr>:$reserved_bytes, OptionalAttr<I64Attr>:$core_bytes,
                       OptionalAttr<I64Attr>:$bytes_per_cycle,
                       OptionalAttr<I64Attr>:$store_bytes_per_cycle,
                       OptionalAttr<I64Attr>:$gbytes_per_second,
                       OptionalAttr<I64Attr>:$transaction_bytes,
                       OptionalAttr<I64Attr>:$jump_cycles,
                       OptionalAttr<I64Attr>:$prefetch_streams,
                       OptionalAttr<I64Attr>:$way_bytes,
                       OptionalAttr<I64Attr>:$banks, OptionalAttr<I64Attr>:$bank_bytes,
                       OptionalAttr<I64Attr>:$static_bytes, OptionalAttr<StrAttr>:$host);
  let assemblyFormat = [{
    $sym_name `scope` `(` $scope `)` `capacity_bytes` `(` $capacity_bytes `)`
    oilist(`caches` `(` $caches `)`
          | `within` `(` $within `)`
          | `register_bytes` `(` $register_bytes `)`
          | `row_bytes` `(` $row_bytes `)`
          | `lanes` `(` $lanes `)`
          | `access_bytes` `(` $access_bytes `)`
          | `reserved_bytes` `(` $reserved_bytes `)`
          | `core_bytes` `(` $core_bytes `)`
          | `bytes_per_cycle` `(` $bytes_per_cycle `)`
          | `store_bytes_per_cycle` `(` $store_bytes_per_cycle `)`
          | `gbytes_per_second` `(` $gbytes_per_second `)`
          | `transaction_bytes` `(` $transaction_bytes `)`
          | `jump_cycles` `(` $jump_cycles `)`
          | `prefetch_streams` `(` $prefetch_streams `)`
          | `way_bytes` `(` $way_bytes `)`
          | `banks` `(` $banks `)`
          | `bank_bytes` `(` $bank_bytes `)`
          | `static_bytes` `(` $static_bytes `)`
          | `host` `(` $host `)`)
    attr-dict
  }];
}

def Device_UnitOp : Device_Op<"unit", [Symbol, HasParent<"MachineOp">]> {
  let summary = "Execution units of one kind";
  let description = [{
    ```mlir
    device.unit @core count(2) clock_mhz(3000)
    ```

    `host("cores")`: the host's own count takes the place of this one where the machine is the one
    that compiles. `partitions` are
    the parts of a unit that issue side by side, each a warp at a time; 1 without it. Where registers
    are spread over lanes, `block_lanes` are the most that one rTask may have in all its groups (1024
    without it), `groups` how many groups of lanes a unit takes turns with while each waits for
    what it loads (8), and `barrier_cycles` what it takes until all groups of an rTask have met (40). In so many
    `turns` groups may go through an rTask, those of each a barrier behind the ones before (1).
    `handover_cycles` is what work must be worth before another unit is given a part
    of it: what it takes to start it there and to wait for it. `wait_cycles` pass from
    the end of a range of rTasks until one on another unit that waits for it starts; none
    without it. `launch_cycles` is what starting a program takes, all units at once;
    where it is not said, programs are not cut in launches.
    `cluster` names the units that stand for groups of these: with 8 of it to 32, each is four
    that follow each other, which share a memory of scope `cluster`; a program may give it work
    for engines of its own.

    Clauses behind the count stand in any order.

    - C1: count, clock, partitions, lanes of a block, groups, barrier, turns, handover, wait and launch are
      above zero, and there are at most 65,536 units.
    - C2: `host` is `cores`.
    - C3: the machine has the cluster behind the unit, it is in none itself, and their number
      divides that of the units.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$count, OptionalAttr<I64Attr>:$clock_mhz,
                       OptionalAttr<FlatSymbolRefAttr>:$cluster,
                       OptionalAttr<I64Attr>:$partitions,
                       OptionalAttr<I64Attr>:$block_lanes, OptionalAttr<I64Attr>:$groups,
                       OptionalAttr<I64Attr>:$barrier_cycles,
                       OptionalAttr<I64Attr>:$turns,
                       OptionalAttr<I64Attr>:$handover_cycles, OptionalAttr<I64Attr>:$wait_cycles,
                       OptionalAttr<I64Attr>:$launch_cycles, OptionalAttr<StrAttr>:$host);
  let assemblyFormat = [{
    $sym_name `count` `(` $count `)`
    oilist(`clock_mhz` `(` $clock_mhz `)`
          | `cluster` `(` $cluster `)`
          | `partitions` `(` $partitions `)`
          | `block_lanes` `(` $block_lanes `)`
          | `groups` `(` $groups `)`
          | `barrier_cycles` `(` $barrier_cycles `)`
          | `turns` `(` $turns `)`
          | `handover_cycles` `(` $handover_cycles `)`
          | `wait_cycles` `(` $wait_cycles `)`
          | `launch_cycles` `(` $launch_cycles `)`
          | `host` `(` $host `)`)
    attr-dict
  }];
}

def Device_EngineOp : Device_Op<"engine", [Symbol, HasParent<"MachineOp">]> {
  let summary = "Hardware that executes moves or instructions beside a unit";
  let description = [{
    ```mlir
    device.engine @dma on @core queue(8)
    ```

    Each unit has one. It executes operations in order, from a queue of so many
    entries; the unit waits while the queue is full. Boxes of tensors (`device.move`) may end in any order.

    - C1: the machine has the unit.
    - C2: the queue is longer than zero.
    - C3: a move or an instruction names it.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$unit, I64Attr:$queue);
  let assemblyFormat = "$sym_name `on` $unit `queue` `(` $queue `)` attr-dict";
}

def Device_MoveOp : Device_Op<"move", [Symbol, IsolatedFromAbove, HasParent<"MachineOp">]> {
  let summary = "A way from one memory to another";
  let description = [{
    ```mlir
    device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
    ```

    `issue_cycles` is the time between two moves of one register, `strided`
    says that elements need not lie side by side, `least_bytes` how many bytes of them do at least,
    at both ends and aligned, in what a lane moves at once; `fills` that it can also write
    one number to every place, `streams` that it writes whole registers past the
    caches: for what is not read again while it would still be there. A copy by it goes
    to multiples of a register's bytes, counted from the memref's begin; where that
    itself is none, code takes the first move between the memories. What an `engine`
    does runs beside the unit and gives a token. `encoding` is the assembly of a transfer, with `{from}`, `{to}`,
    `{sizes}`, `{from_strides}`, `{to_strides}`, `{type}` of the elements and, for a
    fill, `{value}`. Addresses and strides are in bytes. Clauses behind the memories stand in any order.

    A move to registers of lanes may be one for which each lane gives the address of a *piece*,
    elements side by side, and gets elements of pieces whose addresses others gave. `gathers` maps
    lane and slot to the lane that gave the address and the place in its piece; the lowering takes
    the pointer to one lane's piece and yields its slots.

    ```mlir
    device.move @rows from @smem to @reg issue_cycles(1.0) latency_cycles(23)
      gathers(affine_map<(l, s) -> (8 * (s floordiv 2) + l floordiv 4, 2 * (l mod 4) + s mod 2)>)
    lowering {
    ^bb0(%at: !llvm.ptr<3>):
      ...
      device.yield %d : vector<8xi16>
    }
    ```

    A move to tile registers may have a lowering from the pointer to the first row and the distance of rows in bytes to a
    vector with all bytes of the register; one from tile registers takes that vector first, and yields nothing.

    ```mlir
    device.move @tile_load from @dram to @tmm issue_cycles(8.0) latency_cycles(20) strided fills
    lowering {
    ^bb0(%at: !llvm.ptr, %distance: i64):
      ...
      device.yield %d : vector<256xi32>
    }
    ```

    A move by an engine may bring whole boxes of a tensor by coordinates, of which one thread asks for all: `boxes`
    says of which. What a box has beyond the end of the tensor becomes zero, and boxes come in any order.

    ```mlir
    device.move @stage_boxes from @global to @smem engine(@tensor_copies) latency_cycles(600) strided
      boxes({dims = 5, points = 256, step_bytes = 16, line_bytes = 128, swizzle = [3, 4, 3], align_bytes = 1024})
    ```

    A tensor has at most `dims` dimensions, whose strides are multiples of `step_bytes`, a box at most `points`
    along each. A target is not swizzled, or as `swizzle` says, `[bits, keep, shift]` of addresses in bytes: rows of
    the box are `line_bytes` then. Boxes begin at multiples of `align_bytes` there. With `units` a box may go to the same
    place of so many units at once that run rTasks of a cluster, which meet in `meet_cycles`.

    With `producer_lanes` those lanes of a core ask for the kernel's boxes and do nothing else. Each keeps
    `producer_bytes` of registers, and the others get what that leaves, in pieces of `share_bytes`.

    ```mlir
    device.move @stage_boxes_apart from @global to @smem engine(@tensor_copies) latency_cycles(600) strided
      boxes({..., producer_lanes = 128, producer_bytes = 96, share_bytes = 32})
    ```

    - C1: both memories belong to the machine.
    - C2: cycles, bandwidth and least bytes are above zero.
    - C3: the engine belongs to the machine.
    - C4: every name in braces of an encoding is one of those above.
    - C5: what gathers goes to a register file of lanes, is done by no engine, and has a lowering, from a pointer to
      one vector; of other moves those to and from tile registers may have one, as above. Its map gives every lane and slot a lane, and a place in a piece
      that is a power of two of elements.
    - C6: what brings boxes is done by an engine, steps, and says all numbers of them, above zero; the swizzle
      where there is one, `units` and `meet_cycles` both or none, and all three numbers of a producer or none, its registers
      in whole shares, without `units`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$source,
                       FlatSymbolRefAttr:$target, OptionalAttr<FlatSymbolRefAttr>:$engine,
                       OptionalAttr<I64Attr>:$bytes_per_cycle,
                       OptionalAttr<F64Attr>:$issue_cycles,
                       OptionalAttr<I64Attr>:$latency_cycles,
                       OptionalAttr<I64Attr>:$least_bytes, UnitAttr:$strided,
                       UnitAttr:$fills, UnitAttr:$streams,
                       OptionalAttr<StrAttr>:$encoding, OptionalAttr<AffineMapAttr>:$gathers,
                       OptionalAttr<DictionaryAttr>:$boxes);
  let regions = (region MaxSizedRegion<1>:$lowering);
  let assemblyFormat = [{
    $sym_name `from` $source `to` $target
    oilist(`engine` `(` $engine `)`
          | `bytes_per_cycle` `(` $bytes_per_cycle `)`
          | `issue_cycles` `(` $issue_cycles `)`
          | `latency_cycles` `(` $latency_cycles `)`
          | `least_bytes` `(` $least_bytes `)`
          | `strided` $strided
          | `fills` $fills
          | `streams` $streams
          | `encoding` `(` $encoding `)`
          | `gathers` `(` $gathers `)`
          | `boxes` `(` $boxes `)`)
    attr-dict-with-keyword (`lowering` $lowering^)?
  }];
}

def Device_LanesOp : Device_Op<"lanes", [Symbol, HasParent<"MachineOp">]> {
  let summary = "A unit that applies scalar operations to every lane of a register";
  let description = [{
    ```mlir
    device.lanes @valu on @core in @vreg issue_cycles(0.5) latency_cycles(4)
      types([f32, i32]) operations(["arith.addf", "arith.addi"]) reductions(["arith.addf"])
    ```

    A family of instructions: each of the operations, on each of the types, on
    as many lanes as a register of the memory holds. `reductions` lists what can
    combine the lanes of one register. The meaning of an operation is that of
    the upstream operation of the name.

    What code around the operations takes, in cycles of the unit, in any order:

    | Clause | Cycles | Left out |
    |---|---|---|
    | `operation_cycles` | between two of an operation on one register, where they are not `issue_cycles` | eight times `issue_cycles` for `arith.divf`, `arith.divsi`, `arith.remsi` and `math.sqrt` |
    | `shuffle_cycles` | to exchange lanes of two registers | 1 |
    | `step_cycles` | of one round of a loop beside what it does | 0.5 |
    | `tile_cycles` | to begin and to end the loops of one register tile | 6 |
    | `member_cycles` | between the tiles of two kernels that were joined: places are added up, loops begin and end | 100 |

    ```mlir
    reductions(["arith.addf"]) operation_cycles({arith.divf = 10.0, math.sqrt = 12.0}) step_cycles(0.5)
    ```

    - C1: the unit and the memory belong to the machine, and the memory is a register file.
    - C2: every type fits a register a whole number of times.
    - C3: cycles are above zero; those of a step, a tile and a member may be zero.
    - C4: `operation_cycles` are numbers, of operations in `operations`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$unit,
                       FlatSymbolRefAttr:$memory, F64Attr:$issue_cycles, I64Attr:$latency_cycles,
                       TypeArrayAttr:$types, StrArrayAttr:$operations, StrArrayAttr:$reductions,
                       OptionalAttr<DictionaryAttr>:$operation_cycles,
                       OptionalAttr<F64Attr>:$shuffle_cycles, OptionalAttr<F64Attr>:$step_cycles,
                       OptionalAttr<F64Attr>:$tile_cycles,
                       OptionalAttr<F64Attr>:$member_cycles);
  let assemblyFormat = [{
    $sym_name `on` $unit `in` $memory `issue_cycles` `(` $issue_cycles `)`
    `latency_cycles` `(` $latency_cycles `)` `types` `(` $types `)`
    `operations` `(` $operations `)` `reductions` `(` $reductions `)`
    oilist(`operation_cycles` `(` $operation_cycles `)`
          | `shuffle_cycles` `(` $shuffle_cycles `)`
          | `step_cycles` `(` $step_cycles `)`
          | `tile_cycles` `(` $tile_cycles `)`
          | `member_cycles` `(` $member_cycles `)`)
    attr-dict
  }];
}

def Device_InstructionOp : Device_Op<"instruction", [Symbol, IsolatedFromAbove, HasParent<"MachineOp">]> {
  let summary = "An instruction: operands, cost, meaning and lowering";
  let description = [{
    ```mlir
    device.instruction @vfma on @core operands([@dram, @vreg, @vreg])
      issue_cycles(0.5) latency_cycles(4)
    meaning {
    ^bb0(%a: tensor<f32>, %b: tensor<16xf32>, %c: tensor<16xf32>):
      %d = linalg.generic ... ins(%a, %b) outs(%c) { mulf, addf }
      device.yield %d : tensor<16xf32>
    } lowering {
    ^bb0(%a: f32, %b: vector<16xf32>, %c: vector<16xf32>):
      %s = vector.broadcast %a : f32 to vector<16xf32>
      %d = vector.fma %s, %b, %c : vector<16xf32>
      device.yield %d : vector<16xf32>
    }
    ```

    `operands` says in which memory each operand of the meaning lies; results
    overwrite the last operands. `accuracy` states what may differ from the
    meaning: `accumulation_order`, `rounding`, `flush_to_zero`. What an `engine`
    does runs beside the unit and gives a token. `gflops` is what it reaches on all
    units, in 10⁹ operations a second, where that was measured; without it
    `issue_cycles` and the clock say so.

    `requires` names features, by LLVM's names, that not every processor of the file has. When the
    file is loaded, an instruction is left out whose features the machine lacks: it has those of the
    file, those of the host where it is the host, and those of `--device NAME+feature`.

    Operands in registers that are spread over lanes have a *fragment*: which
    element slot `s` of lane `l` holds. The lowering then takes the slots of one lane.

    ```mlir
    fragments([affine_map<(l, s) -> (l floordiv 4, 2 * (l mod 4) + s)>, unit, unit])
    ```

    An operand in a memory without registers may be its byte address there in the
    lowering, an `index`. `encoding` is the assembly of one invocation, with the
    address of operand `n` for `{n}`.

    An instruction that takes an operand from a memory of banks may read it in one *layout*
    only: the last dimensions of the buffer that the operand is a part of, and `bits, keep,
    shift` of its swizzle. An operand with more columns than the last dimension goes on in the
    next of the dimensions before, a *panel*. Its address is that of its first element as if
    nothing was swizzled.

    ```mlir
    layouts([[64, 3, 3, 3], [64, 64, 3, 3, 3], unit])
    ```

    The lowering of what an engine does on a machine with threads begins it and closes one group of
    it, which a `device.wait` counts. In a lowering, `builtin.unrealized_conversion_cast` goes from a vector to an LLVM struct of
    as many elements, and back.

    - C1: the unit and every operand's memory belong to the machine.
    - C2: one operand memory per argument of the meaning.
    - C3: an operand in a register file is no larger than a register, unless it has
      a fragment.
    - C4: the lowering has one argument per operand, with as many elements, of
      the same element type; or the slots of its fragment, or an address.
    - C5: meaning and lowering yield the same number of results, of the shapes and
      element types of the operands that they overwrite; a lowering that writes to
      addresses yields nothing for them.
    - C6: cycles and `gflops` are above zero.
    - C7: the engine belongs to the machine.
    - C8: a fragment gives every element to the same number of slots, and none outside
      of the operand; there is one fragment or `unit` per operand.
    - C9: every number in braces of an encoding is that of an operand.
    - C10: there is one layout or `unit` per operand; a layout is one or two dimensions and
      a swizzle, of an operand of two dimensions that is an address in the lowering.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$unit,
                       OptionalAttr<FlatSymbolRefAttr>:$engine, ArrayAttr:$operands,
                       OptionalAttr<ArrayAttr>:$fragments, OptionalAttr<ArrayAttr>:$layouts,
                       F64Attr:$issue_cycles, I64Attr:$latency_cycles,
                       OptionalAttr<I64Attr>:$gflops,
                       OptionalAttr<StrArrayAttr>:$requires,
                       OptionalAttr<StrArrayAttr>:$accuracy, OptionalAttr<StrAttr>:$encoding);
  let regions = (region SizedRegion<1>:$meaning, SizedRegion<1>:$lowering);
  let assemblyFormat = [{
    $sym_name `on` $unit (`engine` `(` $engine^ `)`)? `operands` `(` $operands `)`
    (`fragments` `(` $fragments^ `)`)? (`layouts` `(` $layouts^ `)`)? `issue_cycles` `(` $issue_cycles `)`
    `latency_cycles` `(` $latency_cycles `)` (`gflops` `(` $gflops^ `)`)?
    (`requires` `(` $requires^ `)`)?
    (`accuracy` `(` $accuracy^ `)`)? (`encoding` `(` $encoding^ `)`)? attr-dict-with-keyword `meaning` $meaning `lowering` $lowering
  }];
}

def Device_YieldOp : Device_Op<"yield", [Pure, Terminator]> {
  let summary = "Ends a meaning, a lowering, or the body of a device.apply";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let hasVerifier = 0;
}

//===----------------------------------------------------------------------===//
// The program half
//===----------------------------------------------------------------------===//

def Device_KernelOp : Device_Op<"kernel", [IsolatedFromAbove, Symbol, SingleBlock, NoTerminator]> {
  let summary = "One kernel in the machine's instructions";
  let description = [{
    ```mlir
    device.kernel @relu tasks 4 {
    ^bb0(%task: index, %x: memref<4096xf32>, %y: memref<4096xf32>):
      ...
    }
    ```

    The body runs once for every rTask below `tasks`, whose number it gets first.

    With `groups` so many groups of lanes run each rTask together: every one of them runs
    the whole body, and `device.group` is its number. Registers are each group's own. What
    lies in another memory is everybody's: a transfer or a fill between such memories is
    done once, dealt out to the lanes of all groups.

    ```mlir
    device.kernel @mm tasks 64 groups 4 {
    ^bb0(%task: index, %x: memref<512x512xf32>, ...):
      %group = device.group
      %s = device.alloc : memref<64x16xf32, "smem">
      device.transfer @stage %x[%i, %k] to %s[%c0, %c0] ...       // all groups together
      device.barrier "core"
      device.transfer @smem_load %s[%row, %c0] to %r[%c0] ...     // each group for itself
      device.barrier "core"
    ```

    A kernel that is written by hand states with a contract what its rTasks touch, so that plans mix
    them with other rTasks: those form a grid, the last dimension running fastest, and of each
    argument an rTask touches one block, at the place that its map gives, counted in blocks. It
    takes so many cycles in all on one unit.

    ```mlir
    device.kernel @gemm tasks 8 contract grid [4, 2]
      blocks [array<i64: 16, 64>, array<i64: 64, 32>, array<i64: 16, 32>]
      places [affine_map<(i, j) -> (i, 0)>, affine_map<(i, j) -> (0, j)>, affine_map<(i, j) -> (i, j)>]
      cycles 4096 {
    ^bb0(%task: index, %x: memref<64x64xf32>, %w: memref<64x64xf32>, %y: memref<64x64xf32>):
      ...
    }
    ```

    With a cluster `[rTasks, distance]` so many rTasks run at the same time, on units beside each other: of 2 that
    are 32 apart, 0 and 32, then 1 and 33. They may bring boxes `together`, and wait for each other by a barrier
    of scope "cluster".

    ```mlir
    device.kernel @mm tasks 512 groups 2 cluster [2, 32] {
    ```

    With bands `[rTasks, all, distance]` a launch begins rTasks in another order. Of `all` whose numbers are `distance` apart
    the first `rTasks` are a band: they are begun, then as many whose numbers are one higher, until the band is done; then the
    next band, of which the last may have fewer.

    ```mlir
    device.kernel @wide tasks 16032 groups 2 bands [8, 32, 501] {          0, 501, .. 3507, 1, 502, ..
    ```

    Where a group of its own asks for boxes, `resident` says how many rTasks are in a unit at the same time and
    share its registers.

    ```mlir
    device.kernel @attention tasks 1536 groups 2 resident 2 {
    ```

    With `turns` groups go through an rTask one barrier behind each other: of 8 in 2 turns the last four come to
    the first barrier when the first four come to the second one. While some multiply others fold rows.

    ```mlir
    device.kernel @attention tasks 768 groups 8 turns 2 {
    ```

    With a `length` callers decide how many of its rTasks there are in a run, numbered without gaps;
    `device.length` gives its code what callers decide:

    ```mlir
    device.kernel @rows tasks 64 length "ceil(seq, 8)" {
    ^bb0(%task: index, %x: memref<512x768xf32>, %y: memref<512x768xf32>):
      %rows = device.length "seq"
    ```

    - C1: the first argument is an index, the others are memrefs of static shape.
    - C2: there is at least one rTask, and at least one group.
    - C3: what groups do together they do alike: a transfer or a fill between memories that
      they share, and a barrier wider than a group, stand under no condition and take no
      index that depends on `device.group`.
    - C4: between a write to memory that the groups share and what reads it, and between
      that and the next write, stands a barrier of scope "core"; as many as a kernel has `turns`. An engine reads and writes
      until a token is waited for that was given with it or later, of boxes its own, for which all groups wait and
      need no barrier to read them. A transfer that is `after` an arrival is in order behind what groups did before they
      arrived. Behind a barrier it is not, if a group of its own asks for it. It begins, and is waited
      for, under no condition. So it is with one group that begins an engine's instructions. A buffer's first dimension may be rooms: accesses to
      [n, ...] and to [(round + n) mod count, ...] with different n need no barrier between them. Between the use
      of what rTasks of a cluster bring together and the next that is brought there stands a barrier of scope "cluster".
      A kernel waits for every box.
    - C5: a contract's grid has as many points as there are rTasks; of each argument it says a
      block of the argument's rank and the place of that, affine in the grid's dimensions; every
      block begins inside of its argument.
    - C6: a cluster is two rTasks or more, as many as a move of boxes serves at most, and the kernel's rTasks
      are whole clusters.
    - C7: what the rTasks of a cluster do together, to bring one box and to wait for each other, they do alike: by
      no index that differs between them; these and their own boxes, with which they count, under no condition that
      does.
    - C8: where a group of its own asks for boxes, it asks for all of them. Its lanes and those of the other groups are a
      block's at most, the others' whole times as many, and what it keeps of the registers is no more than its share. It does not
      meet others: rTasks are no clusters, boxes are of what the kernel does not write, go to buffers with bytes of their own, and
      in a loop are `after` an arrival; no number is loaded that the kernel writes. Only there rTasks are `resident`: as many
      as have room in a unit.
    - C9: groups are as many in each of 2 `turns` or more, and in no more than the unit has; a kernel with turns begins
      no boxes, and has no cluster.
    - C10: a band is 2 rTasks or more of at least as many, 2 or more apart; the kernel's rTasks are whole times all of them.
      Clusters as far apart are whole in a band; others lie between its rTasks, or have whole bands between theirs.
    - C11: its length is of symbols of the module, and it has one where its code asks for one.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$tasks, OptionalAttr<StrAttr>:$length, OptionalAttr<I64Attr>:$groups,
    OptionalAttr<I64Attr>:$turns, OptionalAttr<I64Attr>:$resident, OptionalAttr<DenseI64ArrayAttr>:$cluster,
    OptionalAttr<DenseI64ArrayAttr>:$bands, OptionalAttr<DenseI64ArrayAttr>:$grid, OptionalAttr<ArrayAttr>:$blocks,
    OptionalAttr<AffineMapArrayAttr>:$places, OptionalAttr<I64Attr>:$cycles);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `tasks` $tasks (`length` $length^)? (`groups` $groups^)? (`turns` $turns^)? (`resident` $resident^)? (`cluster` $cluster^)?
    (`bands` $bands^)?
    (`contract` `grid` $grid^ `blocks` $blocks `places` $places `cycles` $cycles)?
    attr-dict-with-keyword $body
  }];
}

def Device_GroupOp : Device_Op<"group", [Pure]> {
  let summary = "The number of the group among those that run the rTask, from zero";
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 0;
}

def Device_LengthOp : Device_Op<"length", [Pure]> {
  let summary = "A length that callers decide";
  let description = [{
    ```mlir
    %rows = device.length "seq + 1"
    ```

    - C1: it is of symbols of the module.
  }];
  let arguments = (ins StrAttr:$length);
  let results = (outs Index:$result);
  let assemblyFormat = "$length attr-dict";
}

def Device_AllocOp : Device_Op<"alloc", []> {
  let summary = "A buffer in a named memory, until the end of the block";
  let description = [{
    ```mlir
    %acc = device.alloc : memref<12x2x16xf32, "vreg">
    ```

    With `swizzle [bits, keep, shift]` element `x` of the row-major order is stored at
    `x ^ ((x >> shift) & ((1 << bits) - 1) << keep)`, so that rows begin in different banks.

    With `at N` the buffer is in the arena that the kernel has in the memory, from byte `N` on;
    buffers whose live ranges do not overlap may share bytes:

    ```mlir
    %scores = device.alloc at 0 : memref<32x128xf32, "l2">
    %sums = device.alloc at 16384 : memref<32xf32, "l2">
    ```

    - C1: the shape is static, and the machine has the memory of the type's space.
    - C2: the buffer is no larger than the memory.
    - C3: in a register file the last dimension fills at most one register.
    - C4: the bits of a swizzle are `1 ≤ bits ≤ shift`; the buffer is a whole number of
      blocks of `2^(keep + bits)` elements, and is not in registers.
    - C5: a buffer in an arena begins at a multiple of 64 bytes and ends inside what a kernel may
      have of the memory, which is no register file; it stands in the kernel's own block.
    - C6: buffers that share bytes are used one after the other: the last operation of the block
      that uses one, itself or inside it, comes before the first that uses the other.
    - C7: where registers are spread over lanes, these meet at a `device.barrier` of the block
      between the first operation of it that uses a buffer and the last, and between the last that
      uses one and the first that uses another of the same bytes.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset, OptionalAttr<DenseI64ArrayAttr>:$swizzle);
  let results = (outs Device_MemRef:$result);
  let assemblyFormat = "(`at` $offset^)? (`swizzle` $swizzle^)? attr-dict `:` type($result)";
}

def Device_CopyOp : Device_Op<"copy", [AttrSizedOperandSegments]> {
  let summary = "Copies elements by a move of the machine";
  let description = [{
    ```mlir
    device.copy @load %x[%i, %j] to %r[%c0] count 16 : memref<8x64xf32> to memref<16xf32, "vreg">
    device.copy @load %x[%i, %j] to %r[%c0] count 16 from_dim 0 from_step 2 : ...
    ```

    Element `t` goes from `x[i, j + t]` to `r[t]`; `from_dim` and `to_dim` name
    the dimension that `t` runs along, where it is not the last, the steps how
    far apart its elements are. Behind the end of a dimension comes the next row. A
    register that is not filled keeps zeros in its other lanes.

    - C1: the machine has the move, between the memories of the two types. A cache
      counts as what it caches.
    - C2: both types have the same element type.
    - C3: there is one index per dimension, dimensions are inside the ranks, steps
      and the count above zero.
    - C4: what is not side by side needs a strided move.
    - C5: a move that streams writes whole registers, side by side.
  }];
  let arguments = (ins FlatSymbolRefAttr:$move, Device_MemRef:$source,
                       Variadic<Index>:$source_indices, Device_MemRef:$target,
                       Variadic<Index>:$target_indices, I64Attr:$count,
                       OptionalAttr<I64Attr>:$from_dim, OptionalAttr<I64Attr>:$from_step,
                       OptionalAttr<I64Attr>:$to_dim, OptionalAttr<I64Attr>:$to_step);
  let assemblyFormat = [{
    $move $source `[` $source_indices `]` `to` $target `[` $target_indices `]` `count` $count
    (`from_dim` $from_dim^)? (`from_step` $from_step^)? (`to_dim` $to_dim^)? (`to_step` $to_step^)?
    attr-dict `:` type($source) `to` type($target)
  }];
}

def Device_TransferOp : Device_Op<"transfer", [AttrSizedOperandSegments]> {
  let summary = "Moves a box of elements";
  let description = [{
    ```mlir
    %t = device.transfer @in %x[%i, %j] to %s[%c0, %c0] sizes [16, 32] from_strides [64, 1]
           to_strides [32, 1] : memref<64x64xf32> to memref<16x32xf32, "spad"> -> !device.token
    ```

    Element `(t0, t1, ...)` of the box goes from `Σ t·from_strides` elements behind
    `x[i, j]` to `Σ t·to_strides` elements behind `s[0, 0]`, both counted in row-major
    order. Steps say the layout: permuted ones transpose, overlapping ones unfold
    windows, 0 repeats what is read.

    A limit `n` with the steps `[s0, s1, ...]` leaves out the elements where `Σ t·s ≥ n`:
    they are not read. With `pads` their targets take zero, else they keep what they have.

    ```mlir
    device.transfer @stage %x[%i, %k] to %s[%c0, %c0] sizes [64, 16] from_strides [100, 1]
      to_strides [16, 1] limits(%rows) steps [1, 0] pads run 4 : ...
    ```

    `run` promises that elements side by side come in whole runs of that many: places of
    first elements, strides other than 1 and limits are multiples of it. They may then be
    moved at once.

    `together` says that all rTasks of a cluster (`device.kernel`) bring the same box to the same place: each
    brings a part of its slowest side to all of them. What a token stands for is the whole box.

    ```mlir
    %t = device.transfer @stage_boxes %x[%i, %k] to %s[%c0, %c0] sizes [256, 64] from_strides [4096, 1]
      to_strides [64, 1] together : ... -> !device.token
    ```

    With `after` the transfer begins when all groups have made an arrival (`device.arrive`): whoever asks for the
    boxes waits for that, and others go on.

    - C1: the machine has the move, between the memories of the two types. A cache
      counts as what it caches.
    - C2: both types have the same element type.
    - C3: there is one index per dimension, and one stride of each side per size; sizes
      are above zero.
    - C4: what is not side by side needs a strided move.
    - C5: it gives a token if, and only if, an engine does the move.
    - C6: the box fits both types, at least without what limits leave out.
    - C7: each limit has one step per size, none below zero; the run is a power of two.
    - C8: a move of boxes brings what is some of one shape, and pads where there are limits.
    - C9: what is brought `together` comes by a move of boxes that serves several units, and the slowest
      side of the box is as many points as the cluster has rTasks, or a multiple; as many as the move serves at
      most, to a buffer with bytes of its own.
    - C10: only a transfer of boxes is `after` a token: one that the loop around it carries, which is that of
      `device.ready` in the first round and that of an arrival in the round before in others.
  }];
  let arguments = (ins FlatSymbolRefAttr:$move, Device_MemRef:$source,
                       Variadic<Index>:$source_indices, Device_MemRef:$target,
                       Variadic<Index>:$target_indices, Variadic<Index>:$limits,
                       DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$from_strides,
                       DenseI64ArrayAttr:$to_strides, OptionalAttr<DenseI64ArrayAttr>:$limit_steps,
                       OptionalAttr<UnitAttr>:$pads, OptionalAttr<I64Attr>:$run,
                       OptionalAttr<UnitAttr>:$together, Optional<Device_TokenType>:$after);
  let results = (outs Optional<Device_TokenType>:$token);
  let assemblyFormat = [{
    $move $source `[` $source_indices `]` `to` $target `[` $target_indices `]` `sizes` $sizes
    `from_strides` $from_strides `to_strides` $to_strides
    (`limits` `(` $limits^ `)` `steps` $limit_steps)? (`pads` $pads^)? (`run` $run^)?
    (`together` $together^)? (`after` `(` $after^ `)`)? attr-dict `:` type($source) `to` type($target) (`->` type($token)^)?
  }];
}

def Device_FillOp : Device_Op<"fill", []> {
  let summary = "Writes one number to a box of elements";
  let description = [{
    ```mlir
    %t = device.fill @in %s[%c0, %c0] sizes [16, 32] strides [32, 1] value 0.0 : f32
           : memref<16x32xf32, "spad"> -> !device.token
    ```

    - C1: the machine has the move, which fills, to the memory of the type.
    - C2: the number has the element type.
    - C3: there is one index per dimension, and one stride per size; sizes are above zero.
    - C4: it gives a token if, and only if, an engine does the move.
    - C5: the box fits the type.
  }];
  let arguments = (ins FlatSymbolRefAttr:$move, Device_MemRef:$target,
                       Variadic<Index>:$target_indices, DenseI64ArrayAttr:$sizes,
                       DenseI64ArrayAttr:$strides, TypedAttrInterface:$value);
  let results = (outs Optional<Device_TokenType>:$token);
  let assemblyFormat = [{
    $move $target `[` $target_indices `]` `sizes` $sizes `strides` $strides `value` $value
    attr-dict `:` type($target) (`->` type($token)^)?
  }];
}

def Device_InvokeOp : Device_Op<"invoke", [AttrSizedOperandSegments]> {
  let summary = "One instruction of the machine, on views";
  let description = [{
    ```mlir
    device.invoke @vfma(%a[%i, %k], %b[%j, %c0], %c[%m, %j, %c0]) : memref<...>, memref<...>, memref<...>
    ```

    Each operand is the view of the operand's shape that begins at the element
    named, along the last dimensions. Results overwrite the last operands.

    - C1: the machine has the instruction.
    - C2: one view per operand, in the operand's memory, of its element type, at
      least as large as its shape, or of registers as long as it has elements. One element,
      where the lowering takes a number, may be in any memory with a move to the registers of
      the result.
    - C3: one index per dimension.
    - C4: it gives a token if, and only if, an engine does the instruction.
    - C5: an operand with a layout is in a buffer that lies so: its last dimensions and its
      swizzle are those of the layout.
  }];
  let arguments = (ins FlatSymbolRefAttr:$instruction, Variadic<Device_MemRef>:$views,
                       Variadic<Index>:$indices);
  let results = (outs Optional<Device_TokenType>:$token);
  let assemblyFormat = [{
    $instruction `(` custom<Views>($views, $indices) `)` attr-dict `:` type($views)
    (`->` type($token)^)?
  }];
}

def Device_ApplyOp : Device_Op<"apply", [AttrSizedOperandSegments, SingleBlock]> {
  let summary = "Scalar operations on every lane of some registers";
  let description = [{
    ```mlir
    device.apply @valu lanes 16 ins(%x[%c0], %s[%i]) outs(%y[%c0])
      : (memref<16xf32, "vreg">, memref<8xf32>) -> (memref<16xf32, "vreg">) {
    ^bb0(%a: f32, %b: f32):
      %r = arith.addf %a, %b : f32
      device.yield %r : f32
    }
    ```

    An operand in the unit's registers gives one element a lane, an operand
    elsewhere the same element to all lanes. Registers that are spread over the
    lanes of a group hold the operands of matrix instructions: `lanes` may be all
    elements of one, the last dimensions of its memref, in their order. The body may read index values and
    memrefs from outside (`memref.load`), and `device.lane` is the lane's number.

    - C1: the machine has the lane unit, which lists every operation of the body
      and its element types. Constants, arithmetic on indices, `arith.index_cast`
      of indices, `memref.load` and `device.lane` need no instruction; masks (`i1`)
      come with every unit.
    - C2: the body has one argument per input, of its element type, and yields one
      value per output, of its element type.
    - C3: outputs lie in the unit's registers, and the lanes fit one register, or are
      a whole operand of an instruction there.
    - C4: one index per dimension.
  }];
  let arguments = (ins FlatSymbolRefAttr:$lanes_unit, I64Attr:$lanes,
                       Variadic<Device_MemRef>:$inputs, Variadic<Index>:$input_indices,
                       Variadic<Device_MemRef>:$outputs, Variadic<Index>:$output_indices);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $lanes_unit `lanes` $lanes `ins` `(` custom<Views>($inputs, $input_indices) `)`
    `outs` `(` custom<Views>($outputs, $output_indices) `)` attr-dict
    `:` functional-type($inputs, $outputs) $body
  }];
}

def Device_LaneOp : Device_Op<"lane", [Pure, HasParent<"ApplyOp">]> {
  let summary = "The number of the lane, or of its element along a dimension, from zero";
  let description = [{
    ```mlir
    %lane = device.lane
    %column = device.lane along 1
    ```

    With `along` the operation around is on whole operands of an instruction, and the number is the place of
    the element along that dimension of the operand.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$along);
  let results = (outs Index:$result);
  let assemblyFormat = "(`along` $along^)? attr-dict";
  let hasVerifier = 0;
}

def Device_CombineOp : Device_Op<"combine", [AttrSizedOperandSegments, SingleBlock]> {
  let summary = "Combines the lanes of registers into one element each";
  let description = [{
    ```mlir
    device.combine @valu lanes 16 ins(%acc[%m, %c0]) outs(%s[%m, %c0]) : (...) -> (...) {
    ^bb0(%a: f32, %b: f32):
      %r = arith.addf %a, %b : f32
      device.yield %r : f32
    }
    ```

    Lane values are combined pairwise in any order, together with what the
    output holds before.

    With `along` both are whole operands of an instruction, in registers that are
    spread over lanes. Each element of the output is combined with all of the input
    that are at its place but along that dimension of the operand: a row of it, then,
    has one value everywhere.

    ```mlir
    device.combine @valu lanes 128 along 1 ins(%sums[%i, %j, %c0, %c0]) outs(%rows[%i, %c0, %c0])
      : (memref<2x8x16x8xf32, "reg">) -> (memref<2x16x8xf32, "reg">) { ... }
    ```

    - C1: the lane unit lists the body's only operation among its reductions, and
      its element type; the lanes of the input fit one of its registers, or are a
      whole operand with `along`.
    - C2: one input and one output of one element type, with one index per
      dimension; the body takes two of that type and yields one. With `along` the last
      dimensions of both are the same operand, which has that dimension.
  }];
  let arguments = (ins FlatSymbolRefAttr:$lanes_unit, I64Attr:$lanes,
                       OptionalAttr<I64Attr>:$along,
                       Variadic<Device_MemRef>:$inputs, Variadic<Index>:$input_indices,
                       Variadic<Device_MemRef>:$outputs, Variadic<Index>:$output_indices);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $lanes_unit `lanes` $lanes (`along` $along^)? `ins` `(` custom<Views>($inputs, $input_indices) `)`
    `outs` `(` custom<Views>($outputs, $output_indices) `)` attr-dict
    `:` functional-type($inputs, $outputs) $body
  }];
}

def Device_ReadyOp : Device_Op<"ready", []> {
  let summary = "A token that is given already";
  let description = [{
    ```mlir
    %t = device.ready
    ```

    A loop waits for it in its first iteration.
  }];
  let results = (outs Device_TokenType:$token);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 0;
}

def Device_MarkOp : Device_Op<"mark", []> {
  let summary = "A token for everything that an engine was given so far";
  let description = [{
    ```mlir
    %t = device.mark @array
    ```

    An engine works in order, so this is the token of the last thing it was given.
    Programs in a vendor's own operations, which give none, wait by it.

    - C1: the engine belongs to the machine.
  }];
  let arguments = (ins FlatSymbolRefAttr:$engine);
  let results = (outs Device_TokenType:$token);
  let assemblyFormat = "$engine attr-dict";
}

def Device_WaitOp : Device_Op<"wait", []> {
  let summary = "Waits for asynchronous copies and instructions";
  let arguments = (ins Variadic<Device_TokenType>:$tokens);
  let assemblyFormat = "$tokens attr-dict";
  let hasVerifier = 0;
}

def Device_ArriveOp : Device_Op<"arrive", []> {
  let summary = "Says that this group has come here, and goes on";
  let description = [{
    ```mlir
    scf.for ... iter_args(%free = %ready) {
      %t = device.transfer @stage_boxes %x[%i, %k] to %s[%room, %c0] ... after(%free) : ...
      ...
      %now = device.arrive "core" -> !device.token
      scf.yield %now : !device.token
    }
    ```

    The token is given when all groups of the scope have come here, each with all of its lanes. Nobody waits for it but
    what is begun `after` it in the next round of the loop. It is not simulated.

    - C1: the scope is "core".
    - C2: it is the only one in the body of a loop that is in no other loop, behind all waits of a round and all
      transfers that are `after` one; some transfer there is after it.
  }];
  let arguments = (ins StrAttr:$scope);
  let results = (outs Device_TokenType:$token);
  let assemblyFormat = "$scope attr-dict `->` type($token)";
}

def Device_BarrierOp : Device_Op<"barrier", []> {
  let summary = "Waits until all of a scope are here";
  let description = [{
    - C1: the scope is one that a memory can have.
  }];
  let arguments = (ins StrAttr:$scope);
  let assemblyFormat = "$scope attr-dict";
}

#endif
