#include "driver/parity/schedule_comparison.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ptxla::driver {
namespace {

using Key = std::function<std::string(const TimedKernel&)>;

// Arrays of more than one element, in an order of their own.
std::string ArraysText(const std::vector<ArrayFacts>& arrays) {
  std::vector<std::string> texts;
  for (const ArrayFacts& a : arrays) {
    if (a.elements > 1) texts.push_back(absl::StrCat(a.type, a.elements));
  }
  std::sort(texts.begin(), texts.end());
  return absl::StrJoin(texts, " ");
}

std::string ResultKey(const TimedKernel& k) {
  return ArraysText(k.facts.outputs);
}

std::string WorkKey(const TimedKernel& k) {
  return absl::StrCat(k.facts.root, " ", ResultKey(k));
}

std::string KernelKey(const TimedKernel& k) {
  return absl::StrCat(WorkKey(k), " of ", ArraysText(k.facts.operands));
}

using Kernels = std::vector<const TimedKernel*>;

// `count` kernels of each list, the first ones, which leave it.
KernelGroup TakeGroup(Kernels* kernels, size_t count) {
  KernelGroup group;
  for (size_t k = 0; k < count; ++k) {
    const TimedKernel& kernel = *(*kernels)[k];
    if (k == 0) {
      group.name = kernel.facts.name;
      group.root = kernel.facts.root;
      group.result = kernel.result;
    }
    ++group.kernels;
    group.time_ps += kernel.time_ps;
    group.parts += kernel.parts;
  }
  kernels->erase(kernels->begin(),
                 kernels->begin() + static_cast<int64_t>(count));
  return group;
}

struct Sides {
  Kernels there, here;
};

std::map<std::string, Sides> GroupBy(const Sides& all, const Key& key) {
  std::map<std::string, Sides> groups;
  for (const TimedKernel* k : all.there) groups[key(*k)].there.push_back(k);
  for (const TimedKernel* k : all.here) groups[key(*k)].here.push_back(k);
  return groups;
}

// Puts kernels of equal key beside each other; what is left stays in `all`.
void MatchBy(const Key& key, Match match, Sides* all,
             std::vector<ComparedKernels>* out) {
  Sides left;
  for (auto& [text, sides] : GroupBy(*all, key)) {
    const size_t both = std::min(sides.there.size(), sides.here.size());
    if (both > 0) {
      out->push_back(
          {match, TakeGroup(&sides.there, both), TakeGroup(&sides.here, both)});
    }
    left.there.insert(left.there.end(), sides.there.begin(), sides.there.end());
    left.here.insert(left.here.end(), sides.here.begin(), sides.here.end());
  }
  *all = std::move(left);
}

ComparedSum SumOf(const std::vector<ComparedKernels>& kernels, Match match) {
  ComparedSum sum;
  sum.name = MatchName(match);
  for (const ComparedKernels& k : kernels) {
    if (k.match != match) continue;
    sum.there += k.there.kernels;
    sum.here += k.here.kernels;
    sum.there_ps += k.there.time_ps;
    sum.here_ps += k.here.time_ps;
  }
  return sum;
}

int64_t KernelsPs(const TimedSchedule& s) {
  int64_t sum = 0;
  for (const TimedKernel& k : s.kernels) sum += k.time_ps;
  return sum;
}

// What is no kernel, by opcode, and what is neither.
void AddOthers(const TimedSchedule& there, const TimedSchedule& here,
               std::vector<ComparedSum>* sums) {
  std::map<std::string, ComparedSum> others;
  ComparedSum rest{"between them"};
  rest.there_ps = there.total_ps - KernelsPs(there);
  rest.here_ps = here.total_ps - KernelsPs(here);
  for (const auto& [opcode, ps] : there.others_ps) {
    others[opcode].there_ps = ps;
    rest.there_ps -= ps;
  }
  for (const auto& [opcode, ps] : here.others_ps) {
    others[opcode].here_ps = ps;
    rest.here_ps -= ps;
  }
  for (auto& [opcode, sum] : others) {
    if (sum.there_ps == 0 && sum.here_ps == 0) continue;
    sum.name = opcode;
    sums->push_back(sum);
  }
  sums->push_back(rest);
}

}  // namespace

const char* MatchName(Match match) {
  switch (match) {
    case Match::kSame:
      return "same kernel";
    case Match::kSameResult:
      return "same result";
    case Match::kOnlyThere:
      return "only there";
    case Match::kOnlyHere:
      return "only here";
  }
  return "";
}

ScheduleComparison CompareKernels(const TimedSchedule& there,
                                  const TimedSchedule& here) {
  ScheduleComparison result;
  Sides all;
  for (const TimedKernel& k : there.kernels) all.there.push_back(&k);
  for (const TimedKernel& k : here.kernels) all.here.push_back(&k);
  MatchBy(KernelKey, Match::kSame, &all, &result.kernels);
  MatchBy(WorkKey, Match::kSameResult, &all, &result.kernels);
  MatchBy(ResultKey, Match::kSameResult, &all, &result.kernels);
  for (auto& [text, sides] : GroupBy(all, KernelKey)) {
    // Only one of them has any.
    ComparedKernels only;
    only.match = sides.here.empty() ? Match::kOnlyThere : Match::kOnlyHere;
    only.there = TakeGroup(&sides.there, sides.there.size());
    only.here = TakeGroup(&sides.here, sides.here.size());
    result.kernels.push_back(std::move(only));
  }
  std::stable_sort(result.kernels.begin(), result.kernels.end(),
                   [](const ComparedKernels& a, const ComparedKernels& b) {
                     return std::abs(a.CostPs()) > std::abs(b.CostPs());
                   });
  for (const Match match : {Match::kSame, Match::kSameResult, Match::kOnlyThere,
                            Match::kOnlyHere}) {
    result.sums.push_back(SumOf(result.kernels, match));
  }
  AddOthers(there, here, &result.sums);
  result.total = {"total", static_cast<int64_t>(there.kernels.size()),
                  static_cast<int64_t>(here.kernels.size()), there.total_ps,
                  here.total_ps};
  for (const TimedKernel& k : there.kernels) {
    if (k.parts > 1) result.there_taken_apart_ps += k.time_ps;
  }
  result.there_taken_apart = static_cast<int64_t>(there.taken_apart.size());
  result.here_taken_apart = static_cast<int64_t>(here.taken_apart.size());
  result.there_peak_bytes = there.peak_bytes;
  result.here_peak_bytes = here.peak_bytes;
  result.rank_correlation = RankCorrelation(there);
  return result;
}

}  // namespace ptxla::driver
