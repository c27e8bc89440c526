// Which numbers the arrays multiply for a product of a Mosaic kernel, and what
// brings its operands and results to them: as products of HLO do
// (products/product_numbers.h), and
//
//   operands            arrays take                     where
//   s4 x s4             s4, twice the rows of s8        chips with s8
//                       f8e4m3fn                        tpu7x
//   f8e4m3fn x same     f8e4m3b11fnuz, results scaled   chips with that one
//
//   BlockNumbers n = NumbersOfBlock(model, *s8, *s8, *s32, false);
//   n.arrays.rows          // 32
//   n.result_operations    // vector instructions per result register
#ifndef PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_BLOCK_NUMBERS_H_
#define PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_BLOCK_NUMBERS_H_

#include <cstdint>

#include "hlo_backend/lowering/products/product_problem.h"
#include "hlo_backend/mosaic/kernel_ir.h"
#include "isa/machine_model.h"

namespace ptxla::lowering {

struct BlockNumbers {
  ArrayShape arrays;
  // Vector instructions per 8 rows of 128 numbers.
  int64_t lhs_operations = 0, rhs_operations = 0, result_operations = 0;
};

// Of element types, or of vectors of them.
BlockNumbers NumbersOfBlock(const isa::MachineModel& model,
                            const mosaic::Type& lhs, const mosaic::Type& rhs,
                            const mosaic::Type& result, bool rhs_transposed);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_BLOCK_NUMBERS_H_
