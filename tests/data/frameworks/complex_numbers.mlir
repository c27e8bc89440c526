module @jit_complex_numbers attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> (tensor<8xf32> {jax.result_info = "result[0]"}, tensor<8xf32> {jax.result_info = "result[1]"}, tensor<8xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.complex %arg0, %arg1 : tensor<8xcomplex<f32>>
    %1 = stablehlo.multiply %0, %0 : tensor<8xcomplex<f32>>
    %2 = stablehlo.real %1 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
    %3 = stablehlo.real %0 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
    %4 = stablehlo.imag %0 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
    %5 = stablehlo.negate %4 : tensor<8xf32>
    %6 = stablehlo.complex %3, %5 : tensor<8xcomplex<f32>>
    %7 = stablehlo.multiply %0, %6 : tensor<8xcomplex<f32>>
    %8 = stablehlo.imag %7 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
    %9 = stablehlo.abs %0 : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
    return %2, %8, %9 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}
