#include "hlo_backend/passes/memory/prefetch_source.h"

#include <algorithm>

#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/passes/memory/memory_space.h"

namespace ptxla::hlo {
namespace {

bool AreCopies(const Shape& a, const Shape& b) {
  return a.IsArray() && b.IsArray() && a.has_layout() && b.has_layout() &&
         a.type() == b.type() && a.dims() == b.dims() &&
         a.layout().minor_to_major == b.layout().minor_to_major &&
         a.layout().tiles == b.layout().tiles;
}

bool IsGivenAway(const Instruction& value) {
  if (value.opcode() != Opcode::kParameter) return false;
  const auto& aliases = value.parent()->module()->config().input_output_alias;
  return std::any_of(aliases.begin(), aliases.end(), [&](const auto& alias) {
    return alias.parameter == value.parameter_number();
  });
}

// The slice that a transfer of a part brings; null: something else.
const Instruction* SliceOf(const Instruction& part) {
  if (part.opcode() != Opcode::kAsyncDone ||
      part.operand(0)->opcode() != Opcode::kAsyncStart) {
    return nullptr;
  }
  const Instruction* root = part.operand(0)->called()[0]->root();
  const bool slice = root->opcode() == Opcode::kSlice &&
                     root->operand(0)->opcode() == Opcode::kParameter;
  return slice ? root : nullptr;
}

// Slices that follow one another along the dimension that lies outermost, and
// cover all of it.
Instruction* SourceOfParts(const Instruction& whole) {
  Instruction* source = nullptr;
  int64_t next = 0;
  int64_t all = 0;
  for (const Instruction* part : whole.operands()) {
    const Instruction* slice = SliceOf(*part);
    if (slice == nullptr || !slice->shape().has_layout()) return nullptr;
    const auto outer = slice->shape().layout().minor_to_major.back();
    Instruction* from = part->operand(0)->operand(0);
    if (source == nullptr) source = from;
    const auto& a = slice->attrs<SliceAttrs>();
    if (from != source || a.starts[outer] != next) return nullptr;
    for (int d = 0; d < slice->shape().rank(); ++d) {
      const bool is_whole =
          d == outer || slice->shape().dim(d) == from->shape().dim(d);
      if (!is_whole || a.strides[d] != 1) return nullptr;
    }
    next = a.limits[outer];
    all = from->shape().dim(static_cast<int>(outer));
  }
  if (source == nullptr || next != all) return nullptr;
  // The array as bytes, which are brought in pieces.
  const bool is_bytes = source->opcode() == Opcode::kBitcast &&
                        !AreCopies(source->shape(), whole.shape());
  return is_bytes ? source->operand(0) : source;
}

}  // namespace

bool IsOverwritten(const Instruction& value) {
  const Instruction* below = &value;
  while (below->opcode() == Opcode::kBitcast ||
         below->opcode() == Opcode::kGetTupleElement) {
    below = below->operand(0);
  }
  if (IsGivenAway(*below) || below->opcode() == Opcode::kWhile) return true;
  return std::any_of(
      value.users().begin(), value.users().end(), [&](const Instruction* user) {
        return user->opcode() == Opcode::kWhile ||
               UpdatesInPlace(*user, value) ||
               (user->opcode() == Opcode::kBitcast && IsOverwritten(*user));
      });
}

Instruction* PrefetchSource(const Instruction& value) {
  if (!value.shape().IsArray() || !value.shape().has_layout()) return nullptr;
  Instruction* source = nullptr;
  if (value.opcode() == Opcode::kCopyDone &&
      value.operand(0)->opcode() == Opcode::kCopyStart) {
    source = value.operand(0)->operand(0);
  } else if (value.opcode() == Opcode::kCustomCall &&
             value.attrs<CustomCallAttrs>().target == "ConcatBitcast") {
    source = SourceOfParts(value);
  }
  const bool same =
      source != nullptr && AreCopies(source->shape(), value.shape()) &&
      source->shape().memory_space() == kMemoryHbm && !IsOverwritten(*source);
  return same ? source : nullptr;
}

Instruction* ReadFromSource(Instruction* value) {
  if (value->opcode() != Opcode::kBitcast) return PrefetchSource(*value);
  Instruction* source = ReadFromSource(value->operand(0));
  if (source == nullptr) return nullptr;
  Shape shape = value->shape();
  shape.mutable_layout()->memory_space = kMemoryHbm;
  return value->parent()->Add(Opcode::kBitcast, shape, {source});
}

}  // namespace ptxla::hlo
