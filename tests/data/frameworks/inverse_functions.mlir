module @jit_inverse_functions attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16xf32>) -> (tensor<16xf32> {jax.result_info = "result[0]"}, tensor<16xf32> {jax.result_info = "result[1]"}, tensor<16xf32> {jax.result_info = "result[2]"}, tensor<16xf32> {jax.result_info = "result[3]"}, tensor<16xf32> {jax.result_info = "result[4]"}) {
    %0 = chlo.erf_inv %arg0 : tensor<16xf32> -> tensor<16xf32>
    %1 = chlo.asin %arg0 : tensor<16xf32> -> tensor<16xf32>
    %2 = chlo.acos %arg0 : tensor<16xf32> -> tensor<16xf32>
    %3 = chlo.atanh %arg0 : tensor<16xf32> -> tensor<16xf32>
    %4 = chlo.asinh %arg0 : tensor<16xf32> -> tensor<16xf32>
    return %0, %1, %2, %3, %4 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  }
}
