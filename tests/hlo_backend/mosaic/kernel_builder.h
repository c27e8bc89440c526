// Mosaic kernels that tests write by hand, operation by operation:
//
//   KernelBuilder b;
//   const int two = b.Constant(2);
//   b.Loop(0, 100, [&] { b.Op("arith.addi", {two, two}, b.i32()); });
//   StepWalker walker(b.Kernel(), model);
#ifndef PTXLA_TESTS_HLO_BACKEND_MOSAIC_KERNEL_BUILDER_H_
#define PTXLA_TESTS_HLO_BACKEND_MOSAIC_KERNEL_BUILDER_H_

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "hlo_backend/mosaic/pallas_kernel.h"

namespace ptxla::testing {

class KernelBuilder {
 public:
  using Type = mosaic::Type;
  using Attribute = mosaic::Attribute;

  const Type* Scalar(const std::string& name, int bits) {
    Type t;
    t.kind = Type::Kind::kScalar;
    t.name = name;
    t.bits = bits;
    return Keep(t);
  }
  const Type* Array(Type::Kind kind, const std::vector<int64_t>& dims,
                    const Type* element, const std::string& space = "vmem") {
    Type t;
    t.kind = kind;
    t.dims = dims;
    t.element = element;
    t.memory_space = space;
    return Keep(t);
  }
  const Type* Vector(const std::vector<int64_t>& dims, const Type* element) {
    return Array(Type::Kind::kVector, dims, element);
  }
  const Type* MemRef(const std::vector<int64_t>& dims, const Type* element,
                     const std::string& space) {
    return Array(Type::Kind::kMemRef, dims, element, space);
  }
  const Type* Keep(const Type& type) { return &types_.emplace_back(type); }
  const Type* i32() const { return i32_; }

  Attribute Integer(int64_t value) const {
    Attribute a;
    a.kind = Attribute::Kind::kInteger;
    a.integer = value;
    return a;
  }
  Attribute Integers(const std::vector<int64_t>& values) const {
    Attribute a;
    a.kind = Attribute::Kind::kIntegers;
    a.integers = values;
    return a;
  }
  const Attribute* With(const std::string& name, const Attribute& value) {
    Attribute all;
    all.kind = Attribute::Kind::kDictionary;
    all.names = {name};
    all.elements = {&attributes_.emplace_back(value)};
    return &attributes_.emplace_back(all);
  }

  int Value(const Type* type) {
    kernel_.module.values.push_back(type);
    return static_cast<int>(kernel_.module.values.size()) - 1;
  }
  // The value of its result; null: it has none.
  int Op(const std::string& name, const std::vector<int>& operands,
         const Type* result, const Attribute* attributes = nullptr) {
    mosaic::Operation op;
    op.name = name;
    op.operands = operands;
    op.attributes = attributes;
    if (result != nullptr) op.results = {Value(result)};
    const int value = op.results.empty() ? -1 : op.results[0];
    open_.back().operations.push_back(std::move(op));
    return value;
  }
  int Constant(int64_t value) {
    return Op("arith.constant", {}, i32_, With("value", Integer(value)));
  }
  void Loop(int64_t first, int64_t limit, const std::function<void()>& body) {
    const std::vector<int> bounds = {Constant(first), Constant(limit),
                                     Constant(1)};
    open_.emplace_back().arguments = {Value(i32_)};
    body();
    mosaic::Region region;
    region.blocks.push_back(std::move(open_.back()));
    open_.pop_back();
    Op("scf.for", bounds, nullptr);
    open_.back().operations.back().regions.push_back(std::move(region));
  }

  mosaic::Module& module() { return kernel_.module; }
  // The operations so far, as the module's top.
  mosaic::Block& top() { return open_.front(); }
  // Once, at the end: a kernel of one step.
  const mosaic::PallasKernel& Kernel() {
    mosaic::Operation function;
    function.name = "func.func";
    function.regions.emplace_back().blocks.push_back(std::move(open_.front()));
    kernel_.module.top.operations.push_back(std::move(function));
    kernel_.function = &kernel_.module.top.operations.back();
    return kernel_;
  }

 private:
  std::deque<Type> types_;
  std::deque<Attribute> attributes_;
  const Type* const i32_ = Scalar("i32", 32);
  mosaic::PallasKernel kernel_;
  std::deque<mosaic::Block> open_ = std::deque<mosaic::Block>(1);
};

}  // namespace ptxla::testing

#endif  // PTXLA_TESTS_HLO_BACKEND_MOSAIC_KERNEL_BUILDER_H_
