// When do instructions on registers issue?
#include "hlo_backend/lowering/custom_calls/issue_graph.h"

#include <vector>

#include "gtest/gtest.h"

namespace ptxla::lowering {
namespace {

Work On(isa::Slot slot, int latency) {
  Work work;
  work.slots[static_cast<int>(slot)] = 1;
  work.latency = latency;
  return work;
}

TEST(IssueGraphTest, AResultIsItsLatencyBehind) {
  const isa::MachineModel model = isa::MachineModel::Unit();
  IssueGraph graph(model);
  const int add = graph.Kind(On(isa::Slot::kVector, 7));
  const int first = graph.Add(add, {-1});
  graph.Add(add, {first});
  EXPECT_EQ(graph.Schedule(), 14);
}

TEST(IssueGraphTest, ACycleTakesAsManyAsItHasSlots) {
  isa::MachineModel model = isa::MachineModel::Unit();
  model.SetSlots(isa::Slot::kVector, 4);
  IssueGraph graph(model);
  const int add = graph.Kind(On(isa::Slot::kVector, 1));
  for (int k = 0; k < 40; ++k) graph.Add(add, {});
  EXPECT_EQ(graph.Schedule(), 10);
}

// Eight cycles of three loads and a store, eight of two stores.
TEST(IssueGraphTest, LoadsAndStoresShareABundle) {
  isa::MachineModel model = isa::MachineModel::Unit();
  model.SetSlots(isa::Slot::kLoad, 3);
  model.SetSlots(isa::Slot::kStore, 2);
  model.load_store_total = 4;
  IssueGraph graph(model);
  const int load = graph.Kind(On(isa::Slot::kLoad, 1));
  const int store = graph.Kind(On(isa::Slot::kStore, 1));
  for (int k = 0; k < 24; ++k) {
    graph.Add(load, {});
    graph.Add(store, {});
  }
  EXPECT_EQ(graph.Schedule(), 16);
}

TEST(IssueGraphTest, WithoutALimitOfItsOwnABundleTakesAllThatHasASlot) {
  isa::MachineModel model = isa::MachineModel::Unit();
  model.SetSlots(isa::Slot::kLoad, 2);
  model.load_store_total = 0;
  IssueGraph graph(model);
  const int load = graph.Kind(On(isa::Slot::kLoad, 1));
  for (int k = 0; k < 8; ++k) graph.Add(load, {});
  EXPECT_EQ(graph.Schedule(), 4);
}

TEST(IssueGraphTest, AUnitIsBusyForItsInterval) {
  isa::MachineModel model = isa::MachineModel::Unit();
  model.xlus = 2;
  IssueGraph graph(model);
  Work work = On(isa::Slot::kPop, 10);
  work.unit = graph.XluUnits();
  work.interval = 4;
  const int across = graph.Kind(work);
  for (int k = 0; k < 6; ++k) graph.Add(across, {});
  // Three on each, the last after eight cycles.
  EXPECT_EQ(graph.Schedule(), 18);
}

// 17 cycles to the permutation, 36 to the next reduction.
TEST(IssueGraphTest, AnXluTakesItsTimeBetweenReductionsAndPermutations) {
  const isa::MachineModel model = isa::MachineModel::Unit();
  IssueGraph graph(model);
  graph.SetSwitches(/*reduce_to_permute=*/17, /*permute_to_reduce=*/36);
  Work work = On(isa::Slot::kPop, 1);
  work.unit = graph.XluUnits();
  work.interval = 4;
  work.mode = XluMode::kReduce;
  const int reduce = graph.Kind(work);
  work.mode = XluMode::kPermute;
  const int permute = graph.Kind(work);
  int node = graph.Add(reduce, {-1});
  node = graph.Add(reduce, {node});
  EXPECT_EQ(graph.Schedule(), 4 + 1);
  node = graph.Add(permute, {node});
  EXPECT_EQ(graph.Schedule(), 4 + 17 + 1);
  graph.Add(reduce, {node});
  EXPECT_EQ(graph.Schedule(), 4 + 17 + 36 + 1);
}

// The second one is free for what is of the other mode.
TEST(IssueGraphTest, TwoXlusShareReductionsAndPermutations) {
  isa::MachineModel model = isa::MachineModel::Unit();
  model.xlus = 2;
  IssueGraph graph(model);
  graph.SetSwitches(/*reduce_to_permute=*/17, /*permute_to_reduce=*/36);
  Work work = On(isa::Slot::kPop, 1);
  work.unit = graph.XluUnits();
  work.interval = 4;
  work.mode = XluMode::kReduce;
  int node = graph.Add(graph.Kind(work), {-1});
  work.mode = XluMode::kPermute;
  graph.Add(graph.Kind(work), {node});
  EXPECT_EQ(graph.Schedule(), 2);
}

// The chain of ten begins first, though it was named last.
TEST(IssueGraphTest, WhatMostDependsOnGoesFirst) {
  const isa::MachineModel model = isa::MachineModel::Unit();
  IssueGraph graph(model);
  const int add = graph.Kind(On(isa::Slot::kVector, 2));
  for (int k = 0; k < 10; ++k) graph.Add(add, {});
  int node = -1;
  for (int k = 0; k < 10; ++k) node = graph.Add(add, {node});
  EXPECT_EQ(graph.Schedule(), 21);
}

// All wait for the node that was named last.
TEST(IssueGraphTest, OfEqualsTheOneThatMoreReadGoesFirst) {
  const isa::MachineModel model = isa::MachineModel::Unit();
  IssueGraph graph(model);
  const int load = graph.Kind(On(isa::Slot::kLoad, 1));
  const int add = graph.Kind(On(isa::Slot::kVector, 1));
  std::vector<int> values;
  for (int k = 0; k < 20; ++k) values.push_back(graph.Add(load, {}));
  const int row = graph.Add(load, {});
  for (const int value : values) graph.Add(add, {value, row});
  EXPECT_EQ(graph.Schedule(), 22);
}

}  // namespace
}  // namespace ptxla::lowering
