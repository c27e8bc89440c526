#include "workloads/models/resnet.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lazy/ops.h"

namespace ptxla::workloads {

namespace ops = lazy::ops;
using lazy::ScopePusher;
using lazy::Tensor;
using nn::Conv2dDims;

namespace {

constexpr Conv2dDims kPool = {0, 0, 3, 2, 1};  // its window, as a convolution's

// The convolutions of one block, for the parameters and for the FLOPs.
struct BlockDims {
  Conv2dDims reduce, spread, expand, shortcut;
  bool has_shortcut;
};

Conv2dDims StemDims(const ResnetDims& d) {
  return {d.channels, d.width, 7, 2, 3};
}

std::vector<std::vector<BlockDims>> StageDims(const ResnetDims& d) {
  std::vector<std::vector<BlockDims>> stages;
  int64_t in = d.width, width = d.width;
  for (size_t s = 0; s < d.blocks.size(); ++s, width *= 2) {
    stages.emplace_back();
    for (int64_t b = 0; b < d.blocks[s]; ++b) {
      const int64_t stride = s > 0 && b == 0 ? 2 : 1;
      const int64_t out = width * d.expansion;
      stages.back().push_back({{in, width},
                               {width, width, 3, stride, 1},
                               {width, out},
                               {in, out, 1, stride},
                               stride != 1 || in != out});
      in = out;
    }
  }
  return stages;
}

int64_t LastFeatures(const ResnetDims& d) {
  return d.expansion * d.width << (d.blocks.size() - 1);
}

// 2 x multiply-adds per image of `rows` x `rows`; moves on to the result's.
double ConvFlops(const Conv2dDims& c, int64_t* rows) {
  *rows = c.Positions(*rows);
  const auto positions = static_cast<double>(*rows * *rows);
  return 2 * positions *
         static_cast<double>(c.kernel * c.kernel * c.in * c.out);
}

}  // namespace

Tensor Resnet::Block::operator()(const Tensor& x) const {
  Tensor y = ops::Relu(reduce(x));
  y = ops::Relu(spread(y));
  y = expand(y);
  return ops::Relu(ops::Add(y, shortcut ? (*shortcut)(x) : x));
}

Resnet::Resnet(nn::Parameters* p, const ResnetDims& dims, bool training)
    : stem_{{p, "conv1", StemDims(dims)}, {p, "bn1", dims.width, training}},
      stages_([&] {
        const auto conv_norm = [&](const std::string& block, const char* conv,
                                   const char* norm, const Conv2dDims& c) {
          nn::Conv2d kernel(p, absl::StrCat(block, ".", conv), c);
          return ConvNorm{std::move(kernel),
                          {p, absl::StrCat(block, ".", norm), c.out, training}};
        };
        std::vector<std::vector<Block>> stages;
        for (const std::vector<BlockDims>& stage : StageDims(dims)) {
          stages.emplace_back();
          for (const BlockDims& b : stage) {
            const std::string name =
                absl::StrCat("layer", stages.size(), ".", stages.back().size());
            Block block = {conv_norm(name, "conv1", "bn1", b.reduce),
                           conv_norm(name, "conv2", "bn2", b.spread),
                           conv_norm(name, "conv3", "bn3", b.expand),
                           std::nullopt};
            if (b.has_shortcut) {
              block.shortcut =
                  conv_norm(name, "downsample.0", "downsample.1", b.shortcut);
            }
            stages.back().push_back(std::move(block));
          }
        }
        return stages;
      }()),
      classifier_(p, "fc", LastFeatures(dims), dims.classes) {}

Tensor Resnet::operator()(const Tensor& images) const {
  lazy::Device* device = images.device();
  Tensor x;
  {
    const ScopePusher scope(device, "stem");
    x = ops::Relu(stem_(images));
    x = ops::MaxPool(x, kPool.kernel, kPool.stride, kPool.padding);
  }
  for (size_t s = 0; s < stages_.size(); ++s) {
    const ScopePusher stage(device, absl::StrCat("layer", s + 1));
    for (size_t b = 0; b < stages_[s].size(); ++b) {
      const ScopePusher block(device, absl::StrCat(b));
      x = stages_[s][b](x);
    }
  }
  const ScopePusher scope(device, "head");
  return classifier_(ops::Mean(x, {1, 2}, /*keepdim=*/false));
}

double ResnetForwardFlops(const ResnetDims& d, int64_t batch) {
  int64_t rows = d.image;
  double flops = ConvFlops(StemDims(d), &rows);
  rows = kPool.Positions(rows);
  for (const std::vector<BlockDims>& stage : StageDims(d)) {
    for (const BlockDims& b : stage) {
      int64_t aside = rows;
      if (b.has_shortcut) flops += ConvFlops(b.shortcut, &aside);
      flops += ConvFlops(b.reduce, &rows);
      flops += ConvFlops(b.spread, &rows);
      flops += ConvFlops(b.expand, &rows);
    }
  }
  flops += 2 * static_cast<double>(LastFeatures(d) * d.classes);
  return static_cast<double>(batch) * flops;
}

double ResnetTrainFlops(const ResnetDims& d, int64_t batch) {
  int64_t rows = d.image;
  return 3 * ResnetForwardFlops(d, batch) -
         static_cast<double>(batch) * ConvFlops(StemDims(d), &rows);
}

}  // namespace ptxla::workloads
