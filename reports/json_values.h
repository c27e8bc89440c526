// Values of JSON reports.
#ifndef PTXLA_REPORTS_JSON_VALUES_H_
#define PTXLA_REPORTS_JSON_VALUES_H_

#include <nlohmann/json.hpp>
#include <string>

namespace ptxla::reports {

// What is not said is null, not "".
inline nlohmann::ordered_json TextOrNull(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json(nullptr)
                      : nlohmann::ordered_json(text);
}

}  // namespace ptxla::reports

#endif  // PTXLA_REPORTS_JSON_VALUES_H_
