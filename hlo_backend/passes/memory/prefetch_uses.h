// What a kernel does with the arrays that it reads, as far as a copy to VMEM
// ahead of it depends on that (vmem_prefetch.h).
//
//   const Instruction* dot = ProductIn(*fusion);
//   if (dot != nullptr && !HasOneRow(*dot) && FeedsProduct(*fusion, 1)) ...
#ifndef PTXLA_HLO_BACKEND_PASSES_MEMORY_PREFETCH_USES_H_
#define PTXLA_HLO_BACKEND_PASSES_MEMORY_PREFETCH_USES_H_

#include <cstdint>

#include "absl/types/span.h"
#include "chips/chip_spec.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// The product that the kernel is or has; null if none, or several in a chain.
const Instruction* ProductIn(const Instruction& kernel);
bool HasProduct(const Instruction& kernel);

// A product of one row reads its weights once, as fast as they come.
bool HasOneRow(const Instruction& dot);
// The same of each member of a batch (decode attention): the TPU compiler makes
// sums of such products. False of convolutions.
bool HasRowsOfOne(const Instruction& product);

// Readers with more instructions between them do not share a copy: it would
// keep VMEM from others for too long. ASSUMED.
inline constexpr int kMostBetweenReaders = 16;

// Operand `k` of the kernel is, perhaps converted, an operand of its product.
bool FeedsProduct(const Instruction& kernel, int k);

// What the kernel does with an operand.
enum class OperandUse { kProduct, kOneRowProduct, kOther };
OperandUse UseOf(const Instruction& kernel, const Instruction& operand);

// The array of the entry in HBM that the value is, or a bitcast of it; null if
// none.
Instruction* HbmParameterOf(Instruction* value);

// Kernels that copies may run under.
bool TakesTime(const Instruction& kernel);
// The kernel can have the parameter, or a bitcast of it, whole in VMEM.
bool TakesWhole(const Instruction& kernel, const Instruction& operand);
// Members of the product's batch share planes that its epilogue reads: they are
// walked inside of rows (b_inner in lowering/products/product_tiling.h), so
// that a right operand that streams would come again for each block of rows.
bool SharesPlanes(const Instruction& kernel, const Instruction& product);

// Everything that the kernel makes is reduced, over the same dimensions. (Rows
// and columns: libtpu 0.0.42.1 streams what it reduces so.)
bool OnlyReduces(const Instruction& kernel);

// Nothing else in the schedule does any work.
bool IsAlone(const Instruction& kernel,
             absl::Span<Instruction* const> schedule);

// Operand `k` is reduced as it is: what is computed from an array first is
// streamed (libtpu 0.0.42.1 on v4, v5e and v6e: maxima and sums of one array,
// against sums of squares, of products, of exponentials, of bf16 that is
// converted, and products of one row).
bool ReducesAsItIs(const Instruction& kernel, int k);

// The kernel gathers so many rows, or single elements of a table that it does
// not bring to VMEM itself, that the table comes there and they from it sooner
// than they come each by a transfer, even if nothing hides the copy.
bool WantsWholeTable(const Instruction& kernel, const chips::ChipSpec& chip);

// The same of planes. A copy that nothing hides is not made for them, though:
// libtpu 0.0.42.1 on v5e and v6e gathers them from HBM then.
bool WantsWholePlanes(const Instruction& kernel, const chips::ChipSpec& chip);

// Operand `k` is whole in VMEM, if it is an array of the entry and fits,
// whether others hide the copy or not:
//  - rows that are added to a large table block by block (one that fits into
//    its kernel is added to row after row), and a table that WantsWholeTable:
//    a transfer for each row takes longer;
//  - what is sorted, what a lone broadcast repeats and a lone dynamic slice is
//    taken of, where there is room (libtpu 0.0.42.1 on v4 to tpu7x, operands of
//    up to 64 MB; in fusions both stream).
bool WantsUnhidden(const Instruction& kernel, int k,
                   const chips::ChipSpec& chip);

// What a kernel reads and writes, wherever it lies, with padding.
int64_t BytesTouched(const Instruction& kernel);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_MEMORY_PREFETCH_USES_H_
