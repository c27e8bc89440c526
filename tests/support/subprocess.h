// Runs a program as a user would: arguments, standard input, a folder; gives
// exit code, standard output and standard error.
//
//   ProcessResult r = RunProcess({PTXLA_SIM, "--version"}, {"", folder});
#ifndef PTXLA_TESTS_SUPPORT_SUBPROCESS_H_
#define PTXLA_TESTS_SUPPORT_SUBPROCESS_H_

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace ptxla::testing {

struct ProcessResult {
  int exit_code = -1;  // 128 + signal if it was killed
  std::string out, err;
};

// A folder of its own that goes away with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = ::testing::TempDir() + "/ptxla_XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  const std::string& path() const { return path_; }
  std::string Write(const std::string& name, const std::string& text) const {
    const std::string file = path_ + "/" + name;
    std::ofstream(file) << text;
    return file;
  }
  // Names of what is in it, sorted.
  std::vector<std::string> List() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::string path_;
};

struct ProcessOptions {
  std::string input;
  std::string folder;  // working folder
};

inline ProcessResult RunProcess(const std::vector<std::string>& arguments,
                                const ProcessOptions& options) {
  TemporaryFolder files;
  files.Write("in", options.input);
  const std::string out = files.path() + "/out", err = files.path() + "/err";
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen((files.path() + "/in").c_str(), "r", stdin) == nullptr ||
        std::freopen(out.c_str(), "w", stdout) == nullptr ||
        std::freopen(err.c_str(), "w", stderr) == nullptr ||
        (!options.folder.empty() && chdir(options.folder.c_str()) != 0)) {
      _exit(126);
    }
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (const std::string& a : arguments) {
      argv.push_back(const_cast<char*>(a.c_str()));
    }
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ProcessResult result;
  result.exit_code =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  const auto read = [](const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  result.out = read(out);
  result.err = read(err);
  return result;
}

}  // namespace ptxla::testing

#endif  // PTXLA_TESTS_SUPPORT_SUBPROCESS_H_
