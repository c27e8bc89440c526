// What a module has beside its graphs: computations, names, devices.
#include "hlo_backend/ir/module.h"

#include "gtest/gtest.h"
#include "hlo_backend/ir/fingerprint.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/replica_groups.h"
#include "hlo_backend/ir/verifier.h"
#include "tests/hlo_backend/ir/graph.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

TEST(ModuleTest, AComputationIsCopiedIntoAnotherModuleWithItsCallees) {
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

TEST(ModuleTest, UnusedComputationsGo) {
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

TEST(ModuleTest, WhatOnlyUnusedComputationsCallGoesWithThem) {
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

TEST(ModuleTest, NamesAreNewToTheModule) {
  Module m("t");
  EXPECT_EQ(m.UniqueName("add"), "add");
  EXPECT_EQ(m.UniqueName("add"), "add.1");
  m.ReserveName("add.7");
  EXPECT_EQ(m.UniqueName("add"), "add.8");
  EXPECT_EQ(m.UniqueName("add.3"), "add.9");
  EXPECT_EQ(m.UniqueName("x.20"), "x.20");
  EXPECT_EQ(m.UniqueName("x"), "x.21");
}

TEST(ModuleTest, DevicesAreCountedFromGroupsWhenTheHeaderIsSilent) {
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

TEST(ModuleTest, GroupsExpandFromEveryForm) {
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
