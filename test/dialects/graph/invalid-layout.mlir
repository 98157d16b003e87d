// RUN: opt-tool %s --split-input-file --verify-diagnostics

// What operators that change layouts refuse.

func.func @f(%x: tensor<30x64xf32>) {
  // expected-error@+1 {{no blocks of 0 along axis 0 of size 30}}
  %y = graph.pack %x {axis = 0 : i64, block = 0 : i64} : (tensor<30x64xf32>) -> tensor<2x64x16xf32>
  func.return
}

// -----

func.func @f(%x: tensor<?x64xf32, #graph.dims<[N, 64]>>) {
  // expected-error@+1 {{no blocks of 16 along axis 0 of size N}}
  %y = graph.pack %x {axis = 0 : i64, block = 16 : i64} : (tensor<?x64xf32, #graph.dims<[N, 64]>>) -> tensor<2x64x16xf32>
  func.return
}

// -----

func.func @f(%x: tensor<32x64xf32>) {
  // expected-error@+1 {{the unpacked tensor has axes 0 to 1, not 2}}
  %y = graph.pack %x {axis = 2 : i64, block = 16 : i64} : (tensor<32x64xf32>) -> tensor<32x64x16xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x64x16xf32>) {
  // expected-error@+1 {{the unpacked tensor has axes 0 to 1, not 2}}
  %y = graph.unpack %x {axis = 2 : i64, size = 16 : i64} : (tensor<2x64x16xf32>) -> tensor<2x64x16xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x?xf32, #graph.dims<[2, N]>>) {
  // expected-error@+1 {{the last axis is one of blocks, of constant size}}
  %y = graph.unpack %x {axis = 0 : i64, size = 2 : i64} : (tensor<2x?xf32, #graph.dims<[2, N]>>) -> tensor<2xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3x64x16xf32>) {
  // expected-error@+1 {{3 blocks of 16 are not those of an axis of size 49}}
  %y = graph.unpack %x {axis = 0 : i64, size = 49 : i64} : (tensor<3x64x16xf32>) -> tensor<49x64xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3x64x16xf32>) {
  // expected-error@+1 {{3 blocks of 16 are not those of an axis of size 32}}
  %y = graph.unpack %x {axis = 0 : i64, size = 32 : i64} : (tensor<3x64x16xf32>) -> tensor<32x64xf32>
  func.return
}

// -----

func.func @f(%x: tensor<8x64xi32>) {
  // expected-error@+1 {{words are made of bytes, not of i32}}
  %y = graph.words %x {axis = 1 : i64} : (tensor<8x64xi32>) -> tensor<8x16xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8x63xui8>) {
  // expected-error@+1 {{an axis of size 63 is no multiple of 4 bytes}}
  %y = graph.words %x {axis = 1 : i64} : (tensor<8x63xui8>) -> tensor<8x15xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8x64xui8>) {
  // expected-error@+1 {{the unpacked tensor has axes 0 to 1, not 2}}
  %y = graph.words %x {axis = 2 : i64} : (tensor<8x64xui8>) -> tensor<8x16xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8x64xf32>) {
  // expected-error@+1 {{words are i32, not f32}}
  %y = graph.bytes %x : (tensor<8x64xf32>) -> tensor<4x8x64xui8>
  func.return
}
