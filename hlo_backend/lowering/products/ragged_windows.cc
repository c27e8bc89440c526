#include "hlo_backend/lowering/products/ragged_windows.h"

#include <utility>

#include "base/status.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

namespace {

// Operands of a RaggedCall that scalar code made before.
constexpr int kWordsArg = 3, kGroupArg = 4, kTileArg = 5;

// Windows of a grouped product are where the tables say.
void FollowTables(const hlo::RaggedCall& call, const RaggedWindows& w,
                  Tiling* tiling) {
  const AssumedSteps assumed = AssumeSteps(call);
  const auto by_table = [&](int window, int dim, int arg,
                            const std::vector<int64_t>& table) {
    isa::WindowDim& d = tiling->windows[window].dims[dim];
    if (d.grid_dim < 0) return;
    d.table = table;
    d.table_arg = arg;
  };
  by_table(w.lhs, 1, kTileArg, assumed.tile);
  if (call.by_groups) {
    by_table(w.rhs, 1, kTileArg, assumed.tile);
    by_table(w.out, 0, kGroupArg, assumed.group);
  } else {
    by_table(w.rhs, 0, kGroupArg, assumed.group);
    by_table(w.out, 1, kTileArg, assumed.tile);
  }
}

}  // namespace

absl::StatusOr<RaggedWindows> AddRaggedWindows(const hlo::Instruction& i,
                                               const hlo::RaggedCall& call,
                                               const RaggedViews& views,
                                               const RaggedTiling& plan,
                                               Tiling* tiling) {
  RaggedWindows w;
  w.lhs = AddOperandWindow(views.lhs, 0, plan.tile, plan.grid, /*is_lhs=*/true,
                           /*transposed=*/call.by_groups, tiling);
  w.rhs = AddOperandWindow(views.rhs, 1, plan.tile, plan.grid,
                           /*is_lhs=*/false, /*transposed=*/false, tiling);
  const hlo::Instruction& words = *i.operand(kWordsArg);
  ASSIGN_OR_RETURN(w.index, RowIndex::Of(words));
  w.words = w.index.AddWindow(kWordsArg, words.shape().dim(0), 1, tiling);
  tiling->windows[w.words].direction = isa::Direction::kIn;
  w.out = AddResultWindow(views.out, static_cast<int>(tiling->args.size()) - 1,
                          plan.tile, plan.grid, isa::Direction::kOut, tiling);
  // Many steps make one block of sums: the next has time to wait.
  if (plan.sums) tiling->windows[w.out].slots = 1;
  if (!call.dense) FollowTables(call, w, tiling);
  w.all = tiling->windows;
  return w;
}

RaggedRows ReadRaggedRows(const hlo::RaggedCall& call, const RaggedTiling& plan,
                          const RaggedWindows& windows, CodeBuilder* builder) {
  CodeBuilder& b = *builder;
  RaggedRows rows;
  const Sca words = b.GlobalSca();
  b.WindowAddress(words, windows.words);
  const Sca index = b.NewSca();
  b.GridIndex(index, plan.groups_dim);
  if (call.dense) {
    const int rows_dim = call.by_groups ? plan.grid.k : plan.grid.m;
    const int64_t block =
        call.by_groups ? plan.tile.block_k : plan.tile.block_m;
    const Sca at = b.NewSca();
    b.GridIndex(at, rows_dim);
    const Sca origin = b.SMulImm(at, static_cast<int32_t>(block));
    rows.low = b.Promote(b.SBinary(
        Opcode::kSsub, windows.index.LoadRaw(b, words, index), origin));
    rows.high = b.Promote(b.SBinary(
        Opcode::kSsub, windows.index.LoadRaw(b, words, b.SAddImm(index, 1)),
        origin));
    return rows;
  }
  const Sca word = windows.index.LoadRaw(b, words, index);
  constexpr int32_t kField = (1 << hlo::kRaggedLowShift) - 1;
  rows.high = b.Promote(b.SBinaryImm(Opcode::kSand, word, kField));
  rows.low = b.Promote(b.SBinaryImm(
      Opcode::kSand, b.SBinaryImm(Opcode::kSshrl, word, hlo::kRaggedLowShift),
      kField));
  rows.first =
      b.Promote(b.SBinaryImm(Opcode::kSshrl, word, hlo::kRaggedFirstShift));
  return rows;
}

}  // namespace ptxla::lowering
