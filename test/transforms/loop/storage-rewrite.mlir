// RUN: opt-tool %s -p loop-storage-rewrite | filecheck %s

// Five stages in a chain: each writes over what the one before left, element by element. The output is its own.
// tvm: test_pass_storage_rewrite/storage_share
// CHECK-LABEL: loop.kernel @storage_share
// CHECK-SAME:    scratch(%[[S:.*]]: memref<?x?xf32> [M, L]) symbols
// CHECK-COUNT-3: loop.store %{{.*}}, %[[S]][
// CHECK:         loop.store %{{.*}}, %y[
loop.kernel @storage_share ins(%x: memref<?x?xf32> [M, L]) outs(%y: memref<?x?xf32> [M, L]) scratch(%a: memref<?x?xf32> [M, L], %b: memref<?x?xf32> [M, L], %c: memref<?x?xf32> [M, L]) symbols(%M, %L) {
  %one = arith.constant 1.0 : f32
  loop.for %i = 0 to %M "i" {
    loop.for %j = 0 to %L "j" {
      %v = loop.load %x[%i, %j] : memref<?x?xf32>
      %w = arith.addf %v, %one : f32
      loop.store %w, %a[%i, %j] : memref<?x?xf32>
    }
  }
  loop.for %i = 0 to %M "i" {
    loop.for %j = 0 to %L "j" {
      %v = loop.load %a[%i, %j] : memref<?x?xf32>
      %w = arith.addf %v, %one : f32
      loop.store %w, %b[%i, %j] : memref<?x?xf32>
    }
  }
  loop.for %i = 0 to %M "i" {
    loop.for %j = 0 to %L "j" {
      %v = loop.load %b[%i, %j] : memref<?x?xf32>
      %w = arith.addf %v, %one : f32
      loop.store %w, %c[%i, %j] : memref<?x?xf32>
    }
  }
  loop.for %i = 0 to %M "i" {
    loop.for %j = 0 to %L "j" {
      %v = loop.load %c[%i, %j] : memref<?x?xf32>
      %w = arith.addf %v, %one : f32
      loop.store %w, %y[%i, %j] : memref<?x?xf32>
    }
  }
}

// Scratch of other sizes, and what a transposed read needs as it was, are left.
// CHECK-LABEL: loop.kernel @scratch_apart
// CHECK-SAME:    scratch(%[[A:.*]]: memref<8x8xf32>, %[[B:.*]]: memref<8x8xf32>, %[[C:.*]]: memref<64xf32>)
loop.kernel @scratch_apart ins(%x: memref<8x8xf32>) outs(%y: memref<64xf32>) scratch(%a: memref<8x8xf32>, %b: memref<8x8xf32>, %c: memref<64xf32>) {
  loop.for %i = 0 to 8 "i" {
    loop.for %j = 0 to 8 "j" {
      %v = loop.load %x[%i, %j] : memref<8x8xf32>
      loop.store %v, %a[%i, %j] : memref<8x8xf32>
    }
  }
  loop.for %i = 0 to 8 "i" {
    loop.for %j = 0 to 8 "j" {
      %v = loop.load %a[%j, %i] : memref<8x8xf32>
      loop.store %v, %b[%i, %j] : memref<8x8xf32>
    }
  }
  loop.for %i = 0 to 8 "i" {
    loop.for %j = 0 to 8 "j" {
      %v = loop.load %b[%i, %j] : memref<8x8xf32>
      loop.store %v, %c[8 * %i + %j] : memref<64xf32>
    }
  }
  loop.for %i = 0 to 64 "i" {
    %v = loop.load %c[%i] : memref<64xf32>
    loop.store %v, %y[%i] : memref<64xf32>
  }
}

// One after the other inside a loop. The smaller takes the storage of the larger.
// tvm: test_pass_storage_rewrite/alloc_seq
// CHECK-LABEL: loop.kernel @alloc_seq
// CHECK:         loop.for %{{.*}} = 0 to %{{.*}} "o" {
// CHECK-NEXT:      %[[A:.*]] = memref.alloca() : memref<200xf32, "local">
// CHECK-NOT:       alloca
// CHECK:           loop.store %{{.*}}, %[[A]][%{{.*}}]
// CHECK:           loop.store %{{.*}}, %[[A]][%{{.*}}]
loop.kernel @alloc_seq ins(%x: memref<200xf32>) outs(%y: memref<?xf32> [N]) symbols(%N) {
  loop.for %o = 0 to %N "o" {
    %a = memref.alloca() : memref<200xf32, "local">
    loop.for %i = 0 to 200 "i" {
      %v = loop.load %x[%i] : memref<200xf32>
      loop.store %v, %a[%i] : memref<200xf32, "local">
    }
    %b = memref.alloca() : memref<100xf32, "local">
    loop.for %i = 0 to 100 "i" {
      %v = loop.load %a[2 * %i] : memref<200xf32, "local">
      loop.store %v, %y[%o] : memref<?xf32>
    }
    loop.for %i = 0 to 100 "i" {
      %v = loop.load %x[%i] : memref<200xf32>
      loop.store %v, %b[%i] : memref<100xf32, "local">
    }
    loop.for %i = 0 to 100 "i" {
      %v = loop.load %b[%i] : memref<100xf32, "local">
      loop.store %v, %y[%o] : memref<?xf32>
    }
  }
}

// Other element types have storage of their own, whatever their sizes; two of the same type share.
// tvm: test_pass_storage_rewrite/alloc_different_dtypes test_pass_storage_rewrite/alloc_seq_type
// tvm: test_pass_storage_rewrite/alloc_seq_type2
// CHECK-LABEL: loop.kernel @alloc_different_dtypes
// CHECK:         %[[A:.*]] = memref.alloca() : memref<16xf32, "local">
// CHECK-NEXT:    %[[B:.*]] = memref.alloca() : memref<32xi16, "local">
// CHECK-NOT:     alloca
// CHECK:         loop.store %{{.*}}, %[[A]][
// CHECK:         loop.store %{{.*}}, %[[B]][
// CHECK:         loop.store %{{.*}}, %[[B]][
loop.kernel @alloc_different_dtypes ins(%x: memref<32xi16>) outs(%y: memref<32xi16>) {
  %one = arith.constant 1.0 : f32
  %a = memref.alloca() : memref<16xf32, "local">
  %b = memref.alloca() : memref<32xi16, "local">
  %c = memref.alloca() : memref<32xi16, "local">
  loop.for %i = 0 to 16 "i" {
    loop.store %one, %a[%i] : memref<16xf32, "local">
  }
  loop.for %i = 0 to 32 "i" {
    %v = loop.load %x[%i] : memref<32xi16>
    %f = loop.load %a[%i floordiv 2] : memref<16xf32, "local">
    %r = arith.fptosi %f : f32 to i16
    %s = arith.addi %v, %r : i16
    loop.store %s, %b[%i] : memref<32xi16, "local">
  }
  loop.for %i = 0 to 32 "i" {
    %v = loop.load %b[%i] : memref<32xi16, "local">
    loop.store %v, %c[%i] : memref<32xi16, "local">
  }
  loop.for %i = 0 to 32 "i" {
    %v = loop.load %c[%i] : memref<32xi16, "local">
    loop.store %v, %y[%i] : memref<32xi16>
  }
}

// Scopes are not mixed. Registers, and buffers that may become some because their subscripts are constant, stay.
// tvm: test_pass_storage_rewrite/storage_share_gpu
// CHECK-LABEL: loop.kernel @scopes
// CHECK-NEXT:    memref.alloca() : memref<8xf32, "shared">
// CHECK-NEXT:    memref.alloca() : memref<8xf32, "local">
// CHECK-NEXT:    memref.alloca() : memref<8xf32, "register">
// CHECK-NEXT:    memref.alloca() : memref<8xf32, "register">
// CHECK-NEXT:    memref.alloca() : memref<1xf32, "local">
// CHECK-NEXT:    memref.alloca() : memref<1xf32, "local">
// CHECK-NOT:     alloca
loop.kernel @scopes ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) {
  %a = memref.alloca() : memref<8xf32, "shared">
  %b = memref.alloca() : memref<8xf32, "local">
  %c = memref.alloca() : memref<8xf32, "register">
  %d = memref.alloca() : memref<8xf32, "register">
  %e = memref.alloca() : memref<1xf32, "local">
  %f = memref.alloca() : memref<1xf32, "local">
  loop.for %i = 0 to 8 "i" {
    %v = loop.load %x[%i] : memref<8xf32>
    loop.store %v, %a[%i] : memref<8xf32, "shared">
  }
  loop.for %i = 0 to 8 "i" {
    %v = loop.load %a[%i] : memref<8xf32, "shared">
    loop.store %v, %b[%i] : memref<8xf32, "local">
  }
  loop.for %i = 0 to 8 "i" unrolled {
    %v = loop.load %b[%i] : memref<8xf32, "local">
    loop.store %v, %c[%i] : memref<8xf32, "register">
  }
  loop.for %i = 0 to 8 "i" unrolled {
    %v = loop.load %c[%i] : memref<8xf32, "register">
    loop.store %v, %d[%i] : memref<8xf32, "register">
  }
  %v = loop.load %d[0] : memref<8xf32, "register">
  loop.store %v, %e[0] : memref<1xf32, "local">
  %w = loop.load %e[0] : memref<1xf32, "local">
  loop.store %w, %f[0] : memref<1xf32, "local">
  loop.for %i = 0 to 8 "i" {
    %u = loop.load %f[0] : memref<1xf32, "local">
    loop.store %u, %y[%i] : memref<8xf32>
  }
}

// What an iteration of a parallel loop allocates stays inside it; the loops in it count as one thread.
// tvm: test_pass_storage_rewrite/parallel_alloc
// CHECK-LABEL: loop.kernel @parallel_alloc
// CHECK-NEXT:    memref.alloca() : memref<8xf32, "local">
// CHECK-NOT:     alloca
// CHECK:         loop.for %{{.*}} = 0 to 4 "p" parallel {
// CHECK-NEXT:      %[[B:.*]] = memref.alloca() : memref<8xf32, "local">
// CHECK-NOT:       alloca
// CHECK:             loop.store %{{.*}}, %[[B]][
// CHECK:             loop.store %{{.*}}, %[[B]][
loop.kernel @parallel_alloc ins(%x: memref<8xf32>) outs(%y: memref<32xf32>) {
  %a = memref.alloca() : memref<8xf32, "local">
  loop.for %i = 0 to 8 "i" {
    %v = loop.load %x[%i] : memref<8xf32>
    loop.store %v, %a[%i] : memref<8xf32, "local">
  }
  loop.for %i = 0 to 8 "i" {
    %v = loop.load %a[%i] : memref<8xf32, "local">
    loop.store %v, %y[%i] : memref<32xf32>
  }
  loop.for %p = 0 to 4 "p" parallel {
    loop.for %q = 0 to 2 "q" {
      %b = memref.alloca() : memref<8xf32, "local">
      loop.for %i = 0 to 8 "i" {
        %v = loop.load %x[%i] : memref<8xf32>
        loop.store %v, %b[%i] : memref<8xf32, "local">
      }
      loop.for %i = 0 to 4 "i" {
        %v = loop.load %b[2 * %i + 1] : memref<8xf32, "local">
        loop.store %v, %y[8 * %p + %i] : memref<32xf32>
      }
    }
    loop.for %r = 0 to 2 "r" {
      %c = memref.alloca() : memref<4xf32, "local">
      loop.for %i = 0 to 4 "i" {
        %v = loop.load %x[%i] : memref<8xf32>
        loop.store %v, %c[%i] : memref<4xf32, "local">
      }
      loop.for %i = 0 to 4 "i" {
        %v = loop.load %c[%i] : memref<4xf32, "local">
        loop.store %v, %y[8 * %p + %i + 4] : memref<32xf32>
      }
    }
  }
}

// The largest choose first: %c has to leave to %b what was %a's.
// CHECK-LABEL: loop.kernel @largest_first
// CHECK-NEXT:    %[[A:.*]] = memref.alloca() : memref<16xf32, "local">
// CHECK:         loop.store %{{.*}}, %[[A]][
// CHECK:         %[[C:.*]] = memref.alloca() : memref<8xf32, "local">
// CHECK-NOT:     alloca
// CHECK:         loop.store %{{.*}}, %[[C]][
// CHECK:         loop.store %{{.*}}, %[[A]][
loop.kernel @largest_first ins(%x: memref<16xf32>) outs(%y: memref<16xf32>) {
  %a = memref.alloca() : memref<16xf32, "local">
  loop.for %i = 0 to 16 "i" {
    %v = loop.load %x[%i] : memref<16xf32>
    loop.store %v, %a[%i] : memref<16xf32, "local">
  }
  loop.for %i = 0 to 16 "i" {
    %v = loop.load %a[%i] : memref<16xf32, "local">
    loop.store %v, %y[%i] : memref<16xf32>
  }
  %c = memref.alloca() : memref<8xf32, "local">
  loop.for %i = 0 to 8 "i" {
    %v = loop.load %x[%i] : memref<16xf32>
    loop.store %v, %c[%i] : memref<8xf32, "local">
  }
  %b = memref.alloca() : memref<16xf32, "local">
  loop.for %i = 0 to 16 "i" {
    %v = loop.load %x[%i] : memref<16xf32>
    loop.store %v, %b[%i] : memref<16xf32, "local">
  }
  loop.for %i = 0 to 8 "i" {
    %v = loop.load %b[%i + 8] : memref<16xf32, "local">
    %w = loop.load %c[%i] : memref<8xf32, "local">
    %s = arith.addf %v, %w : f32
    loop.store %s, %y[%i] : memref<16xf32>
  }
}

// Small storage that is free grows for a larger buffer: 200 and 200 elements become 400 and 400.
// tvm: test_pass_storage_rewrite/reuse_small_buffer
// CHECK-LABEL: loop.kernel @reuse_small_buffer
// CHECK-NEXT:    %[[A:.*]] = memref.alloca() : memref<400xi16, "local">
// CHECK-NEXT:    %[[B:.*]] = memref.alloca() : memref<400xi16, "local">
// CHECK-NOT:     alloca
loop.kernel @reuse_small_buffer ins(%x: memref<400xi16>) outs(%y: memref<400xi16>) {
  %a = memref.alloca() : memref<200xi16, "local">
  %b = memref.alloca() : memref<200xi16, "local">
  %c = memref.alloca() : memref<200xi16, "local">
  %d = memref.alloca() : memref<400xi16, "local">
  %e = memref.alloca() : memref<400xi16, "local">
  loop.for %i = 0 to 200 "i" {
    %v = loop.load %x[%i] : memref<400xi16>
    loop.store %v, %a[%i] : memref<200xi16, "local">
  }
  loop.for %i = 0 to 200 "i" {
    %v = loop.load %x[%i + 200] : memref<400xi16>
    loop.store %v, %b[%i] : memref<200xi16, "local">
  }
  loop.for %i = 0 to 200 "i" {
    %v = loop.load %a[%i] : memref<200xi16, "local">
    %w = loop.load %b[%i] : memref<200xi16, "local">
    %s = arith.addi %v, %w : i16
    loop.store %s, %c[%i] : memref<200xi16, "local">
  }
  loop.for %i = 0 to 200 "i" {
    %v = loop.load %c[%i] : memref<200xi16, "local">
    loop.store %v, %y[%i] : memref<400xi16>
  }
  loop.for %i = 0 to 400 "i" {
    %v = loop.load %x[%i] : memref<400xi16>
    loop.store %v, %d[%i] : memref<400xi16, "local">
  }
  loop.for %i = 0 to 400 "i" {
    %v = loop.load %x[-%i + 399] : memref<400xi16>
    loop.store %v, %e[%i] : memref<400xi16, "local">
  }
  loop.for %i = 0 to 400 "i" {
    %v = loop.load %d[%i] : memref<400xi16, "local">
    %w = loop.load %e[%i] : memref<400xi16, "local">
    %s = arith.addi %v, %w : i16
    loop.store %s, %y[%i] : memref<400xi16>
  }
}

// 2^28 elements: sizes have no limit of 32 bits.
// tvm: test_pass_storage_rewrite/large_input
// CHECK-LABEL: loop.kernel @large_input
// CHECK-SAME:    scratch(%{{.*}}: memref<268435456xi32>) {
loop.kernel @large_input ins(%x: memref<268435456xi32>) outs(%y: memref<268435456xi32>) scratch(%a: memref<268435456xi32>, %b: memref<268435456xi32>) {
  loop.for %i = 0 to 268435456 "i" {
    %v = loop.load %x[%i] : memref<268435456xi32>
    loop.store %v, %a[%i] : memref<268435456xi32>
  }
  loop.for %i = 0 to 268435456 "i" {
    %v = loop.load %a[%i] : memref<268435456xi32>
    loop.store %v, %b[%i] : memref<268435456xi32>
  }
  loop.for %i = 0 to 268435456 "i" {
    %v = loop.load %b[%i] : memref<268435456xi32>
    loop.store %v, %y[%i] : memref<268435456xi32>
  }
}

// CHECK-LABEL: loop.kernel @declared
loop.kernel @declared ins(%arg0: memref<4xf32>) outs(%arg1: memref<4xf32>) scratch(%arg2: memref<4xf32>, %arg3: memref<4xf32>)
