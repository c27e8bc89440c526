#include "hlo_backend/evaluator/value.h"

#include <cstring>

#include "base/check.h"
#include "hlo_backend/evaluator/dynamic_sizes.h"
#include "hlo_backend/evaluator/fill.h"

namespace ptxla::hlo {

Value Value::NewArray(ShapeRef shape) {
  Value v;
  v.count_ = shape->ElementCount();
  v.element_bytes_ = StorageBytes(shape->type());
  v.shape_ = std::move(shape);
  v.storage_ =
      std::make_shared<std::vector<uint8_t>>(v.count_ * v.element_bytes_);
  v.data_ = v.storage_->data();
  return v;
}

Value Value::NewArray(ShapeRef shape, BufferPool* pool) {
  if (pool == nullptr) return NewArray(std::move(shape));
  Value v;
  v.count_ = shape->ElementCount();
  v.element_bytes_ = StorageBytes(shape->type());
  v.shape_ = std::move(shape);
  v.storage_ = pool->Take(v.count_ * v.element_bytes_);
  v.data_ = v.storage_->data();
  return v;
}

Value Value::NewSplat(ShapeRef shape, const void* element) {
  Value v;
  v.count_ = shape->ElementCount();
  v.element_bytes_ = StorageBytes(shape->type());
  v.shape_ = std::move(shape);
  const auto* bytes = static_cast<const uint8_t*>(element);
  v.storage_ =
      std::make_shared<std::vector<uint8_t>>(bytes, bytes + v.element_bytes_);
  v.data_ = v.storage_->data();
  v.splat_ = v.count_ != 1;
  return v;
}

Value Value::NewTuple(ShapeRef shape, std::vector<Value> elements) {
  Value v;
  v.shape_ = std::move(shape);
  v.elements_ = std::make_shared<std::vector<Value>>(std::move(elements));
  return v;
}

Value Value::Borrow(const Literal& literal) {
  if (!literal.shape().IsArray()) {
    std::vector<Value> elements;
    for (const Literal& element : literal.elements()) {
      elements.push_back(Borrow(element));
    }
    return NewTuple(literal.shape(), std::move(elements));
  }
  Value v;
  v.shape_ = ShapeRef(ShapeRef(), &literal.shape());
  v.count_ = literal.ElementCount();
  v.element_bytes_ = literal.element_bytes();
  v.data_ = literal.bytes().data();
  v.splat_ = literal.IsSplat() && v.count_ != 1;
  return v;
}

Value Value::TakeElement(int i) {
  if (elements_.use_count() == 1) return std::move((*elements_)[i]);
  return (*elements_)[i];
}

int64_t Value::Integer(int64_t i) const {
  const uint8_t* p = element(i);
  switch (type()) {
    case PrimitiveType::kS64:
    case PrimitiveType::kU64: {
      int64_t value;
      std::memcpy(&value, p, 8);
      return value;
    }
    case PrimitiveType::kS32: {
      int32_t value;
      std::memcpy(&value, p, 4);
      return value;
    }
    case PrimitiveType::kU32: {
      uint32_t value;
      std::memcpy(&value, p, 4);
      return value;
    }
    case PrimitiveType::kS16: {
      int16_t value;
      std::memcpy(&value, p, 2);
      return value;
    }
    case PrimitiveType::kU16: {
      uint16_t value;
      std::memcpy(&value, p, 2);
      return value;
    }
    case PrimitiveType::kS1:
    case PrimitiveType::kS2:
    case PrimitiveType::kS4:
    case PrimitiveType::kS8:
      return static_cast<int8_t>(*p);
    default:
      return *p;
  }
}

Value Value::Dense(BufferPool* pool) const {
  if (!splat_) return *this;
  Value v = NewArray(shape_, pool);
  Fill(v.storage_->data(), data_, element_bytes_, count_);
  return v;
}

uint8_t* Value::Mutable() {
  if (splat_) {
    *this = Dense();
  } else if (!IsUnique()) {
    storage_ = std::make_shared<std::vector<uint8_t>>(
        data_, data_ + count_ * element_bytes_);
    data_ = storage_->data();
  }
  return storage_->data();
}

Value Value::WithShape(ShapeRef shape) const {
  Value v = *this;
  if (!elements_) {
    CHECK_EQ(shape->ElementCount(), count_);
    CHECK_EQ(StorageBytes(shape->type()), element_bytes_);
  }
  v.shape_ = std::move(shape);
  return v;
}

Value Value::WithSizes(const DimVector& sizes) const {
  Value v = *this;
  v.sizes_ = sizes == shape().dims() ? nullptr
                                     : std::make_shared<const DimVector>(sizes);
  return v;
}

Literal Value::ToLiteral() && {
  if (shape_->IsTuple()) {
    std::vector<Literal> literals;
    for (size_t i = 0; i < elements_->size(); ++i) {
      literals.push_back(TakeElement(static_cast<int>(i)).ToLiteral());
    }
    return Literal::Tuple(std::move(literals));
  }
  if (!shape_->IsArray()) return Literal(*shape_);
  if (sizes_ != nullptr) {
    constexpr uint8_t kZero[16] = {};
    return FilledBeyondSizes(*this, kZero).ToLiteral();
  }
  if (splat_) {
    return Literal::SplatBytes(
        *shape_,
        absl::MakeConstSpan(data_, static_cast<size_t>(element_bytes_)));
  }
  if (IsUnique()) return Literal::FromBytes(*shape_, std::move(*storage_));
  return Literal::FromBytes(
      *shape_, std::vector<uint8_t>(data_, data_ + count_ * element_bytes_));
}

}  // namespace ptxla::hlo
