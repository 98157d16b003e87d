// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @bytes(%x: i8) {
  // expected-error@+1 {{Expected attribute i32 but got i8}}
  %0 = "words.dot"(%x, %x) : (i8, i8) -> i8
  func.return
}

// -----

func.func @shapes(%x: vector<4xi32>, %w: i32) {
  // expected-error@+1 {{attribute vector<4xi32> expected from variable 'T', but got i32}}
  %0 = "words.dot"(%x, %w) : (vector<4xi32>, i32) -> vector<4xi32>
  func.return
}
