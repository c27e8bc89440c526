#include "hlo_backend/passes/scheduled/element_gathers.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {
namespace {

constexpr int64_t kRows = 8, kLanes = 128;
// Elements with padding for each without: of more, a row of the elements alone
// is the smaller copy.
constexpr int64_t kMostPadding = 2;

bool LiesInTiles(const Shape& x) {
  if (x.rank() < 2 || !x.has_layout() || !x.layout().IsRowMajor() ||
      BitWidth(x.type()) != 32 || x.layout().tiles.size() != 1) {
    return false;
  }
  const auto& tile = x.layout().tiles[0].dimensions;
  return tile.size() == 2 && tile[0] == kRows && tile[1] == kLanes;
}

bool IsOfElements(const Instruction& i) {
  const auto& a = i.attrs<GatherAttrs>();
  const Shape &x = i.operand(0)->shape(), &indices = i.operand(1)->shape();
  const auto rank = static_cast<size_t>(x.rank());
  return a.offset_dims.empty() && a.operand_batching_dims.empty() &&
         a.collapsed_slice_dims.size() == rank &&
         a.start_index_map.size() == rank &&
         indices.type() == PrimitiveType::kS32 && indices.rank() > 1 &&
         a.index_vector_dim == indices.rank() - 1;
}

// s32[count]: where the element lies, in elements of the array's bytes.
// `padded`: dimensions with the padding of tiles.
Instruction* PlacesOf(Builder& b, const Instruction& gather,
                      const DimVector& padded, int64_t count) {
  const auto& a = gather.attrs<GatherAttrs>();
  const Shape& x = gather.operand(0)->shape();
  Instruction* indices = gather.operand(1);
  const auto all = [&](int64_t value) {
    return b.BroadcastScalar(
        b.ConstantScalar(PrimitiveType::kS32, static_cast<double>(value)),
        {count});
  };
  const auto times = [&](Instruction* value, int64_t by) {
    return by == 1 ? value : b.Multiply(value, all(by));
  };
  const int rank = x.rank();
  Instruction* place = nullptr;
  const auto add = [&](Instruction* value) {
    place = place == nullptr ? value : b.Add(place, value);
  };
  int64_t stride = 1;  // of a plane
  for (int d = rank - 1; d >= 0; --d) {
    const auto at =
        std::find(a.start_index_map.begin(), a.start_index_map.end(), d) -
        a.start_index_map.begin();
    DimVector starts(indices->shape().rank(), 0);
    DimVector limits(indices->shape().dims().begin(),
                     indices->shape().dims().end());
    starts.back() = at;
    limits.back() = at + 1;
    Instruction* index = b.Reshape(b.Slice(indices, starts, limits), {count});
    // Windows stay inside of the array.
    index = b.Maximum(b.Minimum(index, all(x.dim(d) - 1)), all(0));
    // Of tiles one behind the other, and inside of one.
    const int64_t tile = d == rank - 1 ? kLanes : d == rank - 2 ? kRows : 1;
    const int64_t tile_stride =
        d == rank - 1 ? kRows * kLanes
                      : (d == rank - 2 ? padded.back() * kRows : stride);
    if (tile == 1) {
      add(times(index, tile_stride));
    } else {
      add(times(b.Divide(index, all(tile)), tile_stride));
      add(times(b.Remainder(index, all(tile)), d == rank - 1 ? 1 : kLanes));
    }
    stride *= padded[d];
  }
  return place;
}

}  // namespace

bool GatherWords(Instruction* gather, int generation) {
  Instruction* x = gather->operand(0);
  Computation* c = gather->parent();
  if (gather->opcode() != Opcode::kGather || !LiesInTiles(x->shape()) ||
      !IsOfElements(*gather) ||
      (c->IsFusionComputation() && x->opcode() != Opcode::kParameter)) {
    return false;
  }
  const DimVector padded = PaddedDims(x->shape());
  const Shape whole = Shape::Array(x->shape().type(), padded);
  if (whole.ElementCount() > kMostPadding * x->shape().ElementCount() ||
      whole.ElementCount() > std::numeric_limits<int32_t>::max()) {
    return false;
  }
  const int begin = c->module()->NextInstructionId();
  const int64_t count = gather->shape().ElementCount();
  Builder b(c);
  b.set_metadata(gather->shared_metadata());
  Shape words = Shape::Array(x->shape().type(), {whole.ElementCount()});
  words = WithTpuLayout(words, generation);
  if (whole.SameDims(x->shape())) {
    words.mutable_layout()->memory_space = x->shape().memory_space();
  } else {
    std::vector<PaddingDim> padding(padded.size());
    for (size_t d = 0; d < padded.size(); ++d) {
      padding[d].high = padded[d] - x->shape().dim(static_cast<int>(d));
    }
    x = b.Pad(x, b.Zero(x->shape().type()), padding);
  }
  GatherAttrs attrs;
  attrs.collapsed_slice_dims = {0};
  attrs.start_index_map = {0};
  attrs.index_vector_dim = 1;
  attrs.slice_sizes = {1};
  Instruction* places = PlacesOf(b, *gather, padded, count);
  Instruction* value = b.Gather(b.Bitcast(x, words), places, attrs);
  if (!value->shape().SameDims(gather->shape())) {
    value = b.Reshape(value, DimVector(gather->shape().dims().begin(),
                                       gather->shape().dims().end()));
  }
  for (Instruction* i : c->instructions()) {
    if (i->id() < begin || !i->shape().IsArray() || i->shape().has_layout()) {
      continue;
    }
    *i->mutable_shape() = WithTpuLayout(i->shape(), generation);
  }
  *value->mutable_shape() = gather->shape();
  c->Replace(gather, value);
  return true;
}

}  // namespace ptxla::hlo
