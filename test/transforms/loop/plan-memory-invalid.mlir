// RUN: opt-tool %s -p loop-plan-memory --split-input-file --verify-diagnostics

func.func @returned(%x: memref<4xf32>) -> memref<4xf32> {
  %t = memref.alloc() : memref<4xf32>
  // expected-error@+1 {{a temporary is returned: a host function writes its results to arguments}}
  func.return %t : memref<4xf32>
}

// -----

func.func @no_kernel(%x: memref<4xf32>) {
  // expected-error@+1 {{no kernel @k; the module has none}}
  loop.call @k outs(%x) : memref<4xf32>
  func.return
}

// -----

func.func @unknown_size(%x: memref<4xf32>, %n: index) {
  // expected-error@+1 {{%n is not an expression over the dimensions of arguments}}
  %t = memref.alloc(%n) : memref<?xf32>
  func.return
}

// -----

// expected-error@+1 {{argument %x of @unnamed has type memref<?xf32> but no tilework.dims attribute that names its dynamic dimensions}}
func.func @unnamed(%x: memref<?xf32>) {
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?xf32>
  %t = memref.alloc(%n) : memref<?xf32>
  func.return
}

// -----

func.func @hidden(%x: memref<?xf32> {tilework.dims = #graph.dims<[2 * N]>}) {
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?xf32>
  // expected-error@+1 {{no argument has N itself as a dimension, so its value is not known}}
  %t = memref.alloc(%n) : memref<?xf32>
  func.return
}
