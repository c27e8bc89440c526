// The launcher on machines that this one is not: without packages, without
// root, without a network; and when there is nothing to build.
#include <unistd.h>

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/subprocess.h"

namespace ptxla {
namespace {

using ::ptxla::testing::ProcessResult;
using ::ptxla::testing::RunProcess;
using ::ptxla::testing::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A copy of the launcher beside a tree with one source, run with a PATH of
// pretended programs.
class LauncherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    namespace fs = std::filesystem;
    const std::string source = PTXLA_SOURCE_DIR;
    for (const char* folder : {"/cmake", "/bin", "/build/tools", "/base"}) {
      fs::create_directories(root_.path() + folder);
    }
    for (const char* file : {"/ptxla-sim", "/ptxla-opt", "/cmake/launch.sh",
                             "/cmake/debian-packages.txt"}) {
      fs::copy_file(source + file, root_.path() + file);
    }
    root_.Write("base/a.cc", "int a;");
    for (const char* tool : {"sed", "find", "touch", "mv", "tail", "mkdir",
                             "flock", "readlink", "dirname", "env"}) {
      for (const char* where : {"/usr/bin/", "/bin/"}) {
        if (!fs::exists(std::string(where) + tool)) continue;
        fs::create_symlink(std::string(where) + tool,
                           root_.path() + "/bin/" + tool);
        break;
      }
    }
  }

  void Program(const std::string& path, const std::string& script) {
    root_.Write(path, "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(root_.path() + "/" + path,
                                 std::filesystem::perms::owner_all);
  }

  ProcessResult Launch(const std::vector<std::string>& arguments) {
    std::vector<std::string> all = {"/usr/bin/env",
                                    "PATH=" + root_.path() + "/bin",
                                    root_.path() + "/ptxla-sim"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return RunProcess(all, {"", root_.path()});
  }

  TemporaryFolder root_;
};

TEST_F(LauncherTest, WithoutRootAndSudoItNamesTheOneLineToRun) {
  Program("bin/dpkg-query", "exit 1");  // nothing is installed
  Program("bin/id", "echo 1000");
  const ProcessResult r = Launch({"--version"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.err, HasSubstr("only root can install them; run:"));
  EXPECT_THAT(r.err, HasSubstr("  apt-get update && apt-get install -y "
                               "--no-install-recommends cmake g++ "));
  EXPECT_THAT(r.out, IsEmpty());
}

TEST_F(LauncherTest, WithoutANetworkItNamesTheLineToo) {
  Program("bin/dpkg-query",
          "case \"$*\" in *ninja*) exit 1;; *) echo 'install ok "
          "installed';; esac");
  Program("bin/id", "echo 0");
  Program("bin/apt-get", "exit 100");
  const ProcessResult r = Launch({"--version"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.err, HasSubstr("installing Debian packages: ninja-build\n"));
  EXPECT_THAT(r.err, HasSubstr("\n  apt-get update && apt-get install -y "
                               "--no-install-recommends ninja-build\n"));
}

TEST_F(LauncherTest, WhenNothingChangedNoToolRuns) {
  for (const char* tool : {"dpkg-query", "cmake", "ninja"}) {
    Program(std::string("bin/") + tool, "echo never >&2; exit 9");
  }
  for (const char* program : {"ptxla-sim", "ptxla-opt"}) {
    Program(std::string("build/tools/") + program, "echo \"$2|$1\"");
  }
  root_.Write("build/.launch-stamp", "");
  const ProcessResult r = Launch({"a b", "c"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_EQ(r.out, "c|a b\n");
  EXPECT_THAT(r.err, IsEmpty());
}

TEST_F(LauncherTest, AChangedSourceBuildsAndAFailedBuildIsTold) {
  Program("bin/dpkg-query", "echo 'install ok installed'");
  Program("bin/ninja", "echo error: broken; exit 1");
  for (const char* program : {"ptxla-sim", "ptxla-opt"}) {
    Program(std::string("build/tools/") + program, "echo old");
  }
  root_.Write("build/build.ninja", "");
  root_.Write("build/.launch-stamp", "");
  usleep(20000);
  root_.Write("base/b.cc", "int b;");
  const ProcessResult r = Launch({});
  EXPECT_EQ(r.exit_code, 4);
  EXPECT_THAT(r.err, HasSubstr("sources changed, building"));
  EXPECT_THAT(r.err, HasSubstr("error: broken"));
  EXPECT_THAT(r.out, IsEmpty()) << "the old program must not run";
}

}  // namespace
}  // namespace ptxla
