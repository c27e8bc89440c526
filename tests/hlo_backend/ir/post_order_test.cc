// Large computations keep their order until they change.
#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "hlo_backend/ir/builder.h"

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

}  // namespace
}  // namespace ptxla::hlo
