// Large computations keep their order until they change; of computations
// callees come first.
#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/parser.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

TEST(PostOrderTest, ThatOfAThousandInstructionsFollowsEveryChange) {
  Module module("t");
  Computation* main = module.AddComputation("main");
  Builder b(main);
  const auto parameter = [&](int64_t n) {
    return b.Parameter(n, Shape::Array(PrimitiveType::kF32, {4}), "p");
  };
  std::vector<Instruction*> chain = {parameter(0)};
  for (int i = 0; i < 1000; ++i) {
    chain.push_back(b.Add(chain.back(), chain[0]));
  }
  const auto place = [&](const Instruction* i) {
    const std::vector<Instruction*> order = main->PostOrder();
    return std::find(order.begin(), order.end(), i) - order.begin();
  };
  EXPECT_EQ(place(chain.back()), 1000);
  Instruction* late = b.Add(chain[0], chain[0]);
  EXPECT_EQ(place(late), 1001);
  chain[500]->ReplaceOperand(1, late);
  EXPECT_LT(place(late), place(chain[500]));
  chain[10]->AddControlPredecessor(late);
  EXPECT_LT(place(late), place(chain[10]));
  chain[10]->DropControlDependencies();
  EXPECT_GT(place(late), place(chain[10]));
  late->ReplaceAllUsesWith(chain[0]);
  EXPECT_EQ(place(late), 1001);
  main->SetRoot(chain.back());
  main->Remove(late);
  EXPECT_EQ(main->PostOrder().size(), 1001u);
  main->SetRoot(chain[400]);
  EXPECT_EQ(main->RemoveDead(), 600);
  EXPECT_EQ(main->PostOrder().size(), 401u);
  std::vector<Instruction*> order = main->PostOrder();
  Instruction* p = parameter(1);
  order.insert(order.begin(), p);
  main->Reorder(order);
  EXPECT_EQ(main->PostOrder(), order);
}

TEST(PostOrderTest, CalleesComeInTheOrderOfTheirFirstCalls) {
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(R"(HloModule m
body { ROOT b = f32[4] parameter(0) }
ENTRY e {
  p = f32[4] parameter(0)
  x = f32[4] call(p), to_apply=body
  y = f32[4] call(x), to_apply=body
  ROOT z = f32[4] call(y), to_apply=body
})"));
  Computation* entry = module->entry();
  Computation* body = module->FindComputation("body");
  Module::ComputationMap copied, copied_again;
  Computation* made_first =
      module->CloneComputation(*body, "made_first", &copied);
  Computation* called_first =
      module->CloneComputation(*body, "called_first", &copied_again);
  Instruction* x = entry->parameter(0)->users()[0];
  x->ReplaceCalled(0, called_first);
  x->users()[0]->ReplaceCalled(0, made_first);
  entry->root()->ReplaceCalled(0, called_first);
  EXPECT_EQ(module->ComputationPostOrder(),
            (std::vector<Computation*>{body, called_first, made_first, entry}));
}

}  // namespace
}  // namespace ptxla::hlo
