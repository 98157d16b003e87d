// RUN: opt-tool %s --target='c -mcpu=haswell' -t c | filecheck %s

// CHECK:       static const float constant_table[] __attribute__((aligned(64))) = {1.0f, 2.0f, 3.0f};
// CHECK:       void dense(const float *, const float *, float *, float *, int64_t, int32_t);

// Arguments come from tables, symbols from the caller, temporaries from the arena; what is not read has no variable.
// CHECK-LABEL: int32_t tilework_main(void **inputs, void **outputs, void **parameters, void *arena, int64_t *symbols, int32_t num_threads, void *devices) {
// CHECK-NEXT:    (void)devices;
// CHECK-NEXT:    const int64_t N = symbols[0];
// CHECK-NEXT:    float *const x = inputs[0];
// CHECK-NEXT:    float *const y = outputs[0];
// CHECK-NEXT:    int8_t *const bytes = arena;
// CHECK-NEXT:    float *const w = parameters[1];
// CHECK-NEXT:    const int64_t bytes_1 = 256 * N;
// CHECK-NEXT:    float *const t = (void *)(bytes + 64);
// CHECK-NEXT:    float *const s = (void *)(bytes + bytes_1);
// CHECK-NEXT:    dense(x, w, t, s, N, num_threads);

// A slice of a row; a check; a copy of whole buffers, and one of a slice, which loops.
// CHECK-NEXT:    const int64_t last = N - 1;
// CHECK-NEXT:    float *const row = y + last * 64 + 32;
// CHECK-NEXT:    constants(constant_table, row, num_threads);
// CHECK-NEXT:    const bool ok = N >= 1;
// CHECK-NEXT:    if (!ok) return 1;
// CHECK-NEXT:    __builtin_memcpy(y, x, 4 * N * 64);
// CHECK-NEXT:    for (int64_t c = 0; c < N; ++c) {
// CHECK-NEXT:      for (int64_t c_1 = 0; c_1 < 32; ++c_1) {
// CHECK-NEXT:        y[c * 64 + c_1] = t[c * 32 + c_1];
// CHECK:         return 0;

"memref.global"() <{sym_name = "bias", type = memref<32xf32>, initial_value, sym_visibility = "private"}> : () -> ()
"memref.global"() <{sym_name = "weight", type = memref<64x32xf32>, initial_value, sym_visibility = "private"}> : () -> ()
"memref.global"() <{sym_name = "table", type = memref<3xf32>, initial_value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>, sym_visibility = "private", constant}> : () -> ()
loop.kernel @dense ins(%x: memref<?x64xf32> [N, 64], %w: memref<64x32xf32>) outs(%t: memref<?x32xf32> [N, 32])
    scratch(%s: memref<?x64xf32> [N, 64]) symbols(%N)
loop.kernel @constants ins(%t: memref<3xf32>) outs(%y: memref<1x32xf32, strided<[64, 1]>>)

func.func @main(%x: memref<?x64xf32> {tilework.name = "input", tilework.dims = #graph.dims<[N, 64]>},
                %y: memref<?x64xf32> {tilework.name = "output", tilework.output, tilework.dims = #graph.dims<[N, 64]>},
                %arena: memref<?xi8> {tilework.arena})
    attributes {tilework.arena_bytes = #graph.dims<[512 * N + 64]>} {
  %w = memref.get_global @weight : memref<64x32xf32>
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  %at = arith.constant 64 : index
  %bytes = loop.apply 256 * %n
  %t = memref.view %arena[%at][%n] : memref<?xi8> to memref<?x32xf32>
  %s = memref.view %arena[%bytes][%n] : memref<?xi8> to memref<?x64xf32>
  loop.call @dense ins(%x, %w) outs(%t) scratch(%s) symbols(%n) : memref<?x64xf32>, memref<64x32xf32>, memref<?x32xf32>, memref<?x64xf32>

  %c1 = arith.constant 1 : index
  %last = arith.subi %n, %c1 : index
  %row = memref.subview %y[%last, 32] [1, 32] [1, 1] : memref<?x64xf32> to memref<1x32xf32, strided<[64, 1], offset: ?>>
  %k = memref.get_global @table : memref<3xf32>
  %row0 = "memref.cast"(%row) : (memref<1x32xf32, strided<[64, 1], offset: ?>>) -> memref<1x32xf32, strided<[64, 1]>>
  loop.call @constants ins(%k) outs(%row0) : memref<3xf32>, memref<1x32xf32, strided<[64, 1]>>

  %ok = arith.cmpi sge, %n, %c1 : index
  cf.assert %ok, "N must be positive"

  "memref.copy"(%x, %y) : (memref<?x64xf32>, memref<?x64xf32>) -> ()
  %left = memref.subview %y[0, 0] [%n, 32] [1, 1] : memref<?x64xf32> to memref<?x32xf32, strided<[64, 1]>>
  "memref.copy"(%t, %left) : (memref<?x32xf32>, memref<?x32xf32, strided<[64, 1]>>) -> ()
  func.return
}
