#include "hlo_backend/passes/layout/reshape_order.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "chips/compiler_policy.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/expanders/expand_each.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/layout/free_work.h"
#include "hlo_backend/passes/layout/in_order.h"
#include "hlo_backend/passes/layout/reshape_groups.h"

namespace ptxla::hlo {
namespace {

// Orders are tried one by one: 120 of five.
constexpr size_t kMostGroups = 5;

// Dimensions of the operand and of the result, in an order of the groups.
struct Order {
  DimVector in, out;
};

Order GroupOrder(const std::vector<ReshapeGroup>& groups,
                 const std::vector<int>& places) {
  Order order;
  for (const int g : places) {
    for (size_t d = groups[g].from; d < groups[g].from_end; ++d) {
      order.in.push_back(static_cast<int64_t>(d));
    }
    for (size_t d = groups[g].to; d < groups[g].to_end; ++d) {
      order.out.push_back(static_cast<int64_t>(d));
    }
  }
  return order;
}

// Columns one behind the other: [..,n,1] and as many more.
bool IsOfColumns(const Instruction& x) {
  if (x.opcode() != Opcode::kConcatenate || x.shape().rank() < 2 ||
      x.dimensions()[0] != x.shape().rank() - 1) {
    return false;
  }
  return std::all_of(
      x.operands().begin(), x.operands().end(),
      [](const Instruction* o) { return o->shape().dims().back() == 1; });
}

// Broadcasts of arrays, and elementwise work on nothing but free arrays.
bool IsSpread(const Instruction& x) {
  return x.opcode() == Opcode::kBroadcast ? !x.operand(0)->shape().IsScalar()
                                          : IsFreeWork(x) && !IsFree(x);
}

// Can be made in any order of its dimensions as well.
bool IsMadeInAnyOrder(const Instruction& x) {
  return x.user_count() == 1 &&
         (x.opcode() == Opcode::kTranspose || IsOfColumns(x) || IsSpread(x));
}

bool IsOnlyTransposed(const Instruction& value) {
  return !value.IsRoot() &&
         std::all_of(value.users().begin(), value.users().end(),
                     [](const Instruction* u) {
                       return u->opcode() == Opcode::kTranspose;
                     });
}

class GroupOrders {
 public:
  GroupOrders(Computation* c, int generation)
      : b_(c), generation_(generation) {}

  // Null: as it is.
  Instruction* Best(Instruction* reshape) {
    const Instruction& x = *reshape->operand(0);
    if (x.shape().ElementCount() == 0) return nullptr;
    const std::vector<ReshapeGroup> groups =
        ReshapeGroups(x.shape().dims(), reshape->shape().dims());
    if (groups.size() < 2 || groups.size() > kMostGroups) return nullptr;
    const bool before = IsMadeInAnyOrder(x),
               behind = IsOnlyTransposed(*reshape);
    if (!before && !behind) return nullptr;
    std::vector<int> places(groups.size()), best;
    std::iota(places.begin(), places.end(), 0);
    const Order old = GroupOrder(groups, places);
    const int64_t in = BytesOf(x.shape(), old.in);
    const int64_t out = BytesOf(reshape->shape(), old.out);
    // Arrays that a transpose makes or reads are there in the new order only.
    const int64_t now = (before ? 2 : 1) * in + (behind ? 2 : 1) * out;
    const int64_t kept = (before ? SourceBytes(x) : in) + (behind ? 0 : out);
    int64_t least = now / chips::WholePolicy("reshape_gain");
    while (std::next_permutation(places.begin(), places.end())) {
      const Order order = GroupOrder(groups, places);
      const int64_t bytes = kept + 2 * (BytesOf(x.shape(), order.in) +
                                        BytesOf(reshape->shape(), order.out));
      if (bytes >= least) continue;
      least = bytes;
      best = places;
    }
    return best.empty() ? nullptr : Made(reshape, GroupOrder(groups, best));
  }

 private:
  // Dimensions of size 1 take no place: bitcasts move them.
  int64_t BytesOf(const Shape& shape, const DimVector& order) const {
    const DimVector dims = DropUnitDims(Permuted(shape.dims(), order));
    return TpuBytes(Shape::Array(shape.type(), dims), generation_);
  }

  // That transposes move which are not there yet.
  int64_t SourceBytes(const Instruction& x) const {
    if (x.opcode() == Opcode::kTranspose) return 0;
    int64_t bytes = 0;
    for (const Instruction* o : x.operands()) {
      if (!o->shape().IsArray() || o->shape().IsScalar()) continue;
      if (x.IsElementwise()) {
        bytes += SourceBytes(*o);
        continue;
      }
      const DimVector dims = DropUnitDims(o->shape().dims());
      bytes += 2 * TpuBytes(Shape::Array(o->shape().type(), dims), generation_);
    }
    return bytes;
  }

  // Columns are transposed without the dimension of size 1 that they have.
  Instruction* Columns(Instruction* x, const DimVector& order) {
    const int64_t last = x->shape().rank() - 1;
    DimVector others;
    int64_t place = 0;
    for (size_t k = 0; k < order.size(); ++k) {
      if (order[k] == last) {
        place = static_cast<int64_t>(k);
      } else {
        others.push_back(order[k]);
      }
    }
    std::vector<Instruction*> parts;
    for (Instruction* part : x->operands()) {
      DimVector dims = part->shape().dims();
      dims.pop_back();
      Instruction* turned = InOrder(b_, b_.Reshape(part, dims), others);
      DimVector column = turned->shape().dims();
      column.insert(column.begin() + place, 1);
      parts.push_back(b_.Reshape(turned, column));
    }
    return b_.Concatenate(parts, place);
  }

  Instruction* Turned(Instruction* x, const DimVector& order) {
    if (IsFreeWork(*x)) return FreeWorkInOrder(b_, x, order);
    const bool columns = x->user_count() == 1 && IsOfColumns(*x);
    return columns ? Columns(x, order) : InOrder(b_, x, order);
  }

  Instruction* Made(Instruction* reshape, const Order& order) {
    b_.set_metadata(reshape->shared_metadata());
    Instruction* y = b_.Reshape(Turned(reshape->operand(0), order.in),
                                Permuted(reshape->shape().dims(), order.out));
    return b_.Transpose(y, Inverse(order.out));
  }

  Builder b_;
  const int generation_;
};

}  // namespace

absl::StatusOr<bool> ReshapeOrderPass::Run(Module* module,
                                           const PassContext& context) {
  const int generation = GenerationOf(context);
  return ExpandEach(module, [&](Instruction* i) -> Instruction* {
    if (i->opcode() != Opcode::kReshape || !i->shape().IsArray()) {
      return nullptr;
    }
    return GroupOrders(i->parent(), generation).Best(i);
  });
}

}  // namespace ptxla::hlo
