// Changing graphs: users, roots, fusions, inlining, clones, orders.
#include <algorithm>

#include "gtest/gtest.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/fingerprint.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/ir/verifier.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

struct Graph {
  Module module{"t"};
  Computation* main = module.AddComputation("main");
  Builder b{main};
  Instruction* Param(int64_t n) {
    return b.Parameter(n, Shape::Array(kF32, {4}), "p");
  }
  void Done() {
    module.SetEntry(main);
    EXPECT_OK(VerifyModule(module));
  }
};

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

TEST(GraphTest, FingerprintsSeeStructureNotNames) {
  auto fingerprint = [](absl::string_view body) {
    auto module =
        ParseModule(absl::StrCat("HloModule t\nENTRY main {", body, "}"));
    EXPECT_OK(module.status());
    return FingerprintOf(**module);
  };
  const uint64_t base = fingerprint(
      "p = f32[4] parameter(0) a = f32[4] exponential(p) b = f32[4] negate(p) "
      "ROOT r = f32[4] subtract(a, b)");
  EXPECT_EQ(base, fingerprint("x = f32[4] parameter(0) b = f32[4] negate(x) "
                              "a = f32[4] exponential(x), "
                              "metadata={op_name=\"y\"} ROOT s = f32[4] "
                              "subtract(a, b)"));
  for (const char* other : {
           "p = f32[4] parameter(0) a = f32[4] exponential(p) b = f32[4] "
           "negate(p) ROOT r = f32[4] subtract(b, a)",
           "p = f32[4] parameter(0) a = f32[4] exponential(p) b = f32[4] "
           "negate(a) ROOT r = f32[4] subtract(a, b)",
           "p = f32[5] parameter(0) a = f32[5] exponential(p) b = f32[5] "
           "negate(p) ROOT r = f32[5] subtract(a, b)",
           "p = f32[4]{0:S(1)} parameter(0) a = f32[4] exponential(p) b = "
           "f32[4] negate(p) ROOT r = f32[4] subtract(a, b)",
           "p = f32[4] parameter(0) a = f32[4] exponential(p) b = f32[4] "
           "negate(p) d = f32[4] negate(b) ROOT r = f32[4] subtract(a, b)",
       }) {
    EXPECT_NE(base, fingerprint(other)) << other;
  }
}

TEST(GraphTest, KernelFingerprintsForgetWhoTheOperandsAre) {
  Graph g;
  Instruction* p = g.Param(0);
  Instruction* q = g.Param(1);
  Instruction* a = g.b.Add(p, q);
  Instruction* b = g.b.Add(a, p);
  Instruction* c = g.b.Subtract(a, b);
  EXPECT_EQ(KernelFingerprint(*a), KernelFingerprint(*b));
  EXPECT_NE(KernelFingerprint(*a), KernelFingerprint(*c));
}

// An array that is both operands is read once.
TEST(GraphTest, KernelFingerprintsKnowWhichOperandsAreTheSame) {
  Graph g;
  Instruction* p = g.Param(0);
  Instruction* q = g.Param(1);
  EXPECT_NE(KernelFingerprint(*g.b.Add(p, p)),
            KernelFingerprint(*g.b.Add(p, q)));
  EXPECT_EQ(KernelFingerprint(*g.b.Add(p, p)),
            KernelFingerprint(*g.b.Add(q, q)));
}

// Code may hold them: the fill of a broadcast, the start of a reduce.
TEST(GraphTest, KernelFingerprintsKnowTheValuesOfConstants) {
  Graph g;
  Instruction* one = g.b.Constant(Literal::Scalar<float>(1));
  Instruction* two = g.b.Constant(Literal::Scalar<float>(2));
  Instruction* a = g.b.BroadcastScalar(one, {4});
  Instruction* b = g.b.BroadcastScalar(two, {4});
  Instruction* c = g.b.BroadcastScalar(one, {4});
  EXPECT_NE(KernelFingerprint(*a), KernelFingerprint(*b));
  EXPECT_EQ(KernelFingerprint(*a), KernelFingerprint(*c));
}

TEST(GraphTest, IdenticalMeansOneCanStandForTheOther) {
  Graph g;
  Instruction* p = g.Param(0);
  Instruction* a = g.b.Slice(p, {0}, {2});
  Instruction* b = g.b.Slice(p, {0}, {2});
  Instruction* c = g.b.Slice(p, {1}, {3});
  EXPECT_TRUE(a->Identical(*b));
  EXPECT_FALSE(a->Identical(*c));
  Instruction* one = g.b.One(kF32);
  EXPECT_TRUE(one->Identical(*g.b.One(kF32)));
  EXPECT_FALSE(one->Identical(*g.b.Zero(kF32)));
  const Shape shape = Shape::Array(kF32, {4});
  Instruction* r = g.b.Rng(one, one, shape, RngDistribution::kUniform);
  Instruction* s = g.b.Rng(one, one, shape, RngDistribution::kUniform);
  EXPECT_FALSE(r->Identical(*s));
}

TEST(GraphTest, AComputationIsCopiedIntoAnotherModuleWithItsCallees) {
  Graph g;
  Instruction* p = g.Param(0);
  g.b.Reduce(p, g.b.Zero(kF32), {0}, g.b.Scalar2(Opcode::kAdd, kF32));
  g.Done();
  Module other("other");
  Module::ComputationMap copied;
  other.SetEntry(other.CloneComputation(*g.main, "copy", &copied));
  EXPECT_OK(VerifyModule(other));
  EXPECT_EQ(other.computations().size(), 2);
  EXPECT_EQ(FingerprintOf(*other.entry()), FingerprintOf(*g.main));
}

TEST(GraphTest, UnusedComputationsGo) {
  Graph g;
  Instruction* p = g.Param(0);
  Instruction* r =
      g.b.Reduce(p, g.b.Zero(kF32), {0}, g.b.Scalar2(Opcode::kAdd, kF32));
  g.main->SetRoot(r);
  g.b.Scalar2(Opcode::kMultiply, kF32);
  g.Done();
  EXPECT_EQ(g.module.RemoveUnusedComputations(), 1);
  EXPECT_EQ(g.module.computations().size(), 2);
  g.Done();
}

TEST(GraphTest, WhatOnlyUnusedComputationsCallGoesWithThem) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(R"(HloModule t
    inner { a = f32[] parameter(0)
      ROOT r = f32[] negate(a) }
    outer { a = f32[] parameter(0)
      p = pred[] compare(a, a), direction=LT
      b = f32[] call(a), to_apply=inner
      ROOT r = f32[] conditional(p, b, a), true_computation=inner,
        false_computation=inner }
    ENTRY main {
      p = f32[] parameter(0)
      c = f32[] call(p), to_apply=outer
      ROOT n = f32[] negate(p)
    }
  )"));
  Computation* main = module->entry();
  main->RemoveDead();
  EXPECT_EQ(module->RemoveUnusedComputations(), 2);
  EXPECT_EQ(module->computations(), std::vector<Computation*>{main});
}

TEST(GraphTest, NamesAreNewToTheModule) {
  Module m("t");
  EXPECT_EQ(m.UniqueName("add"), "add");
  EXPECT_EQ(m.UniqueName("add"), "add.1");
  m.ReserveName("add.7");
  EXPECT_EQ(m.UniqueName("add"), "add.8");
  EXPECT_EQ(m.UniqueName("add.3"), "add.9");
  EXPECT_EQ(m.UniqueName("x.20"), "x.20");
  EXPECT_EQ(m.UniqueName("x"), "x.21");
}

TEST(GraphTest, DevicesAreCountedFromGroupsWhenTheHeaderIsSilent) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(R"(HloModule t
    add { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT r = f32[] add(a, b) }
    ENTRY main {
      p = f32[4] parameter(0)
      ROOT r = f32[4] all-reduce(p), replica_groups=[1,512]<=[512], to_apply=add
    })"));
  EXPECT_EQ(module->num_partitions(), 1);
  EXPECT_EQ(module->DeviceCount(), 512);
}

TEST(GraphTest, GroupsExpandFromEveryForm) {
  auto expand = [](const char* text) {
    return ParseReplicaGroups(text).value().Expand();
  };
  using List = ReplicaGroups::List;
  EXPECT_EQ(expand("{{0,2},{1,3}}"), (List{{0, 2}, {1, 3}}));
  EXPECT_EQ(expand("[2,2]<=[4]"), (List{{0, 1}, {2, 3}}));
  EXPECT_EQ(expand("[2,2]<=[2,2]T(1,0)"), (List{{0, 2}, {1, 3}}));
  EXPECT_EQ(expand("mesh['a'=2,'b'=2] {'a'}"), (List{{0, 2}, {1, 3}}));
  EXPECT_EQ(expand("mesh['a'=2,'b'=2] {'b'}"), (List{{0, 1}, {2, 3}}));
  EXPECT_EQ(expand("mesh['a'=4] {'a':(2)2}"), (List{{0, 1}, {2, 3}}));
  EXPECT_EQ(expand("mesh['a'=4] {'a':(1)2}"), (List{{0, 2}, {1, 3}}));
  EXPECT_EQ(expand("mesh['a'=2,'b'=2], device_ids=(3,2,1,0) {'b'}"),
            (List{{3, 2}, {1, 0}}));
  EXPECT_EQ(ParseReplicaGroups("{}").value().group_size(8), 8);
}

}  // namespace
}  // namespace ptxla::hlo
