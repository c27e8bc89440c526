#include "hlo_backend/passes/fusion/movement_fusion.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/analysis/data_movement.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/fusion/joined_slices.h"

namespace ptxla::hlo {
namespace {

// Blocks of a movement take at most this part of the VMEM that a kernel has:
// two of the operand and two of the result are there at a time.
constexpr int64_t kBlockShare = 8;

// Rows that share a tile of the two minor dimensions.
int64_t TileRows(const Shape& shape) {
  if (shape.layout().tiles.empty()) return 1;
  const auto& tile = shape.layout().tiles[0].dimensions;
  return tile.size() < 2 ? 1 : tile[tile.size() - 2];
}

// Equal parts, one after another in memory and whole tiles each, that an array
// can be cut into without cutting a row. Row-major arrays only, others: 1.
int64_t PartsOf(const Shape& shape) {
  const int rank = shape.rank();
  if (rank < 2 || !shape.layout().IsRowMajor()) return 1;
  int64_t majors = 1;
  for (int d = 0; d + 2 < rank; ++d) majors *= shape.dim(d);
  const int64_t rows = shape.dim(rank - 2), tile = TileRows(shape);
  return rows % tile == 0 ? majors * (rows / tile) : majors;
}

// Into how many equal parts, each made of the same part of the operand, the
// result of a step can be cut.
int64_t CommonParts(const Instruction& step) {
  const Shape &from = step.operand(0)->shape(), &to = step.shape();
  int64_t parts = std::gcd(PartsOf(from), PartsOf(to));
  if (step.opcode() == Opcode::kReshape || step.opcode() == Opcode::kBitcast) {
    return parts;
  }
  // Leading dimensions that stay whole and in order.
  int64_t kept = 1;
  for (int d = 0; d < to.rank(); ++d) {
    if (from.dim(d) != to.dim(d)) break;
    if (step.opcode() == Opcode::kTranspose && step.dimensions()[d] != d) break;
    kept *= to.dim(d);
  }
  return std::gcd(parts, kept);
}

// Elements that lie side by side stay so.
bool KeepsLanes(const Instruction& step) {
  if (!IsDataMovement(step) || step.operand_count() != 1) return false;
  const Shape &from = step.operand(0)->shape(), &to = step.shape();
  if (!from.has_layout() || !to.has_layout() || from.rank() == 0 ||
      to.rank() == 0) {
    return false;
  }
  const int64_t minor = to.layout().minor_to_major[0];
  const int64_t before = from.layout().minor_to_major[0];
  switch (step.opcode()) {
    case Opcode::kReshape:
    case Opcode::kBitcast:
      return from.layout().IsRowMajor() && to.layout().IsRowMajor();
    case Opcode::kTranspose:
      return step.dimensions()[minor] == before;
    case Opcode::kCopy:
      return minor == before;
    case Opcode::kSlice: {
      const auto& a = step.attrs<SliceAttrs>();
      return minor == before && a.strides[minor] == 1;
    }
    default:
      return false;
  }
}

class Chains {
 public:
  Chains(Computation* c, int64_t most_block_bytes)
      : c_(c), most_block_bytes_(most_block_bytes) {}

  bool Run() {
    const std::vector<Instruction*> order = c_->PostOrder();
    bool changed = false;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      Instruction* last = *it;
      if (done_.contains(last) || last->opcode() == Opcode::kBitcast ||
          !KeepsLanes(*last)) {
        continue;
      }
      std::vector<Instruction*> chain = ChainTo(last);
      for (Instruction* i : chain) done_.insert(i);
      if (chain.size() < 2) continue;
      std::reverse(chain.begin(), chain.end());
      const auto metadata = last->shared_metadata();
      Instruction* fusion =
          c_->CreateFusion(chain, FusionKind::kLoop,
                           absl::StrCat(OpcodeName(last->opcode()), "_fusion"));
      if (metadata != nullptr) fusion->set_metadata(metadata);
      changed = true;
    }
    return changed;
  }

 private:
  // Steps that `last` can be one with, itself first; the earliest of them
  // moves something.
  std::vector<Instruction*> ChainTo(Instruction* last) const {
    std::vector<Instruction*> chain = {last};
    size_t steps = 1;
    int64_t parts = CommonParts(*last);
    int64_t bytes = std::max(PaddedBytes(last->shape()),
                             PaddedBytes(last->operand(0)->shape()));
    for (Instruction* i = last->operand(0);
         i->user_count() == 1 && !i->IsRoot() && KeepsLanes(*i) &&
         i->control_predecessors().empty() && i->control_successors().empty();
         i = i->operand(0)) {
      parts = std::gcd(parts, CommonParts(*i));
      bytes = std::max(bytes, PaddedBytes(i->operand(0)->shape()));
      if (bytes / parts > most_block_bytes_) break;
      chain.push_back(i);
      if (i->opcode() != Opcode::kBitcast) steps = chain.size();
    }
    chain.resize(steps);
    return chain;
  }

  Computation* c_;
  const int64_t most_block_bytes_;
  absl::flat_hash_set<const Instruction*> done_;
};

}  // namespace

absl::StatusOr<bool> MovementFusionPass::Run(Module* module,
                                             const PassContext& context) {
  if (module->config().is_scheduled) return false;
  const int64_t block = context.chip->vmem().scoped_limit.count() / kBlockShare;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    changed |= FuseJoinedSlices(c);
    changed |= Chains(c, block).Run();
  }
  return changed;
}

}  // namespace ptxla::hlo
