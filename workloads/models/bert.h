// BERT for pre-training as Hugging Face's BertForPreTraining: masked-language-
// model loss over all positions with the decoder tied to the word embedding,
// and next-sentence loss; eager attention.
//
//   Bert bert(&parameters, BertDims{24, 1024, 16, 4096});
//   parameters.element_count() == 336226108
//   Tensor loss = bert.Loss(batch);
#ifndef PTXLA_WORKLOADS_MODELS_BERT_H_
#define PTXLA_WORKLOADS_MODELS_BERT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/nn/layers.h"

namespace ptxla::workloads {

struct BertDims {
  int64_t layers = 24, hidden = 1024, heads = 16, intermediate = 4096;
  int64_t vocabulary = 30522, max_positions = 512, token_types = 2;
  double dropout = 0.1, layer_norm_epsilon = 1e-12;
};

// One batch on the device.
struct BertBatch {
  lazy::Tensor input_ids;            // s64 [batch, seq]
  lazy::Tensor token_type_ids;       // s64 [batch, seq]
  lazy::Tensor attention_mask;       // s64 [batch, seq], 1: attend
  lazy::Tensor labels;               // s64 [batch, seq]
  lazy::Tensor next_sentence_label;  // s64 [batch]
};

struct BertLogits {
  lazy::Tensor tokens;         // [batch, seq, vocabulary]
  lazy::Tensor next_sentence;  // [batch, 2]
};

class Bert {
 public:
  Bert(nn::Parameters* parameters, const BertDims& dims);
  // The forward pass; labels are not looked at.
  BertLogits Logits(const BertBatch& batch) const;
  lazy::Tensor Loss(const BertBatch& batch) const;

 private:
  struct Layer {
    Layer(nn::Parameters* parameters, const std::string& name,
          const BertDims& dims);
    nn::SelfAttention attention;
    nn::Linear attention_output;
    nn::LayerNorm attention_norm;
    nn::Linear intermediate, output;
    nn::LayerNorm output_norm;
  };

  lazy::Tensor AdditiveMask(const BertBatch& batch) const;
  lazy::Tensor Embed(const BertBatch& batch) const;
  lazy::Tensor Encode(const Layer& layer, const lazy::Tensor& x,
                      const lazy::Tensor& mask) const;

  lazy::Device* device_;
  BertDims dims_;
  // A buffer, no parameter: 0, 1 ... max_positions - 1.
  lazy::Tensor position_ids_;
  nn::Embedding words_, positions_, token_types_;
  nn::LayerNorm embedding_norm_;
  std::vector<Layer> layers_;
  nn::Linear pooler_;
  lazy::Tensor decoder_bias_;
  nn::Linear transform_;
  nn::LayerNorm transform_norm_;
  nn::Linear next_sentence_;
};

// 2 x multiply-adds of a forward pass; a training step is three times that:
//   L T (24 h^2 + 4 s h) + T (2 h^2 + 2 h V) + B (2 h^2 + 4 h)
// for T = B s tokens: encoder, masked-language head, pooler with next-sentence
// head (the factor 24 stands for 8 + 4 intermediate / hidden).
double BertForwardFlops(const BertDims& dims, int64_t batch, int64_t seq);

}  // namespace ptxla::workloads

#endif  // PTXLA_WORKLOADS_MODELS_BERT_H_
