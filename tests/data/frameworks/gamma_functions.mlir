module @jit_gamma_functions attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16xf32>, %arg1: tensor<16xf32>) -> (tensor<16xf32> {jax.result_info = "result[0]"}, tensor<16xf32> {jax.result_info = "result[1]"}, tensor<16xf32> {jax.result_info = "result[2]"}, tensor<16xf32> {jax.result_info = "result[3]"}) {
    %0 = chlo.lgamma %arg0 : tensor<16xf32> -> tensor<16xf32>
    %1 = chlo.digamma %arg0 : tensor<16xf32> -> tensor<16xf32>
    %cst = stablehlo.constant dense<2.000000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %3 = stablehlo.multiply %arg1, %2 : tensor<16xf32>
    %4 = chlo.lgamma %3 : tensor<16xf32> -> tensor<16xf32>
    %5 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi1>
    %6 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi1>
    %7 = stablehlo.or %5, %6 : tensor<16xi1>
    %cst_0 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %9 = stablehlo.compare EQ, %arg1, %8, FLOAT : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %11 = stablehlo.compare EQ, %arg1, %10, FLOAT : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi1>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %13 = stablehlo.compare EQ, %arg1, %12, FLOAT : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi1>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %15 = stablehlo.compare LT, %arg1, %14, FLOAT : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi1>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %17 = stablehlo.compare LT, %arg1, %16, FLOAT : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi1>
    %18 = stablehlo.and %11, %13 : tensor<16xi1>
    %19 = stablehlo.or %15, %17 : tensor<16xi1>
    %20 = stablehlo.or %19, %18 : tensor<16xi1>
    %21 = stablehlo.or %20, %7 : tensor<16xi1>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %23 = stablehlo.compare GE, %arg1, %22, FLOAT : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi1>
    %24 = stablehlo.compare GT, %arg1, %arg1, FLOAT : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi1>
    %25 = stablehlo.and %23, %24 : tensor<16xi1>
    %26 = stablehlo.log %arg1 : tensor<16xf32>
    %27 = stablehlo.multiply %arg1, %26 : tensor<16xf32>
    %28 = stablehlo.subtract %27, %arg1 : tensor<16xf32>
    %29 = chlo.lgamma %arg1 : tensor<16xf32> -> tensor<16xf32>
    %30 = stablehlo.subtract %28, %29 : tensor<16xf32>
    %cst_6 = stablehlo.constant dense<3.40282347E+38> : tensor<f32>
    %31 = stablehlo.log %cst_6 : tensor<f32>
    %32 = stablehlo.negate %31 : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %34 = stablehlo.compare LT, %30, %33, FLOAT : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi1>
    %35 = stablehlo.exponential %30 : tensor<16xf32>
    %36 = stablehlo.or %13, %21 : tensor<16xi1>
    %37 = stablehlo.or %36, %34 : tensor<16xi1>
    %38 = stablehlo.or %37, %9 : tensor<16xi1>
    %39 = stablehlo.not %38 : tensor<16xi1>
    %40 = stablehlo.and %39, %25 : tensor<16xi1>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %42 = stablehlo.subtract %41, %arg1 : tensor<16xf32>
    %43 = stablehlo.add %arg1, %42 : tensor<16xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %45 = stablehlo.add %43, %44 : tensor<16xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %48 = stablehlo.add %arg1, %47 : tensor<16xf32>
    %49 = stablehlo.multiply %45, %arg1 : tensor<16xf32>
    %50 = stablehlo.divide %48, %49 : tensor<16xf32>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %55 = stablehlo.negate %arg1 : tensor<16xf32>
    %56 = stablehlo.multiply %50, %55 : tensor<16xf32>
    %57 = stablehlo.subtract %54, %56 : tensor<16xf32>
    %58 = stablehlo.divide %57, %49 : tensor<16xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %59:15 = stablehlo.while(%iterArg = %40, %iterArg_24 = %50, %iterArg_25 = %51, %iterArg_26 = %42, %iterArg_27 = %45, %iterArg_28 = %cst_15, %iterArg_29 = %48, %iterArg_30 = %49, %iterArg_31 = %46, %iterArg_32 = %arg1, %iterArg_33 = %52, %iterArg_34 = %53, %iterArg_35 = %54, %iterArg_36 = %55, %iterArg_37 = %58) : tensor<16xi1>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
    cond {
      %cst_38 = stablehlo.constant dense<2.000000e+03> : tensor<f32>
      %79 = stablehlo.compare LT, %iterArg_28, %cst_38, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %c = stablehlo.constant dense<false> : tensor<i1>
      %80 = stablehlo.reduce(%iterArg init: %c) applies stablehlo.or across dimensions = [0] : (tensor<16xi1>, tensor<i1>) -> tensor<i1>
      %81 = stablehlo.and %79, %80 : tensor<i1>
      stablehlo.return %81 : tensor<i1>
    } do {
      %cst_38 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %79 = stablehlo.add %iterArg_28, %cst_38 : tensor<f32>
      %cst_39 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %80 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %81 = stablehlo.add %iterArg_26, %80 : tensor<16xf32>
      %cst_40 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %82 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %83 = stablehlo.add %iterArg_27, %82 : tensor<16xf32>
      %84 = stablehlo.broadcast_in_dim %79, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %85 = stablehlo.multiply %81, %84 : tensor<16xf32>
      %86 = stablehlo.multiply %iterArg_29, %83 : tensor<16xf32>
      %87 = stablehlo.multiply %iterArg_31, %85 : tensor<16xf32>
      %88 = stablehlo.subtract %86, %87 : tensor<16xf32>
      %89 = stablehlo.multiply %iterArg_30, %83 : tensor<16xf32>
      %90 = stablehlo.multiply %iterArg_32, %85 : tensor<16xf32>
      %91 = stablehlo.subtract %89, %90 : tensor<16xf32>
      %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %92 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %93 = stablehlo.compare NE, %91, %92, FLOAT : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi1>
      %94 = stablehlo.divide %88, %91 : tensor<16xf32>
      %95 = stablehlo.subtract %iterArg_24, %94 : tensor<16xf32>
      %96 = stablehlo.divide %95, %94 : tensor<16xf32>
      %97 = stablehlo.abs %96 : tensor<16xf32>
      %cst_42 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %98 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %99 = stablehlo.select %93, %97, %98 : tensor<16xi1>, tensor<16xf32>
      %100 = stablehlo.select %93, %94, %iterArg_24 : tensor<16xi1>, tensor<16xf32>
      %101 = stablehlo.multiply %iterArg_35, %83 : tensor<16xf32>
      %102 = stablehlo.subtract %101, %iterArg_29 : tensor<16xf32>
      %103 = stablehlo.multiply %iterArg_33, %85 : tensor<16xf32>
      %104 = stablehlo.subtract %102, %103 : tensor<16xf32>
      %105 = stablehlo.broadcast_in_dim %79, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %106 = stablehlo.multiply %iterArg_31, %105 : tensor<16xf32>
      %107 = stablehlo.add %104, %106 : tensor<16xf32>
      %108 = stablehlo.multiply %iterArg_36, %83 : tensor<16xf32>
      %109 = stablehlo.subtract %108, %iterArg_30 : tensor<16xf32>
      %110 = stablehlo.multiply %iterArg_34, %85 : tensor<16xf32>
      %111 = stablehlo.subtract %109, %110 : tensor<16xf32>
      %112 = stablehlo.broadcast_in_dim %79, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %113 = stablehlo.multiply %iterArg_32, %112 : tensor<16xf32>
      %114 = stablehlo.add %111, %113 : tensor<16xf32>
      %115 = stablehlo.multiply %100, %114 : tensor<16xf32>
      %116 = stablehlo.subtract %107, %115 : tensor<16xf32>
      %117 = stablehlo.divide %116, %91 : tensor<16xf32>
      %118 = stablehlo.select %93, %117, %iterArg_37 : tensor<16xi1>, tensor<16xf32>
      %119 = stablehlo.subtract %118, %iterArg_37 : tensor<16xf32>
      %120 = stablehlo.abs %119 : tensor<16xf32>
      %cst_43 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %121 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %122 = stablehlo.select %93, %120, %121 : tensor<16xi1>, tensor<16xf32>
      %123 = stablehlo.abs %88 : tensor<16xf32>
      %cst_44 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %cst_45 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %124 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<f32>
      %125 = stablehlo.divide %124, %cst_44 : tensor<f32>
      %126 = stablehlo.broadcast_in_dim %125, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %127 = stablehlo.compare GT, %123, %126, FLOAT : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi1>
      %cst_46 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %128 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %129 = stablehlo.multiply %iterArg_29, %128 : tensor<16xf32>
      %130 = stablehlo.select %127, %129, %iterArg_29 : tensor<16xi1>, tensor<16xf32>
      %cst_47 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %131 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %132 = stablehlo.multiply %88, %131 : tensor<16xf32>
      %133 = stablehlo.select %127, %132, %88 : tensor<16xi1>, tensor<16xf32>
      %cst_48 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %134 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %135 = stablehlo.multiply %iterArg_30, %134 : tensor<16xf32>
      %136 = stablehlo.select %127, %135, %iterArg_30 : tensor<16xi1>, tensor<16xf32>
      %cst_49 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %137 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %138 = stablehlo.multiply %91, %137 : tensor<16xf32>
      %139 = stablehlo.select %127, %138, %91 : tensor<16xi1>, tensor<16xf32>
      %cst_50 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %140 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %141 = stablehlo.multiply %iterArg_35, %140 : tensor<16xf32>
      %142 = stablehlo.select %127, %141, %iterArg_35 : tensor<16xi1>, tensor<16xf32>
      %cst_51 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %143 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %144 = stablehlo.multiply %iterArg_36, %143 : tensor<16xf32>
      %145 = stablehlo.select %127, %144, %iterArg_36 : tensor<16xi1>, tensor<16xf32>
      %cst_52 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %146 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %147 = stablehlo.multiply %107, %146 : tensor<16xf32>
      %148 = stablehlo.select %127, %147, %107 : tensor<16xi1>, tensor<16xf32>
      %cst_53 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %149 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %150 = stablehlo.multiply %114, %149 : tensor<16xf32>
      %151 = stablehlo.select %127, %150, %114 : tensor<16xi1>, tensor<16xf32>
      %cst_54 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %152 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %153 = stablehlo.compare GT, %99, %152, FLOAT : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi1>
      %154 = stablehlo.and %iterArg, %153 : tensor<16xi1>
      %155 = stablehlo.select %iterArg, %100, %iterArg_24 : tensor<16xi1>, tensor<16xf32>
      %156 = stablehlo.select %iterArg, %99, %iterArg_25 : tensor<16xi1>, tensor<16xf32>
      %157 = stablehlo.select %iterArg, %81, %iterArg_26 : tensor<16xi1>, tensor<16xf32>
      %158 = stablehlo.select %iterArg, %83, %iterArg_27 : tensor<16xi1>, tensor<16xf32>
      %159 = stablehlo.select %iterArg, %133, %iterArg_29 : tensor<16xi1>, tensor<16xf32>
      %160 = stablehlo.select %iterArg, %139, %iterArg_30 : tensor<16xi1>, tensor<16xf32>
      %161 = stablehlo.select %iterArg, %130, %iterArg_31 : tensor<16xi1>, tensor<16xf32>
      %162 = stablehlo.select %iterArg, %136, %iterArg_32 : tensor<16xi1>, tensor<16xf32>
      %163 = stablehlo.select %iterArg, %142, %iterArg_33 : tensor<16xi1>, tensor<16xf32>
      %164 = stablehlo.select %iterArg, %145, %iterArg_34 : tensor<16xi1>, tensor<16xf32>
      %165 = stablehlo.select %iterArg, %148, %iterArg_35 : tensor<16xi1>, tensor<16xf32>
      %166 = stablehlo.select %iterArg, %151, %iterArg_36 : tensor<16xi1>, tensor<16xf32>
      %167 = stablehlo.select %iterArg, %118, %iterArg_37 : tensor<16xi1>, tensor<16xf32>
      stablehlo.return %154, %155, %156, %157, %158, %79, %159, %160, %161, %162, %163, %164, %165, %166, %167 : tensor<16xi1>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
    }
    %60 = stablehlo.multiply %59#1, %35 : tensor<16xf32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %62 = stablehlo.subtract %61, %60 : tensor<16xf32>
    %63 = stablehlo.not %25 : tensor<16xi1>
    %64 = stablehlo.and %39, %63 : tensor<16xi1>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %66 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %69:7 = stablehlo.while(%iterArg = %64, %iterArg_24 = %arg1, %iterArg_25 = %65, %iterArg_26 = %66, %iterArg_27 = %arg1, %iterArg_28 = %67, %iterArg_29 = %68) : tensor<16xi1>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
    cond {
      %c = stablehlo.constant dense<false> : tensor<i1>
      %79 = stablehlo.reduce(%iterArg init: %c) applies stablehlo.or across dimensions = [0] : (tensor<16xi1>, tensor<i1>) -> tensor<i1>
      stablehlo.return %79 : tensor<i1>
    } do {
      %cst_30 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %79 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %80 = stablehlo.add %iterArg_24, %79 : tensor<16xf32>
      %81 = stablehlo.divide %iterArg_27, %80 : tensor<16xf32>
      %82 = stablehlo.multiply %iterArg_28, %81 : tensor<16xf32>
      %83 = stablehlo.multiply %iterArg_25, %iterArg_27 : tensor<16xf32>
      %84 = stablehlo.multiply %80, %80 : tensor<16xf32>
      %85 = stablehlo.divide %83, %84 : tensor<16xf32>
      %86 = stablehlo.subtract %82, %85 : tensor<16xf32>
      %87 = stablehlo.add %iterArg_29, %86 : tensor<16xf32>
      %88 = stablehlo.divide %iterArg_27, %80 : tensor<16xf32>
      %89 = stablehlo.multiply %iterArg_25, %88 : tensor<16xf32>
      %90 = stablehlo.add %iterArg_26, %89 : tensor<16xf32>
      %91 = stablehlo.divide %89, %90 : tensor<16xf32>
      %cst_31 = stablehlo.constant dense<1.1920929E-7> : tensor<f32>
      %92 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<16xf32>
      %93 = stablehlo.compare GT, %91, %92, FLOAT : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi1>
      %94 = stablehlo.and %iterArg, %93 : tensor<16xi1>
      %95 = stablehlo.select %iterArg, %80, %iterArg_24 : tensor<16xi1>, tensor<16xf32>
      %96 = stablehlo.select %iterArg, %89, %iterArg_25 : tensor<16xi1>, tensor<16xf32>
      %97 = stablehlo.select %iterArg, %90, %iterArg_26 : tensor<16xi1>, tensor<16xf32>
      %98 = stablehlo.select %iterArg, %iterArg_27, %iterArg_27 : tensor<16xi1>, tensor<16xf32>
      %99 = stablehlo.select %iterArg, %86, %iterArg_28 : tensor<16xi1>, tensor<16xf32>
      %100 = stablehlo.select %iterArg, %87, %iterArg_29 : tensor<16xi1>, tensor<16xf32>
      stablehlo.return %94, %95, %96, %97, %98, %99, %100 : tensor<16xi1>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
    }
    %70 = stablehlo.multiply %69#3, %35 : tensor<16xf32>
    %71 = stablehlo.divide %70, %arg1 : tensor<16xf32>
    %72 = stablehlo.select %25, %62, %71 : tensor<16xi1>, tensor<16xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %74 = stablehlo.select %13, %73, %72 : tensor<16xi1>, tensor<16xf32>
    %cst_22 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %76 = stablehlo.select %9, %75, %74 : tensor<16xi1>, tensor<16xf32>
    %cst_23 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %78 = stablehlo.select %21, %77, %76 : tensor<16xi1>, tensor<16xf32>
    return %0, %1, %4, %78 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  }
}
