#include "hlo_backend/passes/memory/memory_places.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "chips/compiler_policy.h"
#include "hlo_backend/analysis/buffer_plan.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/member_rows.h"
#include "hlo_backend/analysis/planes_in_place.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/analysis/turned_input.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/x64/x64_elimination.h"

namespace ptxla::hlo {
namespace {

int LastUse(const Instruction* value, Plane plane, const Positions& positions,
            const Instruction* except) {
  int last = -1;
  for (const Instruction* user : value->users()) {
    if (user == except) continue;
    const Plane part = PlaneOf(*user);
    if (part != Plane::kWhole) {
      if (plane != Plane::kWhole && plane != part) continue;
      last = std::max(last, LastUse(user, Plane::kWhole, positions, except));
    } else if (OnlyNamesMemory(*user)) {
      last = std::max(last, LastUse(user, plane, positions, except));
    } else if (user->opcode() == Opcode::kTuple) {
      // Read by whoever takes the tuple; the root is after everything.
      if (!user->IsRoot()) {
        last = std::max(last, LastUse(user, plane, positions, except));
      }
    } else {
      last = std::max(last, positions.at(user));
    }
  }
  return last;
}

bool IsMadeOf(const Instruction& result, const Instruction& value) {
  std::vector<const Instruction*> work = {&result};
  absl::flat_hash_set<const Instruction*> met = {&result};
  while (!work.empty()) {
    const Instruction* i = work.back();
    work.pop_back();
    if (i == &value) return true;
    for (const Instruction* o : i->operands()) {
      if (met.insert(o).second) work.push_back(o);
    }
  }
  return false;
}

// Walks over a fusion's arrays that are over before `i` is computed: as many as
// there are reduces on the way to it.
int WalksBefore(const Instruction& i,
                absl::flat_hash_map<const Instruction*, int>* known) {
  const auto found = known->find(&i);
  if (found != known->end()) return found->second;
  int walks = 0;
  for (const Instruction* o : i.operands()) {
    walks = std::max(walks, WalksBefore(*o, known) +
                                (o->opcode() == Opcode::kReduce ? 1 : 0));
  }
  return known->emplace(&i, walks).first->second;
}

// Whether `parameter` is read in a walk after the one that stores `result`.
bool IsReadInLaterWalk(const Instruction& parameter,
                       const Instruction& result) {
  absl::flat_hash_map<const Instruction*, int> known;
  const int stored = WalksBefore(result, &known);
  std::vector<const Instruction*> readers = {&parameter};
  absl::flat_hash_set<const Instruction*> seen;
  while (!readers.empty()) {
    const Instruction* i = readers.back();
    readers.pop_back();
    if (!seen.insert(i).second || i->opcode() == Opcode::kTuple) continue;
    if (WalksBefore(*i, &known) > stored) return true;
    if (i->opcode() == Opcode::kReduce) continue;
    readers.insert(readers.end(), i->users().begin(), i->users().end());
  }
  return false;
}

}  // namespace

bool FeedsADot(const Instruction& parameter) {
  for (const Instruction* user : parameter.users()) {
    if (IsProduct(*user)) return true;
    if (user->IsElementwise() && FeedsADot(*user)) return true;
  }
  return false;
}

bool IsDepthwise(const Instruction& kernel) {
  return kernel.opcode() == Opcode::kConvolution &&
         kernel.attrs<ConvAttrs>().feature_group_count > 1;
}

bool IsDepthwiseGradient(const Instruction& kernel) {
  return kernel.opcode() == Opcode::kConvolution &&
         kernel.attrs<ConvAttrs>().batch_group_count > 1;
}

bool ReadsWindows(const Instruction& kernel, const Instruction& value) {
  if (ReadsRowsBeyond(kernel, value)) return true;
  if (kernel.opcode() == Opcode::kConvolution) {
    return kernel.operand(0) == &value;
  }
  if (kernel.opcode() == Opcode::kReduceWindow ||
      kernel.opcode() == Opcode::kSelectAndScatter) {
    return true;
  }
  if (kernel.opcode() != Opcode::kFusion) return false;
  for (const Instruction* i : kernel.fused()->instructions()) {
    if (i->opcode() != Opcode::kConvolution) continue;
    const Instruction* source = InputSource(*i).value;
    return source->opcode() == Opcode::kParameter &&
           kernel.operand(static_cast<int>(source->parameter_number())) ==
               &value;
  }
  return false;
}

const Instruction* ConvolutionOf(const Instruction& kernel) {
  if (kernel.opcode() == Opcode::kConvolution) return &kernel;
  if (kernel.opcode() != Opcode::kFusion) return nullptr;
  for (const Instruction* i : kernel.fused()->instructions()) {
    if (i->opcode() == Opcode::kConvolution) return i;
  }
  return nullptr;
}

bool ReadsPlanesInPlace(const Instruction& kernel, const Instruction& value) {
  if (kernel.opcode() == Opcode::kReduceWindow || IsDepthwise(kernel) ||
      IsDepthwiseGradient(kernel)) {
    return kernel.OperandUses(&value) == 1;
  }
  if (kernel.opcode() == Opcode::kSelectAndScatter) {
    // Its steps take whole planes of what was pooled; windows of its result,
    // which may be in HBM, are as large and in the scoped VMEM twice.
    const Shape& pooled = kernel.operand(0)->shape();
    return kernel.OperandUses(&value) == 1 && pooled.has_layout() &&
           PaddedBytes(pooled) / std::max<int64_t>(pooled.dim(0), 1) <=
               chips::WholePolicy("pooled_plane");
  }
  const Instruction* convolution = ConvolutionOf(kernel);
  if (convolution == nullptr || !IsProduct(*convolution) ||
      kernel.OperandUses(&value) != 1 || ReadsRowsBeyond(kernel, value)) {
    return false;
  }
  return convolution == &kernel || !InputSource(*convolution).turned;
}

bool OnlyNamesMemory(const Instruction& i) {
  return i.opcode() == Opcode::kGetTupleElement ||
         i.opcode() == Opcode::kBitcast ||
         i.opcode() == Opcode::kAddDependency || IsInPlace(i);
}

Plane PlaneOf(const Instruction& i) {
  if (i.opcode() != Opcode::kCustomCall) return Plane::kWhole;
  const std::string& target = i.attrs<CustomCallAttrs>().target;
  if (target == kX64SplitLow) return Plane::kLow;
  return target == kX64SplitHigh ? Plane::kHigh : Plane::kWhole;
}

MemoryPlace PlaceOf(const Instruction* value) {
  MemoryPlace place;
  while (OnlyNamesMemory(*value) || PlaneOf(*value) != Plane::kWhole) {
    if (value->opcode() == Opcode::kGetTupleElement) {
      place.index = value->tuple_index();
    } else if (PlaneOf(*value) != Plane::kWhole) {
      place.plane = PlaneOf(*value);
    }
    value = value->operand(0);
  }
  place.maker = value;
  return place;
}

Positions PositionsOf(const Computation& computation) {
  Positions positions;
  positions.reserve(computation.instruction_count());
  int n = 0;
  for (const Instruction* i : computation.instructions()) positions[i] = n++;
  return positions;
}

int LastRead(const MemoryPlace& place, const Positions& positions,
             const Instruction* except) {
  if (place.index < 0) {
    return LastUse(place.maker, place.plane, positions, except);
  }
  int last = -1;
  for (const Instruction* user : place.maker->users()) {
    if (user->opcode() == Opcode::kGetTupleElement) {
      if (user->tuple_index() == place.index) {
        last = std::max(last, LastUse(user, place.plane, positions, except));
      }
    } else if (!user->IsRoot() && user != except) {
      last = std::max(last, positions.at(user));
    }
  }
  return last;
}

void AddVmemResidents(const Computation& c, const Positions& positions,
                      RangeMaximum* live) {
  const auto add = [&](const Instruction& i, const Shape& shape,
                       int64_t index) {
    if (!shape.IsArray() || shape.memory_space() != kMemoryVmem) return;
    // The state of a loop lies where its first one does: it is that, until the
    // loop ends, and what surrounds a body counts it.
    if (i.opcode() == Opcode::kParameter && index >= 0) return;
    // So does what a copy-done waits for: the copy-start's until then.
    const bool goes_on =
        i.opcode() == Opcode::kWhile || i.opcode() == Opcode::kCopyDone;
    int first = std::min(positions.at(&i) + (goes_on ? 1 : 0),
                         c.instruction_count() - 1);
    int last = std::max(first, LastRead({&i, index}, positions));
    if (i.opcode() == Opcode::kParameter) {  // the caller's, all the time
      first = 0;
      last = c.instruction_count() - 1;
    }
    live->Add(first, last, PaddedBytes(shape));
  };
  for (const Instruction* i : c.instructions()) {
    if (OnlyNamesMemory(*i) || i->opcode() == Opcode::kTuple) continue;
    if (i->shape().IsArray()) {
      add(*i, i->shape(), -1);
      continue;
    }
    for (int k = 0; k < i->shape().element_count_of_tuple(); ++k) {
      add(*i, i->shape().element(k), k);
    }
  }
}

bool ReadsInStep(const Instruction& value, const Instruction& maker,
                 int64_t result) {
  if (maker.IsElementwise()) return true;
  // Chips shift in step: a piece is sent before its place is written.
  if (maker.opcode() == Opcode::kCollectivePermute) return true;
  if (InPlaceOperand(maker) == 0) {
    return maker.operand(0) == &value && maker.OperandUses(&value) == 1;
  }
  if (maker.opcode() != Opcode::kFusion) return false;
  // Kernels one after another: a later one reads what an earlier one might have
  // written over.
  if (maker.fusion_kind() == FusionKind::kCustom) return false;
  for (int k = 0; k < maker.operand_count(); ++k) {
    if (maker.operand(k) != &value) continue;
    if (maker.fusion_kind() == FusionKind::kOutput &&
        FeedsADot(*maker.fused()->parameter(k))) {
      return false;
    }
    // What is not made of the value may be written before it is read.
    const Instruction* root = maker.fused()->root();
    if (result >= 0 && root->opcode() == Opcode::kTuple) {
      const Instruction& made = *root->operand(static_cast<int>(result));
      const Instruction& read = *maker.fused()->parameter(k);
      if (!IsMadeOf(made, read) || IsReadInLaterWalk(read, made)) return false;
    }
    for (const Instruction* user : maker.fused()->parameter(k)->users()) {
      // A product, a reduce or a broadcast reads elsewhere than it writes.
      if (user->opcode() == Opcode::kTuple) continue;
      if (!user->IsElementwise() || !user->shape().SameDims(value.shape())) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace ptxla::hlo
