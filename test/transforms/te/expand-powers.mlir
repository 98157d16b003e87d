// RUN: opt-tool --pass-pipeline=te-expand-powers %s | filecheck %s

// CHECK-LABEL: te.kernel @three_quarters
// CHECK:         [[X:%[a-z_0-9]+]] = te.read %x[i]
// CHECK:         [[SMALLEST:%[a-z_0-9]+]] = arith.constant 0xff800000 : f32
// CHECK-NEXT:    [[LARGEST:%[a-z_0-9]+]] = arith.constant 0x7f800000 : f32
// CHECK-NEXT:    [[IS:%[a-z_0-9]+]] = arith.cmpf oeq, [[X]], [[SMALLEST]] : f32
// CHECK-NEXT:    [[SIZE:%[a-z_0-9]+]] = arith.select [[IS]], [[LARGEST]], [[X]] : f32
// CHECK-NEXT:    [[ROOT:%[a-z_0-9]+]] = math.sqrt [[SIZE]] : f32
// CHECK-NEXT:    [[FOURTH:%[a-z_0-9]+]] = math.sqrt [[ROOT]] : f32
// CHECK-NEXT:    [[POWER:%[a-z_0-9]+]] = arith.mulf [[ROOT]], [[FOURTH]] : f32
// CHECK-NEXT:    te.yield [[POWER]] : f32
te.kernel @three_quarters(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    %c = arith.constant 0.75 : f32
    %p = math.powf %v, %c : f32
    te.yield %p : f32
  }
  te.return %y : tensor<8xf32>
}

// The root of -0 is -0, its power is 0.
// CHECK-LABEL: te.kernel @half
// CHECK:         [[ROOT:%[a-z_0-9]+]] = math.sqrt %{{.*}} : f64
// CHECK-NEXT:    math.absf [[ROOT]] : f64
te.kernel @half(%x: tensor<8xf64>) -> tensor<8xf64> {
  %y = te.compute "y" [i: 8] : tensor<8xf64> {
    %v = te.read %x[i] : tensor<8xf64>
    %c = arith.constant 0.5 : f64
    %p = math.powf %v, %c : f64
    te.yield %p : f64
  }
  te.return %y : tensor<8xf64>
}

// CHECK-LABEL: te.kernel @square_and_cube
// CHECK:         [[SQUARE:%[a-z_0-9]+]] = arith.mulf [[X:%[a-z_0-9]+]], [[X]] : f32
// CHECK:         [[XX:%[a-z_0-9]+]] = arith.mulf [[SQUARE]], [[SQUARE]] : f32
// CHECK-NEXT:    [[CUBE:%[a-z_0-9]+]] = arith.mulf [[XX]], [[SQUARE]] : f32
// CHECK-NEXT:    te.yield [[CUBE]] : f32
te.kernel @square_and_cube(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    %two = arith.constant 2.0 : f32
    %p = math.powf %v, %two : f32
    %three = arith.constant 3.0 : f32
    %q = math.powf %p, %three : f32
    te.yield %q : f32
  }
  te.return %y : tensor<8xf32>
}

// CHECK-LABEL: te.kernel @others
// CHECK-COUNT-2: math.powf
// CHECK-NOT:     arith.mulf
// CHECK:         te.return
te.kernel @others(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    %c = arith.constant 0.6 : f32
    %p = math.powf %v, %c : f32
    %q = math.powf %c, %p : f32
    te.yield %q : f32
  }
  te.return %y : tensor<8xf32>
}

// A graph's exponent is a stage.
// CHECK-LABEL: te.kernel @of_a_stage
// CHECK:         [[X:%[a-z_0-9]+]] = te.read %x[i]
// CHECK:         [[SQUARE:%[a-z_0-9]+]] = arith.mulf [[X]], [[X]] : f32
// CHECK-NEXT:    te.yield [[SQUARE]] : f32
te.kernel @of_a_stage(%x: tensor<8xf32>) -> tensor<8xf32> {
  %two = te.compute "two" [] : tensor<f32> {
    %c = arith.constant 2.0 : f32
    te.yield %c : f32
  }
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    %e = te.read %two[] : tensor<f32>
    %p = math.powf %v, %e : f32
    te.yield %p : f32
  }
  te.return %y : tensor<8xf32>
}

// A sum of twos is not two.
// CHECK-LABEL: te.kernel @of_a_sum
// CHECK:         math.powf
te.kernel @of_a_sum(%x: tensor<8xf32>) -> tensor<8xf32> {
  %four = te.compute "four" [] reduce [r: 2] : tensor<f32> {
    %c = arith.constant 2.0 : f32
    te.reduce add %c : f32
  }
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    %e = te.read %four[] : tensor<f32>
    %p = math.powf %v, %e : f32
    te.yield %p : f32
  }
  te.return %y : tensor<8xf32>
}

// The pattern alone, at one power, and where it refuses one.
// RUN: opt-tool %s --apply-pattern te-expand-powers.expand-power@31 | filecheck %s --check-prefix=ALONE
// ALONE-LABEL: te.kernel @three_quarters
// ALONE:         math.powf
// ALONE-LABEL: te.kernel @half
// ALONE:         math.absf
// ALONE-LABEL: te.kernel @square_and_cube
// ALONE:         math.powf
// RUN: not opt-tool %s --apply-pattern te-expand-powers.expand-power@62 2>&1 | filecheck %s --check-prefix=REFUSED
// REFUSED: error: te-expand-powers.expand-power does not match at line 62
