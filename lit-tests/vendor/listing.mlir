// A program as a listing, by the encodings of the machine that this file is.
// RUN: weft kernel 'C[m,n] += A[m,k] * B[k,n]' --shape m=64,n=64,k=64 --device %s --emit asm -o - | FileCheck %s --check-prefix=LOOPS
// RUN: weft kernel 'Y[i] = A[i] + B[i]' --shape i=40 --device %s --emit asm -o - | FileCheck %s --check-prefix=LANES
// RUN: weft kernel 'C[m,n] += A[m,k] * B[k,n]' --shape m=64,n=64,k=64 --device %s --emit vendor -o %t.mlir
// RUN: weft compile %t.mlir --emit asm -o - | FileCheck %s --check-prefix=LOOPS

// LOOPS:      .machine small
// LOOPS:      .kernel expression_0, tasks 1
// LOOPS-NEXT:   .tensor x0 64x64xf32
// LOOPS-NEXT:   .tensor x1 64x64xf32
// LOOPS-NEXT:   .tensor x2 64x64xf32
// A fill comes from a number.
// LOOPS-NEXT:   in.f32 {{[0-9]+}} <- #0.0, {{[0-9x]+}}
// Addresses are numbers, tensors and counters.
// LOOPS:        in.f32 {{[0-9]+}} <- x0, {{[0-9x]+}}
// LOOPS:      L0:
// LOOPS:        mac {{.*}}1024*{{r[0-9]+}}+64*[[I:r[0-9]+]]{{.*}} += {{.+}} * {{.+}}
// LOOPS-NEXT:   mark {{r[0-9]+}}, array
// LOOPS:        add [[I]], [[I]], 1
// LOOPS-NEXT:   blt [[I]], 16, L
// LOOPS:        out.f32 x2 <- {{[0-9]+}}
// LOOPS:        end

// LANES:      .kernel expression_0, tasks 1
// LANES:        ld vreg[[A:[0-9]+]]
// LANES:        addf.4xf32 vreg{{[0-9]+}}, vreg{{[0-9]+}}, vreg{{[0-9]+}}
// LANES:        st
// LANES-NOT:    ?
device.machine @small arch("small") features([]) {
  irdl.dialect @small {
    irdl.operation @mac attributes {encoding = "mac {2} += {0} * {1}"} {
      %address = irdl.is index
      irdl.operands(a: %address, b: %address, c: %address)
    }
  }
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @spad scope("core") capacity_bytes(32768) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1) clock_mhz(1000)
  device.engine @dma on @core queue(8)
  device.engine @array on @core queue(4)
  device.move @in from @dram to @spad engine(@dma) bytes_per_cycle(16) latency_cycles(50) strided fills
    encoding("in.{type} {to} <- {from}, {sizes}")
  device.move @out from @spad to @dram engine(@dma) bytes_per_cycle(16) latency_cycles(50) strided
    encoding("out.{type} {to} <- {from}, {sizes}")
  device.move @ld from @spad to @vreg issue_cycles(1.0) latency_cycles(2) strided encoding("ld {to}, {from}")
  device.move @st from @vreg to @spad issue_cycles(1.0) latency_cycles(2) strided encoding("st {to}, {from}")
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3)
    types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
  device.instruction @mac4x4x4 on @core engine(@array) operands([@spad, @spad, @spad])
    issue_cycles(4.0) latency_cycles(8) accuracy(["accumulation_order"])
  meaning {
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>):
    %d = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
    device.yield %d : tensor<4x4xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: index):
    "small.mac"(%a, %b, %c) : (index, index, index) -> ()
    device.yield
  }
}
