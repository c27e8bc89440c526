#include "hlo_backend/lowering/codegen/safe_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"

namespace ptxla::codegen {
namespace {

using isa::MachineModel;
using isa::Opcode;

// Loads, sums of values that are a few instructions old, and stores.
Code RandomSums(const MachineModel& m, std::mt19937& random) {
  CodeBuilder b(m);
  const Sca in = b.GlobalSca(), out = b.GlobalSca();
  b.NewBlock("sums");
  std::vector<Vec> values;
  for (int k = 0; k < 200; ++k) {
    const auto recent = [&] {
      const size_t back = std::min<size_t>(values.size(), 1 + random() % 12);
      return values[values.size() - back];
    };
    const int what = static_cast<int>(random() % 4);
    if (values.size() < 2 || what == 0) {
      values.push_back(b.Load(0, in, k * 4096));
    } else if (what == 1) {
      b.Store(1, out, k * 4096, recent());
    } else {
      values.push_back(b.Binary(Opcode::kVaddF32, recent(), recent()));
    }
  }
  for (size_t k = 0; k < values.size(); ++k) {
    if (k % 7 == 0) b.Store(1, out, -4096 * static_cast<int>(k), values[k]);
  }
  return b.Finish();
}

// A block, and which of its registers are alive as it is issued.
struct Issuing {
  Issuing(const Code& code, const MachineModel& m)
      : instrs(code.nodes.back().instrs),
        registers(code.registers),
        reads(instrs, registers),
        graph(BuildGraph(instrs, registers, m, BlockMode::kFree)),
        locals(registers),
        left(reads.count),
        issued(instrs.size(), false) {}

  // What it reads is made, and there is a register for what it writes.
  bool Ready(int i, size_t limit) const {
    if (issued[i]) return false;
    bool ready = true;
    std::map<int32_t, int> uses;
    locals.ForEachRead(instrs[i], [&](int32_t reg) {
      ready &= made.count(reg) > 0;
      ++uses[reg];
    });
    size_t after = alive.size() + (locals.Writes(instrs[i]) ? 1 : 0);
    for (const auto& [reg, count] : uses) {
      after -= left[reg - reads.range.first] == count;
    }
    return ready && after <= limit;
  }
  void Issue(int i) {
    issued[i] = true;
    locals.ForEachRead(instrs[i], [&](int32_t reg) {
      if (--left[reg - reads.range.first] == 0) alive.erase(reg);
    });
    if (!locals.Writes(instrs[i])) return;
    made.insert(instrs[i].dst);
    if (left[instrs[i].dst - reads.range.first] > 0) {
      alive.insert(instrs[i].dst);
    }
  }

  const std::vector<VInstr>& instrs;
  const std::vector<VRegister>& registers;
  const LocalReads reads;
  const Graph graph;
  const LocalRegisters locals;
  std::vector<int> left;
  std::vector<bool> issued;
  std::set<int32_t> made, alive;
};

// With as many registers as the written order needs, or a few more, whatever is
// issued of what is allowed and finds a register: something always is.
TEST(SafeOrderTest, WhateverIsAllowedTheRestFindsRegisters) {
  const MachineModel m = MachineModel::Unit();
  std::mt19937 random(11);
  int64_t before_their_turn = 0;
  for (int k = 0; k < 30; ++k) {
    const Code code = RandomSums(m, random);
    const int n = static_cast<int>(code.nodes.back().instrs.size());
    size_t needed = 0;
    Issuing written(code, m);
    for (int i = 0; i < n; ++i) {
      written.Issue(i);
      needed = std::max(needed, written.alive.size());
    }
    const size_t limit = needed + k % 3 * 2;
    Issuing any(code, m);
    SafeOrder safe(any.instrs, any.registers, any.reads, any.graph,
                   static_cast<int>(limit));
    int turn = 0;
    for (int done = 0; done < n; ++done) {
      std::vector<int> allowed;
      for (int i = 0; i < n; ++i) {
        if (any.Ready(i, limit) && safe.Allows(i)) allowed.push_back(i);
      }
      ASSERT_FALSE(allowed.empty()) << done << " of " << n;
      const int i = allowed[random() % allowed.size()];
      before_their_turn += i != turn;
      any.Issue(i);
      safe.Issue(i);
      ASSERT_LE(any.alive.size(), limit) << done << " of " << n;
      while (turn < n && any.issued[turn]) ++turn;
    }
  }
  EXPECT_GT(before_their_turn, 0);
}

}  // namespace
}  // namespace ptxla::codegen
