// A program compiled for a chip, and what it takes on the simulator: shared by
// the suites of this folder.
//
//   const std::optional<CompiledProgram> p = CompileText(text, "v6e");
//   int64_t cycles = Cycles(*p, sim::Fidelity::kTile);
#ifndef PTXLA_TESTS_PROPERTIES_COMPILED_PROGRAM_H_
#define PTXLA_TESTS_PROPERTIES_COMPILED_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "chips/topology.h"
#include "hlo_backend/ir/module.h"
#include "isa/program.h"
#include "record/device_trace.pb.h"
#include "sim/simulator.h"

namespace ptxla::testing {

struct CompiledProgram {
  std::string name;
  chips::Slice slice;
  std::unique_ptr<hlo::Module> source;  // as handed to the compiler
  isa::Program program;
};

// Every embedded chip, by a name that ParseSlice knows: one chip of each.
std::vector<std::string> AllChips();

absl::StatusOr<CompiledProgram> CompileText(const std::string& text,
                                            const std::string& topology);
// `slice`: of a chip with changed numbers.
absl::StatusOr<CompiledProgram> CompileText(const std::string& text,
                                            const chips::Slice& slice);

// HLO that others wrote, as issue 3 names it: paths below the shared corpus.
std::vector<std::string> CorpusFiles();
// NotFound where the corpus does not lie beside the tree.
absl::StatusOr<std::string> CorpusText(const std::string& file);
// The training step of a BERT of 2 layers, 128 wide, batch 8, sequence 32, as
// HLO text: what tracing our own model gives.
absl::StatusOr<std::string> SmallBertText();

struct RunOptions {
  sim::Fidelity fidelity = sim::Fidelity::kKernel;
  bool memoize = true;
  sim::TimingCache* timings = nullptr;
};
absl::StatusOr<record::DeviceTrace> Run(const isa::Program& program,
                                        const chips::Slice& slice,
                                        const RunOptions& options = {});
// Adds a test failure and gives -1 where the run fails.
int64_t Cycles(const CompiledProgram& p, sim::Fidelity fidelity,
               bool memoize = true);

// A slice of the same name whose chip is `chip`.
chips::Slice SliceWith(const std::string& topology,
                       const chips::ChipSpec& chip);

}  // namespace ptxla::testing

#endif  // PTXLA_TESTS_PROPERTIES_COMPILED_PROGRAM_H_
