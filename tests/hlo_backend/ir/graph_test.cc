// Changing graphs: users, roots, fusions, inlining, orders.
#include "tests/hlo_backend/ir/graph.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "hlo_backend/ir/fingerprint.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

TEST(GraphTest, AUserOfTwoSlotsIsOneUser) {
  Graph g;
  Instruction* p = g.Param(0);
  Instruction* a = g.b.Add(p, p);
  EXPECT_EQ(p->user_count(), 1);
  Instruction* q = g.Param(1);
  a->ReplaceOperand(0, q);
  EXPECT_EQ(p->user_count(), 1);
  a->ReplaceOperand(1, q);
  EXPECT_EQ(p->user_count(), 0);
  EXPECT_EQ(q->user_count(), 1);
}

TEST(GraphTest, UsersStayRightWithThousandsOfThem) {
  Graph g;
  Instruction* zero = g.Param(0);
  Instruction* other = g.Param(1);
  std::vector<Instruction*> users;
  for (int i = 0; i < 5000; ++i) users.push_back(g.b.Negate(zero));
  Instruction* t = g.b.Tuple(users);
  g.main->SetRoot(t);
  for (size_t i = 0; i < users.size(); i += 2) {
    users[i]->ReplaceOperand(0, other);
  }
  EXPECT_EQ(zero->user_count(), 2500);
  EXPECT_EQ(other->user_count(), 2500);
  zero->ReplaceAllUsesWith(other);
  EXPECT_EQ(other->user_count(), 5000);
  g.Done();
}

TEST(GraphTest, ReplacingAValueByOneMadeFromItKeepsThatUse) {
  Graph g;
  Instruction* p = g.Param(0);
  Instruction* a = g.b.Exp(p);
  Instruction* out = g.b.Negate(a);
  g.main->SetRoot(out);
  Instruction* wrapped = g.b.Floor(a);
  a->ReplaceAllUsesWith(wrapped);
  EXPECT_EQ(out->operand(0), wrapped);
  EXPECT_EQ(wrapped->operand(0), a);
  g.Done();
}

TEST(GraphTest, ReplaceMovesTheRootAndMetadata) {
  Graph g;
  Instruction* p = g.Param(0);
  Instruction* a = g.b.Exp(p);
  Metadata metadata;
  metadata.op_name = "layer/exp";
  a->set_metadata(metadata);
  g.main->SetRoot(a);
  Instruction* b = g.b.Negate(p);
  g.main->Replace(a, b);
  EXPECT_EQ(g.main->root(), b);
  EXPECT_EQ(b->metadata().op_name, "layer/exp");
  EXPECT_EQ(g.main->instruction_count(), 2);
  g.Done();
}

TEST(GraphTest, ABuilderOnAFinishedComputationLeavesItsRoot) {
  Graph g;
  Instruction* a = g.b.Exp(g.Param(0));
  EXPECT_EQ(g.main->root(), a);
  Builder later(g.main);
  later.Negate(a);
  EXPECT_EQ(g.main->root(), a);
}

TEST(GraphTest, PostOrderPutsOperandsFirstAfterLateReplacements) {
  Graph g;
  Instruction* p = g.Param(0);
  Instruction* a = g.b.Exp(p);
  Instruction* out = g.b.Negate(a);
  g.main->SetRoot(out);
  Instruction* late = g.b.Floor(p);
  out->ReplaceOperand(0, late);
  const std::vector<Instruction*> order = g.main->PostOrder();
  auto at = [&](Instruction* i) {
    return std::find(order.begin(), order.end(), i) - order.begin();
  };
  EXPECT_LT(at(late), at(out));
  EXPECT_EQ(order.size(), 4);
  g.Done();
  // And what is printed can be read.
  EXPECT_OK(ParseModule(Print(g.module)).status());
}

TEST(GraphTest, DeadCodeGoesAndSideEffectsStay) {
  Graph g;
  Instruction* p = g.Param(0);
  Instruction* dead = g.b.Exp(g.b.Negate(p));
  const Shape shape = Shape::Array(kF32, {4});
  Instruction* effect = g.b.CustomCall("print", {p}, shape);
  effect->mutable_attrs<CustomCallAttrs>()->has_side_effect = true;
  g.main->SetRoot(g.b.Floor(p));
  (void)dead;
  EXPECT_EQ(g.main->RemoveDead(), 2);
  EXPECT_EQ(g.main->instruction_count(), 3);
  EXPECT_EQ(p->user_count(), 2);
  g.main->Compact();
  g.Done();
}

TEST(GraphTest, AFusionOfOneResultTakesItsPlace) {
  Graph g;
  Instruction* p = g.Param(0);
  Instruction* q = g.Param(1);
  Instruction* a = g.b.Add(p, q);
  Instruction* e = g.b.Exp(a);
  Instruction* out = g.b.Negate(e);
  g.main->SetRoot(out);
  Instruction* fusion = g.main->CreateFusion({e, a}, FusionKind::kLoop);
  EXPECT_EQ(out->operand(0), fusion);
  EXPECT_EQ(fusion->operand_count(), 2);
  EXPECT_EQ(fusion->fused()->root()->opcode(), Opcode::kExp);
  EXPECT_TRUE(fusion->fused()->IsFusionComputation());
  EXPECT_EQ(g.main->instruction_count(), 4);
  g.Done();
}

TEST(GraphTest, AFusionOfSeveralResultsMakesATuple) {
  Graph g;
  Instruction* p = g.Param(0);
  Instruction* a = g.b.Exp(p);
  Instruction* n = g.b.Negate(a);
  g.main->SetRoot(g.b.Tuple({a, n, n}));
  const uint64_t before =
      FingerprintOf(g.module.name() == "t" ? *g.main : *g.main);
  Instruction* fusion = g.main->CreateFusion({a, n}, FusionKind::kLoop);
  EXPECT_EQ(fusion->shape().ToString(), "(f32[4], f32[4])");
  g.Done();
  // Inlining gives the graph back.
  InlineCall(fusion);
  for (Instruction* i : g.main->instructions()) {
    if (i->opcode() == Opcode::kGetTupleElement) {
      i->ReplaceAllUsesWith(
          i->operand(0)->operand(static_cast<int>(i->tuple_index())));
    }
  }
  g.main->RemoveDead();
  EXPECT_EQ(FingerprintOf(*g.main), before);
  g.Done();
}

TEST(GraphTest, AFusionAroundTheRootBecomesTheRoot) {
  Graph g;
  Instruction* p = g.Param(0);
  Instruction* a = g.b.Exp(p);
  Instruction* n = g.b.Negate(a);
  g.main->SetRoot(n);
  Instruction* fusion = g.main->CreateFusion({a, n}, FusionKind::kLoop);
  EXPECT_EQ(g.main->root(), fusion);
  g.Done();
}

}  // namespace
}  // namespace ptxla::hlo
