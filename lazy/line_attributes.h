// Attributes of one line of a graph's text form (graph_text.h).
//
//   LineAttributes line;
//   line.Add("dims", "{0,1}");
//   ASSIGN_OR_RETURN(DimVector dims, line.Dims("dims"));
//
// InvalidArgument names the attribute that is missing or written otherwise.
#ifndef PTXLA_LAZY_LINE_ATTRIBUTES_H_
#define PTXLA_LAZY_LINE_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lazy/tensor_shape.h"

namespace ptxla::lazy {

// Splits at top-level "," outside of quotes, braces and parentheses.
std::vector<absl::string_view> SplitTopLevel(absl::string_view text);

class LineAttributes {
 public:
  // The first of a name counts.
  void Add(const std::string& key, const std::string& value) {
    values_.emplace(key, value);
  }
  bool Has(const std::string& key) const { return values_.contains(key); }

  absl::StatusOr<DimVector> Dims(const std::string& key) const;  // {0,1}
  absl::StatusOr<std::vector<DimVector>> Lists(
      const std::string& key) const;  // {{0,1},{2,3}}
  absl::StatusOr<double> Number(const std::string& key) const;
  absl::StatusOr<int64_t> Integer(const std::string& key) const;
  // Quoted; "" where it is missing.
  absl::StatusOr<std::string> Text(const std::string& key) const;

 private:
  absl::flat_hash_map<std::string, std::string> values_;
};

}  // namespace ptxla::lazy

#endif  // PTXLA_LAZY_LINE_ATTRIBUTES_H_
