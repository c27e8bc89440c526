#include "workloads/models/bert_workload.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "workloads/models/bert.h"
#include "workloads/spec_checks.h"

namespace ptxla::workloads {

using lazy::DimVector;
using lazy::Tensor;

absl::Status CheckBert(const WorkloadSpec& spec) {
  const BertSpec& b = spec.bert();
  RETURN_IF_ERROR(CheckPositive("bert.layers", b.layers(), kMostLayers));
  RETURN_IF_ERROR(CheckPositive("bert.hidden", b.hidden()));
  RETURN_IF_ERROR(CheckPositive("bert.heads", b.heads()));
  RETURN_IF_ERROR(CheckPositive("bert.intermediate", b.intermediate()));
  RETURN_IF_ERROR(CheckPositive("bert.vocabulary", b.vocabulary()));
  RETURN_IF_ERROR(CheckPositive("bert.token_types", b.token_types()));
  RETURN_IF_ERROR(CheckPositive("bert.max_positions", b.max_positions()));
  RETURN_IF_ERROR(CheckPositive("seq", spec.seq()));
  if (b.hidden() % b.heads() != 0) {
    return BadField(
        "bert.heads",
        absl::StrCat("= ", b.heads(),
                     " does not divide bert.hidden = ", b.hidden()));
  }
  const double widest = static_cast<double>(std::max(
      {b.hidden(), b.intermediate(), b.vocabulary(), spec.seq() * b.heads()}));
  RETURN_IF_ERROR(CheckBatch(spec, widest * static_cast<double>(spec.seq())));
  if (spec.seq() > b.max_positions()) {
    return BadField(
        "seq", absl::StrCat("= ", spec.seq(), " is above bert.max_positions = ",
                            b.max_positions()));
  }
  return absl::OkStatus();
}

ModelInstance MakeBert(const WorkloadSpec& spec, int64_t batch,
                       nn::Parameters* parameters, StepInputs* inputs) {
  const BertSpec& b = spec.bert();
  const BertDims dims = {
      b.layers(),       b.hidden(),      b.heads(),
      b.intermediate(), b.vocabulary(),  b.max_positions(),
      b.token_types(),  DropoutOf(spec), b.layer_norm_epsilon()};
  const auto bert = std::make_shared<Bert>(parameters, dims);
  const DimVector tokens = {batch, spec.seq()};
  BertBatch x;
  x.input_ids = inputs->Integers("input_ids", tokens, dims.vocabulary);
  x.token_type_ids =
      inputs->Integers("token_type_ids", tokens, dims.token_types);
  x.attention_mask = inputs->Integers("attention_mask", tokens, 2);
  if (spec.phase() == "train") {
    x.labels = inputs->Integers("labels", tokens, dims.vocabulary);
    x.next_sentence_label = inputs->Integers("next_sentence_label", {batch}, 2);
  }
  ModelInstance model;
  model.loss = [bert, x] { return bert->Loss(x); };
  model.outputs = [bert, x]() -> std::vector<Tensor> {
    const BertLogits logits = bert->Logits(x);
    return {logits.tokens, logits.next_sentence};
  };
  model.forward_flops = BertForwardFlops(dims, batch, spec.seq());
  model.train_flops = 3 * model.forward_flops;
  return model;
}

}  // namespace ptxla::workloads
