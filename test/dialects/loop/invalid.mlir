// RUN: opt-tool %s --split-input-file --verify-diagnostics

// loop.kernel

// expected-error@+1 {{memref<?xf32> has dynamic dimensions: expected their expressions, as in [N, 64]}}
loop.kernel @no_dims ins(%x: memref<?xf32>) {
}

// -----

// expected-error@+1 {{dims [N, 8] do not fit memref<?x4xf32>}}
loop.kernel @wrong_dims ins(%x: memref<?x4xf32> [N, 8]) symbols(%N) {
}

// -----

// expected-error@+1 {{dims [4] do not fit memref<?xf32>}}
loop.kernel @static_dims ins(%x: memref<?xf32> [4]) {
}

// -----

// expected-error@+1 {{dims name 'M', which is not among the symbols}}
loop.kernel @unknown_symbol ins(%x: memref<?xf32> [M]) symbols(%N) {
}

// -----

// expected-error@+1 {{expected a memref, got f32}}
loop.kernel @no_buffer ins(%x: f32) {
}

// -----

// expected-error@+1 {{in_place is for declarations; of a kernel with a body it is computed}}
loop.kernel @in_place ins(%x: memref<4xf32>) outs(%y: memref<4xf32>) in_place [0 -> 0] {
}

// -----

// expected-error@+1 {{the argument groups do not add up to the arguments}}
"loop.kernel"() <{sym_name = "groups", function_type = (memref<4xf32>) -> (), groups = array<i32: 1, 1, 0, 0>, symbols = [], dims = [#graph.dims<[4]>]}> ({
^bb0(%x: memref<4xf32>):
}) : () -> ()

// -----

// expected-error@+1 {{the body's arguments differ from the kernel's}}
"loop.kernel"() <{sym_name = "arguments", function_type = (memref<4xf32>) -> (), groups = array<i32: 1, 0, 0, 0>, symbols = [], dims = [#graph.dims<[4]>]}> ({
^bb0(%x: memref<8xf32>):
}) : () -> ()

// -----

// expected-error@+1 {{0 dims for 1 buffers}}
"loop.kernel"() <{sym_name = "dims", function_type = (memref<4xf32>) -> (), groups = array<i32: 1, 0, 0, 0>, symbols = [], dims = []}> ({
^bb0(%x: memref<4xf32>):
}) : () -> ()

// -----

// loop.for

loop.kernel @bounds symbols(%N) {
  // expected-error@+1 {{expressions use ['d0', 'd1'] where the operands are ['d0']}}
  "loop.for"(%N) <{bounds = #loop.index<[d1, d0]>, axis = "i"}> ({
  ^bb0(%i: index):
  }) : (index) -> ()
}

// -----

loop.kernel @one_bound symbols(%N) {
  // expected-error@+1 {{a loop has a lower and an upper bound, not 1 bounds}}
  "loop.for"(%N) <{bounds = #loop.index<[d0]>, axis = "i"}> ({
  ^bb0(%i: index):
  }) : (index) -> ()
}

// -----

loop.kernel @no_index {
  // expected-error@+1 {{a loop's body has one argument, of type index}}
  "loop.for"() <{bounds = #loop.index<[0, 4]>, axis = "i"}> ({
  ^bb0(%i: i32):
  }) : () -> ()
}

// -----

loop.kernel @threads_of_serial symbols(%N) {
  // expected-error@+1 {{a loop that is serial has no conditions for several threads}}
  loop.for %i = 0 to 4 "i" when [%N - 64 >= 0] {
  }
}

// -----

// loop.if and loop.yield

loop.kernel @if_operands symbols(%N) {
  // expected-error@+1 {{expressions use [] where the operands are ['d0']}}
  "loop.if"(%N) <{when = #loop.when<[1 ge 0]>}> ({
    %c = arith.constant 1.0 : f32
  }, {
  }) : (index) -> ()
}

// -----

loop.kernel @if_results ins(%x: memref<4xf32>) symbols(%N) {
  %v = loop.load %x[0] : memref<4xf32>
  // expected-error@+1 {{a loop.if with results has two regions that end in loop.yield of them}}
  %w = loop.if [%N >= 0] -> f32 {
    loop.yield %v : f32
  }
}

// -----

loop.kernel @if_types ins(%x: memref<4xf32>) symbols(%N) {
  %v = loop.load %x[0] : memref<4xf32>
  // expected-error@+1 {{a loop.if with results has two regions that end in loop.yield of them}}
  %w = loop.if [%N >= 0] -> f64 {
    loop.yield %v : f32
  } else {
    loop.yield %v : f32
  }
}

// -----

loop.kernel @yield ins(%x: memref<4xf32>) {
  loop.for %i = 0 to 4 "i" {
    %v = loop.load %x[0] : memref<4xf32>
    // expected-error@+1 {{'loop.yield' expects parent op 'loop.if'}}
    loop.yield %v : f32
  }
}

// -----

// loop.load and loop.store

loop.kernel @rank ins(%x: memref<4x4xf32>) {
  // expected-error@+1 {{1 subscripts into memref<4x4xf32>}}
  %v = loop.load %x[0] : memref<4x4xf32>
}

// -----

loop.kernel @element ins(%x: memref<4xf32>) {
  // expected-error@+1 {{access of vector<4xf64> to memref<4xf32>}}
  %v = loop.load %x[0] : memref<4xf32>, vector<4xf64>
}

// -----

loop.kernel @scalar_stride ins(%x: memref<4xf32>) {
  // expected-error@+1 {{stride, first lane and count are for vectors}}
  %v = loop.load %x[0] stride 2 : memref<4xf32>
}

// -----

loop.kernel @scalar_count ins(%x: memref<4xf32>) {
  %v = loop.load %x[0] : memref<4xf32>
  // expected-error@+1 {{stride, first lane and count are for vectors}}
  loop.store %v, %x[0] count 2 : memref<4xf32>
}

// -----

loop.kernel @store_rank ins(%x: memref<4xf32>) {
  %v = loop.load %x[0] : memref<4xf32>
  // expected-error@+1 {{2 subscripts into memref<4xf32>}}
  loop.store %v, %x[0, 0] : memref<4xf32>
}

// -----

loop.kernel @undefined ins(%x: memref<4xf32>) {
  // expected-error@+1 {{use of undeclared SSA value name '%i'}}
  %v = loop.load %x[%i] : memref<4xf32>
}

// -----

// loop.apply

func.func @apply(%n: index) {
  // expected-error@+1 {{expressions use ['d0', 'd1'] where the operands are ['d0']}}
  %m = "loop.apply"(%n) <{expr = #loop.index<[d0 + d1]>}> : (index) -> index
  func.return
}

// -----

// loop.call

func.func @call_groups(%x: memref<4xf32>) {
  // expected-error@+1 {{the argument groups do not add up to the arguments}}
  "loop.call"(%x) <{callee = @k, groups = array<i32: 1, 1, 0, 0>}> : (memref<4xf32>) -> ()
  func.return
}

// -----

func.func @call_symbol(%x: memref<4xf32>) {
  // expected-error@+1 {{a symbol is an index, not memref<4xf32>}}
  "loop.call"(%x) <{callee = @k, groups = array<i32: 0, 0, 0, 1>}> : (memref<4xf32>) -> ()
  func.return
}

// -----

loop.kernel @prefetch ins(%x: memref<8x64xf32>) {
  // expected-error@+1 {{1 subscripts into memref<8x64xf32>}}
  loop.prefetch %x[0] : memref<8x64xf32>
}

// -----

loop.kernel @locality ins(%x: memref<8x64xf32>) {
  // expected-error@+1 {{locality 1: it is 2 or 3}}
  loop.prefetch %x[0, 0] locality 1 : memref<8x64xf32>
}

// -----

// loop.transpose

loop.kernel @no_rows {
  // expected-error@+1 {{expected rows}}
  %c = "loop.transpose"() : () -> vector<1xf32>
}

// -----

loop.kernel @unequal_rows {
  %a = arith.constant dense<0.0> : vector<2xf32>
  %b = arith.constant dense<0> : vector<2xi32>
  // expected-error@+1 {{a row of vector<2xi32> beside one of vector<2xf32>}}
  %c, %d = "loop.transpose"(%a, %b) : (vector<2xf32>, vector<2xi32>) -> (vector<2xf32>, vector<2xf32>)
}

// -----

loop.kernel @columns {
  %a = arith.constant dense<0.0> : vector<2xf32>
  // expected-error@+1 {{1 rows of vector<2xf32> have 2 columns of vector<1xf32>, not vector<1xf32>}}
  %c = "loop.transpose"(%a) : (vector<2xf32>) -> vector<1xf32>
}

// -----

loop.kernel @matrix_of_matrices {
  %a = arith.constant dense<0.0> : vector<2x2xf32>
  // expected-error@+1 {{a row of vector<2x2xf32>: it has one dimension}}
  %c = "loop.transpose"(%a) : (vector<2x2xf32>) -> vector<1xf32>
}

// -----

loop.kernel @numbers {
  %a = arith.constant 0.0 : f32
  // expected-error@+1 {{expected a vector of one dimension, got f32}}
  %c = loop.transpose %a : f32
}

// -----

// loop.bytes

loop.kernel @bytes_of_bytes ins(%x: memref<8xi8>) {
  // expected-error@+1 {{expected 4-bit integers one after another, got memref<8xi8>}}
  %b = "loop.bytes"(%x) : (memref<8xi8>) -> memref<8xi8>
}

// -----

loop.kernel @bytes_of_rows ins(%x: memref<2x4xi4>) {
  // expected-error@+1 {{expected 4-bit integers one after another, got memref<2x4xi4>}}
  %b = "loop.bytes"(%x) : (memref<2x4xi4>) -> memref<4xi8>
}

// -----

loop.kernel @bytes_too_few ins(%x: memref<9xi4>) {
  // expected-error@+1 {{the bytes of memref<9xi4> are memref<5xi8>, not memref<4xi8>}}
  %b = loop.bytes %x : memref<9xi4> to memref<4xi8>
}

// -----

// loop.words

func.func @words_of_words(%x: memref<8xi32>) {
  // expected-error@+1 {{words are made of bytes, not of memref<8xi32>}}
  %w = loop.words %x : memref<8xi32> to memref<2xi32>
  func.return
}

// -----

func.func @words_of_some(%x: memref<2x9xui8>) {
  // expected-error@+1 {{the last dimension of memref<2x9xui8> is no multiple of 4 bytes}}
  %w = loop.words %x : memref<2x9xui8> to memref<2x2xi32>
  func.return
}

// -----

func.func @words_apart(%x: memref<3x8xui8, strided<[9, 1]>>) {
  // expected-error@+1 {{the rows of memref<3x8xui8, strided<[9, 1]>> do not begin with whole words}}
  %w = loop.words %x : memref<3x8xui8, strided<[9, 1]>> to memref<3x2xi32>
  func.return
}

// -----

func.func @words_too_few(%x: memref<8xui8>) {
  // expected-error@+1 {{the words of memref<8xui8> are memref<2xi32>, not memref<1xi32>}}
  %w = loop.words %x : memref<8xui8> to memref<1xi32>
  func.return
}

// -----

loop.kernel @scalar_first ins(%x: memref<4xf32>) {
  // expected-error@+1 {{stride, first lane and count are for vectors}}
  %v = loop.load %x[0] from 1 : memref<4xf32>
}

// -----

loop.kernel @first_of_halves ins(%x: memref<4xi4>) {
  // expected-error@+1 {{lanes of less than a byte are touched from lane 0 on}}
  %v = loop.load %x[0] from 1 : memref<4xi4>, vector<4xi4>
}

// -----

loop.kernel @rest_of_halves ins(%x: memref<4xi4>) {
  %v = loop.load %x[0] : memref<4xi4>
  // expected-error@+1 {{lanes of less than a byte have no 'else'}}
  %w = loop.load %x[0] count 2 else %v : memref<4xi4>, vector<4xi4>
}

// -----

loop.kernel @rest_of_all ins(%x: memref<4xf32>) {
  %v = loop.load %x[0] : memref<4xf32>
  // expected-error@+1 {{all lanes are touched, and none is left for what is behind 'else'}}
  %w = loop.load %x[0] else %v : memref<4xf32>, vector<4xf32>
}

// -----

"loop.kernel"() <{sym_name = "rest_type", function_type = (memref<4xf32>) -> (), groups = array<i64: 1, 0, 0, 0>, dims = #loop.index<[4]>, symbols = []}> ({
^bb0(%x: memref<4xf32>):
  %v = "arith.constant"() <{value = 1 : i32}> : () -> i32
  // expected-error@+1 {{lanes of f32 are otherwise i32}}
  %w = "loop.load"(%x, %v) <{indices = #loop.index<[0]>, count = #loop.index<[2]>, operandSegmentSizes = array<i32: 1, 0, 1>}> : (memref<4xf32>, i32) -> vector<4xf32>
}) : () -> ()

// -----

loop.kernel @rest_of_one ins(%x: memref<4xf32>) {
  %v = loop.load %x[0] : memref<4xf32>
  // expected-error@+1 {{lanes of stride 0 are one element: none is left out}}
  %w = loop.load %x[0] stride 0 count 2 else %v : memref<4xf32>, vector<4xf32>
}

// -----

loop.kernel @first_of_one ins(%x: memref<4xf32>) {
  // expected-error@+1 {{lanes of stride 0 are one element: none is left out}}
  %w = loop.load %x[0] stride 0 from 2 : memref<4xf32>, vector<4xf32>
}

// -----

// loop.wait

func.func @f() {
  // expected-error@+1 {{loop.wait}}
  "loop.wait"() : () -> ()
  func.return
}

// -----

func.func @f(%x: memref<4xf32>, %y: memref<4xf32, #tilework.device<"npu0">>) {
  // expected-error@+1 {{the buffers of a call are in the memory of one device, not of npu0 and the host}}
  loop.call @k ins(%x) outs(%y) : memref<4xf32>, memref<4xf32, #tilework.device<"npu0">>
  func.return
}

// -----

func.func @f(%n: index) {
  // expected-error@+1 {{a limit is one number}}
  %k = loop.symbol "K" = %n at most [3, 4]
  func.return
}

// -----

// loop.invoke

func.func @f(%n: index) {
  // expected-error@+1 {{loop.invoke}}
  "loop.invoke"(%n) <{callee = @f, operandSegmentSizes = array<i32: 1, 0, 0>}> : (index) -> ()
  func.return
}
