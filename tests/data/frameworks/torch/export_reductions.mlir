module @IrToHlo.166 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<4x6xf32>) -> (tensor<6xf32>, tensor<f32>, tensor<4xf32>, tensor<4xi64>, tensor<4xf32>, tensor<6xf32>, tensor<i1>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<4x6xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<1x6xf32>
    %cst_1 = stablehlo.constant dense<0x7FF0000000000000> : tensor<1x6xf64>
    %cst_2 = stablehlo.constant dense<2.000000e-01> : tensor<4xf32>
    %cst_3 = stablehlo.constant dense<0.166666672> : tensor<4xf32>
    %cst_4 = stablehlo.constant dense<0.0416666679> : tensor<f32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %c_5 = stablehlo.constant dense<false> : tensor<i1>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_7 = stablehlo.constant dense<-3.40282347E+38> : tensor<f32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
    %1 = stablehlo.reduce(%arg0 init: %cst_9) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %2 = stablehlo.multiply %1, %cst_4 : tensor<f32>
    %3 = stablehlo.reduce(%arg0 init: %cst_7) applies stablehlo.maximum across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %4 = stablehlo.iota dim = 0 : tensor<6xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [1] : (tensor<6xi32>) -> tensor<4x6xi32>
    %6:2 = stablehlo.reduce(%arg0 init: %cst_6), (%5 init: %c_8) across dimensions = [1] : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %33 = stablehlo.compare  GE, %arg1, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %34 = stablehlo.select %33, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %35 = stablehlo.compare  EQ, %arg1, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %36 = stablehlo.minimum %arg2, %arg4 : tensor<i32>
      %37 = stablehlo.select %33, %arg2, %arg4 : tensor<i1>, tensor<i32>
      %38 = stablehlo.select %35, %36, %37 : tensor<i1>, tensor<i32>
      stablehlo.return %34, %38 : tensor<f32>, tensor<i32>
    }
    %7 = stablehlo.convert %6#1 : (tensor<4xi32>) -> tensor<4xi64>
    %8 = stablehlo.reduce(%arg0 init: %cst_9) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %9 = stablehlo.multiply %8, %cst_3 : tensor<4xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<4xf32>) -> tensor<4x6xf32>
    %11 = stablehlo.subtract %arg0, %10 : tensor<4x6xf32>
    %12 = stablehlo.multiply %11, %11 : tensor<4x6xf32>
    %13 = stablehlo.reduce(%12 init: %cst_9) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %14 = stablehlo.multiply %13, %cst_2 : tensor<4xf32>
    %15 = stablehlo.sqrt %14 : tensor<4xf32>
    %16 = stablehlo.reduce(%arg0 init: %cst_7) applies stablehlo.maximum across dimensions = [0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
    %17 = stablehlo.reshape %16 : (tensor<6xf32>) -> tensor<1x6xf32>
    %18 = stablehlo.abs %17 : tensor<1x6xf32>
    %19 = stablehlo.convert %18 : (tensor<1x6xf32>) -> tensor<1x6xf64>
    %20 = stablehlo.compare  EQ, %19, %cst_1 : (tensor<1x6xf64>, tensor<1x6xf64>) -> tensor<1x6xi1>
    %21 = stablehlo.select %20, %cst_0, %17 : tensor<1x6xi1>, tensor<1x6xf32>
    %22 = stablehlo.reshape %21 : (tensor<1x6xf32>) -> tensor<6xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [1] : (tensor<6xf32>) -> tensor<4x6xf32>
    %24 = stablehlo.subtract %arg0, %23 : tensor<4x6xf32>
    %25 = stablehlo.exponential %24 : tensor<4x6xf32>
    %26 = stablehlo.reduce(%25 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
    %27 = stablehlo.log %26 : tensor<6xf32>
    %28 = stablehlo.add %27, %22 : tensor<6xf32>
    %29 = stablehlo.compare  GT, %arg0, %cst : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    %30 = stablehlo.not %29 : tensor<4x6xi1>
    %31 = stablehlo.reduce(%30 init: %c_5) across dimensions = [0, 1] : (tensor<4x6xi1>, tensor<i1>) -> tensor<i1>
     reducer(%arg1: tensor<i1>, %arg2: tensor<i1>)  {
      %33 = stablehlo.or %arg1, %arg2 : tensor<i1>
      %34 = stablehlo.select %33, %c, %c_5 : tensor<i1>, tensor<i1>
      stablehlo.return %34 : tensor<i1>
    }
    %32 = stablehlo.not %31 : tensor<i1>
    return %0, %2, %3, %7, %15, %28, %32 : tensor<6xf32>, tensor<f32>, tensor<4xf32>, tensor<4xi64>, tensor<4xf32>, tensor<6xf32>, tensor<i1>
  }
}
