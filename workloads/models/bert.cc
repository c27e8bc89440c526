#include "workloads/models/bert.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "lazy/ops.h"

namespace ptxla::workloads {

namespace ops = lazy::ops;
using hlo::PrimitiveType;
using lazy::ScopePusher;
using lazy::Tensor;

Bert::Layer::Layer(nn::Parameters* parameters, const std::string& name,
                   const BertDims& dims)
    : attention(parameters, absl::StrCat(name, ".attention.self"), dims.hidden,
                dims.heads, dims.dropout),
      attention_output(parameters,
                       absl::StrCat(name, ".attention.output.dense"),
                       dims.hidden, dims.hidden),
      attention_norm(parameters,
                     absl::StrCat(name, ".attention.output.LayerNorm"),
                     dims.hidden, dims.layer_norm_epsilon),
      intermediate(parameters, absl::StrCat(name, ".intermediate.dense"),
                   dims.hidden, dims.intermediate),
      output(parameters, absl::StrCat(name, ".output.dense"), dims.intermediate,
             dims.hidden),
      output_norm(parameters, absl::StrCat(name, ".output.LayerNorm"),
                  dims.hidden, dims.layer_norm_epsilon) {}

namespace {

std::vector<int> Counted(int64_t n) {
  std::vector<int> result;
  for (int i = 0; i < n; ++i) result.push_back(i);
  return result;
}

}  // namespace

Bert::Bert(nn::Parameters* p, const BertDims& dims)
    : device_(p->device()),
      dims_(dims),
      position_ids_(Tensor::FromHost(
          device_, {PrimitiveType::kS64, {1, dims.max_positions}},
          lazy::HostValue::Range(), "bert.embeddings.position_ids")),
      words_(p, "bert.embeddings.word_embeddings", dims.vocabulary, dims.hidden,
             /*padding_idx=*/0),
      positions_(p, "bert.embeddings.position_embeddings", dims.max_positions,
                 dims.hidden),
      token_types_(p, "bert.embeddings.token_type_embeddings", dims.token_types,
                   dims.hidden),
      embedding_norm_(p, "bert.embeddings.LayerNorm", dims.hidden,
                      dims.layer_norm_epsilon),
      layers_([&] {
        std::vector<Layer> layers;
        for (int i : Counted(dims.layers)) {
          layers.emplace_back(p, absl::StrCat("bert.encoder.layer.", i), dims);
        }
        return layers;
      }()),
      pooler_(p, "bert.pooler.dense", dims.hidden, dims.hidden),
      decoder_bias_(
          p->MakeConstant("cls.predictions.bias", {dims.vocabulary}, 0)),
      transform_(p, "cls.predictions.transform.dense", dims.hidden,
                 dims.hidden),
      transform_norm_(p, "cls.predictions.transform.LayerNorm", dims.hidden,
                      dims.layer_norm_epsilon),
      next_sentence_(p, "cls.seq_relationship", dims.hidden, 2) {}

Tensor Bert::Embed(const BertBatch& batch) const {
  const ScopePusher scope(device_, "embeddings");
  const int64_t seq = batch.input_ids.dim(1);
  const Tensor position_ids = ops::Slice(position_ids_, 1, 0, seq);
  Tensor x = words_(batch.input_ids);
  x = ops::Add(x, token_types_(batch.token_type_ids));
  x = ops::Add(x, positions_(position_ids));
  return ops::Dropout(embedding_norm_(x), dims_.dropout);
}

Tensor Bert::Encode(const Layer& layer, const Tensor& input,
                    const Tensor& mask) const {
  Tensor x = input;
  {
    const ScopePusher scope(device_, "attention");
    Tensor y = layer.attention_output(layer.attention(x, mask));
    y = ops::Dropout(y, dims_.dropout);
    x = layer.attention_norm(ops::Add(y, x));
  }
  const ScopePusher scope(device_, "ffn");
  Tensor y = layer.output(ops::Gelu(layer.intermediate(x)));
  y = ops::Dropout(y, dims_.dropout);
  return layer.output_norm(ops::Add(y, x));
}

// 0 where the mask is 1, the lowest f32 elsewhere, as [batch, 1, 1, seq].
Tensor Bert::AdditiveMask(const BertBatch& batch) const {
  const ScopePusher scope(device_, "attention_mask");
  Tensor mask = batch.attention_mask;
  mask = ops::View(mask, {mask.dim(0), 1, mask.dim(1)});
  mask = ops::View(mask, {mask.dim(0), 1, 1, mask.dim(2)});
  mask = ops::RsubScalar(1, ops::Cast(mask, PrimitiveType::kF32));
  return ops::Mul(mask, std::numeric_limits<float>::lowest());
}

BertLogits Bert::Logits(const BertBatch& batch) const {
  const Tensor mask = AdditiveMask(batch);
  Tensor x = Embed(batch);
  for (size_t i = 0; i < layers_.size(); ++i) {
    const ScopePusher scope(device_, absl::StrCat("encoder.", i));
    x = Encode(layers_[i], x, mask);
  }
  Tensor pooled;
  {
    const ScopePusher scope(device_, "pooler");
    pooled = ops::Tanh(pooler_(ops::Index(x, 1, 0)));
  }
  BertLogits logits;
  {
    const ScopePusher scope(device_, "mlm_head");
    const Tensor y = transform_norm_(ops::Gelu(transform_(x)));
    logits.tokens = nn::Linear(words_.weight(), decoder_bias_)(y);
  }
  const ScopePusher scope(device_, "nsp_head");
  logits.next_sentence = next_sentence_(pooled);
  return logits;
}

Tensor Bert::Loss(const BertBatch& batch) const {
  const BertLogits logits = Logits(batch);
  const ScopePusher scope(device_, "loss");
  const Tensor mlm_loss =
      ops::CrossEntropy(ops::View(logits.tokens, {-1, dims_.vocabulary}),
                        ops::View(batch.labels, {-1}));
  const Tensor nsp_loss =
      ops::CrossEntropy(ops::View(logits.next_sentence, {-1, 2}),
                        ops::View(batch.next_sentence_label, {-1}));
  return ops::Add(mlm_loss, nsp_loss);
}

double BertForwardFlops(const BertDims& d, int64_t batch, int64_t seq) {
  const double tokens = static_cast<double>(batch) * seq;
  const double h = d.hidden;
  const double layer = 8 * h * h + 4 * h * d.intermediate + 4 * seq * h;
  const double head = 2 * h * h + 2 * h * d.vocabulary;
  const double pooler = 2 * h * h + 4 * h;
  return d.layers * tokens * layer + tokens * head + batch * pooler;
}

}  // namespace ptxla::workloads
