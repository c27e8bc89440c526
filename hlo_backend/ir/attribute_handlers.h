// How the parser reads the value of an attribute, by its name: a table of
// handlers. Internal to the parser; ReadAttribute (module_parser.h) uses it.
#ifndef PTXLA_HLO_BACKEND_IR_ATTRIBUTE_HANDLERS_H_
#define PTXLA_HLO_BACKEND_IR_ATTRIBUTE_HANDLERS_H_

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/ir/module_parser.h"

namespace ptxla::hlo {

using P = ModuleParser;
using I = PendingInstruction;

// What a handler found: its opcode has no such attribute, a syntax error, or
// a value.
enum class Found { kNotHere, kError, kOk };

inline Found From(bool ok) { return ok ? Found::kOk : Found::kError; }

using AttributeHandler = Found (*)(P&, I&);
using AttributeTable = absl::flat_hash_map<absl::string_view, AttributeHandler>;

// Those that are one field of one struct of attributes.
void AddFieldAttributes(AttributeTable* table);
// Those that every instruction may have, and names of computations.
void AddCommonAttributes(AttributeTable* table);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_ATTRIBUTE_HANDLERS_H_
