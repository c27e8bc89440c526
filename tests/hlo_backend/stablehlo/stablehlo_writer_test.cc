// What is written as StableHLO, and that reading it gives it back.
#include "hlo_backend/stablehlo/stablehlo_writer.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/stablehlo/stablehlo.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Write(const std::string& hlo) {
  auto module = ParseModule(hlo, "f.hlo");
  EXPECT_OK(module.status());
  if (!module.ok()) return "";
  EXPECT_OK(VerifyModule(**module));
  auto text = WriteStableHlo(**module);
  EXPECT_OK(text.status());
  if (!text.ok()) return "";
  auto again = ParseStableHlo(*text);
  EXPECT_OK(again.status()) << *text;
  if (!again.ok()) return "";
  EXPECT_OK(VerifyModule(**again)) << *text;
  auto second = WriteStableHlo(**again);
  EXPECT_OK(second.status());
  EXPECT_EQ(second.ok() ? *second : "", *text);
  return *text;
}

std::string WriteEntry(const std::string& body) {
  return Write(absl::StrCat("HloModule m\nENTRY e {\n", body, "\n}"));
}

absl::Status Refused(const std::string& body) {
  auto module = ParseModule(
      absl::StrCat("HloModule m\nENTRY e {\n", body, "\n}"), "f.hlo");
  EXPECT_OK(module.status());
  return WriteStableHlo(**module).status();
}

TEST(StableHloWriterTest, AFunctionLooksAsMlirPrintsIt) {
  EXPECT_EQ(WriteEntry("x = f32[4] parameter(0)\n"
                       "y = f32[4] negate(x)\n"
                       "k = f32[] constant(2.5)\n"
                       "b = f32[4] broadcast(k), dimensions={}\n"
                       "ROOT z = f32[4] add(y, b)"),
            R"(module @m {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.negate %arg0 : tensor<4xf32>
    %1 = stablehlo.constant dense<2.500000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %3 = stablehlo.add %0, %2 : tensor<4xf32>
    return %3 : tensor<4xf32>
  }
}
)");
}

TEST(StableHloWriterTest, TuplesAreTakenApart) {
  const std::string text = WriteEntry(
      "p = (f32[2], (s32[3], pred[])) parameter(0)\n"
      "a = (s32[3], pred[]) get-tuple-element(p), index=1\n"
      "b = s32[3] get-tuple-element(a), index=0\n"
      "ROOT t = (s32[3], (s32[3], pred[])) tuple(b, a)");
  EXPECT_THAT(text, HasSubstr("@main(%arg0: tensor<2xf32>, %arg1: "
                              "tensor<3xi32>, %arg2: tensor<i1>) -> "
                              "(tensor<3xi32>, tensor<3xi32>, tensor<i1>)"));
  EXPECT_THAT(text, HasSubstr("return %arg1, %arg1, %arg2"));
}

TEST(StableHloWriterTest, LoopsAndBranchesBecomeRegions) {
  const std::string text = Write(R"(HloModule m
c { p = (s32[], f32[2]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 n = s32[] constant(5)
 ROOT l = pred[] compare(i, n), direction=LT }
b { p = (s32[], f32[2]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 x = f32[2] get-tuple-element(p), index=1
 j = s32[] add(i, i)
 ROOT t = (s32[], f32[2]) tuple(j, x) }
neg { x = f32[2] parameter(0)
 ROOT n = f32[2] negate(x) }
id { ROOT x = f32[2] parameter(0) }
ENTRY e {
 x = f32[2] parameter(0)
 p = pred[] parameter(1)
 one = s32[] constant(1)
 k = f32[2] constant({1, 2})
 in = (s32[], f32[2]) tuple(one, x)
 w = (s32[], f32[2]) while(in), condition=c, body=b
 y = f32[2] get-tuple-element(w), index=1
 ROOT r = f32[2] conditional(p, y, k), true_computation=neg, false_computation=id
})");
  EXPECT_THAT(text, HasSubstr("stablehlo.while(%arg2 = %0, %arg3 = %arg0) : "
                              "tensor<i32>, tensor<2xf32>\n    cond {\n"));
  // A constant is written in the branch that mentions it.
  EXPECT_THAT(text, HasSubstr("    }, {\n"
                              "      %6 = stablehlo.constant dense<[1.0"));
}

TEST(StableHloWriterTest, FusionsAndCallsBecomeFunctions) {
  const std::string text = Write(R"(HloModule m
main { x = f32[2] parameter(0)
 ROOT n = f32[2] negate(x) }
ENTRY e {
 x = f32[2] parameter(0)
 f = f32[2] fusion(x), kind=kLoop, calls=main
 ROOT g = f32[2] call(f), to_apply=main, is_composite=true, frontend_attributes={composite.attributes="{n = 1 : i32}",composite.name="my.op",composite.version="3"}
})");
  EXPECT_THAT(text, HasSubstr("func.call @main_0(%arg0)"));
  EXPECT_THAT(text, HasSubstr("stablehlo.composite \"my.op\" %0 "
                              "{composite_attributes = {n = 1 : i32}, "
                              "decomposition = @main_0, version = 3 : i32}"));
}

// The short form `applies stablehlo.add` says one type for the operand, the
// initial value and the result.
TEST(StableHloWriterTest, AReduceFromAnotherPrecisionHasARegion) {
  const std::string text = Write(R"(HloModule m
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
ENTRY e {
  d = f32[4,4] parameter(0)
  zero = f64[] constant(0)
  ROOT sum = f32[4] reduce(d, zero), dimensions={1}, to_apply=add
}
)");
  EXPECT_THAT(text, Not(HasSubstr("applies")));
}

TEST(StableHloWriterTest, AttributesOfCompositesStayMlir) {
  const std::string text =
      "module @m {\n"
      "  func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {\n"
      "    %0 = stablehlo.composite \"a.b\" %arg0 {composite_attributes = {d = "
      "dense<[1, 2]> : tensor<2xi64>, s = \"it's \\22so\\22\"}, "
      "decomposition = @f} : (tensor<2xf32>) -> tensor<2xf32>\n"
      "    return %0 : tensor<2xf32>\n"
      "  }\n"
      "  func.func private @f(%arg0: tensor<2xf32>) -> tensor<2xf32> {\n"
      "    return %arg0 : tensor<2xf32>\n"
      "  }\n"
      "}\n";
  const auto module = ParseStableHlo(text);
  ASSERT_OK(module.status());
  const auto written = WriteStableHlo(**module);
  ASSERT_OK(written.status());
  EXPECT_EQ(*written, text);
}

TEST(StableHloWriterTest, ArgumentsKeepAliasesDonorsAndShardings) {
  const std::string text = Write(
      R"(HloModule m, input_output_alias={ {1}: (0, {}, may-alias) }, buffer_donor={ (1, {}) }, num_partitions=2
ENTRY e {
 x = f32[4] parameter(0), sharding={devices=[2]<=[2]}
 y = f32[4] parameter(1)
 n = f32[4] negate(y), sharding={replicated}, frontend_attributes={a="b"}
 ROOT t = (f32[4], f32[4]) tuple(n, x), sharding={{replicated}, {devices=[2]<=[2]}}
})");
  EXPECT_THAT(text, HasSubstr("mhlo.num_partitions = 2 : i32"));
  EXPECT_THAT(text, HasSubstr("{mhlo.sharding = \"{devices=[2]<=[2]}\", "
                              "tf.aliasing_output = 1 : i32}"));
  EXPECT_THAT(text, HasSubstr("jax.buffer_donor = true"));
  EXPECT_THAT(text, HasSubstr("{mhlo.frontend_attributes = {a = \"b\"}, "
                              "mhlo.sharding = \"{replicated}\"}"));
  EXPECT_THAT(text, HasSubstr("-> (tensor<4xf32> {mhlo.sharding = "));
}

TEST(StableHloWriterTest, ConstantsAreExactInEveryType) {
  const std::string text = WriteEntry(
      "a = f32[3] constant({0.1, -0, nan})\n"
      "b = bf16[2] constant({1.5, -inf})\n"
      "c = f8e4m3fn[2] constant({448, nan})\n"
      "d = c64[2] constant({(1, 2), (0.1, -3)})\n"
      "e = u64[2] constant({18446744073709551615, 1})\n"
      "f = s4[3] constant({-8, 7, 0})\n"
      "g = pred[2,2] constant({{1, 0}, {0, 0}})\n"
      "h = f64[2] constant({0.1, 1e-300})\n"
      "i = f32[0,2] constant({})\n"
      "j = f32[2] constant({...})\n"
      "ROOT t = (f32[3], bf16[2], f8e4m3fn[2], c64[2], u64[2], s4[3], "
      "pred[2,2], f64[2], f32[0,2], f32[2]) tuple(a, b, c, d, e, f, g, h, i, "
      "j)");
  EXPECT_THAT(text, HasSubstr("dense<[1.000000e-01, -0.000000e+00, "
                              "0x7FC00000]> : tensor<3xf32>"));
  EXPECT_THAT(text, HasSubstr("dense<[1.500000e+00, 0xFF80]>"));
  EXPECT_THAT(text, HasSubstr("dense<[4.480000e+02, 0x7F]>"));
  EXPECT_THAT(text, HasSubstr("(1.000000e+00,2.000000e+00)"));
  EXPECT_THAT(text, HasSubstr("dense<[18446744073709551615, 1]> : "
                              "tensor<2xui64>"));
  EXPECT_THAT(text, HasSubstr("dense<[-8, 7, 0]> : tensor<3xi4>"));
  EXPECT_THAT(text, HasSubstr("dense<[[true, false], [false, false]]>"));
  EXPECT_THAT(text, HasSubstr("1.000000e-300"));
  EXPECT_THAT(text, HasSubstr("dense<> : tensor<0x2xf32>"));
  EXPECT_THAT(text, HasSubstr("dense_resource<__elided__> : tensor<2xf32>"));
}

TEST(StableHloWriterTest, TransfersTokensAndAsynchronousPairs) {
  const std::string text = WriteEntry(
      "t = token[] after-all()\n"
      "i = ((f32[4], s32[3,2]{0,1}), token[]) infeed(t), infeed_config=\"a\"\n"
      "it = token[] get-tuple-element(i), index=1\n"
      "id = (f32[4], s32[3,2]) get-tuple-element(i), index=0\n"
      "ix = f32[4] get-tuple-element(id), index=0\n"
      "o = token[] outfeed(ix, it), outfeed_config=\"q\", "
      "outfeed_shape=f32[4]\n"
      "s = (f32[4], u32[], token[]) send(ix, o), channel_id=3\n"
      "sd = token[] send-done(s), channel_id=3\n"
      "r = (f32[4], u32[], token[]) recv(sd), channel_id=4\n"
      "rd = (f32[4], token[]) recv-done(r), channel_id=4\n"
      "y = f32[4] get-tuple-element(rd), index=0\n"
      "ag = (f32[4], f32[8]) all-gather-start(y), replica_groups={{0,1}}, "
      "dimensions={0}\n"
      "agd = f32[8] all-gather-done(ag)\n"
      "cp = (f32[4], f32[4], u32[], u32[]) collective-permute-start(y), "
      "source_target_pairs={{0,1},{1,0}}\n"
      "cpd = f32[4] collective-permute-done(cp)\n"
      "cs = (f32[4], f32[4], u32[]) copy-start(cpd)\n"
      "cd = f32[4] copy-done(cs)\n"
      "ROOT out = (f32[8], f32[4]) tuple(agd, cd)");
  EXPECT_THAT(text, HasSubstr("layout = [[0], [0, 1]]"));
  EXPECT_THAT(text, HasSubstr("!stablehlo.future<tensor<8xf32>>"));
  EXPECT_THAT(text, HasSubstr("stablehlo.collective_permute"));
  EXPECT_THAT(text, Not(HasSubstr("copy")));
}

TEST(StableHloWriterTest, LocationsAreMetadata) {
  const std::string text = WriteEntry(
      "x = f32[4] parameter(0)\n"
      "ROOT y = f32[4] negate(x), metadata={op_type=\"Neg\" op_name=\"a/b\" "
      "source_file=\"f.py\" source_line=3}");
  EXPECT_THAT(text, HasSubstr("tensor<4xf32> loc(#loc1)\n"));
  EXPECT_THAT(text,
              HasSubstr("#loc1 = loc(\"Neg:\"(\"a/b\"(\"f.py\":3:0)))\n"));
}

// Where StableHLO has no word, that of XLA.
TEST(StableHloWriterTest, XlasWordsForWhatStableHloLacks) {
  EXPECT_THAT(WriteEntry("x = f32[4] parameter(0)\nr = u32[4] parameter(1)\n"
                         "ROOT o = s8[4] stochastic-convert(x, r)"),
              HasSubstr("= \"mhlo.stochastic_convert\"(%arg0, %arg1) : "));
  EXPECT_THAT(
      WriteEntry("x = f32[4] parameter(0)\n"
                 "ROOT o = (f32[2], s32[2]) topk(x), k=2, largest=false"),
      HasSubstr("\"mhlo.topk\"(%arg0) <{k = 2 : i64, largest = false}>"));
  EXPECT_THAT(
      WriteEntry("x = f32[4] parameter(0)\ni = s32[2] parameter(1)\nROOT o = "
                 "f32[4] ragged-all-to-all(x, x, i, i, i, i), channel_id=1, "
                 "replica_groups={{0,1}}"),
      HasSubstr("backend_config = {channel_id = 1 : i64, replica_groups = "
                "dense<[[0, 1]]> : tensor<1x2xi64>}, call_target_name = "
                "\"ragged_all_to_all\"}>"));
}

// A result may say the size that its operands leave open.
TEST(StableHloWriterTest, AResultMaySayMoreThanItsOperands) {
  EXPECT_THAT(WriteEntry("x = f32[4,?] parameter(0)\n"
                         "ROOT y = f32[4,5] negate(x)"),
              HasSubstr("negate %arg0 : (tensor<4x?xf32>) -> tensor<4x5xf32>"));
  const std::string f =
      "HloModule m\nf {\nx = f32[4,?] parameter(0)\n"
      "ROOT y = f32[4,?] negate(x)\n}\nENTRY e {\nx = f32[4,?] parameter(0)\n"
      "i = s32[] parameter(1)\n";
  EXPECT_THAT(Write(absl::StrCat(f,
                                 "ROOT z = f32[4,5] conditional(i, x, x), "
                                 "branch_computations={f, f}\n}")),
              HasSubstr("(tensor<i32>) -> tensor<4x5xf32>"));
  // But for a call, whose function has one type.
  const auto call = ParseModule(
      absl::StrCat(f, "ROOT z = f32[4,5] call(x), to_apply=f\n}"), "f.hlo");
  ASSERT_OK(call.status());
  ASSERT_OK(VerifyModule(**call));
  EXPECT_THAT(WriteStableHlo(**call).status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("call gives f32[4,?] here, not f32[4,5]")));
}

TEST(StableHloWriterTest, WhatHasNoFormIsRefusedByNameAndPosition) {
  constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
  EXPECT_THAT(Refused("x = s32[4] parameter(0)\nROOT y = s16[4] add(x, x)"),
              StatusIs(kUnimplemented, HasSubstr("gives s32[4]")));
  EXPECT_THAT(Refused("x = f32[4] parameter(0)\nt = (f32[4]) tuple(x)\n"
                      "ROOT y = f16[4] get-tuple-element(t), index=0"),
              StatusIs(kUnimplemented, HasSubstr("gives f32[4]")));
  EXPECT_THAT(Refused("ROOT o = u64[2] rng-get-and-update-state(), delta=4"),
              StatusIs(kUnimplemented, HasSubstr("f.hlo:3:6: o: ")));
  EXPECT_THAT(
      Refused("x = f32[4] parameter(0)\n"
              "ROOT o = (f32[2], s64[2]) topk(x), k=2"),
      StatusIs(kUnimplemented, HasSubstr("gives (f32[2], s32[2]) here")));
  EXPECT_THAT(Refused("x = f32[4] parameter(0)\n"
                      "s = (f32[4], f32[4], u32[]) copy-start(x)\n"
                      "ROOT g = f32[4] get-tuple-element(s), index=0"),
              StatusIs(kUnimplemented, HasSubstr("cannot take apart what s")));
}

}  // namespace
}  // namespace ptxla::hlo
