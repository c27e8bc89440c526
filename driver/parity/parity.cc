#include "driver/parity/parity.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "driver/hlo_input.h"
#include "driver/parity/compiler_table.h"
#include "driver/parity/our_kernels.h"
#include "driver/quantile.h"
#include "hlo_backend/input/elided_values.h"
#include "hlo_backend/ir/opcode.h"

namespace ptxla::driver {
namespace {

std::string SpaceName(char space) {
  switch (space) {
    case '0':
      return "HBM";
    case '1':
      return "VMEM";
    case '3':
      return "CMEM";
    case '6':
      return "SMEM";
    default:
      return std::string(1, space);
  }
}

std::string Text(const ArrayFacts& a) {
  return absl::StrCat(a.type, "[", a.elements, "]");
}

std::string Text(const KernelFacts& k) {
  return absl::StrCat(k.name, " = ", k.root, "(",
                      absl::StrJoin(k.operands, ", ",
                                    [](std::string* out, const ArrayFacts& a) {
                                      absl::StrAppend(out, Text(a));
                                    }),
                      ") -> ", k.outputs.empty() ? "?" : Text(k.outputs[0]));
}

// A reduce over dimensions of size 1 alone gives its array another shape.
std::string WorkText(const KernelFacts& k) {
  // Between layouts or dimensions: who turns what is the same movement.
  if (k.root == "transpose") return "copy";
  if (k.root != "reduce" || k.outputs.empty()) return k.root;
  const ArrayFacts* read = nullptr;
  for (const ArrayFacts& a : k.operands) {
    if (a.elements <= 1) continue;
    if (read != nullptr) return k.root;
    read = &a;
  }
  const bool whole =
      read != nullptr && k.outputs.size() == 1 && read->SameArray(k.outputs[0]);
  return whole ? "reshape" : k.root;
}

// A bitcast says nothing of the work.
bool SameRoot(const KernelFacts& theirs, const KernelFacts& ours) {
  const std::string a = WorkText(theirs), b = WorkText(ours);
  if (a == b || a == "bitcast" || b == "bitcast") return true;
  // Its formulas of narrow numbers end in a conversion from f32, where ours
  // name the operation that is rounded.
  const std::optional<hlo::Opcode> operation = hlo::OpcodeFromName(b);
  return a == "convert" && operation && hlo::IsElementwise(*operation);
}

// The operands of both that are the same array: indices of ours by theirs, or
// nothing if they differ. Of equal arrays those in the same space go together.
std::optional<std::vector<int>> MatchOperands(const KernelFacts& theirs,
                                              const KernelFacts& ours) {
  const auto big = [](const ArrayFacts& a) { return a.elements > 1; };
  const auto count = [&](const std::vector<ArrayFacts>& v) {
    return std::count_if(v.begin(), v.end(), big);
  };
  if (count(theirs.operands) != count(ours.operands)) return std::nullopt;
  std::vector<int> match(theirs.operands.size(), -1);
  std::vector<bool> taken(ours.operands.size(), false);
  for (const bool same_space : {true, false}) {
    for (size_t t = 0; t < theirs.operands.size(); ++t) {
      if (match[t] >= 0 || !big(theirs.operands[t])) continue;
      for (size_t o = 0; o < ours.operands.size(); ++o) {
        if (taken[o] || !theirs.operands[t].SameArray(ours.operands[o]) ||
            (same_space &&
             theirs.operands[t].space != ours.operands[o].space)) {
          continue;
        }
        taken[o] = true;
        match[t] = static_cast<int>(o);
        break;
      }
    }
  }
  for (size_t t = 0; t < match.size(); ++t) {
    if (match[t] < 0 && big(theirs.operands[t])) return std::nullopt;
  }
  return match;
}

bool SameOutput(const KernelFacts& theirs, const KernelFacts& ours) {
  if (theirs.outputs.empty()) return true;
  return std::any_of(
      ours.outputs.begin(), ours.outputs.end(),
      [&](const ArrayFacts& a) { return a.SameArray(theirs.outputs[0]); });
}

KernelPair PairOf(const KernelFacts& theirs, const KernelFacts& ours,
                  const std::vector<int>& match) {
  KernelPair p;
  p.theirs = theirs.name;
  p.ours = ours.name;
  for (size_t t = 0; t < match.size(); ++t) {
    if (match[t] < 0) continue;
    const ArrayFacts& a = theirs.operands[t];
    const ArrayFacts& b = ours.operands[match[t]];
    if (a.space == '?') continue;
    p.operand_bytes += a.bytes;
    if (a.space == b.space) {
      p.same_space_bytes += a.bytes;
    } else {
      p.spaces.push_back(absl::StrCat(Text(a), ": ", SpaceName(a.space),
                                      " there, ", SpaceName(b.space), " here"));
    }
  }
  p.their_steps = theirs.steps;
  p.our_steps = ours.steps;
  const auto cost = ours.cost_by_steps.find(theirs.steps);
  if (ours.cost > 0 && cost != ours.cost_by_steps.end()) {
    p.cost_of_their_steps =
        static_cast<double>(cost->second) / static_cast<double>(ours.cost) - 1;
  }
  p.their_bundles = theirs.bundles;
  p.our_bundles = ours.bundles;
  return p;
}

ParitySummary SummaryOf(const std::string& block,
                        const std::vector<const ProgramParity*>& programs) {
  ParitySummary s;
  s.block = block;
  std::vector<double> bundles, all_bundles;
  for (const ProgramParity* p : programs) {
    ++s.programs;
    s.failed += !p->failed.empty();
    s.same_kernels += p->SameKernels();
    s.matched += static_cast<int64_t>(p->pairs.size());
    s.kernels += static_cast<int64_t>(p->pairs.size() + p->only_theirs.size());
    s.operand_bytes += p->their_operand_bytes;
    s.same_prefetch += p->SamePrefetch();
    for (const KernelPair& k : p->pairs) {
      s.matched_bytes += k.operand_bytes;
      s.same_space_bytes += k.same_space_bytes;
      if (!k.StepsKnown()) continue;
      ++s.steps_known;
      s.same_steps += k.SameSteps();
      s.as_good_steps += k.AsGoodSteps();
      if (k.their_bundles <= 0 || k.our_bundles <= 0) continue;
      const double ratio = k.our_bundles / k.their_bundles;
      if (k.SameSteps()) bundles.push_back(std::abs(ratio - 1));
      all_bundles.push_back(std::abs(ratio * static_cast<double>(k.our_steps) /
                                         static_cast<double>(k.their_steps) -
                                     1));
    }
  }
  s.bundles_known = static_cast<int64_t>(bundles.size());
  if (!bundles.empty()) {
    std::sort(bundles.begin(), bundles.end());
    s.bundles_median = Quantile(bundles, 0.5);
    s.bundles_p90 = Quantile(bundles, 0.9);
  }
  if (!all_bundles.empty()) {
    std::sort(all_bundles.begin(), all_bundles.end());
    s.all_bundles_median = Quantile(all_bundles, 0.5);
  }
  return s;
}

absl::StatusOr<ProgramFacts> Ours(const std::string& path,
                                  const chips::Slice& slice) {
  HloInputOptions read;
  read.elided = hlo::ElidedValues::kIota;  // values decide nothing here
  ASSIGN_OR_RETURN(HloInput input, ReadHlo(path, read));
  return OurKernels(std::move(input.module), slice);
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

}  // namespace

ProgramParity Compare(const ProgramFacts& theirs, const ProgramFacts& ours) {
  ProgramParity p;
  p.program = theirs.program;
  const size_t slash = theirs.program.find('/');
  p.block =
      slash == std::string::npos ? "all" : theirs.program.substr(0, slash);
  p.their_prefetched = theirs.prefetched_bytes;
  p.our_prefetched = ours.prefetched_bytes;
  p.their_memory = theirs.memory;
  p.our_memory = ours.memory;
  p.their_kernels = theirs.WorkingKernels();
  p.our_kernels = ours.WorkingKernels();
  std::vector<bool> taken(ours.kernels.size(), false);
  for (const KernelFacts& t : theirs.kernels) {
    for (const ArrayFacts& a : t.operands) {
      if (a.elements > 1) p.their_operand_bytes += a.bytes;
    }
    bool found = false;
    for (size_t o = 0; o < ours.kernels.size() && !found; ++o) {
      if (taken[o] || !SameRoot(t, ours.kernels[o]) ||
          !SameOutput(t, ours.kernels[o])) {
        continue;
      }
      const auto match = MatchOperands(t, ours.kernels[o]);
      if (!match) continue;
      taken[o] = found = true;
      p.pairs.push_back(PairOf(t, ours.kernels[o], *match));
    }
    if (!found) p.only_theirs.push_back(Text(t));
  }
  for (size_t o = 0; o < ours.kernels.size(); ++o) {
    if (!taken[o]) p.only_ours.push_back(Text(ours.kernels[o]));
  }
  return p;
}

absl::StatusOr<Parity> CompareCompilers(const std::string& csv,
                                        const ParityOptions& options) {
  ASSIGN_OR_RETURN(std::vector<ProgramFacts> table, ReadCompilerTable(csv));
  const auto wanted = [&](const ProgramFacts& p) {
    return options.only.empty() ||
           std::any_of(options.only.begin(), options.only.end(),
                       [&](const std::string& prefix) {
                         return absl::StartsWith(p.program, prefix);
                       });
  };
  table.erase(std::remove_if(table.begin(), table.end(),
                             [&](const auto& p) { return !wanted(p); }),
              table.end());
  if (table.empty()) {
    return absl::NotFoundError(absl::StrCat("no such program in ", csv));
  }
  const std::string programs = options.programs.empty()
                                   ? FolderOf(csv) + "/../programs"
                                   : options.programs;
  Parity parity;
  parity.chip = table[0].chip;
  // One chip. Programs are compiled for all cores of a device, as they were
  // measured, whatever the tables were made for.
  ASSIGN_OR_RETURN(const chips::Slice slice, chips::ParseSlice(parity.chip));
  parity.programs.resize(table.size());
  const int n = static_cast<int>(table.size());
  Activity comparing("compiling the programs of the table");
  ParallelFor(n, std::max(1, options.threads), [&](int, int k) {
    const ProgramFacts& theirs = table[k];
    comparing.OneMore(n, theirs.program);
    const auto ours = Ours(absl::StrCat(programs, "/", theirs.program), slice);
    parity.programs[k] = Compare(theirs, ours.ok() ? *ours : ProgramFacts());
    if (!ours.ok()) {
      parity.programs[k].failed = std::string(ours.status().message());
    }
  });
  std::map<std::string, std::vector<const ProgramParity*>> blocks;
  std::vector<const ProgramParity*> all;
  for (const ProgramParity& p : parity.programs) {
    blocks[p.block].push_back(&p);
    all.push_back(&p);
  }
  for (const auto& [block, list] : blocks) {
    parity.blocks.push_back(SummaryOf(block, list));
  }
  parity.total = SummaryOf("all", all);
  return parity;
}

}  // namespace ptxla::driver
