#include "hlo_backend/passes/layout/transpose_splitter.h"

#include <algorithm>
#include <utility>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

// What lowering/movement/lane_transpose.h moves at once: at most so many
// dimensions, counting planes that stay together as one.
constexpr int kMostTogether = 5;

bool MovesAtOnce(const Instruction& i) {
  const PrimitiveType type = i.shape().type();
  if (BitWidth(type) != 32 && type != PrimitiveType::kBf16) return false;
  const auto dims = i.dimensions();
  const int rank = i.shape().rank();
  const auto plane = [&](int q) { return q + 2 < rank && dims[q] + 2 < rank; };
  int together = 0;
  int64_t last = -2;  // the operand's dimension of the plane before
  for (int q = 0; q < rank; ++q) {
    if (plane(q) && i.shape().dim(q) == 1) continue;
    together += plane(q) && dims[q] == last + 1 ? 0 : 1;
    last = plane(q) ? dims[q] : -2;
  }
  return together <= kMostTogether;
}

bool NeedsSplit(const Instruction& i) {
  if (i.opcode() != Opcode::kTranspose || i.shape().rank() < 3) return false;
  const int rank = i.shape().rank();
  const auto dims = i.dimensions();
  if (dims[rank - 1] == rank - 1) return false;
  DimVector exchange = Identity(rank);
  std::swap(exchange[rank - 1], exchange[rank - 2]);
  return DimVector(dims.begin(), dims.end()) != exchange && !MovesAtOnce(i);
}

Instruction* Split(Instruction* transpose) {
  Builder b(transpose->parent());
  b.set_metadata(transpose->shared_metadata());
  Instruction* x = transpose->operand(0);
  for (const DimVector& step : TransposeSteps(transpose->dimensions())) {
    x = b.Transpose(x, step);
  }
  return x;
}

}  // namespace

std::vector<DimVector> TransposeSteps(absl::Span<const int64_t> target) {
  const int rank = static_cast<int>(target.size());
  std::vector<DimVector> steps;
  // `order`: which dimension of the operand stands at each position.
  DimVector order = Identity(rank);
  const auto permute = [&](const DimVector& permutation) {
    if (permutation == Identity(rank)) return;
    steps.push_back(permutation);
    DimVector moved(rank, 0);
    for (int d = 0; d < rank; ++d) moved[d] = order[permutation[d]];
    order = moved;
  };
  // The new minor dimension next to the old one, then the exchange.
  const int64_t minor = target[rank - 1];
  if (minor != rank - 1) {
    DimVector beside;
    for (int d = 0; d < rank - 1; ++d) {
      if (d != minor) beside.push_back(d);
    }
    beside.push_back(minor);
    beside.push_back(rank - 1);
    permute(beside);
    DimVector exchange = Identity(rank);
    std::swap(exchange[rank - 1], exchange[rank - 2]);
    permute(exchange);
  }
  DimVector last;
  for (int64_t d : target) {
    last.push_back(std::find(order.begin(), order.end(), d) - order.begin());
  }
  permute(last);
  return steps;
}

absl::StatusOr<bool> TransposeSplitterPass::Run(Module* module,
                                                const PassContext&) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->PostOrder()) {
      if (!NeedsSplit(*i)) continue;
      c->Replace(i, Split(i));
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
