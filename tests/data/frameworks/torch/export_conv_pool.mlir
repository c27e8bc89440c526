module @IrToHlo.89 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4x3x3x3xf32>, %arg2: tensor<1x3x9x9xf32>) -> (tensor<1x4x2x2xf32>, tensor<1x3x3x3xf32>) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<9x9xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<1x4x5x5xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.convolution(%arg2, %arg1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x3x9x9xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x5x5xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<4xf32>) -> tensor<1x4x5x5xf32>
    %2 = stablehlo.add %0, %1 : tensor<1x4x5x5xf32>
    %3 = stablehlo.maximum %2, %cst_0 : tensor<1x4x5x5xf32>
    %4 = "stablehlo.reduce_window"(%3, %cst_1) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %9 = stablehlo.maximum %arg3, %arg4 : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }) : (tensor<1x4x5x5xf32>, tensor<f32>) -> tensor<1x4x2x2xf32>
    %5 = "stablehlo.reduce_window"(%arg2, %cst_2) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 1, 3, 3>, window_strides = array<i64: 1, 1, 3, 3>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %9 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }) : (tensor<1x3x9x9xf32>, tensor<f32>) -> tensor<1x3x3x3xf32>
    %6 = "stablehlo.reduce_window"(%cst, %cst_2) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 3, 3>, window_strides = array<i64: 3, 3>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %9 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }) : (tensor<9x9xf32>, tensor<f32>) -> tensor<3x3xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [2, 3] : (tensor<3x3xf32>) -> tensor<1x3x3x3xf32>
    %8 = stablehlo.divide %5, %7 : tensor<1x3x3x3xf32>
    return %4, %8 : tensor<1x4x2x2xf32>, tensor<1x3x3x3xf32>
  }
}
