// Programs that do not fit the clusters of their machine, and the memory that these share.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

device.machine @pairs arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @near scope("cluster") capacity_bytes(1024) within(@dram)
  device.unit @core count(4) cluster(@pair)
  device.unit @pair count(2)
}

// program_c2: clusters are numbered behind the units.
// CHECK: task.range runs on unit 6 of 4
// CHECK: help: units are numbered from 0 to 3, their clusters from 4 to 5
task.program @program_c2_clusters on @core units 4 arena 0 : () -> tensor<4xf32> {
  %y = task.output 0 "y" : memref<4xf32>
  %t = task.range "a" @a[0 to 1] on 6 (%y) after() : memref<4xf32>
}

// -----

device.machine @pairs arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @near scope("cluster") capacity_bytes(1024) within(@dram)
  device.unit @core count(4) cluster(@pair)
  device.unit @pair count(2)
}

// program_c3: a buffer near ends inside the arena of its cluster.
// CHECK: task.buffer ends at byte 96 of an arena of 64
task.program @program_c3_clusters on @core units 4 arena 128 : () -> () attributes {cluster_arena = 64} {
  %b = task.buffer at 64 in @near of 1 : memref<8xf32>
}

// -----

device.machine @pairs arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @near scope("cluster") capacity_bytes(1024) within(@dram)
  device.unit @core count(4) cluster(@pair)
  device.unit @pair count(2)
}

// program_c7: a unit reaches the memory of its own cluster.
// CHECK: "a"[0 to 1] on unit 1 is of cluster 0
// CHECK: this buffer lies in @near of cluster 1
// CHECK: "b"[0 to 1] on unit 4 is of cluster 0
// CHECK-NOT: "c"[0 to 1]
task.program @program_c7 on @core units 4 arena 0 : () -> () attributes {cluster_arena = 64} {
  %b = task.buffer at 0 in @near of 1 : memref<4xf32>
  %t = task.range "a" @a[0 to 1] on 1 (%b) after() : memref<4xf32>
  %s = task.range "b" @a[0 to 1] on 4 (%b) after() : memref<4xf32>
  %r = task.range "c" @a[0 to 1] on 3 (%b) after() : memref<4xf32>
}

// -----

device.machine @pairs arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @near scope("cluster") capacity_bytes(1024) within(@dram)
  device.unit @core count(4) cluster(@pair)
  device.unit @pair count(2)
}

// buffer_c2: a memory that a cluster shares is that of one of them.
// CHECK: task.buffer in @near of scope cluster names no cluster
task.program @buffer_c2_clusters on @core units 4 arena 64 : () -> () attributes {cluster_arena = 64} {
  %b = task.buffer at 0 in @near : memref<4xf32>
}
