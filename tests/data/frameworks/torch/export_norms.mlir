module @IrToHlo.52 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<5xf32>, %arg1: tensor<4x3x5xf32>, %arg2: tensor<5xf32>, %arg3: tensor<3xf32>, %arg4: tensor<3xf32>, %arg5: tensor<3xf32>, %arg6: tensor<3xf32>) -> (tensor<4x3x5xf32>, tensor<4x3x5xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<12xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<12xf32>
    %0 = stablehlo.reshape %arg1 : (tensor<4x3x5xf32>) -> tensor<1x12x5xf32>
    %output, %batch_mean, %batch_var = "stablehlo.batch_norm_training"(%0, %cst_0, %cst) <{epsilon = 9.99999974E-6 : f32, feature_index = 1 : i64}> : (tensor<1x12x5xf32>, tensor<12xf32>, tensor<12xf32>) -> (tensor<1x12x5xf32>, tensor<12xf32>, tensor<12xf32>)
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<5xf32>) -> tensor<4x3x5xf32>
    %2 = stablehlo.reshape %output : (tensor<1x12x5xf32>) -> tensor<4x3x5xf32>
    %3 = stablehlo.broadcast_in_dim %arg0, dims = [2] : (tensor<5xf32>) -> tensor<4x3x5xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<4x3x5xf32>
    %5 = stablehlo.add %1, %4 : tensor<4x3x5xf32>
    %6 = "stablehlo.batch_norm_inference"(%arg1, %arg6, %arg5, %arg4, %arg3) <{epsilon = 9.99999974E-6 : f32, feature_index = 1 : i64}> : (tensor<4x3x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3x5xf32>
    return %5, %6 : tensor<4x3x5xf32>, tensor<4x3x5xf32>
  }
}
