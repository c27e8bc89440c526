#include "hlo_backend/passes/layout/meeting_transposes.h"

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

using Instructions = absl::flat_hash_set<const Instruction*>;

// Bytes in tiles, of dimensions `order` of `shape`.
int64_t BytesInTiles(const Shape& shape, absl::Span<const int64_t> order) {
  DimVector dims;
  for (int64_t d : order) dims.push_back(shape.dim(d));
  const size_t rank = dims.size();
  dims[rank - 1] = RoundUpTo<int64_t>(dims[rank - 1], 128);
  dims[rank - 2] = RoundUpTo<int64_t>(dims[rank - 2], 8);
  int64_t bits = BitWidth(shape.type());
  for (int64_t d : dims) bits *= d;
  return bits / 8;
}

// Turns neither lanes nor a parameter, and its operand lies no wider than its
// result.
bool MovesRows(const Instruction& i) {
  if (i.opcode() != Opcode::kTranspose || i.shape().rank() < 3) return false;
  const auto& order = i.dimensions();
  const int64_t minor = i.shape().rank() - 1;
  if (order[minor] != minor || IsIdentityMapping(order) ||
      i.operand(0)->opcode() == Opcode::kParameter) {
    return false;
  }
  const Shape& from = i.operand(0)->shape();
  DimVector as_it_is;
  for (int64_t d = 0; d < from.rank(); ++d) as_it_is.push_back(d);
  return BytesInTiles(from, as_it_is) <= BytesInTiles(from, order);
}

bool SameTranspose(const Instruction& i, const Instruction& first) {
  return i.opcode() == Opcode::kTranspose &&
         i.shape().SameDims(first.shape()) &&
         i.dimensions() == first.dimensions() &&
         i.operand(0)->opcode() != Opcode::kParameter;
}

// Elementwise work on nothing but `values` and what is free.
bool Joins(const Instruction& i, const Instructions& values,
           absl::FunctionRef<bool(const Instruction&)> is_free) {
  if (!i.IsElementwise() || i.opcode() == Opcode::kCopy ||
      !i.control_predecessors().empty() || !i.control_successors().empty()) {
    return false;
  }
  bool any = false;
  for (const Instruction* o : i.operands()) {
    if (o->shape().IsScalar()) continue;
    if (values.contains(o)) {
      any = true;
    } else if (!o->shape().SameDims(i.shape()) || !is_free(*o)) {
      return false;
    }
  }
  return any;
}

// Of `values` those that hang together with `first`.
Instructions ConnectedTo(const Instruction& first, const Instructions& values) {
  Instructions connected = {&first};
  std::vector<const Instruction*> open = {&first};
  while (!open.empty()) {
    const Instruction* i = open.back();
    open.pop_back();
    const auto visit = [&](const Instruction* other) {
      if (values.contains(other) && connected.insert(other).second) {
        open.push_back(other);
      }
    };
    for (const Instruction* user : i->users()) visit(user);
    if (i->opcode() == Opcode::kTranspose) continue;
    for (const Instruction* o : i->operands()) visit(o);
  }
  return connected;
}

bool MeetsInverse(const Instruction& first, const Instruction& transpose) {
  for (int64_t d = 0; d < transpose.shape().rank(); ++d) {
    if (first.dimensions()[transpose.dimensions()[d]] != d) return false;
  }
  return true;
}

// Is `batch`, of an array behind `first`, outermost there, or in front of it?
bool IsOutermost(absl::Span<const int64_t> batch, const Instruction& first,
                 bool in_front) {
  for (int64_t d : batch) {
    const int64_t at = in_front ? first.dimensions()[d] : d;
    if (at >= static_cast<int64_t>(batch.size())) return false;
  }
  return true;
}

// 1: the product need no longer turn `value`, -1: it must now.
int OfProduct(const Instruction& dot, const Instruction& value,
              const Instruction& first) {
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  int change = 0;
  for (int side = 0; side < 2; ++side) {
    if (dot.operand(side) != &value) continue;
    const auto& batch = side == 0 ? attrs.lhs_batch : attrs.rhs_batch;
    change += IsOutermost(batch, first, /*in_front=*/true) -
              IsOutermost(batch, first, /*in_front=*/false);
  }
  return change;
}

// Bytes that no transpose moves any more if `work` is done in front of those
// like `first`, less the bytes that one moves then.
int64_t Saved(const Instructions& work, const Instruction& first) {
  int64_t saved = 0;
  for (const Instruction* value : work) {
    const int64_t bytes = value->shape().ByteSize();
    if (SameTranspose(*value, first)) saved += bytes;
    bool leaves = value->IsRoot();
    for (const Instruction* user : value->users()) {
      if (work.contains(user)) continue;
      switch (user->opcode()) {
        case Opcode::kTranspose:
          if (MeetsInverse(first, *user)) saved += bytes;
          break;
        case Opcode::kReduce:
          saved -= user->shape().IsArray() ? user->shape().ByteSize() : bytes;
          break;
        case Opcode::kDot:
          saved += OfProduct(*user, *value, first) * bytes;
          break;
        default:
          leaves = true;
      }
    }
    if (leaves) saved -= bytes;
  }
  return saved;
}

}  // namespace

Instructions MeetingTransposes(
    Computation* c, absl::FunctionRef<bool(const Instruction&)> is_free) {
  const std::vector<Instruction*> order = c->PostOrder();
  Instructions meeting, seen;
  for (const Instruction* first : order) {
    if (!MovesRows(*first) || seen.contains(first)) continue;
    Instructions values;
    for (const Instruction* i : order) {
      if (SameTranspose(*i, *first) ||
          (i->shape().IsArray() && i->shape().SameDims(first->shape()) &&
           Joins(*i, values, is_free))) {
        values.insert(i);
      }
    }
    for (const Instruction* i : order) {
      if (!SameTranspose(*i, *first) || seen.contains(i)) continue;
      const Instructions work = ConnectedTo(*i, values);
      const bool moves = Saved(work, *first) > 0;
      for (const Instruction* entry : work) {
        if (!SameTranspose(*entry, *first)) continue;
        seen.insert(entry);
        if (moves) meeting.insert(entry);
      }
    }
  }
  return meeting;
}

}  // namespace ptxla::hlo
