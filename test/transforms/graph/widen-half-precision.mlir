// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p graph-widen-half-precision --check-semantics | filecheck %s

// An input is widened once, where it is read first, and a parameter too; what is returned is rounded. Numbers that are
// properties have the new type.
// CHECK-LABEL: func.func @layers
// CHECK:         [[W:%[a-z0-9_]+]] = graph.parameter @w
// CHECK-NEXT:    [[X:%[a-z0-9_]+]] = graph.cast %x {to = f32} : (tensor<6x8xf16>) -> tensor<6x8xf32>
// CHECK-NEXT:    [[V:%[a-z0-9_]+]] = graph.cast [[W]] {to = f32}
// CHECK-NEXT:    [[D:%[a-z0-9_]+]] = graph.dense [[X]], [[V]] : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
// CHECK-NEXT:    [[C:%[a-z0-9_]+]] = graph.clip [[D]] {low = 0.000000e+00 : f32, high = 6.000000e+00 : f32}
// CHECK-NEXT:    [[A:%[a-z0-9_]+]] = graph.add [[C]], [[X]] : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
// CHECK-NEXT:    [[Y:%[a-z0-9_]+]] = graph.cast [[A]] {to = f16} : (tensor<6x8xf32>) -> tensor<6x8xf16>
// CHECK-NEXT:    func.return [[Y]] : tensor<6x8xf16>
func.func @layers(%x: tensor<6x8xf16>) -> tensor<6x8xf16> {
  %w = graph.parameter @w : tensor<8x8xf16>
  %0 = graph.dense %x, %w : (tensor<6x8xf16>, tensor<8x8xf16>) -> tensor<6x8xf16>
  %1 = graph.clip %0 {low = 0.0 : f16, high = 6.0 : f16} : (tensor<6x8xf16>) -> tensor<6x8xf16>
  %2 = graph.add %1, %x : (tensor<6x8xf16>, tensor<6x8xf16>) -> tensor<6x8xf16>
  func.return %2 : tensor<6x8xf16>
}

// A constant stays one, for passes that look for its number; bf16 is no different, nor is a size that is not known.
// CHECK-LABEL: func.func @constants
// CHECK:         [[C:%[a-z0-9_]+]] = arith.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT:    graph.mul %{{.*}}, [[C]] : (tensor<?x3xf32, #graph.dims<[N, 3]>>, tensor<f32>) -> tensor<?x3xf32, #graph.dims<[N, 3]>>
func.func @constants(%x: tensor<?x3xbf16, #graph.dims<[N, 3]>>) -> tensor<?x3xbf16, #graph.dims<[N, 3]>> {
  %c = arith.constant dense<0.5> : tensor<bf16>
  %0 = graph.mul %x, %c : (tensor<?x3xbf16, #graph.dims<[N, 3]>>, tensor<bf16>) -> tensor<?x3xbf16, #graph.dims<[N, 3]>>
  func.return %0 : tensor<?x3xbf16, #graph.dims<[N, 3]>>
}

// A cast that the network has rounds, and is read as what it has rounded to; one that widens has nothing left to do.
// CHECK-LABEL: func.func @casts
// CHECK:         [[H:%[a-z0-9_]+]] = graph.cast %x {to = f16}
// CHECK-NEXT:    [[W:%[a-z0-9_]+]] = graph.cast [[H]] {to = f32}
// CHECK-NEXT:    [[E:%[a-z0-9_]+]] = graph.exp [[W]] : (tensor<0x4xf32>) -> tensor<0x4xf32>
// CHECK-NEXT:    graph.neg [[E]] : (tensor<0x4xf32>) -> tensor<0x4xf32>
func.func @casts(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %0 = graph.cast %x {to = f16} : (tensor<0x4xf32>) -> tensor<0x4xf16>
  %1 = graph.exp %0 : (tensor<0x4xf16>) -> tensor<0x4xf16>
  %2 = graph.cast %1 {to = f32} : (tensor<0x4xf16>) -> tensor<0x4xf32>
  %3 = graph.neg %2 : (tensor<0x4xf32>) -> tensor<0x4xf32>
  func.return %3 : tensor<0x4xf32>
}

// What only moves an input stays narrow; so does what is returned together with such, whose other part is rounded.
// CHECK-LABEL: func.func @moved
// CHECK:         [[K:%[a-z0-9_]+]] = graph.exp {{.*}} -> tensor<1x1x64xf32>
// CHECK:         [[R:%[a-z0-9_]+]] = graph.cast [[K]] {to = f16}
// CHECK-NEXT:    [[ALL:%[a-z0-9_]+]] = graph.concat %past, [[R]] {axis = 1 : i64} : (tensor<1x7x64xf16>, tensor<1x1x64xf16>) -> tensor<1x8x64xf16>
// CHECK-NEXT:    [[T:%[a-z0-9_]+]] = graph.transpose [[ALL]] {permutation = array<i64: 0, 2, 1>} : (tensor<1x8x64xf16>) -> tensor<1x64x8xf16>
// CHECK-NEXT:    graph.matmul [[K]], [[T]] : (tensor<1x1x64xf32>, tensor<1x64x8xf16>) -> tensor<1x1x8xf32>
func.func @moved(%past: tensor<1x7x64xf16>, %x: tensor<1x1x64xf16>) -> (tensor<1x8x64xf16>, tensor<1x1x8xf16>) {
  %k = graph.exp %x : (tensor<1x1x64xf16>) -> tensor<1x1x64xf16>
  %all = graph.concat %past, %k {axis = 1 : i64} : (tensor<1x7x64xf16>, tensor<1x1x64xf16>) -> tensor<1x8x64xf16>
  %t = graph.transpose %all {permutation = array<i64: 0, 2, 1>} : (tensor<1x8x64xf16>) -> tensor<1x64x8xf16>
  %s = graph.matmul %k, %t : (tensor<1x1x64xf16>, tensor<1x64x8xf16>) -> tensor<1x1x8xf16>
  func.return %all, %s : tensor<1x8x64xf16>, tensor<1x1x8xf16>
}

// So does what is replaced in an input, but not what is added up there.
// CHECK-LABEL: func.func @scattered
// CHECK:         graph.scatter %past, %at, %{{.*}} {axis = 0 : i64, combine = "replace"} : (tensor<9x4xf16>, tensor<1x1xi64>, tensor<1x4xf16>) -> tensor<9x4xf16>
// CHECK:         graph.scatter {{.*}} {axis = 0 : i64, combine = "add"} : (tensor<9x4xf32>, tensor<1x1xi64>, tensor<1x4xf32>) -> tensor<9x4xf32>
func.func @scattered(%past: tensor<9x4xf16>, %at: tensor<1x1xi64>, %x: tensor<1x4xf16>) -> (tensor<9x4xf16>, tensor<9x4xf16>) {
  %0 = graph.exp %x : (tensor<1x4xf16>) -> tensor<1x4xf16>
  %1 = graph.scatter %past, %at, %0 {axis = 0 : i64, combine = "replace"} : (tensor<9x4xf16>, tensor<1x1xi64>, tensor<1x4xf16>) -> tensor<9x4xf16>
  %2 = graph.scatter %past, %at, %0 {axis = 0 : i64, combine = "add"} : (tensor<9x4xf16>, tensor<1x1xi64>, tensor<1x4xf16>) -> tensor<9x4xf16>
  func.return %1, %2 : tensor<9x4xf16>, tensor<9x4xf16>
}

// With four rows, a layer waits for a weight that is larger than the second cache, and reads it as it is; a small one is
// widened, and so is one for five rows, or for nobody knows how many.
// CHECK-LABEL: func.func @few_rows
// CHECK:         graph.dense %{{.*}}, %large : (tensor<4x512xf32>, tensor<1024x512xf16>) -> tensor<4x1024xf32>
// CHECK:         graph.dense {{.*}} : (tensor<4x512xf32>, tensor<8x512xf32>) -> tensor<4x8xf32>
// CHECK:         graph.dense {{.*}} : (tensor<5x512xf32>, tensor<1024x512xf32>) -> tensor<5x1024xf32>
// CHECK:         graph.dense {{.*}} : (tensor<?x512xf32, #graph.dims<[N, 512]>>, tensor<1024x512xf32>)
func.func @few_rows(%four: tensor<4x512xf16>, %five: tensor<5x512xf16>, %open: tensor<?x512xf16, #graph.dims<[N, 512]>>) -> (tensor<4x1024xf16>, tensor<4x8xf16>, tensor<5x1024xf16>, tensor<?x1024xf16, #graph.dims<[N, 1024]>>) {
  %large = graph.parameter @large : tensor<1024x512xf16>
  %small = graph.parameter @small : tensor<8x512xf16>
  %0 = graph.dense %four, %large : (tensor<4x512xf16>, tensor<1024x512xf16>) -> tensor<4x1024xf16>
  %1 = graph.dense %four, %small : (tensor<4x512xf16>, tensor<8x512xf16>) -> tensor<4x8xf16>
  %2 = graph.dense %five, %large : (tensor<5x512xf16>, tensor<1024x512xf16>) -> tensor<5x1024xf16>
  %3 = graph.dense %open, %large : (tensor<?x512xf16, #graph.dims<[N, 512]>>, tensor<1024x512xf16>) -> tensor<?x1024xf16, #graph.dims<[N, 1024]>>
  func.return %0, %1, %2, %3 : tensor<4x1024xf16>, tensor<4x8xf16>, tensor<5x1024xf16>, tensor<?x1024xf16, #graph.dims<[N, 1024]>>
}

// What is decided by numbers is decided by rounded ones, and what becomes an integer is rounded first.
// CHECK-LABEL: func.func @decisions
// CHECK:         [[H:%[a-z0-9_]+]] = graph.cast %{{.*}} {to = f16} : (tensor<7xf32>) -> tensor<7xf16>
// CHECK-NEXT:    graph.arg_max [[H]]
// CHECK-NEXT:    graph.floor [[H]] : (tensor<7xf16>) -> tensor<7xf16>
// CHECK-NEXT:    graph.cast [[H]] {to = i32} : (tensor<7xf16>) -> tensor<7xi32>
func.func @decisions(%x: tensor<7xf16>) -> (tensor<i64>, tensor<7xf16>, tensor<7xi32>) {
  %0 = graph.exp %x : (tensor<7xf16>) -> tensor<7xf16>
  %1 = graph.arg_max %0 {axis = 0 : i64, keep_dims = false, last = false} : (tensor<7xf16>) -> tensor<i64>
  %2 = graph.floor %0 : (tensor<7xf16>) -> tensor<7xf16>
  %3 = graph.cast %0 {to = i32} : (tensor<7xf16>) -> tensor<7xi32>
  func.return %1, %2, %3 : tensor<i64>, tensor<7xf16>, tensor<7xi32>
}

// States of a scan are wide from step to step; its sequences are read as they are, new ones are wide.
// CHECK-LABEL: func.func @steps
// CHECK:         graph.scan from (%{{.*}}) over (%xs) : from (tensor<3xf32>) over (tensor<5x3xf16>) -> (tensor<3xf32>, tensor<5x3xf32>)
// CHECK:           [[X:%[a-z0-9_]+]] = graph.cast %x {to = f32}
// CHECK-NEXT:      [[S:%[a-z0-9_]+]] = graph.add %h, [[X]] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:      graph.yield [[S]], [[S]]
func.func @steps(%h0: tensor<3xf16>, %xs: tensor<5x3xf16>) -> (tensor<3xf16>, tensor<5x3xf16>) {
  %end, %all = graph.scan from (%h0) over (%xs) : from (tensor<3xf16>) over (tensor<5x3xf16>) -> (tensor<3xf16>, tensor<5x3xf16>) {
  ^bb0(%h: tensor<3xf16>, %x: tensor<3xf16>):
    %s = graph.add %h, %x : (tensor<3xf16>, tensor<3xf16>) -> tensor<3xf16>
    graph.yield %s, %s : tensor<3xf16>, tensor<3xf16>
  }
  func.return %end, %all : tensor<3xf16>, tensor<5x3xf16>
}

// Where there is nothing of 16 bits, nothing changes; @prepare runs once.
// CHECK-LABEL: func.func @wide
// CHECK-NEXT:    graph.exp %x : (tensor<7xf64>) -> tensor<7xf64>
// CHECK-NEXT:    func.return
// CHECK-LABEL: func.func @prepare
// CHECK:         graph.neg %w : (tensor<7xf16>) -> tensor<7xf16>
func.func @wide(%x: tensor<7xf64>) -> tensor<7xf64> {
  %0 = graph.exp %x : (tensor<7xf64>) -> tensor<7xf64>
  func.return %0 : tensor<7xf64>
}
func.func @prepare() {
  %w = graph.parameter @p : tensor<7xf16>
  %v = graph.neg %w : (tensor<7xf16>) -> tensor<7xf16>
  graph.define_parameter @p.neg, %v : tensor<7xf16>
  func.return
}

// -----

// Both sides of a choice make f32; a loop's states are f32, its condition is what it was.
// CHECK-LABEL: func.func @control(
// CHECK:         graph.if %c with (%x) : with (tensor<4xf16>) -> (tensor<4xf32>) {
// CHECK:           graph.yield %{{.*}} : tensor<4xf32>
// CHECK:         } else {
// CHECK:           graph.yield %{{.*}} : tensor<4xf32>
// CHECK:         graph.while %c from (%{{.*}}) : from (tensor<4xf32>) -> (tensor<4xf32>) {
// CHECK:           graph.yield %{{.*}}, %{{.*}} : tensor<i1>, tensor<4xf32>
func.func @control(%c: tensor<i1>, %x: tensor<4xf16>) -> tensor<4xf16> {
  %y = graph.if %c with (%x) : with (tensor<4xf16>) -> (tensor<4xf16>) {
  ^bb0(%a: tensor<4xf16>):
    %0 = graph.exp %a : (tensor<4xf16>) -> tensor<4xf16>
    graph.yield %0 : tensor<4xf16>
  } else {
  ^bb0(%a: tensor<4xf16>):
    graph.yield %a : tensor<4xf16>
  }
  %z = graph.while %c from (%y) : from (tensor<4xf16>) -> (tensor<4xf16>) {
  ^bb0(%s: tensor<4xf16>):
    %1 = graph.exp %s : (tensor<4xf16>) -> tensor<4xf16>
    %no = arith.constant dense<false> : tensor<i1>
    graph.yield %no, %1 : tensor<i1>, tensor<4xf16>
  }
  func.return %z : tensor<4xf16>
}
