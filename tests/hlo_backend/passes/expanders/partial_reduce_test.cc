// What PartialReduce leaves are the best of the elements that share a place,
// and where they were; what makes it is a reduce, not a sort.
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/passes/pipeline.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

constexpr int kRows = 3, kLength = 700, kPlaces = 128;

std::string Text(absl::string_view direction, absl::string_view least,
                 absl::string_view results) {
  return absl::Substitute(R"(HloModule m
before {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ai = s32[] parameter(2)
  bi = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=$0
}
ENTRY e {
  x = f32[3,700] parameter(0)
  i = s32[700] iota(), iota_dimension=0
  p = s32[3,700] broadcast(i), dimensions={1}
  least = f32[] constant($1)
  none = s32[] constant(-1)
  ROOT r = (f32[3,$2], s32[3,$2]) custom-call(x, p, least, none), custom_call_target="PartialReduce", called_computations={before}, backend_config={"log2_reduction": 3, "reduction_dim": 1, "to_apply_type": "comparator", "top_k": 4, "recall_target": 0.95}
})",
                          direction, least, results);
}

TEST(PartialReduceTest, TheBestOfEachPlaceStay) {
  for (const bool largest : {true, false}) {
    ASSERT_OK_AND_ASSIGN(auto module,
                         ParseModule(Text(largest ? "GT" : "LT",
                                          largest ? "-inf" : "inf", "128")));
    Literal x(Shape::Array(PrimitiveType::kF32, {kRows, kLength}));
    uint64_t seed = 3;
    for (int64_t k = 0; k < x.ElementCount(); ++k) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      x.SetDouble(k, static_cast<double>(seed >> 59));  // with many ties
    }
    ASSERT_OK_AND_ASSIGN(Pipeline p,
                         Pipeline::FromNames("topk-expander,argmax-expander"));
    ASSERT_OK(p.Run(module.get(), {}).status());
    for (const Instruction* i : module->entry()->instructions()) {
      EXPECT_NE(i->opcode(), Opcode::kSort);
      // An extreme and its position, no pair.
      const bool pair =
          i->opcode() == Opcode::kReduce && i->operand_count() > 2;
      EXPECT_FALSE(pair);
    }
    ASSERT_OK_AND_ASSIGN(const Literal result, Evaluate(*module, {x}));
    for (int row = 0; row < kRows; ++row) {
      for (int place = 0; place < kPlaces; ++place) {
        int best = place;
        for (int k = place; k < kLength; k += kPlaces) {
          const double is = x.GetDouble(row * kLength + k);
          const double was = x.GetDouble(row * kLength + best);
          if (largest ? is > was : is < was) best = k;
        }
        const int at = row * kPlaces + place;
        EXPECT_EQ(result.elements()[0].GetDouble(at),
                  x.GetDouble(row * kLength + best));
        EXPECT_EQ(result.elements()[1].GetInt(at), best);
      }
    }
  }
}

// A result of every element reduces nothing.
TEST(PartialReduceTest, AsManyResultsAsElementsAreSorted) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(Text("GT", "-inf", "700")));
  ASSERT_OK_AND_ASSIGN(Pipeline p, Pipeline::FromNames("topk-expander"));
  ASSERT_OK(p.Run(module.get(), {}).status());
  bool sorts = false;
  for (const Instruction* i : module->entry()->instructions()) {
    sorts |= i->opcode() == Opcode::kSort;
  }
  EXPECT_TRUE(sorts);
}

}  // namespace
}  // namespace ptxla::hlo
