module @jit_rounding attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xf32>) -> (tensor<6xf32> {jax.result_info = "result[0]"}, tensor<6xf32> {jax.result_info = "result[1]"}, tensor<6xf32> {jax.result_info = "result[2]"}, tensor<6xf32> {jax.result_info = "result[3]"}, tensor<6xf32> {jax.result_info = "result[4]"}, tensor<6xf32> {jax.result_info = "result[5]"}) {
    %0 = call @round(%arg0) : (tensor<6xf32>) -> tensor<6xf32>
    %1 = stablehlo.floor %arg0 : tensor<6xf32>
    %2 = stablehlo.ceil %arg0 : tensor<6xf32>
    %3 = stablehlo.round_nearest_afz %arg0 : tensor<6xf32>
    %4 = stablehlo.abs %arg0 : tensor<6xf32>
    %5 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<6xf32>
    return %0, %1, %2, %3, %4, %5 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
  }
  func.func private @round(%arg0: tensor<6xf32>) -> tensor<6xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}
