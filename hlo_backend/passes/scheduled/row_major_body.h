// A computation while row_major.h rewrites it: the row-major value of each
// instruction of the old body, and how new ones come to be.
//
//   RowMajorBody body(computation, generation);
//   body.Set(add, body.Like(add, Opcode::kAdd, shape, {body.of(x), body.of(y)},
//                           {}));
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_ROW_MAJOR_BODY_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_ROW_MAJOR_BODY_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

class RowMajorBody {
 public:
  // `generation` of the chip: tiles of values that come to be (TpuLayout).
  RowMajorBody(Computation* c, int generation)
      : c_(c), generation_(generation) {}

  Computation* computation() const { return c_; }
  int generation() const { return generation_; }

  // The row-major value of an instruction of the old body.
  Instruction* of(const Instruction* i) const { return normal_.at(i); }
  void Set(const Instruction* i, Instruction* value) { normal_[i] = value; }

  // The bytes of the value by another shape.
  Instruction* As(Instruction* value, const Shape& shape);
  // In place of `i`, with its metadata and what it calls.
  Instruction* Like(const Instruction* i, Opcode opcode, const Shape& shape,
                    const std::vector<Instruction*>& operands,
                    Attributes attributes);
  // Dimension k of the result is dimension permutation[k] of the value.
  Instruction* Transposed(Instruction* value, const DimVector& permutation,
                          const Shape& shape);
  // In place of `i`, a result that comes with its logical dimensions in the
  // order `natural`, as `i` lies.
  Instruction* Result(const Instruction* i, Opcode opcode,
                      const std::vector<Instruction*>& operands,
                      Attributes attributes, const DimVector& natural);
  // An array in row-major order.
  Shape Array(PrimitiveType type, const DimVector& dims) const;

 private:
  Computation* c_;
  const int generation_;
  absl::flat_hash_map<const Instruction*, Instruction*> normal_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_ROW_MAJOR_BODY_H_
