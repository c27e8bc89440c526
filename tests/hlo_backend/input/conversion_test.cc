// HLO text, protos and StableHLO into each other: every pair, and home again.
#include <array>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/input/module_file.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/stablehlo/stablehlo_writer.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

constexpr std::array kFormats = {
    FileFormat::kHloText,     FileFormat::kStableHloText,
    FileFormat::kModuleProto, FileFormat::kModuleTextProto,
    FileFormat::kHloProto,    FileFormat::kHloTextProto};

// What a module is in every format: StableHLO has no names and layouts.
std::string Meaning(const Module& module) {
  auto text = WriteStableHlo(module);
  EXPECT_OK(text.status());
  return text.ok() ? *text : "";
}

// `bytes` read and written in another format.
std::string Convert(const std::string& bytes, FileFormat from, FileFormat to,
                    const std::string& meaning) {
  auto file = ReadModule(bytes, FormatName(from));
  EXPECT_OK(file.status());
  if (!file.ok()) return "";
  EXPECT_EQ(file->format, from);
  EXPECT_OK(VerifyModule(*file->module));
  EXPECT_EQ(Meaning(*file->module), meaning);
  auto written = WriteModule(*file->module, to);
  EXPECT_OK(written.status());
  return written.ok() ? *written : "";
}

TEST(ConversionTest, EveryPairOfFormatsKeepsTheProgram) {
  for (const char* name : {"attention", "scan", "branches", "train_step",
                           "random_bits", "donated", "conv2d"}) {
    SCOPED_TRACE(name);
    const auto text = ReadFile(absl::StrCat(
        PTXLA_SOURCE_DIR, "/tests/data/frameworks/", name, ".mlir"));
    ASSERT_OK(text.status());
    auto file = ReadModule(*text, name);
    ASSERT_OK(file.status());
    const std::string meaning = Meaning(*file->module);
    for (const FileFormat from : kFormats) {
      const auto first = WriteModule(*file->module, from);
      ASSERT_OK(first.status());
      for (const FileFormat to : kFormats) {
        SCOPED_TRACE(absl::StrCat(FormatName(from), " to ", FormatName(to)));
        const std::string second = Convert(*first, from, to, meaning);
        const std::string home = Convert(second, to, from, meaning);
        // Names survive where neither end is StableHLO.
        if (to != FileFormat::kStableHloText) {
          EXPECT_EQ(home, *first);
        }
      }
    }
  }
}

}  // namespace
}  // namespace ptxla::hlo
