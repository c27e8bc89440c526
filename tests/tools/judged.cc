// Our side of the differential test with XLA (differential.py), many modules
// in one process:
//
//   judged < LINES        a line: path of a module without its ending
//
// For PATH it reads PATH.hlo (the generated text), PATH.xla.hlo (what XLA
// prints of it) and PATH.xla.pb (XLA's proto of it), and writes
//
//   PATH.ours.hlo      what we print of PATH.hlo
//   PATH.again.hlo     what we print of PATH.xla.hlo
//   PATH.through.hlo   what we print of PATH.xla.pb
//   PATH.ours.pb       our proto of PATH.xla.hlo
//   PATH.out.npz       its values, if there are inputs PATH.in.npz
//
// One line of answer: "flops transcendentals bytes instructions", or the stage
// at which an error came, a colon and the error. PATH alone with no .xla.hlo
// asks only whether PATH.hlo is read and valid.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "hlo_backend/analysis/cost_analysis.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/evaluator/npz.h"
#include "hlo_backend/input/module_file.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/ir/verifier.h"

namespace ptxla::hlo {
namespace {

std::string Read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

void Write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

absl::Status At(const char* stage, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(stage, ": ", status.message()));
}

absl::StatusOr<std::unique_ptr<Module>> ReadValid(const std::string& path) {
  auto file = ReadModule(Read(path), "m");
  RETURN_IF_ERROR(file.status());
  RETURN_IF_ERROR(VerifyModule(*file->module));
  return std::move(file->module);
}

void Flatten(const Literal& value, NamedLiterals* out) {
  if (!value.IsTuple()) {
    if (value.shape().IsArray()) {
      out->emplace_back(absl::StrCat("out", out->size()), value);
    }
    return;
  }
  for (const Literal& e : value.elements()) Flatten(e, out);
}

absl::Status Run(const Module& module, const std::string& path) {
  ASSIGN_OR_RETURN(const NamedLiterals in, ReadNpz(path + ".in.npz"));
  std::vector<Literal> arguments;
  for (int i = 0; i < static_cast<int>(in.size()); ++i) {
    for (const auto& [name, value] : in) {
      if (name == absl::StrCat("arg", i)) arguments.push_back(value);
    }
  }
  ASSIGN_OR_RETURN(const Literal result, Evaluate(module, arguments));
  NamedLiterals out;
  Flatten(result, &out);
  return WriteNpz(path + ".out.npz", out);
}

absl::StatusOr<std::string> Judge(const std::string& path) {
  auto module = ReadValid(path + ".hlo");
  RETURN_IF_ERROR(At("accept", module.status()));
  if (!std::filesystem::exists(path + ".xla.hlo")) return std::string("valid");
  Write(path + ".ours.hlo", Print(**module));
  auto theirs = ReadValid(path + ".xla.hlo");
  RETURN_IF_ERROR(At("text", theirs.status()));
  Write(path + ".again.hlo", Print(**theirs));
  auto through = ReadValid(path + ".xla.pb");
  RETURN_IF_ERROR(At("proto", through.status()));
  Write(path + ".through.hlo", Print(**through));
  auto proto = WriteModule(**theirs, FileFormat::kModuleProto);
  RETURN_IF_ERROR(At("proto", proto.status()));
  Write(path + ".ours.pb", *proto);
  const Cost cost = CostAnalysis(CostOptions::LikeXla()).Of(**theirs);
  if (std::filesystem::exists(path + ".in.npz")) {
    RETURN_IF_ERROR(At("eval", Run(**module, path)));
  }
  char numbers[200];
  std::snprintf(numbers, sizeof numbers, "%.17g %.17g %.17g %lld", cost.flops,
                cost.transcendentals, cost.bytes_accessed,
                static_cast<long long>((*theirs)->instruction_count()));
  return std::string(numbers);
}

}  // namespace
}  // namespace ptxla::hlo

int main() {
  std::string path;
  while (std::getline(std::cin, path)) {
    const auto answer = ptxla::hlo::Judge(path);
    const std::string line =
        answer.ok() ? *answer : std::string(answer.status().message());
    std::cout << absl::StrReplaceAll(line, {{"\n", " "}}) << std::endl;
  }
}
