#include "hlo_backend/passes/fusion/fused_inputs.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "hlo_backend/analysis/extremum_position.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {

absl::InlinedVector<const Instruction*, 2> FusedInputs::Full(
    const Instruction* i) const {
  if (chains_.node(i).role != FusionRole::kReduce) return chains_.node(i).full;
  const Instruction* x = i->operand(0);
  if (chains_.node(x).placed) return {x};
  return chains_.node(x).full;
}

void FusedInputs::ForEach(
    const Instruction* i,
    absl::FunctionRef<void(const Instruction*, bool)> visit) const {
  const FusionRole role = chains_.node(i).role;
  const bool reduce = role == FusionRole::kReduce;
  if (role == FusionRole::kElementwise || reduce) {
    for (const Instruction* v : Full(i)) visit(v, MayJoin(v, i));
  }
  const Instruction* best = ExtremumOf(i);
  for (const Instruction* o : i->operands()) {
    const FusionNode& node = chains_.node(o);
    const bool full = reduce ? o == i->operand(0)
                             : role == FusionRole::kElementwise &&
                                   o->shape().SameDims(i->shape());
    if (node.placed) {
      if (!full) visit(o, false);
      continue;
    }
    if (!full) {
      for (const Instruction* leaf : node.full) visit(leaf, false);
    }
    for (const Instruction* leaf : node.small) visit(leaf, leaf == best);
  }
  for (const Instruction* p : i->control_predecessors()) visit(p, false);
}

absl::InlinedVector<FusedInputs::Read, 2> FusedInputs::Reads(
    const Instruction* i) const {
  const auto full = Full(i);
  absl::InlinedVector<Read, 2> reads;
  absl::InlinedVector<const Instruction*, 8> work = {i};
  for (size_t k = 0; k < work.size(); ++k) {
    for (const Instruction* o : work[k]->operands()) {
      if (!chains_.node(o).placed) {
        if (!absl::c_linear_search(work, o)) work.push_back(o);
        continue;
      }
      if (!absl::c_linear_search(full, o)) continue;
      const bool converted =
          types_apart_ && work[k]->opcode() == Opcode::kConvert;
      const Read read = {o, (converted ? work[k] : o)->shape().type()};
      if (!absl::c_linear_search(reads, read)) reads.push_back(read);
    }
  }
  return reads;
}

void FusedInputs::ForEachShared(const Instruction* i, const DimVector& dims,
                                absl::FunctionRef<void(Read)> visit) const {
  for (const Read& read : Reads(i)) {
    // Of larger ones both take tiles.
    const Shape& shape = read.value->shape();
    if (!shape.IsScalar() &&
        (shape.dims() == dims || shape.ElementCount() > Product(dims))) {
      visit(read);
    }
  }
  for (const Instruction* o : i->operands()) {
    const FusionNode& work = chains_.node(o);
    if (!work.placed && work.role == FusionRole::kElementwise &&
        work.full.empty() && o->shape().dims() == dims) {
      visit({o, o->shape().type()});
    }
  }
  for (const Instruction* leaf : chains_.node(i).small) {
    const bool scalar = leaf->shape().IsScalar() && !leaf->IsConstant();
    // Of which both take lanes.
    const bool sliced = leaf->shape().ElementCount() > Product(dims);
    if (sliced || (scalar && i->opcode() == Opcode::kReduce)) {
      visit({leaf, leaf->shape().type()});
    }
  }
}

bool FusedInputs::IsMadeInStep(const Instruction* value) const {
  const FusionRole role = chains_.node(value).role;
  return role == FusionRole::kElementwise || role == FusionRole::kDot;
}

bool FusedInputs::MayJoin(const Instruction* value,
                          const Instruction* i) const {
  return IsMadeInStep(value) || ReduceToStore(i) == value;
}

const Instruction* FusedInputs::ExtremumOf(const Instruction* i) const {
  if (chains_.node(i).role != FusionRole::kReduce) return nullptr;
  const auto found = FindExtremumPosition(*i);
  const bool reduces = found.has_value() &&
                       chains_.node(found->best).role == FusionRole::kReduce;
  return reduces ? found->best : nullptr;
}

const Instruction* FusedInputs::ReduceToStore(const Instruction* i) const {
  const Instruction* reduce = StoredReduce(*i);
  return reduce != nullptr && reduce != i &&
                 chains_.node(reduce).role == FusionRole::kReduce
             ? reduce
             : nullptr;
}

bool FusedInputs::IsStoredReduce(const Instruction& i) const {
  return i.shape().type() == PrimitiveType::kF32 &&
         std::none_of(
             i.users().begin(), i.users().end(),
             [&](const Instruction* u) { return ReduceToStore(u) == &i; });
}

bool FusedInputs::MayWait(const Instruction& reduce) const {
  const FusionNode& node = chains_.node(reduce.operand(0));
  return (node.placed || (node.full.size() == 1 && node.small.empty())) &&
         std::all_of(reduce.users().begin(), reduce.users().end(),
                     [&](const Instruction* u) {
                       return !u->shape().IsArray() ||
                              u->shape().ByteSize() <=
                                  reduce.shape().ByteSize();
                     });
}

bool FusedInputs::HasBytes(const Instruction& i) const {
  const auto is_byte = [](const Instruction* v) {
    return BitWidth(v->shape().type()) <= 8 && !v->shape().IsScalar();
  };
  const auto inputs = Full(&i);
  return is_byte(&i) || std::any_of(inputs.begin(), inputs.end(), is_byte);
}

}  // namespace ptxla::hlo
