// Does any damage to the text of a graph end in an error or in a graph that
// lowers, never in a crash?
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lazy/autograd.h"
#include "lazy/graph_text.h"
#include "lazy/lowering.h"
#include "lazy/ops.h"
#include "lazy/sync.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lazy {
namespace {

// A small training step with every kind of node.
std::string StepText() {
  Device device;
  const auto leaf = [&](DimVector dims) {
    Tensor t = Tensor::FromHost(&device, {PrimitiveType::kF32, dims},
                                HostValue::Constant(0.5), "leaf");
    t.set_requires_grad(true);
    return t;
  };
  const auto labels = [&](DimVector dims) {
    return Tensor::FromHost(&device, {PrimitiveType::kS64, dims},
                            HostValue::Uniform(0, 4, 1));
  };
  const Tensor table = leaf({9, 8}), w = leaf({8, 8}), b = leaf({8});
  Tensor x = ops::Embedding(table, labels({2, 4}));
  x = ops::LayerNorm(ops::Dropout(ops::Linear(x, w, b), 0.1), b, b, 1e-5);
  Tensor heads = ops::Transpose(ops::View(x, {2, 4, 2, 4}), 1, 2);
  heads = ops::Matmul(ops::Softmax(heads, -1), ops::Transpose(heads, 2, 3));
  x = ops::Add(ops::Relu(ops::Gelu(x)),
               ops::Mul(ops::Reshape(heads, {2, 4, 8}), 0.3));
  x = ops::Linear(ops::Tanh(ops::Index(ops::Slice(x, 1, 1, 3), 1, 0)), w, b);
  Backward(ops::CrossEntropy(x, labels({2})));
  ops::AllReduceInPlace({w.grad(), b.grad()}, 0.5, {{0, 1}});
  ops::AddcmulInPlace(b, b.grad(), b.grad(), 0.1);
  ops::AddcdivInPlace(b, b.grad(), ops::AddScalar(ops::Sqrt(b), 1e-8), -0.1);
  ops::LerpInPlace(w, w.grad(), 0.1);
  ops::AddInPlace(ops::Slice(table, 0, 2, 4), 1.5);
  const SyncGraph sync = CollectSync(&device);
  return PrintGraph(sync.graph, sync.donors);
}

TEST(GraphMutationTest, TheUndamagedTextLowers) {
  ASSERT_OK_AND_ASSIGN(const ParsedGraph graph, ParseGraph(StepText()));
  EXPECT_THAT(LowerToHlo(graph.graph, {}), testing::IsOk());
}

TEST(GraphMutationTest, DamagedTextNeverCrashes) {
  const std::string text = StepText();
  const std::string alphabet = "0123456789%,.={}[]()\" abcdefsxuROT-\n";
  std::mt19937 random(20240601);
  const auto below = [&](size_t n) { return random() % n; };
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = text;
    for (size_t edits = 1 + below(3); edits > 0; --edits) {
      const size_t at = below(damaged.size());
      switch (below(4)) {
        case 0:
          damaged[at] = alphabet[below(alphabet.size())];
          break;
        case 1:
          damaged.erase(at, 1 + below(12));
          break;
        case 2:
          damaged.insert(at, 1, alphabet[below(alphabet.size())]);
          break;
        default:
          damaged.insert(at, damaged.substr(below(damaged.size()), 8));
      }
    }
    const auto graph = ParseGraph(damaged);
    if (!graph.ok()) {
      EXPECT_EQ(graph.status().code(), absl::StatusCode::kInvalidArgument);
      continue;
    }
    ++accepted;
    EXPECT_THAT(LowerToHlo(graph->graph, {}), testing::IsOk());
  }
  EXPECT_GT(accepted, 30) << "some damage is harmless";
}

}  // namespace
}  // namespace ptxla::lazy
