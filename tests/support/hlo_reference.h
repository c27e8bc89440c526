// Compares a traced module with HLO text of the real PyTorch/XLA, instruction
// by instruction under the same names.
//
//   ASSERT_OK_AND_ASSIGN(auto reference, ReadReference("patterns/gelu.hlo"));
//   EXPECT_THAT(Differences(*reference, *module), IsEmpty());
//
// The files are not part of this tree: HasReferences() says whether they lie
// beside it.
#ifndef PTXLA_TESTS_SUPPORT_HLO_REFERENCE_H_
#define PTXLA_TESTS_SUPPORT_HLO_REFERENCE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "tests/support/shared_files.h"

namespace ptxla::testing {

inline bool HasReferences() {
  return SharedPath("hlo_corpus/torch_xla_2_9/index.csv").ok();
}

inline absl::StatusOr<std::unique_ptr<hlo::Module>> ReadReference(
    const std::string& file) {
  ASSIGN_OR_RETURN(const std::string path,
                   SharedPath("hlo_corpus/torch_xla_2_9/" + file));
  return hlo::ParseModuleFile(path);
}

// "computation/instruction" -> its text without metadata.
inline std::map<std::string, std::string> Lines(const hlo::Module& module) {
  hlo::PrintOptions options;
  options.metadata = false;
  std::map<std::string, std::string> lines;
  for (const hlo::Computation* c : module.computations()) {
    for (const hlo::Instruction* i : c->instructions()) {
      lines[absl::StrCat(c->name(), "/", i->name())] = hlo::Print(*i, options);
    }
  }
  return lines;
}

// One entry per instruction that is missing ("- ..."), too many ("+ ...") or
// different (both).
inline std::vector<std::string> Differences(const hlo::Module& reference,
                                            const hlo::Module& ours) {
  const std::map<std::string, std::string> wanted = Lines(reference);
  const std::map<std::string, std::string> have = Lines(ours);
  std::vector<std::string> result;
  for (const auto& [name, text] : wanted) {
    const auto it = have.find(name);
    if (it != have.end() && it->second == text) continue;
    result.push_back(absl::StrCat("- ", text));
    if (it != have.end()) result.push_back(absl::StrCat("+ ", it->second));
  }
  for (const auto& [name, text] : have) {
    if (wanted.count(name) == 0) result.push_back(absl::StrCat("+ ", text));
  }
  return result;
}

}  // namespace ptxla::testing

#endif  // PTXLA_TESTS_SUPPORT_HLO_REFERENCE_H_
