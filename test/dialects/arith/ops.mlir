// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool | filecheck %s

// Comparisons, choices, conversions and divisions, of scalars and lane by lane. xDSL's own tests show the rest of the
// dialect.
// CHECK-LABEL: func.func @scalars
func.func @scalars(%a: f32, %b: f32, %i: i32, %n: index) -> f32 {
  // CHECK: %{{.*}} = arith.cmpf ult, %a, %b : f32
  %less = arith.cmpf ult, %a, %b : f32
  // CHECK: %{{.*}} = arith.cmpi sge, %n, %n : index
  %at_least = arith.cmpi sge, %n, %n : index
  // CHECK: %{{.*}} = arith.select %less, %a, %b : f32
  %smaller = arith.select %less, %a, %b : f32
  // CHECK: %{{.*}} = arith.fptosi %a : f32 to i32
  %signed = arith.fptosi %a : f32 to i32
  // CHECK: %{{.*}} = arith.remf %a, %b : f32
  %rest = arith.remf %a, %b : f32
  // CHECK: %{{.*}} = arith.trunci %i : i32 to i8
  %low = arith.trunci %i : i32 to i8
  return %smaller : f32
}

// CHECK-LABEL: func.func @vectors
func.func @vectors(%a: vector<8xf32>, %i: vector<8xi32>, %c: i1) -> vector<8xf32> {
  // CHECK: %m = arith.cmpf oeq, %a, %a : vector<8xf32>
  %m = arith.cmpf oeq, %a, %a : vector<8xf32>
  // CHECK: %{{.*}} = arith.cmpi slt, %i, %i : vector<8xi32>
  %n = arith.cmpi slt, %i, %i : vector<8xi32>
  // CHECK: %{{.*}} = arith.fptosi %a : vector<8xf32> to vector<8xi32>
  %s = arith.fptosi %a : vector<8xf32> to vector<8xi32>
  // CHECK: %{{.*}} = arith.fptoui %a : vector<8xf32> to vector<8xi32>
  %u = arith.fptoui %a : vector<8xf32> to vector<8xi32>
  // CHECK: %[[F:.*]] = arith.sitofp %s : vector<8xi32> to vector<8xf32>
  %f = arith.sitofp %s : vector<8xi32> to vector<8xf32>
  // CHECK: %[[G:.*]] = arith.uitofp %u : vector<8xi32> to vector<8xf32>
  %g = arith.uitofp %u : vector<8xi32> to vector<8xf32>
  // CHECK: %{{.*}} = arith.extui %n : vector<8xi1> to vector<8xi32>
  %x = arith.extui %n : vector<8xi1> to vector<8xi32>
  // CHECK: %{{.*}} = arith.extsi %i : vector<8xi32> to vector<8xi64>
  %y = arith.extsi %i : vector<8xi32> to vector<8xi64>
  // CHECK: %{{.*}} = arith.trunci %i : vector<8xi32> to vector<8xi16>
  %z = arith.trunci %i : vector<8xi32> to vector<8xi16>
  // CHECK: %{{.*}} = arith.select %m, %f, %g : vector<8xi1>, vector<8xf32>
  %r = arith.select %m, %f, %g : vector<8xi1>, vector<8xf32>
  // One condition for all lanes.
  // CHECK: %{{.*}} = arith.select %c, %r, %g : vector<8xf32>
  %q = arith.select %c, %r, %g : vector<8xf32>
  return %q : vector<8xf32>
}

// CHECK-LABEL: func.func @indices
func.func @indices(%i: vector<8xindex>, %n: i32) -> vector<8xi32> {
  // CHECK: %{{.*}} = arith.index_cast %n : i32 to index
  %j = arith.index_cast %n : i32 to index
  // CHECK: %{{.*}} = arith.index_cast %i : vector<8xindex> to vector<8xi32>
  %k = arith.index_cast %i : vector<8xindex> to vector<8xi32>
  return %k : vector<8xi32>
}

// CHECK-LABEL: func.func @divisions
func.func @divisions(%a: i32, %v: vector<8xi32>) -> vector<8xi32> {
  // CHECK: %{{.*}} = arith.divsi %a, %a : i32
  %0 = arith.divsi %a, %a : i32
  // CHECK: %{{.*}} = arith.divui %v, %v : vector<8xi32>
  %1 = arith.divui %v, %v : vector<8xi32>
  // CHECK: %{{.*}} = arith.floordivsi %v, %v : vector<8xi32>
  %2 = arith.floordivsi %v, %v : vector<8xi32>
  // CHECK: %{{.*}} = arith.remsi %a, %a : i32
  %3 = arith.remsi %a, %a : i32
  // CHECK: %{{.*}} = arith.remui %v, %v : vector<8xi32>
  %4 = arith.remui %v, %v : vector<8xi32>
  return %2 : vector<8xi32>
}
