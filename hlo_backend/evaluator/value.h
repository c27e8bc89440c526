// A value while a module is evaluated: an array, a tuple or a token. Copies
// share their bytes; a value that holds its bytes alone may be changed in
// place.
//
// Arrays are dense and row-major whatever the layout of their shape says. A
// splat keeps one element for all: broadcasts of scalars cost nothing.
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_VALUE_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_VALUE_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "hlo_backend/evaluator/buffer_pool.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/ir/literal.h"
#include "hlo_backend/ir/shape.h"

namespace ptxla::hlo {

// A shape that is held, or (ShapeOf an instruction) only pointed at: copying
// one is cheap, a Shape is not.
using ShapeRef = std::shared_ptr<const Shape>;
inline ShapeRef Hold(const Shape& shape) {
  return std::make_shared<const Shape>(shape);
}
// The instruction must outlive all copies.
inline ShapeRef ShapeOf(const Instruction& i) {
  return ShapeRef(ShapeRef(), &i.shape());
}
class Value {
 public:
  Value() = default;
  // Uninitialised as far as the caller is concerned (in fact zero).
  static Value NewArray(ShapeRef shape);
  static Value NewArray(const Shape& shape) { return NewArray(Hold(shape)); }
  // The same from a pool, with any content.
  static Value NewArray(ShapeRef shape, BufferPool* pool);
  static Value NewSplat(ShapeRef shape, const void* element);
  static Value NewSplat(const Shape& shape, const void* element) {
    return NewSplat(Hold(shape), element);
  }
  static Value NewTuple(ShapeRef shape, std::vector<Value> elements);
  static Value NewTuple(const Shape& shape, std::vector<Value> elements) {
    return NewTuple(Hold(shape), std::move(elements));
  }
  // Borrows the bytes of `literal`, which must outlive every copy.
  static Value Borrow(const Literal& literal);
  static Value Token() { return NewTuple(Shape::Token(), {}); }

  const Shape& shape() const { return *shape_; }
  const ShapeRef& shape_ref() const { return shape_; }
  PrimitiveType type() const { return shape_->type(); }
  bool IsTuple() const { return shape_->IsTuple(); }
  bool IsSplat() const { return splat_; }
  int64_t count() const { return count_; }
  int element_bytes() const { return element_bytes_; }

  const std::vector<Value>& elements() const { return *elements_; }
  // Moves element i out if nobody else holds the tuple, else copies it. For a
  // moved one only its shape may be asked afterwards.
  Value TakeElement(int i);

  // One element if IsSplat(), else all.
  const uint8_t* data() const { return data_; }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data_);
  }
  const uint8_t* element(int64_t i) const {
    return data_ + (splat_ ? 0 : i * element_bytes_);
  }
  // An integer element as int64 (u64: the same bits).
  int64_t Integer(int64_t i) const;

  // The same value with every element stored.
  Value Dense(BufferPool* pool = nullptr) const;
  // For writing: dense, and nobody else's bytes (copied if they are).
  uint8_t* Mutable();
  template <class T>
  T* MutableAs() {
    return reinterpret_cast<T*>(Mutable());
  }
  bool IsUnique() const {
    return storage_ != nullptr && storage_.use_count() == 1;
  }

  // How many elements count along each dimension; null: all do
  // (dynamic_sizes.h).
  const DimVector* sizes() const { return sizes_.get(); }
  Value WithSizes(const DimVector& sizes) const;

  // The same elements under another shape of as many elements and bytes.
  Value WithShape(ShapeRef shape) const;
  Value WithShape(const Shape& shape) const { return WithShape(Hold(shape)); }

  // Dynamic dimensions have their bound, and zeros beyond their size.
  Literal ToLiteral() &&;

 private:
  ShapeRef shape_;
  std::shared_ptr<std::vector<uint8_t>> storage_;  // null: borrowed
  std::shared_ptr<std::vector<Value>> elements_;
  std::shared_ptr<const DimVector> sizes_;
  const uint8_t* data_ = nullptr;
  int64_t count_ = 0;
  int element_bytes_ = 0;
  bool splat_ = false;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_VALUE_H_
