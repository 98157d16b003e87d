// RUN: opt-tool %s -p schedule-apply-dataflow | filecheck %s

// A stage keeps its role where a cache computes what it copies, its layout is another, and parts of its sum are apart.
// CHECK-LABEL: te.kernel @sums
// CHECK:         te.compute "sum.rf" [
// CHECK:         te.compute "sum.local" [
// CHECK:         te.compute "sum" role "example.sum" [i: 8]
te.kernel @sums(%x: tensor<8x64xf32>) -> tensor<8xf32> {
  %sum = te.compute "sum" role "example.sum" [i: 8] reduce [k: 64] : tensor<8xf32> {
    %e = te.read %x[i, k] : tensor<8x64xf32>
    te.reduce add %e : f32
  }
  te.return %sum : tensor<8xf32>
}
schedule.sequence @sums {
  %sum, %i, %k = schedule.stage "sum" [i, k]
  %ko, %ki = schedule.split %k factor 16
  %parts, %p, %q, %r, %rest = schedule.rfactor %sum, %ki at 0 [k.inner, i, k.outer]
  %cache, %d, %e = schedule.cache_write %sum "local" [i, k.inner]
}
