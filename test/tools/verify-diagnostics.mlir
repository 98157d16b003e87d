// RUN: opt-tool %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

func.func @above(%a: i32) -> i32 {
  func.return
  // expected-error @above {{'func.return' op Expected arguments}}
}

// -----

func.func @offset(%a: i32) -> i32 {
  // expected-error @+2 {{Expected arguments to have the same types}}

  func.return
}

// -----

func.func @same_line_regular_expression() -> i32 {
  func.return // expected-error-re {{expected [i{{[0-9]+}}], got}}
}

// -----

// Two annotations of one line, and a note that belongs to an error.
func.func @several(%a: i32) {
  // expected-error @below {{operand #1 does not dominate}}
  %c = arith.addi %a, %b : i32
  // expected-note @below {{operand defined here}}
  %b = arith.addi %a, %a : i32
  func.return
}
