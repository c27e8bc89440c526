module @IrToHlo.18 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<4x6xf32>) -> (tensor<4x12xf32>, tensor<3x8xf32>, tensor<2x3xf32>, tensor<4x9xf32>, tensor<8x6xf32>, tensor<2x4x6xf32>) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<4x6xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<4x6xf32>
    %1 = stablehlo.concatenate %arg0, %0, dim = 1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>
    %2 = stablehlo.transpose %arg0, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[6,4]{0,1}"} : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %3 = stablehlo.reshape %2 : (tensor<6x4xf32>) -> tensor<3x8xf32>
    %4 = stablehlo.slice %arg0 [1:3, 0:6] : (tensor<4x6xf32>) -> tensor<2x6xf32>
    %5 = stablehlo.slice %4 [0:2, 0:6:2] : (tensor<2x6xf32>) -> tensor<2x3xf32>
    %6 = stablehlo.pad %arg0, %cst_0, low = [0, 1], high = [0, 2], interior = [0, 0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x9xf32>
    %7 = stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %8 = stablehlo.multiply %arg0, %cst : tensor<4x6xf32>
    %9 = stablehlo.concatenate %arg0, %8, dim = 0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %10 = stablehlo.reshape %9 : (tensor<8x6xf32>) -> tensor<2x4x6xf32>
    return %1, %3, %5, %6, %7, %10 : tensor<4x12xf32>, tensor<3x8xf32>, tensor<2x3xf32>, tensor<4x9xf32>, tensor<8x6xf32>, tensor<2x4x6xf32>
  }
}
