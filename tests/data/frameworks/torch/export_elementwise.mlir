module @IrToHlo.21 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<4x4xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<4x4xf32>
    %cst_1 = stablehlo.constant dense<-1.000000e+00> : tensor<4x4xf32>
    %0 = stablehlo.logistic %arg0 : tensor<4x4xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<4x4xf32>
    %2 = stablehlo.tanh %arg0 : tensor<4x4xf32>
    %3 = stablehlo.abs %arg0 : tensor<4x4xf32>
    %4 = stablehlo.sqrt %3 : tensor<4x4xf32>
    %5 = stablehlo.clamp %cst_1, %arg0, %cst_0 : tensor<4x4xf32>
    %6 = stablehlo.compare  GT, %arg0, %cst : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xi1>
    %7 = stablehlo.negate %arg0 : tensor<4x4xf32>
    %8 = stablehlo.select %6, %arg0, %7 : tensor<4x4xi1>, tensor<4x4xf32>
    %9 = stablehlo.round_nearest_even %arg0 : tensor<4x4xf32>
    return %0, %1, %2, %4, %5, %8, %9 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  }
}
