module @jit_next_after attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10xf32>, %arg1: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result[0]"}, tensor<10xf32> {jax.result_info = "result[1]"}, tensor<10xi1> {jax.result_info = "result[2]"}, tensor<10xi1> {jax.result_info = "result[3]"}, tensor<10xf32> {jax.result_info = "result[4]"}) {
    %0 = chlo.next_after %arg0, %arg1 : tensor<10xf32>, tensor<10xf32> -> tensor<10xf32>
    %1 = stablehlo.convert %arg0 : (tensor<10xf32>) -> tensor<10xbf16>
    %2 = stablehlo.convert %arg1 : (tensor<10xf32>) -> tensor<10xbf16>
    %3 = chlo.next_after %1, %2 : tensor<10xbf16>, tensor<10xbf16> -> tensor<10xbf16>
    %4 = stablehlo.convert %3 : (tensor<10xbf16>) -> tensor<10xf32>
    %cst = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %6 = stablehlo.compare EQ, %arg0, %5, FLOAT : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xi1>
    %7 = call @isinf(%arg1) : (tensor<10xf32>) -> tensor<10xi1>
    %8 = chlo.square %arg1 : tensor<10xf32> -> tensor<10xf32>
    return %0, %4, %6, %7, %8 : tensor<10xf32>, tensor<10xf32>, tensor<10xi1>, tensor<10xi1>, tensor<10xf32>
  }
  func.func private @isinf(%arg0: tensor<10xf32>) -> tensor<10xi1> {
    %0 = stablehlo.abs %arg0 : tensor<10xf32>
    %cst = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %2 = stablehlo.compare EQ, %0, %1, FLOAT : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xi1>
    return %2 : tensor<10xi1>
  }
}
