// Groups that only ask for boxes, and rTasks that share a unit, where they cannot.
// RUN: not weft-opt %s 2>&1 | FileCheck %s

// move_c6
// CHECK: `boxes` of device.move has no `producer_bytes` above zero
// CHECK: `boxes` of device.move has 10 `producer_bytes`, which are no whole times 4 `share_bytes`
// CHECK: `boxes` of device.move has `producer_lanes` and `units`, and who asks does not meet others
device.machine @wrong arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @smem scope("core") capacity_bytes(65536)
  device.unit @core count(4)
  device.engine @tensor_copies on @core queue(8)
  device.move @half from @dram to @smem engine(@tensor_copies) strided
    boxes({dims = 3, points = 256, step_bytes = 16, line_bytes = 128, align_bytes = 1024, producer_lanes = 4})
  device.move @rest from @dram to @smem engine(@tensor_copies) strided
    boxes({dims = 3, points = 256, step_bytes = 16, line_bytes = 128, align_bytes = 1024, producer_lanes = 4, producer_bytes = 10, share_bytes = 4})
  device.move @both from @dram to @smem engine(@tensor_copies) strided
    boxes({dims = 3, points = 256, step_bytes = 16, line_bytes = 128, align_bytes = 1024, units = 4, meet_cycles = 100,
      producer_lanes = 4, producer_bytes = 8, share_bytes = 4})
}
