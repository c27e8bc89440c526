// Exact simulated cycles of a set of programs on one chip, against the file
// that is versioned beside this one. A change of the compiler or the simulator
// that moves them edits the file and says why in its commit.
//
//   cycle_baselines v6e            compares; prints what differs; exit 1
//   cycle_baselines v6e --update   writes baselines/v6e.csv anew
//
// Rows: program, topology, fidelity, cycles of the device, kernels called. A
// program is a file of the corpus, "random:SEED" (random_hlo.h), or a workload
// with its settings. Rows of corpus files are left alone where the corpus does
// not lie beside the tree.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "driver/prediction.h"
#include "tests/properties/baseline_file.h"
#include "tests/properties/compiled_program.h"
#include "tests/properties/random_hlo.h"

namespace ptxla::testing {
namespace {

struct Row {
  std::string program, topology, fidelity;
  std::string Key() const {
    return absl::StrCat(program, ",", topology, ",", fidelity);
  }
};

// What is measured on a chip.
std::vector<Row> RowsOf(const std::string& chip) {
  std::vector<Row> rows;
  for (const std::string& file : CorpusFiles()) {
    rows.push_back({file, chip, "kernel"});
  }
  for (int seed = 0; seed < 2 * NumFamilies(); ++seed) {
    rows.push_back({absl::StrCat("random:", seed), chip, "kernel"});
  }
  for (const char* n : {"1024", "2048"}) {
    rows.push_back({absl::StrCat("gemm:", n), chip, "kernel"});
  }
  if (chip == "unit") rows.push_back({"gemm:1024", chip, "tile"});
  if (chip == "v5e" || chip == "v6e") {
    const std::string one = absl::StrCat(chip, "-1"),
                      eight = absl::StrCat(chip, "-8");
    rows.push_back({"workload:mlp", one, "kernel"});
    rows.push_back({"workload:mlp", eight, "kernel"});
    rows.push_back({"workload:bert_2l", one, "kernel"});
    rows.push_back({"workload:bert_2l", eight, "kernel"});
    rows.push_back({"workload:bert_2l", eight, "tile"});
  }
  if (chip == "v5e") rows.push_back({"workload:bert", "v5e-8", "kernel"});
  return rows;
}

std::string GemmText(const std::string& n) {
  const std::string shape = absl::StrCat("bf16[", n, ",", n, "]");
  return absl::StrCat("HloModule gemm\nENTRY main {\n  a = ", shape,
                      " parameter(0)\n  b = ", shape,
                      " parameter(1)\n  ROOT c = ", shape,
                      " dot(a, b), lhs_contracting_dims={1}, "
                      "rhs_contracting_dims={0}\n}\n");
}

std::string CyclesAndKernels(const record::DeviceTrace& trace) {
  int64_t kernels = 0;
  for (const record::OpTrace& op : trace.op()) {
    if (!op.kernel().empty()) kernels += std::max<int64_t>(1, op.repeat());
  }
  return absl::StrCat(trace.total_cycles(), ",", kernels);
}

// NotFound: the file is not there.
absl::StatusOr<std::string> Measure(const Row& row) {
  if (absl::StartsWith(row.program, "workload:")) {
    driver::RunRequest request;
    request.workload = row.program.substr(9);
    request.topology = row.topology;
    request.fidelity = row.fidelity;
    request.assumed_effects = false;
    ASSIGN_OR_RETURN(const driver::Prediction p, driver::Predict(request));
    return CyclesAndKernels(p.traces[p.record.steady_program()]);
  }
  std::string text;
  if (absl::StartsWith(row.program, "random:")) {
    text = MakeRandomHlo(std::stoul(row.program.substr(7))).text;
  } else if (absl::StartsWith(row.program, "gemm:")) {
    text = GemmText(row.program.substr(5));
  } else {
    ASSIGN_OR_RETURN(text, CorpusText(row.program));
  }
  const absl::StatusOr<CompiledProgram> p = CompileText(text, row.topology);
  if (absl::IsUnimplemented(p.status()) ||
      absl::IsResourceExhausted(p.status())) {
    return std::string("refused,0");
  }
  RETURN_IF_ERROR(p.status());
  RunOptions options;
  ASSIGN_OR_RETURN(options.fidelity, sim::ParseFidelity(row.fidelity));
  ASSIGN_OR_RETURN(const record::DeviceTrace trace,
                   Run(p->program, p->slice, options));
  return CyclesAndKernels(trace);
}

int Main(const std::string& chip, bool update) {
  BaselineFile file(absl::StrCat(chip, ".csv"),
                    "program,topology,fidelity,cycles,kernels", 3);
  for (const Row& row : RowsOf(chip)) {
    const auto value = Measure(row);
    if (absl::IsNotFound(value.status())) {
      file.NotHere(row.Key());
      continue;
    }
    if (!value.ok()) {
      std::fprintf(stderr, "%s: %s\n", row.Key().c_str(),
                   std::string(value.status().message()).c_str());
      return 1;
    }
    file.Found(row.Key(), *value);
  }
  return file.Finish(update);
}

}  // namespace
}  // namespace ptxla::testing

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: cycle_baselines CHIP [--update]\n");
    return 2;
  }
  return ptxla::testing::Main(argv[1],
                              argc > 2 && std::string(argv[2]) == "--update");
}
