// The ways to add rows to a table, and what they share.
//
//   resident  The whole table is in VMEM while rows are added: it lies there,
//             or one copy brings it and one takes it away. Equal indices follow
//             one another through VMEM.
//   batched   Rows of the table are fetched, added to and written back, many
//             in flight. Rows of a batch that share an index share the slot of
//             the first of them (row_owners.h).
//   blocks    A table that begins as one value everywhere is written block by
//             block: filled, and the rows added that a list says are the
//             block's. Lists of all blocks are made in SMEM first.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_SCATTER_FORMS_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_SCATTER_FORMS_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/movement/row_index.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {

// What an update does to a word of the table.
struct ScatterCombine {
  // Of (old, update); nothing: the update replaces what was there.
  std::optional<hlo::Opcode> op = hlo::Opcode::kAdd;
  hlo::PrimitiveType type = hlo::PrimitiveType::kF32;

  // Unimplemented: more than one operation.
  static absl::StatusOr<ScatterCombine> Of(const hlo::Instruction& scatter);
  codegen::Vec Emit(codegen::CodeBuilder& b, codegen::Vec old,
                    codegen::Vec update) const;
};

struct ScatterProblem {
  PhysicalArray table, updates;
  // The table as it is stored: of bf16, after sums in f32.
  PhysicalArray result;
  RowIndex index;
  std::vector<isa::KernelArg> args;
  ScatterCombine combine;
  // Bits of every word of the table before, which the kernel writes there:
  // without an argument that holds them.
  std::optional<uint32_t> fill;

  // Numbers of arguments. The table is number 0, if there is one.
  int index_arg() const { return fill.has_value() ? 0 : 1; }
  int updates_arg() const { return index_arg() + 1; }
  bool UpdatesInVmem() const {
    return args[updates_arg()].space == isa::Space::kVmem;
  }
  int result_arg() const { return index_arg() + 2; }

  // 512-byte pieces of a row, eight to a register.
  int64_t pieces() const { return updates.tiles_across; }
  int64_t registers() const { return (pieces() + 7) / 8; }
};

// Windows of a scatter in `rows` rows a step, and the code that walks them.
struct ScatterFrame {
  Tiling tiling;
  int64_t rows = 0, steps = 1;
  int64_t pitch = 0;  // bytes between eights of rows of updates in VMEM
  int indices = 0, updates = 0;  // window numbers
};
ScatterFrame FrameScatter(const ScatterProblem& problem, int64_t rows);

// The index of row `n` of a step, -1 for rows after the last; `first`: number
// of the step's first row.
codegen::Sca IndexOrNone(codegen::CodeBuilder& b, const ScatterProblem& problem,
                         const ScatterFrame& frame, codegen::Sca indices,
                         codegen::Sca first, codegen::Sca n);

// Code: `bytes`, whole rows, from `at` on get the problem's fill.
void FillTable(codegen::CodeBuilder& b, const ScatterProblem& problem,
               int space, codegen::Sca at, int64_t bytes);

// Register `r` of a row of updates at `from` + `offset`, whose pieces lie
// `pitch` apart in codegen space `space`. `whole`: that of a row whose last
// register is not full reads beyond it. Otherwise it begins that much earlier:
// at the end of VMEM there is nothing behind a row.
codegen::Vec LoadUpdate(codegen::CodeBuilder& b, const ScatterProblem& problem,
                        int space, codegen::Sca from, int32_t offset,
                        int64_t pitch, int64_t r, bool whole);

// ResourceExhausted if the form does not fit the chip.
absl::StatusOr<Tiling> ResidentScatter(const KernelContext& context,
                                       const ScatterProblem& problem);
absl::StatusOr<Tiling> BatchedScatter(const KernelContext& context,
                                      const ScatterProblem& problem);
// Of tables that are filled only.
absl::StatusOr<Tiling> BlockScatter(const KernelContext& context,
                                    const ScatterProblem& problem);
// Single words of a 1-D table: one after another in VMEM, or where it does not
// fit, batches of rows of 128 words as above.
absl::StatusOr<isa::Kernel> EmitElementScatter(const KernelContext& context,
                                               const hlo::Instruction& i);
// Columns of words (analysis/table_columns.h) of a table in HBM, in batches.
absl::StatusOr<isa::Kernel> EmitColumnScatter(const KernelContext& context,
                                              const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_SCATTER_FORMS_H_
