#include "hlo_backend/passes/products/overlapping_blocks.h"

#include <vector>

#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

// Of [batch, blocks, planes, ..] the planes that each block sees of the next
// one, or of the one before; zeros at the image's border.
Instruction* Neighbours(Builder* b, Instruction* x, const BlockCut& cut,
                        bool next) {
  DimVector starts(x->shape().rank(), 0), limits = x->shape().dims();
  std::vector<PaddingDim> padding(x->shape().rank());
  if (next) {
    starts[1] = 1;
    limits[2] = cut.high;
    padding[1].high = 1;
  } else {
    --limits[1];
    starts[2] = cut.advance - cut.low;
    padding[1].low = 1;
  }
  return b->Pad(b->Slice(x, starts, limits), b->Zero(x->shape().type()),
                padding);
}

}  // namespace

Instruction* OverlappingBlocks(Builder* b, Instruction* x,
                               const BlockCut& cut) {
  // A signal of one feature would fill one lane.
  const DimVector inside(x->shape().dims().begin() + 2,
                         x->shape().dims().end());
  if (DropUnitDims(inside).empty()) {
    x = b->Reshape(x, {x->shape().dim(0), x->shape().dim(1)});
  }
  const int64_t have = x->shape().dim(1);
  const int64_t all = cut.blocks * cut.advance;
  if (have != all) {
    std::vector<PaddingDim> padding(x->shape().rank());
    padding[1].high = all - have;
    x = b->Pad(x, b->Zero(x->shape().type()), padding);
  }
  DimVector dims = x->shape().dims();
  dims[1] = cut.advance;
  dims.insert(dims.begin() + 1, cut.blocks);
  x = b->Reshape(x, dims);
  std::vector<Instruction*> parts;
  if (cut.low > 0) parts.push_back(Neighbours(b, x, cut, false));
  parts.push_back(x);
  if (cut.high > 0) parts.push_back(Neighbours(b, x, cut, true));
  if (parts.size() > 1) x = b->Concatenate(parts, 2);
  DimVector joined = {x->shape().dim(0) * cut.blocks, x->shape().dim(2)};
  joined.insert(joined.end(), inside.begin(), inside.end());
  return b->Reshape(x, joined);
}

}  // namespace ptxla::hlo
