// The same program from every kind of file, told apart by content.
#include "hlo_backend/input/module_file.h"

#include <zlib.h>

#include "base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/input/elided_values.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "tests/support/shared_files.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::testing::HasSubstr;

constexpr char kText[] = R"(HloModule m

ENTRY %e (p: f32[2]) -> f32[2] {
  %p = f32[2]{0} parameter(0)
  %c = f32[2]{0} constant({1, 2})
  ROOT %s = f32[2]{0} add(%p, %c)
}
)";

std::string Gzip(const std::string& content) {
  z_stream stream = {};
  EXPECT_EQ(
      deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
      Z_OK);
  std::string out(content.size() + 200, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(&out[0]);
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

TEST(ModuleFileTest, EveryFormatIsTheSameProgram) {
  auto module = ParseModule(kText);
  ASSERT_OK(module.status());
  for (FileFormat format :
       {FileFormat::kHloText, FileFormat::kModuleProto, FileFormat::kHloProto,
        FileFormat::kModuleTextProto, FileFormat::kHloTextProto}) {
    SCOPED_TRACE(FormatName(format));
    auto bytes = WriteModule(**module, format);
    ASSERT_OK(bytes.status());
    EXPECT_EQ(FormatName(DetectFormat(*bytes)), FormatName(format));
    for (const std::string& content : {*bytes, Gzip(*bytes)}) {
      auto file = ReadModule(content, "f");
      ASSERT_OK(file.status());
      EXPECT_EQ(file->format, format);
      EXPECT_EQ(Print(*file->module), Print(**module));
    }
  }
}

TEST(ModuleFileTest, StableHloIsKnownByItsBeginning) {
  for (const char* text :
       {"module @m { func.func @main(%a: tensor<f32>) -> tensor<f32> "
        "{ return %a : tensor<f32> } }",
        "// comment\n#loc = loc(unknown)\nmodule { func.func public @main(%a: "
        "tensor<f32>) -> tensor<f32> { return %a : tensor<f32> } }",
        "\"builtin.module\"() ({ func.func @main(%a: tensor<f32>) -> "
        "tensor<f32> { return %a : tensor<f32> } }) : () -> ()"}) {
    auto file = ReadModule(text, "f");
    ASSERT_OK(file.status()) << text;
    EXPECT_EQ(file->format, FileFormat::kStableHloText);
  }
}

TEST(ModuleFileTest, ATextProtoMayBeginWithAComment) {
  EXPECT_EQ(DetectFormat("# proto-file: x\n\nhlo_module {\n"),
            FileFormat::kHloTextProto);
  EXPECT_EQ(DetectFormat("name: \"m\""), FileFormat::kModuleTextProto);
  // A computation called `name`.
  EXPECT_EQ(DetectFormat("name { ROOT p = f32[] parameter(0) }"),
            FileFormat::kHloText);
}

TEST(ModuleFileTest, WhatIsNotReadIsRefusedByName) {
  EXPECT_THAT(
      ReadModule("ML\xefR\x01StableHLO", "a.mlirbc").status(),
      ptxla::testing::StatusIs(absl::StatusCode::kUnimplemented,
                               HasSubstr("a.mlirbc: this is MLIR bytecode")));
  EXPECT_THAT(
      ReadModule(std::string("\x18\0\0\0Exported\0\0ML\xefR", 18), "a.jax")
          .status()
          .message(),
      HasSubstr("jax.export"));
  EXPECT_THAT(ReadModule(std::string("\x01\x02\x03\0\xff", 5), "x").status(),
              ptxla::testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                       HasSubstr("x: no HLO text")));
  const std::string half = Gzip(kText).substr(0, 40);
  EXPECT_THAT(ReadModule(half, "x.gz").status().message(),
              HasSubstr("the gzip file is broken"));
}

TEST(ModuleFileTest, ErrorsOfATextProtoHaveAPosition) {
  EXPECT_THAT(
      ReadModule("hlo_module {\n  name: 3\n}", "x.pbtxt").status().message(),
      HasSubstr("x.pbtxt:2:9"));
}

TEST(ModuleFileTest, ElidedConstantsGetTheAskedValues) {
  auto file = ReadModule(
      "e { ROOT c = (f32[20], s8[3]) constant(({...}, {1, 2, 3})) }", "f");
  if (!file.ok()) {  // tuples of elided values
    file = ReadModule("e { ROOT c = f32[20] constant({...}) }", "f");
  }
  ASSERT_OK(file.status());
  EXPECT_EQ(FillElided(file->module.get(), ElidedValues::kKeep), 0);
  EXPECT_EQ(FillElided(file->module.get(), ElidedValues::kIota), 1);
  const Literal& literal = file->module->entry()->root()->literal();
  const Literal& array = literal.IsTuple() ? literal.elements()[0] : literal;
  EXPECT_EQ(array.GetDouble(19), 19);
}

TEST(ModuleFileTest, CorpusProtosLoad) {
  const auto folder = ::ptxla::testing::SharedPath("hlo_corpus/openxla_small");
  if (!folder.ok()) GTEST_SKIP() << folder.status();
  const auto text =
      ReadFile(*folder + "/sharded_unoptimized_hlo_snapshot.pbtxt");
  ASSERT_OK(text.status());
  auto file = ReadModule(*text, "snapshot");
  ASSERT_OK(file.status());
  EXPECT_EQ(file->module->name(), "jit__lambda_");
  const auto pb = ReadFile(*folder + "/hlo_opt_hlo_protobinary.pb");
  ASSERT_OK(pb.status());
  file = ReadModule(*pb, "pb");
  ASSERT_OK(file.status());
  EXPECT_EQ(file->format, FileFormat::kHloProto);
}

TEST(ModuleFileTest, TheIrOfTorchXlaIsRefusedWithTheWayOut) {
  EXPECT_THAT(
      ReadModule("IR {\n  %0 = f32[2]{0} xla::device_data()\n}\n", "g.txt")
          .status(),
      ptxla::testing::StatusIs(
          absl::StatusCode::kUnimplemented,
          ::testing::HasSubstr("g.txt: this is torch_xla's own IR; have it "
                               "written as HLO with "
                               "XLA_SAVE_TENSORS_FMT=hlo")));
}

}  // namespace
}  // namespace ptxla::hlo
