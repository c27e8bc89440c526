// Names of Mosaic's operations on vectors.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_BLOCK_OPERATIONS_H_
#define PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_BLOCK_OPERATIONS_H_

#include <string>

namespace ptxla::lowering {

// What only names or repeats registers that are there.
inline bool IsFree(const std::string& name) {
  return name == "arith.constant" || name == "vector.shape_cast" ||
         name == "tpu.repeat" || name == "tpu.concatenate" ||
         name == "tpu.bitcast" || name == "arith.bitcast" ||
         name == "vector.extract_strided_slice" || name == "tpu.bitcast_vreg" ||
         name == "vector.extract";
}

inline bool IsReduction(const std::string& name) {
  return name == "vector.multi_reduction" || name == "tpu.all_reduce" ||
         name == "tpu.reduce_index" || name == "vector.reduction";
}

inline bool IsProduct(const std::string& name) {
  return name == "tpu.matmul" || name == "vector.contract";
}

inline bool IsTranspose(const std::string& name) {
  return name == "tpu.transpose" || name == "vector.transpose";
}

inline bool IsLoad(const std::string& name) {
  return name == "vector.load" || name == "tpu.vector_load" ||
         name == "tpu.strided_load" || name == "vector.transfer_read" ||
         name == "tpu.load";
}

inline bool IsStore(const std::string& name) {
  return name == "vector.store" || name == "tpu.vector_store" ||
         name == "tpu.strided_store" || name == "vector.transfer_write" ||
         name == "tpu.store";
}

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_BLOCK_OPERATIONS_H_
