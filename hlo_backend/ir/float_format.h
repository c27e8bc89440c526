// How the narrow float types of HLO are coded.
//
//   FloatFormatOf(PrimitiveType::kF8E4M3Fn).mantissa_bits == 3
#ifndef PTXLA_HLO_BACKEND_IR_FLOAT_FORMAT_H_
#define PTXLA_HLO_BACKEND_IR_FLOAT_FORMAT_H_

#include "base/numerics/float_formats.h"
#include "hlo_backend/ir/primitive_type.h"

namespace ptxla::hlo {

// Of a float of at most 16 bits with a sign and a mantissa (f8e8m0fnu has
// neither); CHECKs that it is one.
const numerics::FloatFormat& FloatFormatOf(PrimitiveType type);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_FLOAT_FORMAT_H_
