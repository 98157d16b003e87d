// RUN: opt-tool %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// Values of dominating blocks and of regions around are visible.
func.func @legal(%condition: i1, %a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  scf.if %condition {
    %inside = arith.addi %b, %a : i32
  }
  cf.cond_br %condition, ^left, ^right
^left:
  cf.br ^join(%b : i32)
^right:
  cf.br ^join(%a : i32)
^join(%joined: i32):
  %sum = arith.addi %joined, %b : i32
  func.return %sum : i32
}

// -----

// The operations of an unregistered operation may stand in any order, as in MLIR.
"unknown.graph"() ({
  %c = arith.addi %b, %b : i32
  %b = arith.constant 1 : i32
}) : () -> ()

// -----

func.func @not_on_every_path(%condition: i1, %a: i32) -> i32 {
  cf.cond_br %condition, ^left, ^right
^left:
  // expected-note @+1 {{operand defined here}}
  %b = arith.addi %a, %a : i32
  cf.br ^right
^right:
  // expected-error @+1 {{'func.return' op operand #0 does not dominate this use}}
  func.return %b : i32
}

// -----

func.func @used_in_a_region_before(%condition: i1, %a: i32) {
  scf.if %condition {
    // expected-error @below {{'unknown.use' op operand #0 does not dominate this use}}
    "unknown.use"(%c) : (i32) -> ()
    scf.yield
  }
  // expected-note @below {{operand defined here}}
  %c = arith.addi %a, %a : i32
  func.return
}

// -----

%outside = arith.constant 1 : i32
func.func @isolated() -> i32 {
  // expected-error @below {{'func.return' op operand #0 is defined outside 'func.func', which may only use values defined inside it}}
  func.return %outside : i32
}
