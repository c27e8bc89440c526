#include "hlo_backend/passes/products/joined_planes.h"

#include <optional>

#include "absl/algorithm/container.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_edges.h"

namespace ptxla::hlo {
namespace {

// Which plane the slice takes, whole; nothing: it takes something else.
std::optional<int64_t> PlaneOfSlice(const Instruction& slice, int64_t most) {
  if (slice.opcode() != Opcode::kSlice) return std::nullopt;
  const Shape& s = slice.shape();
  const Shape& joined = slice.operand(0)->shape();
  const int last = joined.rank() - 1;
  const int64_t size = s.dim(last);
  if (size == 0 || joined.dim(last) % size != 0 ||
      joined.dim(last) / size > most) {
    return std::nullopt;
  }
  for (int d = 0; d < last; ++d) {
    if (s.dim(d) != joined.dim(d)) return std::nullopt;
  }
  const auto& a = slice.attrs<SliceAttrs>();
  if (a.strides[last] != 1 || a.starts[last] % size != 0) return std::nullopt;
  return a.starts[last] / size;
}

// [.., planes, n] to [.., planes * n].
bool JoinsPlanes(const Instruction& i) {
  if (i.opcode() != Opcode::kReshape) return false;
  const Shape& parts = i.operand(0)->shape();
  const int rank = i.shape().rank();
  if (rank == 0 || parts.rank() != rank + 1) return false;
  for (int d = 0; d < rank - 1; ++d) {
    if (parts.dim(d) != i.shape().dim(d)) return false;
  }
  return true;
}

}  // namespace

bool JoinsPlanesOfLargeWeights(const Instruction& i) {
  const Instruction* join = &i;
  if (join->opcode() == Opcode::kConvert) join = join->operand(0);
  if (join->opcode() != Opcode::kReshape) return false;
  const Instruction& dot = *join->operand(0);
  return dot.opcode() == Opcode::kDot && dot.operand(0)->shape().rank() == 2 &&
         dot.operand(1)->shape().ElementCount() > dot.shape().ElementCount();
}

bool SlicesBeforeJoin(Instruction* join, int64_t most) {
  const bool joins = JoinsPlanes(*join);
  const bool converts =
      join->opcode() == Opcode::kConvert && JoinsPlanes(*join->operand(0));
  if ((!joins && !converts) || join->IsRoot() || join->user_count() == 0 ||
      HasControlEdges(*join)) {
    return false;
  }
  Instruction* x = join->operand(0);
  const int64_t plane = joins ? x->shape().dim(x->shape().rank() - 1)
                              : x->operand(0)->shape().dim(x->shape().rank());
  const bool all = absl::c_all_of(join->users(), [&](const Instruction* u) {
    return PlaneOfSlice(*u, most).has_value() &&
           u->shape().dim(u->shape().rank() - 1) == plane;
  });
  if (!all) return false;
  Builder b(join->parent());
  b.set_metadata(join->shared_metadata());
  while (join->user_count() > 0) {
    Instruction* slice = join->users()[0];
    const auto& a = slice->attrs<SliceAttrs>();
    Instruction* part = nullptr;
    if (joins) {
      DimVector starts(x->shape().rank(), 0), limits = x->shape().dims();
      const int planes = x->shape().rank() - 2;
      starts[planes] = *PlaneOfSlice(*slice, most);
      limits[planes] = starts[planes] + 1;
      part = b.Reshape(b.Slice(x, starts, limits), slice->shape().dims());
    } else {
      part = b.Convert(b.Slice(x, a.starts, a.limits), join->shape().type());
    }
    join->parent()->Replace(slice, part);
  }
  join->parent()->Remove(join);
  return true;
}

}  // namespace ptxla::hlo
