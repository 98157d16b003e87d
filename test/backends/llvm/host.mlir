// RUN: opt-tool %s --target='llvm -mcpu=haswell' -t llvmir | filecheck %s

// CHECK:       @table = private constant [3 x float] [float 0x3FF0000000000000, float 0x4000000000000000, float 0x4008000000000000], align 64

// Arguments come from tables, symbols from the caller, temporaries from the arena; the host is one function.
// CHECK-LABEL: define i32 @tilework_main(ptr %inputs, ptr %outputs, ptr %parameters, ptr %arena, ptr %symbols, i32 %num_threads, ptr %devices)
// CHECK:         %N = load i64, ptr %{{.*}}, align 8
// CHECK:         %[[X:.*]] = getelementptr ptr, ptr %inputs, i64 0
// CHECK-NEXT:    %x = load ptr, ptr %[[X]], align 8
// CHECK:         %[[Y:.*]] = getelementptr ptr, ptr %outputs, i64 0
// CHECK-NEXT:    %y = load ptr, ptr %[[Y]], align 8
// CHECK:         %[[W:.*]] = getelementptr ptr, ptr %parameters, i64 1
// CHECK-NEXT:    %w = load ptr, ptr %[[W]], align 8
// CHECK:         %[[BYTES:.*]] = mul nsw i64 %N, 256
// CHECK:         %[[T:.*]] = getelementptr i8, ptr %arena, i64 64
// CHECK:         %[[S:.*]] = getelementptr i8, ptr %arena, i64 %[[BYTES]]
// CHECK:         call void @dense(ptr %x, ptr %w, ptr %[[T]], ptr %[[S]], i64 %N, i32 %num_threads)
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

  // A slice of a row: one element's size times the row's stride.
  // CHECK:         %last = sub i64 %N, 1
  // CHECK-NEXT:    %[[OFFSET:.*]] = mul nsw i64 %last, 64
  // CHECK-NEXT:    %[[ROW:.*]] = getelementptr float, ptr %y, i64 %[[OFFSET]]
  // CHECK-NEXT:    %[[HALF:.*]] = getelementptr float, ptr %[[ROW]], i64 32
  // CHECK-NEXT:    call void @constants(ptr @table, ptr %[[HALF]], i32 %num_threads)
  %c1 = arith.constant 1 : index
  %last = arith.subi %n, %c1 : index
  %row = memref.subview %y[%last, 32] [1, 32] [1, 1] : memref<?x64xf32> to memref<1x32xf32, strided<[64, 1], offset: ?>>
  %k = memref.get_global @table : memref<3xf32>
  %row0 = "memref.cast"(%row) : (memref<1x32xf32, strided<[64, 1], offset: ?>>) -> memref<1x32xf32, strided<[64, 1]>>
  loop.call @constants ins(%k) outs(%row0) : memref<3xf32>, memref<1x32xf32, strided<[64, 1]>>

  // CHECK:         %ok = icmp sge i64 %N, 1
  // CHECK-NEXT:    br i1 %ok, label %holds, label %fails
  // CHECK:       fails:
  // CHECK-NEXT:    ret i32 1
  // CHECK:       holds:
  %ok = arith.cmpi sge, %n, %c1 : index
  cf.assert %ok, "N must be positive"

  // A copy of whole buffers, and one of a slice, which loops.
  // CHECK:         %[[ROWS:.*]] = mul nsw i64 4, %N
  // CHECK-NEXT:    %[[SIZE:.*]] = mul nsw i64 %[[ROWS]], 64
  // CHECK-NEXT:    call void @llvm.memcpy.p0.p0.i64(ptr %y, ptr %x, i64 %[[SIZE]], i1 false)
  // CHECK:         %c = phi i64 [ 0, %holds ], [ %{{.*}}, %c.end.1 ]
  // CHECK:         %c.1 = phi i64
  // CHECK:         ret i32 0
  "memref.copy"(%x, %y) : (memref<?x64xf32>, memref<?x64xf32>) -> ()
  %left = memref.subview %y[0, 0] [%n, 32] [1, 1] : memref<?x64xf32> to memref<?x32xf32, strided<[64, 1]>>
  "memref.copy"(%t, %left) : (memref<?x32xf32>, memref<?x32xf32, strided<[64, 1]>>) -> ()
  func.return
}
// CHECK: declare void @dense(ptr, ptr, ptr, ptr, i64, i32)
