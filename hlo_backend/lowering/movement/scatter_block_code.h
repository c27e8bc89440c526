// The code of a scatter in blocks (scatter_forms.h): lists of rows in SMEM, and
// what a grid step does with the list of its block.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_SCATTER_BLOCK_CODE_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_SCATTER_BLOCK_CODE_H_

#include <algorithm>
#include <cstdint>

#include "hlo_backend/lowering/movement/row_dma.h"
#include "hlo_backend/lowering/movement/scatter_forms.h"

namespace ptxla::lowering {

// How a table is cut.
struct ScatterBlocks {
  static constexpr int kUnroll = 8;
  // A block's head: the address of its first row's entry, and how many there
  // are in several counts, so that one row's need not wait for its neighbour's.
  static constexpr int kHeadBytes = 32;
  static constexpr int kCounts = 4;

  int64_t rows = 8;    // of the table in a block, a power of two
  int64_t count = 1;   // of blocks
  int64_t padded = 8;  // rows of updates in lists
  int64_t slots = 0;   // rows fetched at a time; 0: they lie in VMEM
  int64_t slot_bytes = 0;
  // The next block's rows are fetched before this block's store begins, which
  // would hold them up. Where one core walks all blocks.
  bool ahead = false;
  // Rows of a block if the indices are spread evenly: what timing assumes.
  int64_t expected = 1;
  int indices = 0, result = 0;                // windows
  int32_t next_offset = 0, heads_offset = 0;  // SMEM behind the indices
  // The block lies in scratch there and is packed at the end; -1: it lies in
  // the slot of the result.
  int64_t packed_from = -1;
};

class ScatterBlockCode {
 public:
  // `fetch`: of a row of updates, if there are slots.
  ScatterBlockCode(const ScatterProblem& problem, const ScatterBlocks& blocks,
                   RowDma fetch)
      : p_(problem), k_(blocks), fetch_(fetch) {}

  // Code before the first step: lists of rows, for all blocks.
  absl::Status Entry(codegen::CodeBuilder& b);
  absl::Status Step(codegen::CodeBuilder& b);

 private:
  void Addresses(codegen::CodeBuilder& b);
  // Sets row_ and left_ to the list of a block.
  void Begin(codegen::CodeBuilder& b, codegen::Sca block);
  codegen::Sca Existing(codegen::CodeBuilder& b, codegen::Sca index,
                        codegen::Sca last, int u);
  codegen::Sca Head(codegen::CodeBuilder& b, codegen::Sca index);
  codegen::Sca Number(codegen::CodeBuilder& b, codegen::Sca entry);
  void Take(codegen::CodeBuilder& b, codegen::Sca now);
  void Fetch(codegen::CodeBuilder& b, codegen::Sca now);
  void Wait(codegen::CodeBuilder& b, codegen::Sca now);
  void Add(codegen::CodeBuilder& b, codegen::Sca now, int64_t expected);
  void AddRow(codegen::CodeBuilder& b, codegen::Sca at, codegen::Sca from);
  void Pack(codegen::CodeBuilder& b);
  int64_t ExpectedNow() const { return std::min(k_.expected, k_.slots); }

  const ScatterProblem p_;
  const ScatterBlocks k_;
  const RowDma fetch_;
  codegen::Sca indices_, next_, heads_, table_, updates_, row_, left_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_SCATTER_BLOCK_CODE_H_
