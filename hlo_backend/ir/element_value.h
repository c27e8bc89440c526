// One element of any type, between its stored bytes and double, int64 or
// complex. Conversions to a type round to nearest even; the formats are those
// of base/numerics.
#ifndef PTXLA_HLO_BACKEND_IR_ELEMENT_VALUE_H_
#define PTXLA_HLO_BACKEND_IR_ELEMENT_VALUE_H_

#include <complex>
#include <cstdint>

#include "hlo_backend/ir/primitive_type.h"

namespace ptxla::hlo {

// `bytes` points to StorageBytes(type) bytes.
double LoadDouble(PrimitiveType type, const uint8_t* bytes);  // not complex
// u64 gives the same bits; floats truncate and saturate.
int64_t LoadInt(PrimitiveType type, const uint8_t* bytes);
std::complex<double> LoadComplex(PrimitiveType type, const uint8_t* bytes);

// Integers take the truncated value, saturated to their range; pred is != 0;
// complex gets a zero imaginary part.
void StoreDouble(PrimitiveType type, double value, uint8_t* bytes);
// Integers keep the low bits.
void StoreInt(PrimitiveType type, int64_t value, uint8_t* bytes);
void StoreComplex(PrimitiveType type, std::complex<double> value,
                  uint8_t* bytes);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_ELEMENT_VALUE_H_
