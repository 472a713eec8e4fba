// What a device.move may not say.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// move_c1: both memories belong to the machine.
// CHECK: device.move names @l2, which is no memory of the machine @toy
// CHECK: device.move names @l1, which is no memory of the machine @toy
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.move @load from @l2 to @l1
}

// -----

// move_c2: cycles and bandwidth are above zero.
// CHECK: device.move has issue_cycles 0
// CHECK: device.move has latency_cycles -1
// CHECK: device.move has bytes_per_cycle 0
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.move @load from @dram to @vreg bytes_per_cycle(0) issue_cycles(0.0) latency_cycles(-1)
}

// -----

// move_c2: bandwidth is above zero.
// CHECK: device.move has bytes_per_cycle 0
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @spad scope("core") capacity_bytes(64)
  device.unit @core count(1)
  device.move @in from @dram to @spad bytes_per_cycle(0)
}

// -----

// move_c3: the engine belongs to the machine.
// CHECK: device.move names @dma, which is no engine of the machine @m
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @spad scope("core") capacity_bytes(64)
  device.unit @core count(1)
  device.move @in from @dram to @spad engine(@dma)
}

// -----

// move_c4: names in braces are known.
// CHECK: the encoding "in {source}" asks for `source`
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @spad scope("core") capacity_bytes(64)
  device.unit @core count(1)
  device.move @in from @dram to @spad encoding("in {source}")
}

// -----

// move_c5: what does not gather has no lowering.
// CHECK: device.move has a lowering, gathers nothing and moves no tiles
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @reg scope("warp") capacity_bytes(512) register_bytes(16) lanes(4)
  device.unit @core count(1)
  device.move @in from @dram to @reg
  lowering {
  ^bb0(%at: !llvm.ptr):
    %d = llvm.load %at : !llvm.ptr -> vector<2xi16>
    device.yield %d : vector<2xi16>
  }
}

// -----

// move_c5: what gathers is no engine's, and goes to lanes.
// CHECK: device.move gathers, and is done by @dma
// CHECK: device.move gathers to @spad, which has no lanes
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @spad scope("core") capacity_bytes(64)
  device.unit @core count(1)
  device.engine @dma on @core queue(8)
  device.move @in from @dram to @spad engine(@dma) gathers(affine_map<(l, s) -> (l, s)>)
  lowering {
  ^bb0(%at: !llvm.ptr):
    %d = llvm.load %at : !llvm.ptr -> vector<2xi16>
    device.yield %d : vector<2xi16>
  }
}

// -----

// move_c5: it has a lowering from a pointer to one vector.
// CHECK: device.move gathers, and has no lowering from a pointer to one vector
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @reg scope("warp") capacity_bytes(512) register_bytes(16) lanes(4)
  device.unit @core count(1)
  device.move @in from @dram to @reg gathers(affine_map<(l, s) -> (l, s)>)
}

// -----

// move_c5: the map stays inside of the lanes.
// CHECK: the map of what device.move gathers gives lane 0, slot 0 place 0 of lane 4's, of 4 lanes
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @reg scope("warp") capacity_bytes(512) register_bytes(16) lanes(4)
  device.unit @core count(1)
  device.move @in from @dram to @reg gathers(affine_map<(l, s) -> (l + 4, s)>)
  lowering {
  ^bb0(%at: !llvm.ptr):
    %d = llvm.load %at : !llvm.ptr -> vector<2xi16>
    device.yield %d : vector<2xi16>
  }
}

// -----

// move_c5: pieces are a power of two.
// CHECK: the map of what device.move gathers takes pieces of 3 elements, not a power of two
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @reg scope("warp") capacity_bytes(512) register_bytes(16) lanes(4)
  device.unit @core count(1)
  device.move @in from @dram to @reg gathers(affine_map<(l, s) -> (l, s + 1)>)
  lowering {
  ^bb0(%at: !llvm.ptr):
    %d = llvm.load %at : !llvm.ptr -> vector<2xi16>
    device.yield %d : vector<2xi16>
  }
}

// -----

// move_c6: what brings boxes says all of them, and is an engine's.
// CHECK: `boxes` of device.move has no `points` above zero
// CHECK: device.move brings boxes, and is not done by an engine that steps
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @spad scope("core") capacity_bytes(64)
  device.unit @core count(1)
  device.move @in from @dram to @spad boxes({dims = 5})
}

// -----

// move_c6: nothing else is said.
// CHECK: `boxes` of device.move has `colour`, and is of dims, points
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @spad scope("core") capacity_bytes(64)
  device.unit @core count(1)
  device.engine @dma on @core queue(1)
  device.move @in from @dram to @spad engine(@dma) strided
    boxes({dims = 5, points = 256, step_bytes = 16, line_bytes = 128, align_bytes = 128, colour = 3})
}

// -----

// move_c5: what a lowering for tile registers takes and yields.
// CHECK: the lowering of device.move takes (!llvm.ptr) and yields (vector<64xi8>)
// CHECK: help: a lowering of (%at: !llvm.ptr, %distance: i64), which yields a register's bytes
// CHECK: the lowering of device.move takes (vector<32xi8>, !llvm.ptr, i64) and yields ()
// CHECK: help: a lowering of (%tile, %at: !llvm.ptr, %distance: i64), the first with a register's bytes, which yields nothing
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @tile scope("thread") capacity_bytes(512) register_bytes(64) row_bytes(16)
  device.unit @core count(1)
  device.move @in from @dram to @tile
  lowering {
  ^bb0(%at: !llvm.ptr):
    %d = llvm.load %at : !llvm.ptr -> vector<64xi8>
    device.yield %d : vector<64xi8>
  }
  device.move @out from @tile to @dram
  lowering {
  ^bb0(%v: vector<32xi8>, %at: !llvm.ptr, %distance: i64):
    llvm.store %v, %at : vector<32xi8>, !llvm.ptr
    device.yield
  }
}
