// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | filecheck %s --check-prefix=GENERIC

// Every group of arguments; subscripts, strides and counts; loops of all kinds; conditions with and without results.
// CHECK-LABEL: loop.kernel @all ins(%x: memref<?x64xf32> [N, 64], %w: memref<64xf32>) outs(%y: memref<?x64xf32, strided<[128, 1]>> [N, 64]) scratch(%s: memref<?xf32> [2 * N + 1]) symbols(%N, %M) attributes {tilework.note = "x"} {
// CHECK-NEXT:    loop.for %i = 0 to %N "i" parallel when [%N * %M - 64 >= 0] {
// CHECK-NEXT:      loop.for %j = 0 to min({{.*}}) "j.outer" unrolled partition {
// CHECK-NEXT:        loop.for %k = %i to %i + 4 "k" vectorized {
// CHECK-NEXT:          loop.for %l = -2 to 0 "l" attributes {tilework.remark = "r"} {
// CHECK-NEXT:            %v = loop.load %x[%i, 16 * %j + %k mod 4] : memref<?x64xf32>
// CHECK-NEXT:            %u = loop.load %w[0] stride 2 count %M - 1 : memref<64xf32>, vector<16xf32>
// CHECK-NEXT:            %n = loop.load %w[63] stride -3 : memref<64xf32>, vector<16xf32>
// CHECK-NEXT:            loop.store %u, %w[16 * %j] count %M - 1 : memref<64xf32>, vector<16xf32>
// CHECK-NEXT:            %t = loop.load %w[%j] stride 2 from 1 count %M - %k else %v : memref<64xf32>, vector<16xf32>
// CHECK-NEXT:            loop.store %t, %w[0] from %j : memref<64xf32>, vector<16xf32>
// CHECK-NEXT:            loop.store %n, %w[8] stride 3 : memref<64xf32>, vector<16xf32>
// CHECK-NEXT:            %c = loop.if [%j - 1 >= 0, %k - %i == 0] -> f32 {
// CHECK-NEXT:              loop.yield %v : f32
// CHECK-NEXT:            } else {
// CHECK-NEXT:              %z = loop.load %s[%l + 2] : memref<?xf32>
// CHECK-NEXT:              loop.yield %z : f32
// CHECK-NEXT:            }
// CHECK-NEXT:            loop.if [%N floordiv 2 - %i >= 0] {
// CHECK-NEXT:              loop.store %c, %y[%i, %k] : memref<?x64xf32, strided<[128, 1]>>
// CHECK-NEXT:            }
// GENERIC:       "loop.kernel"() <{sym_name = "all", {{.*}}symbols = ["N", "M"]
// GENERIC:       "loop.for"(%N, %M) <{bounds = #loop.index<[0, d0]>, when = #loop.when<[d0 * d1 - 64 ge 0]>, axis = "i", kind = #loop<kind parallel>}>
// GENERIC:       "loop.load"(%x, %i, %j, %k) <{indices = #loop.index<[d0, 16 * d1 + d2 mod 4]>, operandSegmentSizes
// GENERIC:       "loop.load"(%w, %M) <{indices = #loop.index<[0]>, stride = 2 : i64, count = #loop.index<[d0 - 1]>, operandSegmentSizes
// GENERIC:       "loop.if"(%j, %k, %i) <{when = #loop.when<[d0 - 1 ge 0, d1 - d2 eq 0]>}>
loop.kernel @all ins(%x: memref<?x64xf32> [N, 64], %w: memref<64xf32>)
                 outs(%y: memref<?x64xf32, strided<[128, 1]>> [N, 64])
                 scratch(%s: memref<?xf32> [2 * N + 1])
                 symbols(%N, %M) attributes {tilework.note = "x"} {
  loop.for %i = 0 to %N "i" parallel when [%N * %M - 64 >= 0] {
    loop.for %j = 0 to min(4, %M) "j.outer" unrolled partition {
      loop.for %k = %i to %i + 4 "k" vectorized {
        loop.for %l = -2 to 0 "l" attributes {tilework.remark = "r"} {
          %v = loop.load %x[%i, 16 * %j + %k mod 4] : memref<?x64xf32>
          %u = loop.load %w[0] stride 2 count %M - 1 : memref<64xf32>, vector<16xf32>
          %n = loop.load %w[63] stride -3 : memref<64xf32>, vector<16xf32>
          loop.store %u, %w[16 * %j] count %M - 1 : memref<64xf32>, vector<16xf32>
          %t = loop.load %w[%j] stride 2 from 1 count %M - %k else %v : memref<64xf32>, vector<16xf32>
          loop.store %t, %w[0] from %j : memref<64xf32>, vector<16xf32>
          loop.store %n, %w[8] stride 3 : memref<64xf32>, vector<16xf32>
          %c = loop.if [%j - 1 >= 0, %k - %i == 0] -> f32 {
            loop.yield %v : f32
          } else {
            %z = loop.load %s[%l + 2] : memref<?xf32>
            loop.yield %z : f32
          }
          loop.if [%N floordiv 2 - %i >= 0] {
            loop.store %c, %y[%i, %k] : memref<?x64xf32, strided<[128, 1]>>
          }
        }
      }
    }
  }
}

// Declarations, with and without pairs that may be in place; kernels without buffers, buffers without dimensions.
// CHECK-LABEL: loop.kernel @declared ins(%arg0: memref<4xf32>, %arg1: memref<4xf32>) outs(%arg2: memref<4xf32>) in_place [0 -> 0, 1 -> 0]
// CHECK-NEXT:  loop.kernel @symbolic outs(%arg0: memref<?xf32> [N floordiv 2]) symbols(%N)
// CHECK-NEXT:  loop.kernel @nothing {
// CHECK-NEXT:  }
// CHECK-NEXT:  loop.kernel @scalar outs(%y: memref<f32>) {
// CHECK-NEXT:    %v = loop.load %y[] : memref<f32>
// CHECK-NEXT:    loop.store %v, %y[] : memref<f32>
loop.kernel @declared ins(%a: memref<4xf32>, %b: memref<4xf32>) outs(%c: memref<4xf32>) in_place [0 -> 0, 1 -> 0]
loop.kernel @symbolic outs(%a: memref<?xf32> [N floordiv 2]) symbols(%N)
loop.kernel @nothing {
}
loop.kernel @scalar outs(%y: memref<f32>) {
  %v = loop.load %y[] : memref<f32>
  loop.store %v, %y[] : memref<f32>
}

// On the host.
// CHECK-LABEL: func.func @host
// CHECK-NEXT:    %m = loop.apply 2 * %n + 1
// CHECK-NEXT:    %four = loop.apply 4
// CHECK-NEXT:    loop.call @all ins(%x, %w) outs(%y) scratch(%s) symbols(%n, %m) : memref<?x64xf32>, memref<64xf32>, memref<?x64xf32, strided<[128, 1]>>, memref<?xf32>
// CHECK-NEXT:    loop.call @nothing
// CHECK-NEXT:    loop.call @symbolic outs(%s) symbols(%n) : memref<?xf32>
func.func @host(%x: memref<?x64xf32>, %w: memref<64xf32>, %y: memref<?x64xf32, strided<[128, 1]>>, %s: memref<?xf32>, %n: index) {
  %m = loop.apply 2 * %n + 1
  %four = loop.apply 4
  loop.call @all ins(%x, %w) outs(%y) scratch(%s) symbols(%n, %m) : memref<?x64xf32>, memref<64xf32>, memref<?x64xf32, strided<[128, 1]>>, memref<?xf32>
  loop.call @nothing
  loop.call @symbolic outs(%s) symbols(%n) : memref<?xf32>
  func.return
}

// Threads of a device, and prefetches.
// CHECK-LABEL: loop.kernel @threads
// CHECK-NEXT:    loop.for %b = 0 to 8 "b" blockIdx.x {
// CHECK-NEXT:      loop.for %t = 0 to 32 "t" threadIdx.y {
// CHECK-NEXT:        loop.for %v = 0 to 2 "v" vthread {
// CHECK-NEXT:          loop.prefetch %{{.*}}[%b, 32 * %v + %t + 4] : memref<8x64xf32>
// CHECK-NEXT:          loop.prefetch %{{.*}}[%b, 0] locality 2 : memref<8x64xf32>
// GENERIC-LABEL: "loop.kernel"() <{sym_name = "threads"
// GENERIC:       "loop.for"() <{bounds = #loop.index<[0, 8]>, axis = "b", kind = #loop<kind blockIdx.x>}>
// GENERIC:       "loop.prefetch"(%{{.*}}, %b, %v, %t) <{indices = #loop.index<[d0, 32 * d1 + d2 + 4]>, locality = 3 : i64}>
loop.kernel @threads ins(%x: memref<8x64xf32>) {
  loop.for %b = 0 to 8 "b" blockIdx.x {
    loop.for %t = 0 to 32 "t" threadIdx.y {
      loop.for %v = 0 to 2 "v" vthread {
        loop.prefetch %x[%b, 32 * %v + %t + 4] : memref<8x64xf32>
        loop.prefetch %x[%b, 0] locality 2 : memref<8x64xf32>
      }
    }
  }
}

// The bytes of 4-bit integers.
// CHECK-LABEL: loop.kernel @bytes
// CHECK-NEXT:    %odd = loop.bytes %x : memref<9xi4> to memref<5xi8>
// CHECK-NEXT:    %any = loop.bytes %y : memref<?xui4> to memref<?xi8>
// GENERIC-LABEL: "loop.kernel"() <{sym_name = "bytes"
// GENERIC:       "loop.bytes"(%{{.*}}) : (memref<9xi4>) -> memref<5xi8>
loop.kernel @bytes ins(%x: memref<9xi4>, %y: memref<?xui4> [N]) symbols(%N) {
  %odd = loop.bytes %x : memref<9xi4> to memref<5xi8>
  %any = loop.bytes %y : memref<?xui4> to memref<?xi8>
}

// The words that bytes are; those of a part, if its rows begin with whole ones.
// CHECK-LABEL: func.func @words
// CHECK-NEXT:    loop.words %x : memref<28x16xui8> to memref<28x4xi32>
// CHECK-NEXT:    loop.words %rows : memref<?x8xi8> to memref<?x2xi32>
// CHECK-NEXT:    loop.words %part : memref<3x16xui8, strided<[32, 1], offset: 16>> to memref<3x4xi32, strided<[8, 1], offset: 4>>
// GENERIC-LABEL: sym_name = "words"
// GENERIC:       "loop.words"(%{{.*}}) : (memref<28x16xui8>) -> memref<28x4xi32>
func.func @words(%x: memref<28x16xui8>, %rows: memref<?x8xi8>, %part: memref<3x16xui8, strided<[32, 1], offset: 16>>) {
  %0 = loop.words %x : memref<28x16xui8> to memref<28x4xi32>
  %1 = loop.words %rows : memref<?x8xi8> to memref<?x2xi32>
  %2 = loop.words %part : memref<3x16xui8, strided<[32, 1], offset: 16>> to memref<3x4xi32, strided<[8, 1], offset: 4>>
  func.return
}

// Rows and columns.
// CHECK-LABEL: loop.kernel @transpose
// CHECK:         %c0, %c1, %c2, %c3 = loop.transpose %r0, %r1 : vector<4xf32>
// CHECK-NEXT:    loop.store %c2, %y[0] : memref<2xf32>, vector<2xf32>
// GENERIC:       "loop.transpose"(%r0, %r1) : (vector<4xf32>, vector<4xf32>) -> (vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>)
loop.kernel @transpose ins(%x: memref<8xf32>) outs(%y: memref<2xf32>) {
  %r0 = loop.load %x[0] : memref<8xf32>, vector<4xf32>
  %r1 = loop.load %x[4] : memref<8xf32>, vector<4xf32>
  %c0, %c1, %c2, %c3 = loop.transpose %r0, %r1 : vector<4xf32>
  loop.store %c2, %y[0] : memref<2xf32>, vector<2xf32>
}

// CHECK-LABEL: func.func @waiting
// CHECK-NEXT:    loop.wait "npu0"
func.func @waiting() {
  loop.wait "npu0"
  func.return
}

// Symbols that are bound while the function runs, with a limit over others and without; a call of a function.
// CHECK-LABEL: func.func @binding
// CHECK-NEXT:    %K = loop.symbol "K" = %n at most [2 * N]
// CHECK-NEXT:    %L = loop.symbol "L" = %K
// CHECK-NEXT:    loop.invoke @binding ins(%x, %x) outs(%x) symbols(%K, %L) : (memref<?xf32>, memref<?xf32>) -> (memref<?xf32>)
// CHECK-NEXT:    loop.invoke @waiting ins() outs() : () -> ()
func.func @binding(%n: index, %x: memref<?xf32>) {
  %K = loop.symbol "K" = %n at most [2 * N]
  %L = loop.symbol "L" = %K
  loop.invoke @binding ins(%x, %x) outs(%x) symbols(%K, %L) : (memref<?xf32>, memref<?xf32>) -> (memref<?xf32>)
  loop.invoke @waiting ins() outs() : () -> ()
  func.return
}
