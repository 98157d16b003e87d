// RUN: opt-tool %s -p 'canonicalize{max-iterations=10 top-down=true region-simplify=normal}' | filecheck %s
// RUN: opt-tool %s -p 'canonicalize{top-down=false}' | filecheck %s
// RUN: opt-tool %s -p 'canonicalize{max-iterations=0}' | filecheck %s --check-prefix=NONE
// RUN: opt-tool %s -p 'canonicalize{region-simplify=disabled}' | filecheck %s --check-prefix=BLOCKS
// RUN: opt-tool %s -p 'func.func(canonicalize{max_iterations=2 top-down=false})' --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=DUMP

// CHECK-LABEL: func.func @f
// CHECK-NEXT:    func.return %a : i32
// CHECK-NEXT:  }

// NONE:         arith.addi

// BLOCKS-LABEL: func.func @f
// BLOCKS-NEXT:    func.return %a : i32
// BLOCKS-NEXT:  ^{{.*}}:
// BLOCKS-NEXT:    func.return %a : i32

// DUMP: builtin.module(func.func(canonicalize{max-iterations=2 top-down=false}))
func.func @f(%a: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %b = arith.addi %a, %zero : i32
  %dead = arith.muli %b, %b : i32
  func.return %b : i32
^unreached:
  func.return %a : i32
}
