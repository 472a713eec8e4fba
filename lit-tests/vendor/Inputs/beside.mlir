// The dialect and the pattern stand beside the machine, the meaning is a named operation.
irdl.dialect @vendor {
  irdl.operation @mac {
    %address = irdl.is index
    irdl.operands(a: %address, b: %address, c: %address)
  }
}
pdl.pattern @nothing : benefit(1) {
  %mac = pdl.operation "vendor.mac"
  pdl.rewrite %mac {
    pdl.erase %mac
  }
}
device.machine @small arch("small") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @spad scope("core") capacity_bytes(4096)
  device.unit @core count(1)
  device.instruction @mac on @core operands([@spad, @spad, @spad]) issue_cycles(4.0) latency_cycles(8)
  meaning {
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>):
    %d = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
    device.yield %d : tensor<4x4xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: index):
    "vendor.mac"(%a, %b, %c) : (index, index, index) -> ()
    device.yield
  }
}
