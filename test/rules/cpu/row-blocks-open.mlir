// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p optimize-graph,lower-to-te,te-to-schedule | filecheck %s

// Nobody knows how many rows there are where their number is a difference of sizes: as many as of any other size.
// CHECK-LABEL: schedule.sequence @softmax
// CHECK:         schedule.vectorize
func.func @main(%n: tensor<?xf32, #graph.dims<[N]>>, %k: tensor<?xf32, #graph.dims<[K]>>, %x: tensor<?x4xf32, #graph.dims<[N - K, 4]>>) -> tensor<?x4xf32, #graph.dims<[N - K, 4]>> {
  %y = graph.softmax %x {axis = 1 : i64} : (tensor<?x4xf32, #graph.dims<[N - K, 4]>>) -> tensor<?x4xf32, #graph.dims<[N - K, 4]>>
  func.return %y : tensor<?x4xf32, #graph.dims<[N - K, 4]>>
}
