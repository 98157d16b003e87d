// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p te-to-schedule | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p te-to-schedule,schedule-apply-dataflow,schedule-to-loop | filecheck %s --check-prefix=LOOPS

// A sum with one result: four vectors of sums side by side in registers, which are added up at the end, 8 at a time.

// CHECK-LABEL: schedule.sequence @total
// CHECK:         %[[ALL:.*]] = schedule.fuse %r, %s
// CHECK-NEXT:    %{{.*}}, %[[LANE:.*]] = schedule.split %[[ALL]] factor 32
// CHECK-NEXT:    %[[PARTS:rf]], %{{.*}}, %[[LEFT:rest[a-z0-9_]*]] = schedule.rfactor %total, %[[LANE]] at -1
// CHECK-NEXT:    %[[EIGHT:.*]], %{{.*}} = schedule.split %[[LEFT]] factor 8
// CHECK-NEXT:    schedule.rfactor %total, %[[EIGHT]] at 0
// CHECK-NEXT:    schedule.cache_write %[[PARTS]] "register"
// LOOPS-LABEL: loop.kernel @total
// LOOPS:         memref.alloca() : memref<32xf32, "register">
// LOOPS:         loop.for %{{.*}} = 0 to 48
te.kernel @total(%x: tensor<16x96xf32>) -> tensor<f32> {
  %total = te.compute "total" [] reduce [r: 16, s: 96] : tensor<f32> {
    %a = te.read %x[r, s] : tensor<16x96xf32>
    te.reduce add %a : f32
  }
  te.return %total : tensor<f32>
}

// Too few elements for a vector.

// CHECK-LABEL: schedule.sequence @short
// CHECK-NOT:     rfactor
te.kernel @short(%x: tensor<7xf32>) -> tensor<f32> {
  %total = te.compute "total" [] reduce [r: 7] : tensor<f32> {
    %a = te.read %x[r] : tensor<7xf32>
    te.reduce add %a : f32
  }
  te.return %total : tensor<f32>
}

// Of integers every order gives the same sum: LLVM makes vectors of the loop itself, and nothing is asked.

// CHECK-LABEL: schedule.sequence @integers
// CHECK-NOT:     {{rfactor|split|vectorize}}
// CHECK-LABEL: schedule.sequence @products_of_bytes
// CHECK-NOT:     {{rfactor|split|vectorize}}
te.kernel @integers(%x: tensor<16x96xi32>) -> tensor<i32> {
  %total = te.compute "total" [] reduce [r: 16, s: 96] : tensor<i32> {
    %a = te.read %x[r, s] : tensor<16x96xi32>
    te.reduce add %a : i32
  }
  te.return %total : tensor<i32>
}

te.kernel @products_of_bytes(%x: tensor<1009xi8>, %y: tensor<1009xi8>) -> tensor<i32> {
  %total = te.compute "total" [] reduce [r: 1009] : tensor<i32> {
    %a = te.read %x[r] : tensor<1009xi8>
    %b = te.read %y[r] : tensor<1009xi8>
    %c = arith.extsi %a : i8 to i32
    %d = arith.extsi %b : i8 to i32
    %e = arith.muli %c, %d : i32
    te.reduce add %e : i32
  }
  te.return %total : tensor<i32>
}
