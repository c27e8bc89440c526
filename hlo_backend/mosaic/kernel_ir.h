// What a Pallas kernel is when it reaches XLA: the operations of Mosaic, the
// TPU's kernel language, as they travel in a `tpu_custom_call`.
//
//   func.func @kernel(%i: i32, %q: memref<512x128xbf16, vmem>, ...)
//     %s = tpu.matmul %a, %b, %zero : vector<512x512xf32>
//     %m = vector.multi_reduction <maximumf> %s
//     scf.if %last { ... }
//
// Plain values; operations are known by their names. Value ids count through
// the whole module.
#ifndef PTXLA_HLO_BACKEND_MOSAIC_KERNEL_IR_H_
#define PTXLA_HLO_BACKEND_MOSAIC_KERNEL_IR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace ptxla::mosaic {

// A dimension that is not known, and a grid bound that is an operand.
inline constexpr int64_t kDynamic = INT64_MIN;

struct Type {
  enum class Kind : uint8_t { kScalar, kVector, kMemRef, kFunction, kOther };
  Kind kind = Kind::kOther;
  // kScalar: "f32", "i1", "index". kOther: its text, such as
  // "!tpu.dma_semaphore".
  std::string name;
  int bits = 0;               // of a scalar; index counts as 32
  std::vector<int64_t> dims;  // kVector, kMemRef
  const Type* element = nullptr;
  std::string memory_space;         // kMemRef: "vmem", "smem", "any", ""
  std::vector<const Type*> inputs;  // kFunction
  std::vector<const Type*> outputs;

  bool IsVector() const { return kind == Kind::kVector; }
  bool IsMemRef() const { return kind == Kind::kMemRef; }
  int64_t Elements() const;  // 1 for scalars
  int64_t Bytes() const;     // packed, without padding
  std::string ToString() const;
};

struct Attribute {
  enum class Kind : uint8_t {
    kUnit,
    kInteger,     // integer
    kFloat,       // its bits in `integer`
    kString,      // text; also symbols
    kText,        // as a dialect prints it: "#vector.kind<add>"
    kType,        // type
    kArray,       // elements
    kDictionary,  // names and elements
    kIntegers,    // integers: a dense array
    kDense,       // type, bytes in `text`: one element if all are equal
    kLocation
  };
  Kind kind = Kind::kUnit;
  int64_t integer = 0;
  std::string text;
  const Type* type = nullptr;
  std::vector<const Attribute*> elements;
  std::vector<std::string> names;
  std::vector<int64_t> integers;

  // Of a dictionary; null if it has none of this name.
  const Attribute* Find(absl::string_view name) const;
};

struct Operation;
struct Block {
  std::vector<int> arguments;  // value ids
  std::vector<Operation> operations;
};
struct Region {
  std::vector<Block> blocks;
};

struct Operation {
  std::string name;                       // "arith.addf"
  const Attribute* attributes = nullptr;  // a dictionary, or null
  std::vector<int> operands;              // value ids
  std::vector<int> results;
  std::vector<Region> regions;

  const Attribute* Find(absl::string_view attribute) const {
    return attributes == nullptr ? nullptr : attributes->Find(attribute);
  }
};

struct Module {
  std::vector<std::unique_ptr<Type>> types;
  std::vector<std::unique_ptr<Attribute>> attributes;
  std::vector<const Type*> values;  // type of each value id
  Block top;                        // one operation: "module"

  // The function of this name, or null.
  const Operation* Function(absl::string_view name) const;
  // All functions, in order.
  std::vector<const Operation*> Functions() const;
};

// By value id: whether anything that is stored, copied, branched on or returned
// is computed from it. What is dead the compiler removes: stores of Pallas load
// the old value first.
std::vector<bool> LiveValues(const Module& module);

// For people: one operation a line, indented.
std::string ToText(const Module& module);

}  // namespace ptxla::mosaic

#endif  // PTXLA_HLO_BACKEND_MOSAIC_KERNEL_IR_H_
