// One form of the language each: what it becomes in HLO.
#include "hlo_backend/stablehlo/stablehlo.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/ir/verifier.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Module> ReadText(const std::string& text) {
  auto module = ParseStableHlo(text);
  EXPECT_OK(module.status()) << text;
  if (!module.ok()) return nullptr;
  EXPECT_OK(VerifyModule(**module));
  return *std::move(module);
}

// A program of one function.
std::string Main(const std::string& signature, const std::string& body) {
  return absl::StrCat("module @m {\n  func.func public @main", signature,
                      " {\n", body, "\n  }\n}\n");
}

std::string RootOf(const std::string& text) {
  const auto module = ReadText(text);
  return module == nullptr ? "" : Print(*module->entry()->root());
}

TEST(StableHloTest, SeveralResultsAreATuple) {
  const auto m =
      ReadText(Main("(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)",
                    "%0 = stablehlo.negate %a : tensor<2xf32>\n"
                    "return %0, %a : tensor<2xf32>, tensor<2xf32>"));
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(m->name(), "m");
  EXPECT_EQ(m->entry()->root()->shape().ToString(), "(f32[2], f32[2])");
}

// Symbols may be any string; HLO text has to find its computations again.
TEST(StableHloTest, FunctionsOfAnyNameBecomeComputationsThatTextCanName) {
  const std::string text =
      "func.func public @\"-main\"(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
      "%0 = call @\"<f>\"(%a) : (tensor<2xf32>) -> tensor<2xf32>\n"
      "return %0 : tensor<2xf32>\n}\n"
      "func.func private @\"<f>\"(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
      "%0 = stablehlo.negate %a : tensor<2xf32>\n"
      "return %0 : tensor<2xf32>\n}\n";
  const auto m = ReadText(text);
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(m->entry()->name(), "_-main");
  const std::string printed = Print(*m);
  const auto again = ParseModule(printed);
  ASSERT_OK(again.status()) << printed;
  EXPECT_EQ(Print(**again), printed);
}

TEST(StableHloTest, DonatedArgumentsAreAliases) {
  const auto m = ReadText(Main(
      "(%a: tensor<2xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<2xf32> "
      "{jax.buffer_donor = true}) -> tensor<2xf32>",
      "%0 = stablehlo.add %a, %b : tensor<2xf32>\n"
      "return %0 : tensor<2xf32>"));
  ASSERT_NE(m, nullptr);
  ASSERT_EQ(m->config().input_output_alias.size(), 1);
  EXPECT_TRUE(m->config().input_output_alias[0].output.empty());
  ASSERT_EQ(m->config().buffer_donors.size(), 1);
  EXPECT_EQ(m->config().buffer_donors[0].parameter, 1);
}

// XLA says so of the send and of its end.
TEST(StableHloTest, ASendKeepsItsPairsAndAttributes) {
  const auto m = ReadText(Main(
      "(%a: tensor<2xf32>, %t: !stablehlo.token) -> !stablehlo.token",
      "%0 = \"stablehlo.send\"(%a, %t) <{channel_handle = "
      "#stablehlo.channel_handle<handle = 3, type = 1>, is_host_transfer = "
      "false, source_target_pairs = dense<[[0, 1], [1, 2]]> : "
      "tensor<2x2xi64>}> {mhlo.frontend_attributes = {_k = \"v\"}} : "
      "(tensor<2xf32>, !stablehlo.token) -> !stablehlo.token\n"
      "return %0 : !stablehlo.token"));
  ASSERT_NE(m, nullptr);
  const Instruction* done = m->entry()->root();
  ASSERT_EQ(done->opcode(), Opcode::kSendDone);
  const Instruction* send = done->operand(0);
  for (const Instruction* i : {done, send}) {
    EXPECT_THAT(Print(*i),
                HasSubstr("frontend_attributes={_k=\"v\","
                          "_xla_send_recv_source_target_pairs={{0,1},{1,2}}}"));
  }
}

TEST(StableHloTest, ConstantsInEveryNotation) {
  struct Case {
    const char* text;
    const char* value;
  };
  for (const Case& c : std::vector<Case>{
           {"dense<1.5> : tensor<2xf32>", "{1.5, 1.5}"},
           {"dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>",
            "{ { 1, 2 }, { 3, 4 } }"},
           {"dense<0xFF800000> : tensor<f32>", "-inf"},
           {"dense<\"0x0000803F00000040\"> : tensor<2xf32>", "{1, 2}"},
           {"dense<[true, false]> : tensor<2xi1>", "{1, 0}"},
           {"dense<(1.0, -2.0)> : tensor<complex<f32>>", "(1, -2)"},
           {"dense<-3> : tensor<i4>", "-3"},
           {"dense<255> : tensor<ui8>", "255"},
           {"dense<> : tensor<0xf32>", "{}"},
           {"dense_resource<__elided__> : tensor<4xf32>", "{...}"}}) {
    const std::string type(
        std::string(c.text).substr(std::string(c.text).find(": ") + 2));
    EXPECT_THAT(RootOf(Main(absl::StrCat("() -> ", type),
                            absl::StrCat("%0 = stablehlo.constant ", c.text,
                                         "\nreturn %0 : ", type))),
                HasSubstr(absl::StrCat("constant(", c.value, ")")));
  }
}

TEST(StableHloTest, PrettyAndGenericFormAreOneProgram) {
  const std::string pretty =
      RootOf(Main("(%a: tensor<4x8xf32>) -> tensor<2x4xf32>",
                  "%0 = stablehlo.slice %a [0:4:2, 0:4] : (tensor<4x8xf32>) -> "
                  "tensor<2x4xf32>\n"
                  "return %0 : tensor<2x4xf32>"));
  const std::string generic = RootOf(
      Main("(%a: tensor<4x8xf32>) -> tensor<2x4xf32>",
           "%0 = \"stablehlo.slice\"(%a) <{start_indices = array<i64: 0, 0>, "
           "limit_indices = array<i64: 4, 4>, strides = array<i64: 2, 1>}> : "
           "(tensor<4x8xf32>) -> tensor<2x4xf32>\n"
           "\"func.return\"(%0) : (tensor<2x4xf32>) -> ()"));
  const std::string old = RootOf(Main(
      "(%a: tensor<4x8xf32>) -> tensor<2x4xf32>",
      "%0 = \"mhlo.slice\"(%a) {start_indices = dense<0> : tensor<2xi64>, "
      "limit_indices = dense<4> : tensor<2xi64>, strides = dense<[2, 1]> : "
      "tensor<2xi64>} : (tensor<4x8xf32>) -> tensor<2x4xf32>\n"
      "return %0 : tensor<2x4xf32>"));
  EXPECT_THAT(pretty, HasSubstr("slice={[0:4:2], [0:4:1]}"));
  EXPECT_EQ(pretty, generic);
  EXPECT_EQ(pretty, old);
}

TEST(StableHloTest, SizesOfOneAreBroadcastToo) {
  const auto m =
      ReadText(Main("(%a: tensor<3x1xf32>) -> tensor<3x4xf32>",
                    "%0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] "
                    ": (tensor<3x1xf32>) -> "
                    "tensor<3x4xf32>\nreturn %0 : tensor<3x4xf32>"));
  ASSERT_NE(m, nullptr);
  const Instruction* root = m->entry()->root();
  EXPECT_EQ(root->opcode(), Opcode::kBroadcast);
  EXPECT_EQ(root->operand(0)->opcode(), Opcode::kReshape);
}

// The body uses %b, which is no operand of the loop.
TEST(StableHloTest, ALoopTakesAlongWhatItUsesFromOutside) {
  const auto m = ReadText(Main(
      "(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32>",
      "%n = stablehlo.constant dense<3> : tensor<i32>\n"
      "%one = stablehlo.constant dense<1> : tensor<i32>\n"
      "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
      "%r:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<i32>\n"
      "cond { %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, "
      "tensor<i32>) -> tensor<i1>\n stablehlo.return %c : tensor<i1> } do {\n"
      "%j = stablehlo.add %i, %one : tensor<i32>\n"
      "%y = stablehlo.add %x, %b : tensor<i32>\n"
      "stablehlo.return %j, %y : tensor<i32>, tensor<i32> }\n"
      "return %r#1 : tensor<i32>"));
  ASSERT_NE(m, nullptr);
  const auto value =
      Evaluate(*m, {Literal::Scalar<int32_t>(10), Literal::Scalar<int32_t>(7)});
  ASSERT_OK(value.status());
  EXPECT_EQ(value->GetInt(0), 31);
}

TEST(StableHloTest, BranchesTakeAlongWhatTheyUse) {
  const auto m = ReadText(Main(
      "(%p: tensor<i1>, %a: tensor<f32>, %b: tensor<f32>) -> tensor<f32>",
      "%0 = \"stablehlo.if\"(%p) ({\n"
      "  stablehlo.return %a : tensor<f32>\n}, {\n"
      "  %1 = stablehlo.multiply %a, %b : tensor<f32>\n"
      "  stablehlo.return %1 : tensor<f32>\n}) : (tensor<i1>) -> tensor<f32>\n"
      "return %0 : tensor<f32>"));
  ASSERT_NE(m, nullptr);
  for (bool p : {true, false}) {
    const auto value =
        Evaluate(*m, {Literal::Scalar<bool>(p), Literal::Scalar<float>(3),
                      Literal::Scalar<float>(5)});
    ASSERT_OK(value.status());
    EXPECT_EQ(value->GetDouble(0), p ? 3 : 15);
  }
}

TEST(StableHloTest, ShardingsOfBothDialects) {
  EXPECT_THAT(
      RootOf(Main("(%a: tensor<2x4xf32>) -> tensor<2x4xf32>",
                  "%0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "
                  "\"{devices=[2,1]0,1}\"} : (tensor<2x4xf32>) -> "
                  "tensor<2x4xf32>\nreturn %0 : tensor<2x4xf32>")),
      HasSubstr(
          "custom_call_target=\"Sharding\", sharding={devices=[2,1]0,1}"));
  EXPECT_THAT(
      RootOf("module @m {\n sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>\n"
             "func.func @main(%a: tensor<2x4xf32>) -> tensor<2x4xf32> {\n"
             "%0 = sdy.sharding_constraint %a <@mesh, [{\"x\"}, {?}]> : "
             "tensor<2x4xf32>\nreturn %0 : tensor<2x4xf32>\n}}"),
      HasSubstr("sharding={mesh['x'=2,'y'=4], [{'x'}, {?}]}"));
  // JAX says the mesh in StableHLO's words too.
  EXPECT_THAT(
      RootOf("module @m {\n sdy.mesh @mesh = <[\"x\"=2]> {stablehlo.mesh = "
             "{axes = [{name = \"x\", size = 2 : i64}]}}\n"
             "sdy.mesh @one = <[], device_ids=[0]> {stablehlo.mesh = {axes = "
             "[], device_ids = dense<0> : tensor<1xi64>}}\n"
             "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
             "%0 = sdy.sharding_constraint %a <@mesh, [{\"x\"}]> : "
             "tensor<2xf32>\nreturn %0 : tensor<2xf32>\n}}"),
      HasSubstr("sharding={mesh['x'=2], [{'x'}]}"));
}

TEST(StableHloTest, LocationsBecomeMetadata) {
  const std::string root = RootOf(
      "#loc3 = loc(\"f.py\":12:4)\n#loc5 = loc(\"jit(f)/add\"(#loc3))\n" +
      Main("(%a: tensor<f32>) -> tensor<f32>",
           "%0 = stablehlo.add %a, %a : tensor<f32> loc(#loc5)\n"
           "return %0 : tensor<f32>"));
  EXPECT_THAT(root, HasSubstr("op_name=\"jit(f)/add\""));
  EXPECT_THAT(root, HasSubstr("source_file=\"f.py\" source_line=12"));
}

TEST(StableHloTest, APallasKernelKeepsItsPayloadAndName) {
  const std::string root = RootOf(Main(
      "(%a: tensor<2x4xf32>) -> tensor<2x4xf32>",
      "%0 = stablehlo.custom_call @tpu_custom_call(%a) {backend_config = "
      "\"{\\22custom_call_config\\22: 1}\", kernel_name = \"mm\", "
      "operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = "
      "[dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x4xf32>) -> "
      "tensor<2x4xf32>\nreturn %0 : tensor<2x4xf32>"));
  EXPECT_THAT(root, HasSubstr("operand_layout_constraints={f32[2,4]{1,0}}"));
  EXPECT_THAT(root, HasSubstr("backend_config={\"custom_call_config\": 1}"));
  EXPECT_THAT(root, HasSubstr("kernel_name=\"mm\""));
}

TEST(StableHloTest, ACompositeIsACallOfItsDecomposition) {
  const std::string root = RootOf(
      "module @m {\nfunc.func @main(%a: tensor<f32>) -> tensor<f32> {\n"
      "%0 = stablehlo.composite \"my.op\" %a {composite_attributes = {n = 1 : "
      "i64}, decomposition = @impl} : (tensor<f32>) -> tensor<f32>\n"
      "return %0 : tensor<f32>\n}\nfunc.func private @impl(%a: tensor<f32>) -> "
      "tensor<f32> {\n%0 = stablehlo.negate %a : tensor<f32>\n"
      "return %0 : tensor<f32>\n}}");
  EXPECT_THAT(root, HasSubstr("is_composite=true"));
  EXPECT_THAT(root, HasSubstr("composite.name=\"my.op\""));
}

TEST(StableHloTest, CollectivesKeepGroupsAndChannels) {
  EXPECT_THAT(
      RootOf(Main("(%a: tensor<4xf32>) -> tensor<4xf32>",
                  "%0 = \"stablehlo.all_reduce\"(%a) <{channel_handle = "
                  "#stablehlo.channel_handle<handle = 3, type = 1>, "
                  "replica_groups = dense<[[0, 2], [1, -1]]> : "
                  "tensor<2x2xi64>, use_global_device_ids}> ({\n"
                  "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
                  "%1 = stablehlo.add %x, %y : tensor<f32>\n"
                  "stablehlo.return %1 : tensor<f32>\n}) : (tensor<4xf32>) -> "
                  "tensor<4xf32>\nreturn %0 : tensor<4xf32>")),
      HasSubstr("channel_id=3, replica_groups={{0,2},{1}}, "
                "use_global_device_ids=true"));
}

}  // namespace
}  // namespace ptxla::hlo
