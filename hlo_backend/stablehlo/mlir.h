// The tree of an MLIR text as far as StableHLO programs need it: operations
// with operands, attributes, regions of one block, and types that are shapes.
// Internal; stablehlo.h is the way in.
//
// Pretty and generic forms give the same tree: `stablehlo.slice %a [0:4]` has
// the attributes start_indices, limit_indices and strides.
#ifndef PTXLA_HLO_BACKEND_STABLEHLO_MLIR_H_
#define PTXLA_HLO_BACKEND_STABLEHLO_MLIR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "hlo_backend/ir/literal.h"
#include "hlo_backend/ir/shape.h"

namespace ptxla::hlo::mlir {

// !quant.uniform<i8:f32:1, {0.5:3, 0.25:-1}>: (stored - zero point) * scale.
struct Quantized {
  PrimitiveType expressed = PrimitiveType::kF32;
  int64_t min = 0, max = 0;  // of what is stored
  int axis = -1;             // one scale for each index along it; -1: one scale
  std::vector<double> scales;
  std::vector<int64_t> zero_points;
};

struct Type {
  Shape shape;       // kInvalid: no type of HLO; of a quantised tensor: stored
  std::string text;  // as it was written, for messages
  std::shared_ptr<const Quantized> quantized;
};

struct Attr {
  enum class Kind {
    kUnit,
    kBool,
    kInt,
    kFloat,
    kString,
    kSymbol,
    kArray,  // [a, b], array<i64: 1, 2>
    kDict,   // {a = 1}
    kDense,  // dense<...> : tensor<...>
    kType,
    kDialect  // #stablehlo.gather<...>: `text` holds all of it
  };
  Kind kind = Kind::kUnit;
  int64_t number = 0;  // kInt, kBool
  double real = 0;     // kFloat
  std::string text;    // kString, kSymbol, kDialect
  std::vector<Attr> list;
  std::vector<std::pair<std::string, Attr>> dict;
  std::shared_ptr<const Literal> dense;
  Type type;

  static Attr Int(int64_t value) {
    Attr attr;
    attr.kind = Kind::kInt;
    attr.number = value;
    return attr;
  }
};

using AttrDict = std::vector<std::pair<std::string, Attr>>;

struct Position {
  int line = 0, column = 0;  // 1-based
};

// %name or %name#index.
struct ValueRef {
  absl::string_view name;
  int index = 0;
};

struct Op;

struct BlockArgument {
  absl::string_view name;
  Type type;
  AttrDict attributes;
  std::string location;  // as that of an operation
};

struct Region {
  std::vector<BlockArgument> arguments;
  std::vector<Op> ops;
};

struct Op {
  std::string name;  // "stablehlo.add"; "mhlo." is read as "stablehlo."
  Position position;
  std::string location;  // what stands in loc(...), or "#loc3"
  // Names bound to the results, each with how many of them it stands for.
  std::vector<std::pair<absl::string_view, int>> results;
  std::vector<ValueRef> operands;
  AttrDict attributes;
  std::vector<Region> regions;
  std::vector<Type> operand_types, result_types;
  // Of functions: attributes of their results, in order.
  std::vector<AttrDict> result_attributes;

  const Attr* Find(absl::string_view key) const {
    for (const auto& [k, v] : attributes) {
      if (k == key) return &v;
    }
    return nullptr;
  }
};

inline const Attr* FindIn(const AttrDict& dict, absl::string_view key) {
  for (const auto& [k, v] : dict) {
    if (k == key) return &v;
  }
  return nullptr;
}

}  // namespace ptxla::hlo::mlir

#endif  // PTXLA_HLO_BACKEND_STABLEHLO_MLIR_H_
