// Attributes as HLO text has them behind the operands: ", key=value".
//
//   class Writer : AttributeText { ... List("dimensions", {0, 1}); };
#ifndef PTXLA_HLO_BACKEND_IR_ATTRIBUTE_TEXT_H_
#define PTXLA_HLO_BACKEND_IR_ATTRIBUTE_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/attributes.h"

namespace ptxla::hlo {

class AttributeText {
 public:
  explicit AttributeText(std::string* out) : out_(*out) {}

 protected:
  template <class... Parts>
  void Add(const char* key, const Parts&... parts) {
    absl::StrAppend(&out_, ", ", key, "=", parts...);
  }
  // What is empty, false or the default is not written.
  void List(const char* key, absl::Span<const int64_t> dims) {
    Add(key, "{", absl::StrJoin(dims, ","), "}");
  }
  void Flag(const char* key, bool value) {
    if (value) Add(key, "true");
  }
  void Raw(const char* key, const std::string& value) {
    if (!value.empty()) Add(key, value);
  }
  void Quoted(const char* key, const std::string& value) {
    if (!value.empty()) Add(key, "\"", absl::CEscape(value), "\"");
  }
  void DotDims(const DotAttrs& a);
  void PrecisionOf(const PrecisionConfig& p);
  void Aliasing(const std::vector<OutputOperandAlias>& list);

  std::string& out_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_ATTRIBUTE_TEXT_H_
