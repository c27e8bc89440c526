#include "hlo_backend/passes/transpose_splitter.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/compact_entry.h"

namespace ptxla::hlo {
namespace {

DimVector Identity(int rank) {
  DimVector order(rank, 0);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

bool NeedsSplit(const Instruction& i) {
  if (i.opcode() != Opcode::kTranspose || i.shape().rank() < 3) return false;
  const int rank = i.shape().rank();
  const auto dims = i.dimensions();
  if (dims[rank - 1] == rank - 1) return false;
  DimVector exchange = Identity(rank);
  std::swap(exchange[rank - 1], exchange[rank - 2]);
  return DimVector(dims.begin(), dims.end()) != exchange;
}

Instruction* Split(Instruction* transpose) {
  const int rank = transpose->shape().rank();
  const auto target = transpose->dimensions();
  Builder b(transpose->parent());
  b.set_metadata(transpose->shared_metadata());
  // `order`: which dimension of the operand stands at each position of `x`.
  DimVector order = Identity(rank);
  Instruction* x = transpose->operand(0);
  const auto permute = [&](const DimVector& permutation) {
    if (permutation == Identity(rank)) return;
    x = b.Transpose(x, permutation);
    DimVector moved(rank, 0);
    for (int d = 0; d < rank; ++d) moved[d] = order[permutation[d]];
    order = moved;
  };
  // The new minor dimension next to the old one, then the exchange.
  const int64_t minor = target[rank - 1];
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
  DimVector last;
  for (int64_t d : target) {
    last.push_back(std::find(order.begin(), order.end(), d) - order.begin());
  }
  permute(last);
  return x;
}

}  // namespace

absl::StatusOr<bool> TransposeSplitterPass::Run(Module* module,
                                                const PassContext&) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->PostOrder()) {
      if (!NeedsSplit(*i) || NamesEntryLayout(*i)) continue;
      c->Replace(i, Split(i));
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
