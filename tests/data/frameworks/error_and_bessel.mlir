"builtin.module"() <{sym_name = "jit_error_and_bessel"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<24xf32>):
    %0 = "chlo.erfc"(%arg0) : (tensor<24xf32>) -> tensor<24xf32>
    %1 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %3 = "stablehlo.multiply"(%arg0, %2) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %4 = "chlo.bessel_i1e"(%3) : (tensor<24xf32>) -> tensor<24xf32>
    %5 = "stablehlo.abs"(%arg0) : (tensor<24xf32>) -> tensor<24xf32>
    %6 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %8 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %10 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %12 = "stablehlo.multiply"(%7, %5) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %13 = "stablehlo.subtract"(%12, %9) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %14 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %16 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %18 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %19 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %20 = "stablehlo.multiply"(%13, %15) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %21 = "stablehlo.subtract"(%20, %17) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %22 = "stablehlo.constant"() <{value = dense<-1.30002498E-8> : tensor<f32>}> : () -> tensor<f32>
    %23 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %24 = "stablehlo.add"(%21, %23) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %25 = "stablehlo.multiply"(%13, %24) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %26 = "stablehlo.subtract"(%25, %15) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %27 = "stablehlo.constant"() <{value = dense<6.04699508E-8> : tensor<f32>}> : () -> tensor<f32>
    %28 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %29 = "stablehlo.add"(%26, %28) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %30 = "stablehlo.multiply"(%13, %29) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %31 = "stablehlo.subtract"(%30, %24) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %32 = "stablehlo.constant"() <{value = dense<-2.67079372E-7> : tensor<f32>}> : () -> tensor<f32>
    %33 = "stablehlo.broadcast_in_dim"(%32) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %34 = "stablehlo.add"(%31, %33) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %35 = "stablehlo.multiply"(%13, %34) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %36 = "stablehlo.subtract"(%35, %29) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %37 = "stablehlo.constant"() <{value = dense<1.11738757E-6> : tensor<f32>}> : () -> tensor<f32>
    %38 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %39 = "stablehlo.add"(%36, %38) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %40 = "stablehlo.multiply"(%13, %39) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %41 = "stablehlo.subtract"(%40, %34) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %42 = "stablehlo.constant"() <{value = dense<-4.41673819E-6> : tensor<f32>}> : () -> tensor<f32>
    %43 = "stablehlo.broadcast_in_dim"(%42) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %44 = "stablehlo.add"(%41, %43) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %45 = "stablehlo.multiply"(%13, %44) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %46 = "stablehlo.subtract"(%45, %39) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %47 = "stablehlo.constant"() <{value = dense<1.64484482E-5> : tensor<f32>}> : () -> tensor<f32>
    %48 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %49 = "stablehlo.add"(%46, %48) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %50 = "stablehlo.multiply"(%13, %49) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %51 = "stablehlo.subtract"(%50, %44) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %52 = "stablehlo.constant"() <{value = dense<-5.75419508E-5> : tensor<f32>}> : () -> tensor<f32>
    %53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %54 = "stablehlo.add"(%51, %53) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %55 = "stablehlo.multiply"(%13, %54) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %56 = "stablehlo.subtract"(%55, %49) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %57 = "stablehlo.constant"() <{value = dense<1.88502891E-4> : tensor<f32>}> : () -> tensor<f32>
    %58 = "stablehlo.broadcast_in_dim"(%57) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %59 = "stablehlo.add"(%56, %58) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %60 = "stablehlo.multiply"(%13, %59) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %61 = "stablehlo.subtract"(%60, %54) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %62 = "stablehlo.constant"() <{value = dense<-5.76375576E-4> : tensor<f32>}> : () -> tensor<f32>
    %63 = "stablehlo.broadcast_in_dim"(%62) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %64 = "stablehlo.add"(%61, %63) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %65 = "stablehlo.multiply"(%13, %64) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %66 = "stablehlo.subtract"(%65, %59) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %67 = "stablehlo.constant"() <{value = dense<0.00163947558> : tensor<f32>}> : () -> tensor<f32>
    %68 = "stablehlo.broadcast_in_dim"(%67) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %69 = "stablehlo.add"(%66, %68) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %70 = "stablehlo.multiply"(%13, %69) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %71 = "stablehlo.subtract"(%70, %64) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %72 = "stablehlo.constant"() <{value = dense<-4.324310e-03> : tensor<f32>}> : () -> tensor<f32>
    %73 = "stablehlo.broadcast_in_dim"(%72) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %74 = "stablehlo.add"(%71, %73) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %75 = "stablehlo.multiply"(%13, %74) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %76 = "stablehlo.subtract"(%75, %69) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %77 = "stablehlo.constant"() <{value = dense<0.0105464607> : tensor<f32>}> : () -> tensor<f32>
    %78 = "stablehlo.broadcast_in_dim"(%77) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %79 = "stablehlo.add"(%76, %78) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %80 = "stablehlo.multiply"(%13, %79) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %81 = "stablehlo.subtract"(%80, %74) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %82 = "stablehlo.constant"() <{value = dense<-0.0237374157> : tensor<f32>}> : () -> tensor<f32>
    %83 = "stablehlo.broadcast_in_dim"(%82) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %84 = "stablehlo.add"(%81, %83) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %85 = "stablehlo.multiply"(%13, %84) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %86 = "stablehlo.subtract"(%85, %79) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %87 = "stablehlo.constant"() <{value = dense<0.0493052825> : tensor<f32>}> : () -> tensor<f32>
    %88 = "stablehlo.broadcast_in_dim"(%87) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %89 = "stablehlo.add"(%86, %88) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %90 = "stablehlo.multiply"(%13, %89) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %91 = "stablehlo.subtract"(%90, %84) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %92 = "stablehlo.constant"() <{value = dense<-9.490110e-02> : tensor<f32>}> : () -> tensor<f32>
    %93 = "stablehlo.broadcast_in_dim"(%92) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %94 = "stablehlo.add"(%91, %93) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %95 = "stablehlo.multiply"(%13, %94) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %96 = "stablehlo.subtract"(%95, %89) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %97 = "stablehlo.constant"() <{value = dense<0.171620905> : tensor<f32>}> : () -> tensor<f32>
    %98 = "stablehlo.broadcast_in_dim"(%97) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %99 = "stablehlo.add"(%96, %98) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %100 = "stablehlo.multiply"(%13, %99) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %101 = "stablehlo.subtract"(%100, %94) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %102 = "stablehlo.constant"() <{value = dense<-0.304682672> : tensor<f32>}> : () -> tensor<f32>
    %103 = "stablehlo.broadcast_in_dim"(%102) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %104 = "stablehlo.add"(%101, %103) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %105 = "stablehlo.multiply"(%13, %104) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %106 = "stablehlo.subtract"(%105, %99) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %107 = "stablehlo.constant"() <{value = dense<0.676795303> : tensor<f32>}> : () -> tensor<f32>
    %108 = "stablehlo.broadcast_in_dim"(%107) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %109 = "stablehlo.add"(%106, %108) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %110 = "stablehlo.subtract"(%109, %99) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %111 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %112 = "stablehlo.broadcast_in_dim"(%111) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %113 = "stablehlo.multiply"(%112, %110) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %114 = "stablehlo.divide"(%11, %5) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %115 = "stablehlo.subtract"(%114, %9) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %116 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %117 = "stablehlo.broadcast_in_dim"(%116) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %118 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %119 = "stablehlo.broadcast_in_dim"(%118) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %120 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %121 = "stablehlo.broadcast_in_dim"(%120) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %122 = "stablehlo.multiply"(%115, %117) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %123 = "stablehlo.subtract"(%122, %119) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %124 = "stablehlo.constant"() <{value = dense<3.39623196E-9> : tensor<f32>}> : () -> tensor<f32>
    %125 = "stablehlo.broadcast_in_dim"(%124) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %126 = "stablehlo.add"(%123, %125) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %127 = "stablehlo.multiply"(%115, %126) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %128 = "stablehlo.subtract"(%127, %117) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %129 = "stablehlo.constant"() <{value = dense<2.26666899E-8> : tensor<f32>}> : () -> tensor<f32>
    %130 = "stablehlo.broadcast_in_dim"(%129) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %131 = "stablehlo.add"(%128, %130) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %132 = "stablehlo.multiply"(%115, %131) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %133 = "stablehlo.subtract"(%132, %126) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %134 = "stablehlo.constant"() <{value = dense<2.04891862E-7> : tensor<f32>}> : () -> tensor<f32>
    %135 = "stablehlo.broadcast_in_dim"(%134) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %136 = "stablehlo.add"(%133, %135) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %137 = "stablehlo.multiply"(%115, %136) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %138 = "stablehlo.subtract"(%137, %131) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %139 = "stablehlo.constant"() <{value = dense<2.89137051E-6> : tensor<f32>}> : () -> tensor<f32>
    %140 = "stablehlo.broadcast_in_dim"(%139) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %141 = "stablehlo.add"(%138, %140) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %142 = "stablehlo.multiply"(%115, %141) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %143 = "stablehlo.subtract"(%142, %136) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %144 = "stablehlo.constant"() <{value = dense<6.88975852E-5> : tensor<f32>}> : () -> tensor<f32>
    %145 = "stablehlo.broadcast_in_dim"(%144) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %146 = "stablehlo.add"(%143, %145) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %147 = "stablehlo.multiply"(%115, %146) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %148 = "stablehlo.subtract"(%147, %141) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %149 = "stablehlo.constant"() <{value = dense<0.00336911646> : tensor<f32>}> : () -> tensor<f32>
    %150 = "stablehlo.broadcast_in_dim"(%149) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %151 = "stablehlo.add"(%148, %150) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %152 = "stablehlo.multiply"(%115, %151) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %153 = "stablehlo.subtract"(%152, %146) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %154 = "stablehlo.constant"() <{value = dense<0.804490387> : tensor<f32>}> : () -> tensor<f32>
    %155 = "stablehlo.broadcast_in_dim"(%154) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %156 = "stablehlo.add"(%153, %155) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %157 = "stablehlo.subtract"(%156, %146) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %158 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %159 = "stablehlo.broadcast_in_dim"(%158) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %160 = "stablehlo.multiply"(%159, %157) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %161 = "stablehlo.sqrt"(%5) : (tensor<24xf32>) -> tensor<24xf32>
    %162 = "stablehlo.divide"(%160, %161) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %163 = "stablehlo.constant"() <{value = dense<8.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %164 = "stablehlo.broadcast_in_dim"(%163) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %165 = "stablehlo.compare"(%5, %164) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
    %166 = "stablehlo.select"(%165, %113, %162) : (tensor<24xi1>, tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %167 = "stablehlo.constant"() <{value = dense<6.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %168 = "stablehlo.broadcast_in_dim"(%167) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24xf32>
    %169 = "stablehlo.divide"(%arg0, %168) : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
    %170 = "stablehlo.tanh"(%169) : (tensor<24xf32>) -> tensor<24xf32>
    %171 = "chlo.erf_inv"(%170) : (tensor<24xf32>) -> tensor<24xf32>
    %172 = "chlo.atan"(%arg0) : (tensor<24xf32>) -> tensor<24xf32>
    "func.return"(%0, %4, %166, %171, %172) : (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
