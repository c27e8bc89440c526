module @jit_while_loop attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xf32>) -> (tensor<i64> {jax.result_info = "result[0]"}, tensor<6xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0:3 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %c, %iterArg_1 = %arg0) : tensor<6xf32>, tensor<i64>, tensor<6xf32>
    cond {
      %c_2 = stablehlo.constant dense<5> : tensor<i64>
      %1 = stablehlo.compare LT, %iterArg_0, %c_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %c_2 = stablehlo.constant dense<1> : tensor<i64>
      %1 = stablehlo.add %iterArg_0, %c_2 : tensor<i64>
      %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6xf32>
      %3 = stablehlo.multiply %iterArg_1, %2 : tensor<6xf32>
      %4 = stablehlo.add %3, %iterArg : tensor<6xf32>
      stablehlo.return %iterArg, %1, %4 : tensor<6xf32>, tensor<i64>, tensor<6xf32>
    }
    return %0#1, %0#2 : tensor<i64>, tensor<6xf32>
  }
}
