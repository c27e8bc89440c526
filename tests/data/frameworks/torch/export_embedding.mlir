module @IrToHlo.45 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<2x4xi64>, %arg1: tensor<10x6xf32>) -> (tensor<2x4x6xf32>, tensor<2x4xi64>, tensor<2x4x10xi64>) {
    %c = stablehlo.constant dense<0> : tensor<2x4xi64>
    %c_0 = stablehlo.constant dense<3> : tensor<2x4xi64>
    %c_1 = stablehlo.constant dense<1> : tensor<2x4xi64>
    %c_2 = stablehlo.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]> : tensor<10xi64>
    %0 = stablehlo.reshape %arg0 : (tensor<2x4xi64>) -> tensor<8xi64>
    %1 = stablehlo.convert %0 : (tensor<8xi64>) -> tensor<8xui32>
    %2 = "stablehlo.gather"(%arg1, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6>}> : (tensor<10x6xf32>, tensor<8xui32>) -> tensor<8x6xf32>
    %3 = stablehlo.reshape %2 : (tensor<8x6xf32>) -> tensor<2x4x6xf32>
    %4 = stablehlo.add %arg0, %c_1 : tensor<2x4xi64>
    %5 = stablehlo.remainder %4, %c_0 : tensor<2x4xi64>
    %6 = stablehlo.sign %5 : tensor<2x4xi64>
    %7 = stablehlo.compare  LT, %6, %c : (tensor<2x4xi64>, tensor<2x4xi64>) -> tensor<2x4xi1>
    %8 = stablehlo.convert %7 : (tensor<2x4xi1>) -> tensor<2x4xi64>
    %9 = stablehlo.multiply %8, %c_0 : tensor<2x4xi64>
    %10 = stablehlo.add %5, %9 : tensor<2x4xi64>
    %11 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<2x4xi64>) -> tensor<2x4x10xi64>
    %12 = stablehlo.broadcast_in_dim %c_2, dims = [2] : (tensor<10xi64>) -> tensor<2x4x10xi64>
    %13 = stablehlo.compare  EQ, %11, %12 : (tensor<2x4x10xi64>, tensor<2x4x10xi64>) -> tensor<2x4x10xi1>
    %14 = stablehlo.convert %13 : (tensor<2x4x10xi1>) -> tensor<2x4x10xi64>
    return %3, %10, %14 : tensor<2x4x6xf32>, tensor<2x4xi64>, tensor<2x4x10xi64>
  }
}
