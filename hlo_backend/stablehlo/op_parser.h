// Operations of MLIR text, in pretty and in generic form. Internal; the tree
// is described in mlir.h.
#ifndef PTXLA_HLO_BACKEND_STABLEHLO_OP_PARSER_H_
#define PTXLA_HLO_BACKEND_STABLEHLO_OP_PARSER_H_

#include <string>
#include <vector>

#include "hlo_backend/stablehlo/value_parser.h"

namespace ptxla::hlo::mlir {

// The text must stay alive as long as the tree, and a NUL must follow it.
class OpParser : public ValueParser {
 public:
  using ValueParser::ValueParser;

  // The module: what is written around the functions, or made around them.
  bool ParseFile(Op* module);

 private:
  bool ParseOp(Op* op);
  bool Results(Op* op);
  bool Generic(Op* op);
  bool Pretty(Op* op);
  bool Location(std::string* location);

  bool Operand(Op* op);
  bool OperandList(Op* op, absl::string_view close);
  bool Signature(Op* op);
  bool ParseRegion(Region* region);
  bool RegionBody(Region* region);
  bool Arguments(std::vector<BlockArgument>* arguments);

  // Forms of their own.
  bool ModuleOp(Op* op);
  bool Function(Op* op);
  bool Call(Op* op);
  bool Constant(Op* op);
  bool While(Op* op);
  bool Reduce(Op* op);
  bool Applied(absl::string_view name, Op* reduce);
  bool CustomCall(Op* op);
  bool Convolution(Op* op);
  bool SliceRanges(Op* op);
  bool Mesh(Op* op);
  bool ManualComputation(Op* op);
  // Everything else: operands, `key = value`, bare words, in any order.
  bool Items(Op* op, absl::string_view close);
  bool Item(Op* op);
  bool NamedItem(absl::string_view key, Op* op);
  bool Ordinary(Op* op);

  int depth_ = 0;
};

}  // namespace ptxla::hlo::mlir

#endif  // PTXLA_HLO_BACKEND_STABLEHLO_OP_PARSER_H_
