#include "hlo_backend/passes/layout/reshape_splitter.h"

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "hlo_backend/analysis/lane_reshape.h"
#include "hlo_backend/analysis/tiled_bitcast.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/passes/expanders/expand_each.h"
#include "hlo_backend/passes/layout/reshape_groups.h"

namespace ptxla::hlo {
namespace {

using Dims = absl::Span<const int64_t>;

// Of VMEM for the planes of one side: kernels may have an eighth, both sides
// are there twice, and what they go through.
constexpr int kShareOfVmem = 64;
constexpr int64_t kMostParts = 64;
// Bytes that a step's code makes of one tile of columns: 1,024 registers, as
// kernels have them (kMaxOfColumns of lowering/movement/row_blocks.cc).
// ASSUMED.
constexpr int64_t kMostMade = 1024 * 4096;
constexpr size_t kTogether = 8;  // parts that one concatenation lays

class Splitter {
 public:
  Splitter(Computation* computation, const chips::ChipSpec& chip)
      : b_(computation), chip_(chip) {}

  // Null: one kernel.
  Instruction* Split(Instruction* reshape) {
    Instruction* x = reshape->operand(0);
    if (!IsLarge(x->shape(), reshape->shape().dims())) return nullptr;
    b_.set_metadata(reshape->shared_metadata());
    Instruction* y = Reshaped(x, reshape->shape().dims());
    if (changed_) return y;
    reshape->parent()->Remove(y);
    return nullptr;
  }

 private:
  int64_t PlaneBytes(PrimitiveType type, Dims dims) const {
    const Dims plane = dims.subspan(dims.size() < 2 ? 0 : dims.size() - 2);
    return TpuBytes(Shape::Array(type, plane), chip_.generation());
  }

  // The planes of `from` that one plane of `to` takes.
  int64_t Taken(PrimitiveType type, Dims from, Dims to) const {
    const auto plane = [](Dims d) {
      return std::max<int64_t>(
          1, Product(d.subspan(d.size() < 2 ? 0 : d.size() - 2)));
    };
    return PlaneBytes(type, from) * CeilOfRatio(plane(to), plane(from));
  }

  // Rows of whole tiles that are joined or parted stay where they are.
  bool MovesNothing(const Shape& from, Dims to) const {
    const auto tiled = [&](Dims dims) {
      return WithTpuLayout(Shape::Array(from.type(), dims), chip_.generation());
    };
    return IsTiledBitcast(tiled(from.dims()), tiled(to));
  }

  // A kernel takes rows whose columns stay a tile of columns at a time
  // (lowering/movement/column_cut.h), if all rows of one fit.
  bool FitsByColumns(const Shape& from, Dims to) const {
    if (to.size() < 2 || from.rank() < 2 || to.back() <= kLanes ||
        from.dims().back() != to.back()) {
      return false;
    }
    const auto tile = [&](Dims dims) {
      DimVector narrow(dims.begin(), dims.end());
      narrow.back() = kLanes;
      return TpuBytes(Shape::Array(from.type(), narrow), chip_.generation());
    };
    const int64_t made = tile(to);
    return made <= kMostMade && 2 * (tile(from.dims()) + made) <=
                                    chip_.vmem().scoped_limit.count() / 4 * 3;
  }

  bool IsLarge(const Shape& from, Dims to) const {
    if (MovesNothing(from, to) || FitsByColumns(from, to)) return false;
    const int64_t most = chip_.vmem().usable.count() / kShareOfVmem;
    return Taken(from.type(), from.dims(), to) > most ||
           Taken(from.type(), to, from.dims()) > most;
  }

  Instruction* Reshaped(Instruction* x, Dims to) {
    if (!IsLarge(x->shape(), to)) return b_.Reshape(x, to);
    if (const DimVector line = {Product(to)};
        to.size() > 1 && to.back() == line[0] && x->shape().rank() > 1 &&
        MovesNothing(Shape::Array(x->shape().type(), line), to)) {
      changed_ = true;
      return b_.Reshape(Reshaped(x, line), to);
    }
    const DimVector from = x->shape().dims();
    // Between a line and long rows of whole lanes: the line as rows of 128.
    const Dims rows = from.size() == 1 ? to : Dims(from);
    if ((from.size() == 1 || to.size() == 1) && rows.size() > 1 &&
        rows.back() % kLanes == 0 && rows.back() > kLanes) {
      changed_ = true;
      const DimVector lanes = {Product(to) / kLanes, kLanes};
      return Reshaped(Reshaped(x, lanes), to);
    }
    std::vector<ReshapeGroup> changed;
    for (const ReshapeGroup& g : ReshapeGroups(from, to)) {
      if (g.Changes(from, to)) changed.push_back(g);
    }
    if (changed.empty()) return b_.Reshape(x, to);
    const ReshapeGroup& last = changed.back();
    if (changed.size() > 1) {
      DimVector middle(from.begin(), from.begin() + last.from);
      middle.insert(middle.end(), to.begin() + last.to, to.end());
      // Dimensions of size 1 can belong to either group: no step, or one that
      // adds more of them.
      if (middle == from || Dims(middle) == to ||
          middle.size() > std::max(from.size(), to.size())) {
        return b_.Reshape(x, to);
      }
      changed_ = true;
      return Reshaped(Reshaped(x, middle), to);
    }
    if (last.from_end == from.size() || last.to_end == to.size()) {
      const DimVector parts = WithPartsOfLanes(from, to);
      if (parts != from && Dims(parts) != to) {
        changed_ = true;
        return Reshaped(Reshaped(x, parts), to);
      }
      // Rows of whole tiles side by side have a kernel for any size.
      const int bits = BitWidth(x->shape().type());
      if ((bits == 32 || bits == 16) && FindLaneReshape(from, to)) {
        return b_.Reshape(x, to);
      }
      return last.from > 0 && bits == 32 ? AsRows(x, to, last) : AsWords(x, to);
    }
    if (last.from_end + 1 != from.size() || last.to_end + 1 != to.size()) {
      return b_.Reshape(x, to);
    }
    return Rows(x, to, last);
  }

  // Where the longer of two rows is a whole number of the shorter ones, which
  // are whole tiles: its array with such parts as rows. Else `from`.
  static DimVector WithPartsOfLanes(Dims from, Dims to) {
    if (from.empty() || to.empty()) return DimVector(from.begin(), from.end());
    const int64_t few = std::min(from.back(), to.back());
    const Dims longer = from.back() > to.back() ? from : to;
    DimVector parts(from.begin(), from.end());
    if (few % kLanes != 0 || few == longer.back() || longer.back() % few != 0) {
      return parts;
    }
    parts.assign(longer.begin(), longer.end() - 1);
    parts.push_back(longer.back() / few);
    parts.push_back(few);
    return parts;
  }

  // Lanes that are joined or parted, as rows: the dimensions before them are
  // the lanes meanwhile.
  Instruction* AsRows(Instruction* x, Dims to, const ReshapeGroup& group) {
    changed_ = true;
    const int rank = x->shape().rank();
    const auto lead = static_cast<int>(group.from);
    DimVector turn, dims(to.begin() + lead, to.end()), back;
    for (int k = 0; k < rank; ++k) turn.push_back((lead + k) % rank);
    dims.insert(dims.end(), to.begin(), to.begin() + lead);
    const auto size = static_cast<int>(to.size());
    for (int k = 0; k < size; ++k) back.push_back((size - lead + k) % size);
    return b_.Transpose(Reshaped(b_.Transpose(x, turn), dims), back);
  }

  Instruction* AsWords(Instruction* x, Dims to) {
    const PrimitiveType type = x->shape().type();
    if (BitWidth(type) == 32) return b_.Reshape(x, to);
    if (BitWidth(type) > 32 || BitWidth(type) < 8) return b_.Reshape(x, to);
    changed_ = true;
    const PrimitiveType word =
        IsFloat(type) ? PrimitiveType::kF32 : PrimitiveType::kS32;
    return b_.Convert(b_.Reshape(b_.Convert(x, word), to), type);
  }

  // Planes of rows become other planes: [.., parts, rows, columns].
  Instruction* Rows(Instruction* x, Dims to, const ReshapeGroup& group) {
    const DimVector from = x->shape().dims();
    const size_t lead = group.from;
    const int64_t columns = from.back();
    const int64_t old_rows = from[group.from_end - 1];
    const int64_t new_rows = to[group.to_end - 1];
    const int64_t all =
        Product(Dims(from).subspan(lead, group.from_end - lead));
    changed_ = true;
    const Dims major(from.data(), lead);
    const auto shaped = [&](std::initializer_list<int64_t> dims) {
      DimVector result(major.begin(), major.end());
      result.insert(result.end(), dims.begin(), dims.end());
      return result;
    };
    const auto dimension = static_cast<int64_t>(lead);
    if (old_rows != all) {
      const int64_t planes = all / old_rows, each = Together(planes);
      x = As(x, shaped({planes, old_rows, columns}));
      std::vector<Instruction*> parts;
      for (int64_t k = 0; k < planes; k += each) {
        const int64_t n = std::min(each, planes - k);
        parts.push_back(b_.Reshape(Cut(x, dimension, k, k + n),
                                   shaped({n * old_rows, columns})));
      }
      x = Joined(std::move(parts), dimension);
    } else {
      x = As(x, shaped({all, columns}));
    }
    if (new_rows != all) {
      const int64_t planes = all / new_rows, each = Together(planes);
      std::vector<Instruction*> parts;
      for (int64_t k = 0; k < planes; k += each) {
        const int64_t n = std::min(each, planes - k);
        parts.push_back(
            b_.Reshape(Cut(x, dimension, k * new_rows, (k + n) * new_rows),
                       shaped({n, new_rows, columns})));
      }
      x = Joined(std::move(parts), dimension);
    }
    return As(x, to);
  }

  Instruction* As(Instruction* x, Dims dims) {
    return Dims(x->shape().dims()) == dims ? x : b_.Reshape(x, dims);
  }

  // Planes of a part: of more than one in whole tiles of rows.
  static int64_t Together(int64_t planes) {
    return planes <= kMostParts
               ? 1
               : RoundUpTo<int64_t>(CeilOfRatio(planes, kMostParts), 16);
  }

  Instruction* Cut(Instruction* x, int64_t dimension, int64_t start,
                   int64_t limit) {
    DimVector starts(x->shape().rank(), 0), limits = x->shape().dims();
    starts[dimension] = start;
    limits[dimension] = limit;
    return b_.Slice(x, starts, limits, DimVector(x->shape().rank(), 1));
  }

  Instruction* Joined(std::vector<Instruction*> parts, int64_t dimension) {
    while (parts.size() > 1) {
      std::vector<Instruction*> joined;
      for (size_t k = 0; k < parts.size(); k += kTogether) {
        const size_t n = std::min(kTogether, parts.size() - k);
        joined.push_back(
            n == 1 ? parts[k]
                   : b_.Concatenate(absl::MakeSpan(parts).subspan(k, n),
                                    dimension));
      }
      parts = std::move(joined);
    }
    return parts[0];
  }

  Builder b_;
  const chips::ChipSpec& chip_;
  bool changed_ = false;
};

}  // namespace

absl::StatusOr<bool> ReshapeSplitterPass::Run(Module* module,
                                              const PassContext& context) {
  if (context.chip == nullptr) return false;
  return ExpandEach(module, [&](Instruction* i) -> Instruction* {
    if (i->opcode() != Opcode::kReshape || !i->shape().IsArray() ||
        i->shape().rank() == 0 || i->operand(0)->shape().rank() == 0 ||
        i->shape().ElementCount() == 0) {
      return nullptr;
    }
    return Splitter(i->parent(), *context.chip).Split(i);
  });
}

}  // namespace ptxla::hlo
