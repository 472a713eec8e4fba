// Encodings and patterns that name what nobody declares.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// instruction_c9: numbers in braces are those of operands.
// CHECK: the encoding "neg {1}" asks for `1`
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.unit @core count(1)
  device.instruction @neg on @core operands([@dram]) issue_cycles(1.0) latency_cycles(1) encoding("neg {1}")
  meaning {
  ^bb0(%a: tensor<4xf32>):
    device.yield %a : tensor<4xf32>
  } lowering {
  ^bb0(%a: index):
    device.yield
  }
}

// -----

// machine_c4: a pattern names what the machine's dialect declares.
// CHECK: the pattern @fuse names vendor.sqare, which nobody declares
// CHECK: the machine's operations are vendor.mul
// machine_c5: numbers in braces are those of operands.
// CHECK: the encoding "mul {0}, {7}" asks for `7`
device.machine @m arch("m") features([]) {
  irdl.dialect @vendor {
    irdl.operation @mul attributes {encoding = "mul {0}, {7}"} {
      %address = irdl.is index
      irdl.operands(a: %address, b: %address)
    }
  }
  pdl.pattern @fuse : benefit(1) {
    %a = pdl.operand
    %mul = pdl.operation "vendor.mul"(%a, %a : !pdl.value, !pdl.value)
    pdl.rewrite %mul {
      %square = pdl.operation "vendor.sqare"(%a : !pdl.value)
      pdl.replace %mul with %square
    }
  }
  device.memory @dram scope("device") capacity_bytes(1024)
  device.unit @core count(1)
}
