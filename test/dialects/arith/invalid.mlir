// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @predicate(%a: i32) {
  // expected-error@+1 {{unknown predicate 'less': expected one of eq, ne, slt}}
  %0 = arith.cmpi less, %a, %a : i32
  return
}

// -----

func.func @predicate(%a: f32) {
  // expected-error@+1 {{unknown predicate 'lt': expected one of false, oeq}}
  %0 = arith.cmpf lt, %a, %a : f32
  return
}

// -----

func.func @one_for_all(%a: vector<4xi32>) {
  // expected-error@+1 {{vector<4xi32> and vector<4xi32> do not compare into i1}}
  %0 = "arith.cmpi"(%a, %a) <{predicate = 0 : i64}> : (vector<4xi32>, vector<4xi32>) -> i1
  return
}

// -----

func.func @mixed(%a: f32, %b: f64) {
  // expected-error@+1 {{f32 and f64 do not compare into i1}}
  %0 = "arith.cmpf"(%a, %b) <{predicate = 1 : i64, fastmath = #arith.fastmath<none>}> : (f32, f64) -> i1
  return
}

// -----

func.func @lanes(%c: vector<4xi1>, %a: vector<8xf32>) {
  // expected-error@+1 {{conditions of type vector<4xi1> choose between values of vector<8xf32>}}
  %0 = arith.select %c, %a, %a : vector<4xi1>, vector<8xf32>
  return
}

// -----

func.func @operands(%c: i1, %a: f32) {
  // expected-error@+1 {{expected a condition and two values, found 2 operands}}
  %0 = arith.select %c, %a : f32
  return
}

// -----

func.func @to_signed(%a: vector<4xf32>) {
  // expected-error@+1 {{vector<4xf32> and i32 differ in shape}}
  %0 = arith.fptosi %a : vector<4xf32> to i32
  return
}

// -----

func.func @to_unsigned(%a: f32) {
  // expected-error@+1 {{f32 and vector<4xi32> differ in shape}}
  %0 = arith.fptoui %a : f32 to vector<4xi32>
  return
}

// -----

func.func @from_signed(%a: vector<4xi32>) {
  // expected-error@+1 {{vector<4xi32> and vector<8xf32> differ in shape}}
  %0 = arith.sitofp %a : vector<4xi32> to vector<8xf32>
  return
}

// -----

func.func @from_unsigned(%a: vector<4xi32>) {
  // expected-error@+1 {{vector<4xi32> and f32 differ in shape}}
  %0 = arith.uitofp %a : vector<4xi32> to f32
  return
}

// -----

func.func @narrower(%a: i32) {
  // expected-error@+1 {{32 bits are no extension of 32}}
  %0 = arith.extsi %a : i32 to i32
  return
}

// -----

func.func @narrower(%a: vector<4xi32>) {
  // expected-error@+1 {{8 bits are no extension of 32}}
  %0 = arith.extui %a : vector<4xi32> to vector<4xi8>
  return
}

// -----

func.func @wider(%a: i32) {
  // expected-error@+1 {{64 bits are no truncation of 32}}
  %0 = arith.trunci %a : i32 to i64
  return
}

// -----

func.func @no_index(%a: i32) {
  // expected-error@+1 {{one of i32 and i64 is of index}}
  %0 = arith.index_cast %a : i32 to i64
  return
}

// -----

func.func @rest(%a: i32) {
  // expected-error@+1 {{Unexpected attribute i32}}
  %0 = arith.remf %a, %a : i32
  return
}

// -----

func.func @divsi(%a: f32) {
  // expected-error@+1 {{Unexpected attribute f32}}
  %0 = arith.divsi %a, %a : f32
  return
}

// -----

func.func @divui(%a: f32) {
  // expected-error@+1 {{Unexpected attribute f32}}
  %0 = arith.divui %a, %a : f32
  return
}

// -----

func.func @floordivsi(%a: f32) {
  // expected-error@+1 {{Unexpected attribute f32}}
  %0 = arith.floordivsi %a, %a : f32
  return
}

// -----

func.func @remsi(%a: f32) {
  // expected-error@+1 {{Unexpected attribute f32}}
  %0 = arith.remsi %a, %a : f32
  return
}

// -----

func.func @remui(%a: f32) {
  // expected-error@+1 {{Unexpected attribute f32}}
  %0 = arith.remui %a, %a : f32
  return
}
