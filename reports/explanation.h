// The page of `run --explain`: what one op does, where its cycles go, which
// tiles were chosen, its loop nest and its longest block of bundles.
#ifndef PTXLA_REPORTS_EXPLANATION_H_
#define PTXLA_REPORTS_EXPLANATION_H_

#include <string>

#include "record/explanation.pb.h"

namespace ptxla::reports {

std::string ExplanationText(const record::Explanation& e);
// One object, with the listings of all blocks.
std::string ExplanationJson(const record::Explanation& e);

}  // namespace ptxla::reports

#endif  // PTXLA_REPORTS_EXPLANATION_H_
