// Another compiler in place of ours, played by a shell script that knows what a
// module was compiled to.
#include "driver/libtpu/libtpu_compiler.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "driver/prediction.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "tests/support/status_matchers.h"
#include "tests/support/subprocess.h"

namespace ptxla::driver {
namespace {

using ::ptxla::testing::StatusIs;
using ::ptxla::testing::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kModule[] = R"(HloModule m
ENTRY e {
  x = bf16[256,512] parameter(0)
  w = bf16[512,384] parameter(1)
  p = bf16[256,384] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = bf16[256,384] tanh(p)
})";

class LibtpuCompilerTest : public ::testing::Test {
 protected:
  // The words are $1 the helper, $2 "versions" or "compile", $3 the chip, $4
  // the shape, $5 the input, $6 the output.
  LibtpuOptions Python(const std::string& compile) {
    const std::string script = folder_.Write(
        "python", absl::StrCat("#!/bin/sh\n[ \"$2\" = versions ] && echo "
                               "'libtpu 1.2, jax 3.4' && exit 0\n",
                               "echo $3 $4 >> ", folder_.path(), "/calls\n",
                               compile, "\n"));
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    return {script, folder_.path() + "/cache"};
  }

  absl::StatusOr<std::unique_ptr<hlo::Module>> Compile(
      const LibtpuOptions& options, const std::string& text = kModule) {
    auto compiler = LibtpuCompiler::Find(options);
    if (!compiler.ok()) return compiler.status();
    auto module = hlo::ParseModule(text, "m.hlo");
    if (!module.ok()) return module.status();
    auto slice = chips::ParseSlice("v5e-8");
    if (!slice.ok()) return slice.status();
    return compiler->Compile(**module, *slice);
  }

  TemporaryFolder folder_;
};

TEST_F(LibtpuCompilerTest, WhatIsMissingIsSaidWithHowToInstallIt) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  const std::string cache = folder_.path() + "/cache";
  EXPECT_THAT(LibtpuCompiler::Find({"no-such-python", cache}).status(),
              StatusIs(kInvalid, AllOf(HasSubstr("no-such-python"),
                                       HasSubstr("pip install jax"))));
  const std::string bare = folder_.Write(
      "bare", "#!/bin/sh\necho noise >&2\necho libtpu >&2\nexit 3\n");
  std::filesystem::permissions(bare, std::filesystem::perms::owner_all);
  EXPECT_THAT(LibtpuCompiler::Find({bare, cache}).status(),
              StatusIs(kInvalid, AllOf(HasSubstr("has no libtpu: "),
                                       HasSubstr("pip install jax"))));
  for (const char* mute : {"/bin/false", "/bin/true"}) {
    EXPECT_THAT(LibtpuCompiler::Find({mute, cache}).status(),
                StatusIs(kInvalid, HasSubstr(" is no Python (exit code ")));
  }
}

TEST_F(LibtpuCompilerTest, AModuleIsCompiledOnceForEachSlice) {
  const LibtpuOptions options = Python("sed 's/tanh/negate/' $5 > $6");
  ASSERT_OK_AND_ASSIGN(const auto compiler, LibtpuCompiler::Find(options));
  EXPECT_EQ(compiler.name(), "libtpu 1.2, jax 3.4");
  for (int n = 0; n < 2; ++n) {
    ASSERT_OK_AND_ASSIGN(const auto module, Compile(options));
    EXPECT_EQ(module->entry()->root()->opcode(), hlo::Opcode::kNegate);
  }
  EXPECT_EQ(ReadFile(folder_.path() + "/calls").value(), "v5e 2x4\n");
}

// StableHLO has no tuple of one result: its index must not be left in the
// header.
TEST_F(LibtpuCompilerTest, ATupleOfOneDonatedResultIsThatResult) {
  ASSERT_OK_AND_ASSIGN(const auto module,
                       Compile(Python("cp $5 $6"), R"(HloModule m,
    input_output_alias={ {0}: (0, {}, may-alias) },
    entry_computation_layout={(f32[8,128]{1,0})->(f32[8,128]{1,0})}
ENTRY e {
  p = f32[8,128] parameter(0)
  n = f32[8,128] negate(p)
  ROOT t = (f32[8,128]) tuple(n)
})"));
  EXPECT_EQ(module->entry()->root()->opcode(), hlo::Opcode::kNegate);
  ASSERT_EQ(module->config().input_output_alias.size(), 1);
  EXPECT_TRUE(module->config().input_output_alias[0].output.empty());
  EXPECT_TRUE(module->config().entry_layout->result.IsArray());
}

TEST_F(LibtpuCompilerTest, ARefusalIsTheUsersErrorInItsOwnWords) {
  const LibtpuOptions options =
      Python("echo traceback >&2; echo 'no such op' >&2; exit 4");
  EXPECT_THAT(Compile(options).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("libtpu 1.2, jax 3.4: no such op")));
  // Nothing is kept of it.
  EXPECT_THAT(
      Compile(options).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no such")));
  EXPECT_EQ(ReadFile(folder_.path() + "/calls").value(), "v5e 2x4\nv5e 2x4\n");
}

// The schedule that comes back is taken as it is: ours, sent round, takes the
// time that it has without the detour.
TEST_F(LibtpuCompilerTest, ItsScheduleRunsAsItIs) {
  RunRequest request;
  request.hlo = folder_.Write("m.hlo", kModule);
  request.topology = "v5e-1";
  request.assumed_effects = false;
  ASSERT_OK_AND_ASSIGN(const Prediction own, Predict(request));
  EXPECT_EQ(own.record.config().compiler(), "");

  ASSERT_OK_AND_ASSIGN(auto slice, chips::ParseSlice("v5e-1"));
  ASSERT_OK_AND_ASSIGN(auto module, hlo::ParseModule(kModule, "m.hlo"));
  ASSERT_OK_AND_ASSIGN(
      const hlo::CompiledModule compiled,
      hlo::Compile(std::move(module), slice.chip, slice.topology));
  const std::string scheduled =
      folder_.Write("scheduled.hlo", hlo::Print(*compiled.module));
  const LibtpuOptions options = Python(absl::StrCat("cp ", scheduled, " $6"));
  request.compiler = "libtpu";
  request.python = options.python;
  request.compiler_cache = options.cache;
  ASSERT_OK_AND_ASSIGN(const Prediction theirs, Predict(request));
  EXPECT_EQ(theirs.record.config().compiler(), "libtpu 1.2, jax 3.4");
  EXPECT_EQ(theirs.record.device_time_ps(), own.record.device_time_ps());
  EXPECT_EQ(theirs.record.compiles(0).predicted().value_ps(),
            own.record.compiles(0).predicted().value_ps());

  request.compiler = "gcc";
  EXPECT_THAT(Predict(request).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("own or libtpu, not \"gcc\"")));
}

}  // namespace
}  // namespace ptxla::driver
