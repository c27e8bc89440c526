module @IrToHlo.69 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<24xf32>, %arg3: tensor<24x8xf32>, %arg4: tensor<2x5x8xf32>) -> tensor<2x5x8xf32> {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<2x2x5x5xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reshape %arg4 : (tensor<2x5x8xf32>) -> tensor<10x8xf32>
    %1 = stablehlo.transpose %arg3, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[8,24]{0,1}"} : (tensor<24x8xf32>) -> tensor<8x24xf32>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10x8xf32>, tensor<8x24xf32>) -> tensor<10x24xf32>
    %3 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<24xf32>) -> tensor<10x24xf32>
    %4 = stablehlo.add %2, %3 : tensor<10x24xf32>
    %5 = stablehlo.reshape %4 : (tensor<10x24xf32>) -> tensor<2x5x24xf32>
    %6 = stablehlo.slice %5 [0:2, 0:5, 0:8] : (tensor<2x5x24xf32>) -> tensor<2x5x8xf32>
    %7 = stablehlo.reshape %6 : (tensor<2x5x8xf32>) -> tensor<2x5x2x4xf32>
    %8 = stablehlo.transpose %7, dims = [0, 2, 1, 3] {result_layout = dense<[3, 1, 2, 0]> : tensor<4xindex>, xla_shape = "f32[2,2,5,4]{3,1,2,0}"} : (tensor<2x5x2x4xf32>) -> tensor<2x2x5x4xf32>
    %9 = stablehlo.reshape %8 : (tensor<2x2x5x4xf32>) -> tensor<4x5x4xf32>
    %10 = stablehlo.slice %5 [0:2, 0:5, 8:16] : (tensor<2x5x24xf32>) -> tensor<2x5x8xf32>
    %11 = stablehlo.reshape %10 : (tensor<2x5x8xf32>) -> tensor<2x5x2x4xf32>
    %12 = stablehlo.transpose %11, dims = [0, 2, 3, 1] : (tensor<2x5x2x4xf32>) -> tensor<2x2x4x5xf32>
    %13 = stablehlo.reshape %12 : (tensor<2x2x4x5xf32>) -> tensor<4x4x5xf32>
    %14 = stablehlo.dot_general %9, %13, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x5x4xf32>, tensor<4x4x5xf32>) -> tensor<4x5x5xf32>
    %15 = stablehlo.reshape %14 : (tensor<4x5x5xf32>) -> tensor<2x2x5x5xf32>
    %16 = stablehlo.divide %15, %cst : tensor<2x2x5x5xf32>
    %17 = stablehlo.reduce(%16 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x2x5x5xf32>, tensor<f32>) -> tensor<2x2x5xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<2x2x5xf32>) -> tensor<2x2x5x5xf32>
    %19 = stablehlo.subtract %16, %18 : tensor<2x2x5x5xf32>
    %20 = stablehlo.exponential %19 : tensor<2x2x5x5xf32>
    %21 = stablehlo.reduce(%20 init: %cst_0) applies stablehlo.add across dimensions = [3] : (tensor<2x2x5x5xf32>, tensor<f32>) -> tensor<2x2x5xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2] : (tensor<2x2x5xf32>) -> tensor<2x2x5x5xf32>
    %23 = stablehlo.divide %20, %22 : tensor<2x2x5x5xf32>
    %24 = stablehlo.reshape %23 : (tensor<2x2x5x5xf32>) -> tensor<4x5x5xf32>
    %25 = stablehlo.slice %5 [0:2, 0:5, 16:24] : (tensor<2x5x24xf32>) -> tensor<2x5x8xf32>
    %26 = stablehlo.reshape %25 : (tensor<2x5x8xf32>) -> tensor<2x5x2x4xf32>
    %27 = stablehlo.transpose %26, dims = [0, 2, 1, 3] {result_layout = dense<[3, 1, 2, 0]> : tensor<4xindex>, xla_shape = "f32[2,2,5,4]{3,1,2,0}"} : (tensor<2x5x2x4xf32>) -> tensor<2x2x5x4xf32>
    %28 = stablehlo.reshape %27 : (tensor<2x2x5x4xf32>) -> tensor<4x5x4xf32>
    %29 = stablehlo.dot_general %24, %28, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x5x5xf32>, tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %30 = stablehlo.reshape %29 : (tensor<4x5x4xf32>) -> tensor<2x2x5x4xf32>
    %31 = stablehlo.transpose %30, dims = [0, 2, 1, 3] {result_layout = dense<[3, 1, 2, 0]> : tensor<4xindex>, xla_shape = "f32[2,5,2,4]{3,1,2,0}"} : (tensor<2x2x5x4xf32>) -> tensor<2x5x2x4xf32>
    %32 = stablehlo.reshape %31 : (tensor<2x5x2x4xf32>) -> tensor<10x8xf32>
    %33 = stablehlo.transpose %arg1, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[8,8]{0,1}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %34 = stablehlo.dot_general %32, %33, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10x8xf32>, tensor<8x8xf32>) -> tensor<10x8xf32>
    %35 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<8xf32>) -> tensor<10x8xf32>
    %36 = stablehlo.add %34, %35 : tensor<10x8xf32>
    %37 = stablehlo.reshape %36 : (tensor<10x8xf32>) -> tensor<2x5x8xf32>
    return %37 : tensor<2x5x8xf32>
  }
}
