// docs/coverage.md: how far every HLO opcode gets, found out by trying
// (driver/op_coverage.h) and by reading the programs that tests run.
//
//   ASSIGN_OR_RETURN(std::string page, CoveragePage(source_folder));
#ifndef PTXLA_TESTS_TOOLS_COVERAGE_PAGE_H_
#define PTXLA_TESTS_TOOLS_COVERAGE_PAGE_H_

#include <string>

#include "absl/status/statusor.h"

namespace ptxla {

absl::StatusOr<std::string> CoveragePage(const std::string& source_folder);

}  // namespace ptxla

#endif  // PTXLA_TESTS_TOOLS_COVERAGE_PAGE_H_
