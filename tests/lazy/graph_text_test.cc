// Is the text of a lazy graph read back as the same graph?
#include "lazy/graph_text.h"

#include "gtest/gtest.h"
#include "lazy/autograd.h"
#include "lazy/ops.h"
#include "lazy/sync.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lazy {
namespace {

using ::testing::HasSubstr;
using testing::StatusIs;

constexpr auto kBad = absl::StatusCode::kInvalidArgument;

TEST(GraphTextTest, WhatWasPrintedReadsBackTheSame) {
  Device device;
  const auto leaf = [&](const char* name, DimVector dims) {
    Tensor t = Tensor::FromHost(&device, {PrimitiveType::kF32, dims},
                                HostValue::Uniform(0, 1, 1), name);
    t.set_requires_grad(true);
    return t;
  };
  const Tensor x = leaf("x \"quoted\"", {4, 8, 16}), w = leaf("w", {32, 16}),
               b = leaf("b", {32}), scale = leaf("scale", {32});
  const Tensor ids = Tensor::FromHost(&device, {PrimitiveType::kS64, {32}},
                                      HostValue::Uniform(0, 9, 1));
  const ScopePusher scope(&device, "layer, 1");
  Tensor y = ops::LayerNorm(ops::Linear(x, w, b), scale, b, 1e-12);
  y = ops::Dropout(ops::Index(ops::Gelu(y), 1, 3), 0.1);
  y = ops::Add(y, ops::Mul(y, 0.3));
  const Tensor loss = ops::CrossEntropy(ops::View(y, {32, 4}), ids);
  Backward(loss);
  ops::AllReduceInPlace({w.grad(), b.grad()}, 1 / 3.0, {{0, 1}, {2, 3}});
  const SyncGraph sync = CollectSync(&device);
  const std::string text = PrintGraph(sync.graph);
  ASSERT_OK_AND_ASSIGN(const ParsedGraph parsed, ParseGraph(text));
  EXPECT_EQ(PrintGraph(parsed.graph), text);
  EXPECT_EQ(StructureHash(parsed.graph), StructureHash(sync.graph));
}

TEST(GraphTextTest, ImagesReadBackTheSame) {
  Device device;
  const auto leaf = [&](DimVector dims) {
    Tensor t = Tensor::FromHost(&device, {PrimitiveType::kF32, dims},
                                HostValue::Uniform(0, 1, 1));
    t.set_requires_grad(true);
    return t;
  };
  const Tensor x = leaf({2, 8, 8, 3}), w = leaf({3, 3, 3, 4}), b = leaf({4});
  const Tensor mean = leaf({4}), variance = leaf({4});
  Tensor y = ops::Convolution(x, w, 2, 1);
  y = ops::BatchNorm(y, b, b, mean.Detach(), variance.Detach(), {});
  y = ops::BatchNorm(y, b, b, mean.Detach(), variance.Detach(),
                     {1e-3, 0.1, /*training=*/false});
  y = ops::MaxPool(ops::Convolution(x, w, 2, 1), 3, 2, 1);
  Backward(ops::Sum(ops::Mean(y, {1, 2}, false), {0, 1}, false));
  const SyncGraph sync = CollectSync(&device);
  const std::string text = PrintGraph(sync.graph);
  ASSERT_OK_AND_ASSIGN(const ParsedGraph parsed, ParseGraph(text));
  EXPECT_EQ(PrintGraph(parsed.graph), text);
  EXPECT_EQ(StructureHash(parsed.graph), StructureHash(sync.graph));
}

TEST(GraphTextTest, ErrorsNameTheLine) {
  EXPECT_THAT(ParseGraph("graph"), StatusIs(kBad, HasSubstr("1: expected")));
  EXPECT_THAT(ParseGraph("IR {\n  %1 = f32[] prim::Constant(), value=1\n}"),
              StatusIs(kBad, HasSubstr("2: expected \"%0")));
  EXPECT_THAT(ParseGraph("IR {\n  %0 = f32[] aten::frob()\n}"),
              StatusIs(kBad, HasSubstr("aten::frob")));
  EXPECT_THAT(ParseGraph("IR {\n  %0 = f32[] aten::tanh(%7)\n}"),
              StatusIs(kBad, HasSubstr("%7")));
  EXPECT_THAT(ParseGraph("IR {\n  %0 = f32[] aten::tanh()\n}"),
              StatusIs(kBad, HasSubstr("wrong number of operands")));
  EXPECT_THAT(ParseGraph("IR {\n  %0 = f32[] prim::Constant()\n}"),
              StatusIs(kBad, HasSubstr("value")));
  EXPECT_THAT(
      ParseGraph("IR {\n  %0 = f32[] prim::Constant(), value=1, ROOT=1\n}"),
      StatusIs(kBad, HasSubstr("ROOT=0")));
  EXPECT_THAT(ParseGraph("IR {\n"), StatusIs(kBad, HasSubstr("\"}\"")));
}

}  // namespace
}  // namespace ptxla::lazy
