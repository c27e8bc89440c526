// `ptxla-opt eval` from outside: what goes in and out, and what bad inputs say.
#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/evaluator/npz.h"
#include "hlo_backend/evaluator/zip.h"
#include "tests/support/status_matchers.h"
#include "tests/support/subprocess.h"

namespace ptxla {
namespace {

using hlo::Literal;
using hlo::PrimitiveType;
using hlo::Shape;
using ::ptxla::testing::ProcessResult;
using ::ptxla::testing::RunProcess;
using ::ptxla::testing::TemporaryFolder;
using ::testing::HasSubstr;

constexpr char kProgram[] = R"(HloModule m
ENTRY main {
  x = f32[3] parameter(0)
  y = bf16[2] parameter(1)
  a = f32[3] add(x, x)
  b = bf16[2] negate(y)
  i = (f32[3]) tuple(a)
  ROOT t = ((f32[3]), bf16[2]) tuple(i, b)
}
)";

Literal Floats(std::vector<double> values, PrimitiveType type) {
  Literal literal(Shape::Array(type, {static_cast<int64_t>(values.size())}));
  for (size_t k = 0; k < values.size(); ++k) literal.SetDouble(k, values[k]);
  return literal;
}

class EvalCommandTest : public ::testing::Test {
 protected:
  EvalCommandTest() { folder_.Write("m.hlo", kProgram); }

  ProcessResult Eval(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {PTXLA_OPT, "eval", "m.hlo"});
    return RunProcess(arguments, {"", folder_.path()});
  }
  void WriteInputs(const hlo::NamedLiterals& arrays) {
    EXPECT_OK(hlo::WriteNpz(folder_.path() + "/in.npz", arrays));
  }
  // One line, exit code 2, nothing written.
  void ExpectRefused(const std::string& message) {
    const ProcessResult r = Eval({"--inputs", "in.npz", "--out", "out.npz"});
    EXPECT_EQ(r.exit_code, 2) << r.err;
    EXPECT_THAT(r.err, HasSubstr(message));
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
    EXPECT_EQ(r.out, "");
    EXPECT_FALSE(ReadFile(folder_.path() + "/out.npz").ok());
  }

  const Literal x_ = Floats({1, 2, 3}, PrimitiveType::kF32);
  const Literal y_ = Floats({0.5, -4}, PrimitiveType::kBf16);
  TemporaryFolder folder_;
};

TEST_F(EvalCommandTest, ReadsArgumentsAndWritesResultsFlattened) {
  // Other names are not looked at.
  WriteInputs({{"arg0", x_}, {"arg1", y_}, {"out0", x_}});
  const ProcessResult r = Eval({"--inputs", "in.npz", "--out", "out.npz"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  ASSERT_OK_AND_ASSIGN(const auto out,
                       hlo::ReadNpz(folder_.path() + "/out.npz"));
  ASSERT_EQ(out.size(), 2);
  EXPECT_EQ(out[0].first, "out0");
  EXPECT_EQ(out[0].second, Floats({2, 4, 6}, PrimitiveType::kF32));
  EXPECT_EQ(out[1].first, "out1");
  EXPECT_EQ(out[1].second, Floats({-0.5, 4}, PrimitiveType::kBf16));
  EXPECT_THAT(r.out, HasSubstr("out1 bf16[2] {-0.5, 4}"));
}

TEST_F(EvalCommandTest, SeedsChooseRandomInputs) {
  const std::string one = Eval({"--seed", "1"}).out;
  EXPECT_EQ(Eval({"--seed", "1"}).out, one);
  EXPECT_NE(Eval({"--seed", "2"}).out, one);
}

TEST_F(EvalCommandTest, TpuNumericsRoundTheOperandsOfProducts) {
  folder_.Write("m.hlo", R"(HloModule m
ENTRY main {
  x = f32[1] parameter(0)
  ROOT d = f32[] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
}
)");
  WriteInputs({{"arg0", Floats({1.00390625}, PrimitiveType::kF32)}});
  EXPECT_THAT(Eval({"--inputs", "in.npz"}).out, HasSubstr("1.00782776"));
  EXPECT_THAT(Eval({"--inputs", "in.npz", "--tpu"}).out,
              HasSubstr("out0 f32[] 1\n"));
}

TEST_F(EvalCommandTest, AMissingArgumentIsNamed) {
  WriteInputs({{"arg0", x_}});
  ExpectRefused("in.npz has no arg1; m takes 2 arguments");
}
TEST_F(EvalCommandTest, AnArgumentTooManyIsNamed) {
  WriteInputs({{"arg0", x_}, {"arg1", y_}, {"arg2", y_}});
  ExpectRefused("in.npz has arg2; m takes 2 arguments");
}
TEST_F(EvalCommandTest, AnotherTypeIsNamed) {
  WriteInputs({{"arg0", Floats({1, 2, 3}, PrimitiveType::kF64)}, {"arg1", y_}});
  ExpectRefused("in.npz: arg0 is f64[3], but the program takes f32[3]");
}
TEST_F(EvalCommandTest, AnotherShapeIsNamed) {
  WriteInputs({{"arg0", x_}, {"arg1", Floats({1}, PrimitiveType::kBf16)}});
  ExpectRefused("in.npz: arg1 is bf16[1], but the program takes bf16[2]");
}
TEST_F(EvalCommandTest, WhatIsNoArchiveIsRefused) {
  folder_.Write("in.npz", "no archive");
  ExpectRefused("in.npz");
}
TEST_F(EvalCommandTest, AFileThatIsNotThereIsNamed) { ExpectRefused("in.npz"); }

// What NumPy saves of bf16 (ml_dtypes) has the type code <V2.
TEST_F(EvalCommandTest, BytesWithoutATypeTakeThatOfTheProgram) {
  const Literal bits =
      Literal::FromBytes(Shape::Array(PrimitiveType::kU16, {2}),
                         {y_.bytes().begin(), y_.bytes().end()});
  WriteInputs({{"arg0", x_}, {"arg1", bits}});
  ExpectRefused("arg1 is u16[2], but the program takes bf16[2]");

  std::string array = hlo::FormatNpy(bits);
  array.replace(array.find("'<u2'"), 5, "'<V2'");
  ASSERT_OK_AND_ASSIGN(
      const std::string archive,
      hlo::WriteZip({{"arg0.npy", hlo::FormatNpy(x_)}, {"arg1.npy", array}}));
  folder_.Write("in.npz", archive);
  EXPECT_THAT(Eval({"--inputs", "in.npz"}).out,
              HasSubstr("out1 bf16[2] {-0.5, 4}"));
}

TEST_F(EvalCommandTest, OpenDimensionsAreRefusedOrGetSizes) {
  folder_.Write("open.mlir",
                "module @m {\nfunc.func public @main(%x: tensor<?x2xf32>) -> "
                "tensor<?x2xf32> {\n%0 = stablehlo.add %x, %x : "
                "tensor<?x2xf32>\nreturn %0 : tensor<?x2xf32>\n}\n}\n");
  const auto eval = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {PTXLA_OPT, "eval", "open.mlir"});
    return RunProcess(more, {"", folder_.path()});
  };
  const ProcessResult refused = eval({});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err,
              HasSubstr("open.mlir: %Arg_0 = parameter in main: nothing says "
                        "the size of f32[?,2]: give the sizes of the "
                        "arguments' open dimensions (--sizes=8,128)"));
  const ProcessResult done = eval({"--sizes=3"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("out0 f32[3,2]"));
}

// What a program was run with is in the file; --inputs goes before it.
TEST_F(EvalCommandTest, ASnapshotBringsItsArguments) {
  const ProcessResult proto = RunProcess(
      {PTXLA_OPT, "m.hlo", "--write=hlo.pbtxt"}, {"", folder_.path()});
  ASSERT_EQ(proto.exit_code, 0) << proto.err;
  const auto argument = [](const char* type, int count, const char* values) {
    return absl::StrCat("arguments { shape { element_type: ", type,
                        " dimensions: ", count,
                        " layout { minor_to_major: 0 } } ", values, " }\n");
  };
  const std::string program = absl::StrCat("hlo {\n", proto.out, "}\n");
  const std::string x = argument("F32", 3, "f32s: 1 f32s: 2 f32s: 3");
  // 0.5 and -4: bytes 00 3f, 80 c0.
  const std::string y = argument("BF16", 2, "bf16s: \"\\000\\077\\200\\300\"");
  folder_.Write("s.pbtxt", absl::StrCat(program, x, y));
  const auto eval = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {PTXLA_OPT, "eval"});
    return RunProcess(words, {"", folder_.path()});
  };
  const ProcessResult own = eval({"s.pbtxt"});
  EXPECT_EQ(own.exit_code, 0) << own.err;
  EXPECT_THAT(own.out, HasSubstr("out0 f32[3] {2, 4, 6}"));
  EXPECT_THAT(own.out, HasSubstr("out1 bf16[2] {-0.5, 4}"));
  WriteInputs({{"arg0", Floats({5, 5, 5}, PrimitiveType::kF32)}, {"arg1", y_}});
  EXPECT_THAT(eval({"s.pbtxt", "--inputs", "in.npz"}).out,
              HasSubstr("out0 f32[3] {10, 10, 10}"));
  // One of two arguments is no set of inputs.
  folder_.Write("one.pbtxt", absl::StrCat(program, x));
  const ProcessResult one = eval({"one.pbtxt"});
  EXPECT_NE(one.exit_code, 0);
  EXPECT_THAT(one.err, HasSubstr("takes 2 arguments, not 1"));
}

TEST_F(EvalCommandTest, AnErrorNamesItsFileOnce) {
  folder_.Write("e.hlo",
                "HloModule m\nENTRY e {\n  ROOT c = f32[4] constant({...})\n}");
  const ProcessResult r =
      RunProcess({PTXLA_OPT, "eval", "e.hlo"}, {"", folder_.path()});
  EXPECT_NE(r.exit_code, 0);
  EXPECT_THAT(r.err, ::testing::StartsWith(
                         "error: e.hlo:3:8: %c = constant: the text does "
                         "not hold the values"));
}

}  // namespace
}  // namespace ptxla
