// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<1x8x9xf32>, %b: tensor<5x4xf32>, %i: tensor<5xi64>) {
  // expected-error@+1 {{it takes images [images, rows, columns, channels], and regions of four numbers}}
  %y = graph.roi_pool %x, %b, %i {height = 2 : i64, width = 3 : i64, scale = 1.0 : f32} : (tensor<1x8x9xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x0x9x4xf32>, %b: tensor<5x4xf32>, %i: tensor<5xi64>) {
  // expected-error@+1 {{there is no image, or no element of one, in tensor<1x0x9x4xf32>}}
  %y = graph.roi_pool %x, %b, %i {height = 2 : i64, width = 3 : i64, scale = 1.0 : f32} : (tensor<1x0x9x4xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x8x9x4xf32>, %b: tensor<5x4xf32>, %i: tensor<4xi64>) {
  // expected-error@+1 {{each of 5 regions has the number of an image, an i64}}
  %y = graph.roi_pool %x, %b, %i {height = 2 : i64, width = 3 : i64, scale = 1.0 : f32} : (tensor<1x8x9x4xf32>, tensor<5x4xf32>, tensor<4xi64>) -> tensor<5x2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x8x9x4xf32>, %b: tensor<5x4xf32>, %i: tensor<5xi32>) {
  // expected-error@+1 {{each of 5 regions has the number of an image, an i64}}
  %y = graph.roi_pool %x, %b, %i {height = 2 : i64, width = 3 : i64, scale = 1.0 : f32} : (tensor<1x8x9x4xf32>, tensor<5x4xf32>, tensor<5xi32>) -> tensor<5x2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x8x9x4xf32>, %b: tensor<5x4xf32>, %i: tensor<5xi64>) {
  // expected-error@+1 {{a region has a positive number of bins, not 0 by 3}}
  %y = graph.roi_pool %x, %b, %i {height = 0 : i64, width = 3 : i64, scale = 1.0 : f32} : (tensor<1x8x9x4xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x8x9x4xf32>, %b: tensor<5x4xf16>, %i: tensor<5xi64>) {
  // expected-error@+1 {{images and regions are of one floating-point type, not f32 and f16}}
  %y = graph.roi_pool %x, %b, %i {height = 2 : i64, width = 3 : i64, scale = 1.0 : f32} : (tensor<1x8x9x4xf32>, tensor<5x4xf16>, tensor<5xi64>) -> tensor<5x2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x8x9x4xf32>, %b: tensor<5x4xf32>, %i: tensor<5xi64>) {
  // expected-error@+1 {{the number of samples is not negative, -1 is}}
  %y = graph.roi_align %x, %b, %i {height = 2 : i64, width = 3 : i64, scale = 1.0 : f32, samples = -1 : i64, half_pixel = true, largest = false} : (tensor<1x8x9x4xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x2x3x4xf32>
  func.return
}
