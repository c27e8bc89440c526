#include "workloads/models.h"

#include <string>

#include "base/suggest.h"
#include "workloads/models/bert_workload.h"
#include "workloads/models/mlp_workload.h"
#include "workloads/models/resnet_workload.h"

namespace ptxla::workloads {
namespace {

constexpr Model kModels[] = {
    {"bert", CheckBert, MakeBert},
    {"mlp", CheckMlp, MakeMlp},
    {"resnet", CheckResnet, MakeResnet},
};

}  // namespace

absl::StatusOr<const Model*> FindModel(absl::string_view name) {
  std::vector<std::string> names;
  for (const Model& model : kModels) {
    if (name == model.name) return &model;
    names.push_back(model.name);
  }
  return UnknownName("model", std::string(name), names);
}

double DropoutOf(const WorkloadSpec& spec) {
  return spec.phase() == "train" ? spec.dropout() : 0;
}

}  // namespace ptxla::workloads
