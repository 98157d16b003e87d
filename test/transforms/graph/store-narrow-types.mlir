// RUN: opt-tool %s -p graph-store-narrow-types | filecheck %s
// RUN: opt-tool %s -p graph-store-narrow-types --check-semantics | filecheck %s
// RUN: opt-tool %s --apply-pattern graph-store-narrow-types.decode-cast | filecheck %s --check-prefix=DECODE
// RUN: opt-tool %s --apply-pattern graph-store-narrow-types.encode-cast | filecheck %s --check-prefix=ENCODE
// RUN: opt-tool %s --apply-pattern graph-store-narrow-types.move-bytes | filecheck %s --check-prefix=MOVE
// RUN: opt-tool %s --apply-pattern graph-store-narrow-types.hold-bytes | filecheck %s --check-prefix=HOLD
// RUN: opt-tool %s --apply-pattern graph-store-narrow-types.join-bitcasts | filecheck %s --check-prefix=JOIN
// RUN: opt-tool %s --apply-pattern graph-store-narrow-types.drop-unread | filecheck %s --check-prefix=DROP

// What is moved stays bytes, and the cast decodes them.
// CHECK-LABEL: func.func @moved
// CHECK-NEXT:    %[[T:.*]] = graph.transpose %x {{.*}} -> tensor<3x2xui8>
// CHECK-NEXT:    %[[D:.*]] = graph.decode %[[T]] {element = f8E4M3FN}
// CHECK-NEXT:    %[[H:.*]] = graph.cast %[[D]] {to = f16}
// CHECK-NEXT:    func.return %[[H]]
// DECODE-LABEL: func.func @moved
// DECODE:         %[[B:.*]] = graph.bitcast %{{.*}} {to = ui8} : (tensor<3x2xf8E4M3FN>) -> tensor<3x2xui8>
// DECODE-NEXT:    graph.decode %[[B]]
// MOVE-LABEL: func.func @moved
// MOVE-NEXT:    %[[T:.*]] = graph.transpose %x
// MOVE-NEXT:    graph.bitcast %[[T]] {to = f8E4M3FN}
func.func @moved(%x: tensor<2x3xui8>) -> tensor<3x2xf16> {
  %0 = graph.bitcast %x {to = f8E4M3FN} : (tensor<2x3xui8>) -> tensor<2x3xf8E4M3FN>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<2x3xf8E4M3FN>) -> tensor<3x2xf8E4M3FN>
  %2 = graph.cast %1 {to = f16} : (tensor<3x2xf8E4M3FN>) -> tensor<3x2xf16>
  func.return %2 : tensor<3x2xf16>
}

// A cast from one narrow type to another decodes and encodes; of integers the lowest bits stay.
// CHECK-LABEL: func.func @both
// CHECK-NEXT:    %[[D:.*]] = graph.decode %x {element = i4} : (tensor<7xui8>) -> tensor<7xi32>
// CHECK-NEXT:    %[[F:.*]] = graph.cast %[[D]] {to = f32}
// CHECK-NEXT:    %[[E:.*]] = graph.encode %[[F]] {element = f8E5M2, saturate}
// CHECK-NEXT:    func.return %[[E]]
// ENCODE-LABEL: func.func @integers
// ENCODE-NEXT:    %[[I:.*]] = graph.cast %x {to = i32}
// ENCODE-NEXT:    %[[E:.*]] = graph.encode %[[I]] {element = ui2}
// ENCODE-NEXT:    graph.bitcast %[[E]] {to = ui2}
func.func @both(%x: tensor<7xui8>) -> tensor<7xui8> {
  %0 = graph.bitcast %x {to = i4} : (tensor<7xui8>) -> tensor<7xi4>
  %1 = graph.cast %0 {to = f8E5M2, saturate} : (tensor<7xi4>) -> tensor<7xf8E5M2>
  %2 = graph.bitcast %1 {to = ui8} : (tensor<7xf8E5M2>) -> tensor<7xui8>
  func.return %2 : tensor<7xui8>
}

func.func @integers(%x: tensor<0xf32>) -> tensor<0xui8> {
  %0 = graph.cast %x {to = ui2} : (tensor<0xf32>) -> tensor<0xui2>
  %1 = graph.bitcast %0 {to = ui8} : (tensor<0xui2>) -> tensor<0xui8>
  func.return %1 : tensor<0xui8>
}

// Bits that are only read again as they were need nothing.
// CHECK-LABEL: func.func @again
// CHECK-NEXT:    func.return %x
// JOIN-LABEL: func.func @again
// JOIN-NEXT:    graph.bitcast %x {to = f4E2M1FN}
// JOIN-NEXT:    func.return %x
// DROP-LABEL: func.func @again
// DROP-NEXT:    %[[B:.*]] = graph.bitcast %x {to = i4}
// DROP-NEXT:    graph.bitcast %[[B]] {to = ui8}
func.func @again(%x: tensor<5xui8>) -> tensor<5xui8> {
  %unread = graph.bitcast %x {to = f4E2M1FN} : (tensor<5xui8>) -> tensor<5xf4E2M1FN>
  %0 = graph.bitcast %x {to = i4} : (tensor<5xui8>) -> tensor<5xi4>
  %1 = graph.bitcast %0 {to = ui8} : (tensor<5xi4>) -> tensor<5xui8>
  func.return %1 : tensor<5xui8>
}

// Branches and bodies take bytes, hold bytes and yield bytes.
// CHECK-LABEL: func.func @chosen
// CHECK:         graph.if %c with (%x) {{.*}} -> (tensor<5xui8>)
// CHECK-NEXT:    ^{{.*}}(%[[X:.*]]: tensor<5xui8>):
// CHECK-NEXT:      graph.yield %[[X]] : tensor<5xui8>
// CHECK:           %[[E:.*]] = graph.encode {{.*}} {element = i4}
// CHECK-NEXT:      graph.yield %[[E]] : tensor<5xui8>
// CHECK:         graph.decode %{{.*}} {element = i4}
// HOLD-LABEL: func.func @chosen
// HOLD:         %[[B:.*]] = graph.bitcast %{{.*}} {to = ui8}
// HOLD-NEXT:    %[[Y:.*]] = graph.if %c with (%[[B]])
// HOLD:         graph.bitcast %[[Y]] {to = i4}
func.func @chosen(%c: tensor<i1>, %x: tensor<5xui8>) -> tensor<5xf32> {
  %0 = graph.bitcast %x {to = i4} : (tensor<5xui8>) -> tensor<5xi4>
  %1 = graph.if %c with (%0) : with (tensor<5xi4>) -> (tensor<5xi4>) {
  ^bb0(%a: tensor<5xi4>):
    graph.yield %a : tensor<5xi4>
  } else {
  ^bb0(%a: tensor<5xi4>):
    %2 = graph.cast %a {to = f32} : (tensor<5xi4>) -> tensor<5xf32>
    %3 = graph.neg %2 : (tensor<5xf32>) -> tensor<5xf32>
    %4 = graph.cast %3 {to = i4} : (tensor<5xf32>) -> tensor<5xi4>
    graph.yield %4 : tensor<5xi4>
  }
  %5 = graph.cast %1 {to = f32} : (tensor<5xi4>) -> tensor<5xf32>
  func.return %5 : tensor<5xf32>
}

// CHECK-LABEL: func.func @repeated
// CHECK:         graph.while %c at most [3] counting "K" from (%x) : from (tensor<5xui8>) -> (tensor<5xui8>, tensor<?x5xui8, #graph.dims<[K, 5]>>)
// CHECK:         ^{{.*}}(%[[S:.*]]: tensor<5xui8>):
// CHECK:           graph.yield %{{.*}}, %{{.*}}, %[[S]] : tensor<i1>, tensor<5xui8>, tensor<5xui8>
func.func @repeated(%c: tensor<i1>, %x: tensor<5xui8>) -> tensor<?x5xf32, #graph.dims<[K, 5]>> {
  %0 = graph.bitcast %x {to = f8E4M3FN} : (tensor<5xui8>) -> tensor<5xf8E4M3FN>
  %end, %all = graph.while %c at most [3] counting "K" from (%0) : from (tensor<5xf8E4M3FN>) -> (tensor<5xf8E4M3FN>, tensor<?x5xf8E4M3FN, #graph.dims<[K, 5]>>) {
  ^bb0(%s: tensor<5xf8E4M3FN>):
    %yes = arith.constant dense<true> : tensor<i1>
    %1 = graph.cast %s {to = f32} : (tensor<5xf8E4M3FN>) -> tensor<5xf32>
    %2 = graph.add %1, %1 : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    %3 = graph.cast %2 {to = f8E4M3FN, saturate} : (tensor<5xf32>) -> tensor<5xf8E4M3FN>
    graph.yield %yes, %3, %s : tensor<i1>, tensor<5xf8E4M3FN>, tensor<5xf8E4M3FN>
  }
  %4 = graph.cast %all {to = f32} : (tensor<?x5xf8E4M3FN, #graph.dims<[K, 5]>>) -> tensor<?x5xf32, #graph.dims<[K, 5]>>
  func.return %4 : tensor<?x5xf32, #graph.dims<[K, 5]>>
}
