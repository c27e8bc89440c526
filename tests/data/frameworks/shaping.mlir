"builtin.module"() <{sym_name = "jit_shaping"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x4xf32>) -> (tensor<6x5xf32>, tensor<3x8xf32>, tensor<2x6xf32>, tensor<3x5xf32>, tensor<6x4xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg2: tensor<3x4xf32>):
    %2 = "stablehlo.constant"() <{value = dense<3> : tensor<i64>}> : () -> tensor<i64>
    %3 = "func.call"(%arg2, %2) <{callee = @_pad}> : (tensor<3x4xf32>, tensor<i64>) -> tensor<6x5xf32>
    %4 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x4xf32>
    %6 = "stablehlo.multiply"(%arg2, %5) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %7 = "stablehlo.concatenate"(%arg2, %6) <{dimension = 1 : i64}> : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x8xf32>
    %8 = "stablehlo.reshape"(%arg2) : (tensor<3x4xf32>) -> tensor<2x6xf32>
    %9 = "stablehlo.slice"(%arg2) <{limit_indices = array<i64: 3, 1>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<3x4xf32>) -> tensor<3x1xf32>
    %10 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<3x1xf32>) -> tensor<3x5xf32>
    %11 = "stablehlo.reshape"(%arg2) : (tensor<3x4xf32>) -> tensor<1x3x1x4xf32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x3x1x4xf32>) -> tensor<2x3x1x4xf32>
    %13 = "stablehlo.reshape"(%12) : (tensor<2x3x1x4xf32>) -> tensor<6x4xf32>
    "func.return"(%3, %7, %8, %10, %13) : (tensor<6x5xf32>, tensor<3x8xf32>, tensor<2x6xf32>, tensor<3x5xf32>, tensor<6x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3x4xf32>, tensor<i64>) -> tensor<6x5xf32>, res_attrs = [{}], sym_name = "_pad", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<3x4xf32>, %arg1: tensor<i64>):
    %0 = "stablehlo.convert"(%arg1) : (tensor<i64>) -> tensor<f32>
    %1 = "stablehlo.pad"(%arg0, %0) <{edge_padding_high = array<i64: 2, 1>, edge_padding_low = array<i64: 1, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<3x4xf32>, tensor<f32>) -> tensor<6x5xf32>
    "func.return"(%1) : (tensor<6x5xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
