#include "isa/semantics/context.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ptxla::isa {

ExecContext::ExecContext(const MachineModel& machine) : machine_(machine) {
  vregs_.resize(64);
  masks_.resize(64);
  for (int i = 0; i < machine.mxus; ++i) {
    mxus_.push_back(std::make_unique<Mxu>(machine.mxu_cols));
  }
  Reset();
}

void ExecContext::Reset() {
  for (auto* bank : {&vregs_, &masks_}) {
    for (WordsPtr& words : *bank) {
      if (words == nullptr) words = std::make_unique<Words>();
      words->fill(0xFFFFFFFF);
    }
  }
  sregs_.fill(0);
  predicates_.fill(false);
  for (auto& fifo : fifos_) fifo.clear();
  for (auto& fifo : scalar_fifos_) fifo.clear();
  for (auto& stream : streams_) stream.clear();
  for (auto& mxu : mxus_) *mxu = Mxu(machine_.mxu_cols);
  random_ = {};
  status_ = absl::OkStatus();
}

ExecContext::WordsPtr ExecContext::Spare() {
  if (spare_.empty()) return std::make_unique<Words>();
  WordsPtr words = std::move(spare_.back());
  spare_.pop_back();
  return words;
}

Words& ExecContext::Out(std::vector<WordsPtr>* bank, uint8_t index) {
  pending_words_.push_back({bank, index, Spare()});
  return *pending_words_.back().value;
}

Words& ExecContext::OutV(uint8_t index) { return Out(&vregs_, index); }
Words& ExecContext::OutM(uint8_t index) { return Out(&masks_, index); }

void ExecContext::SetS(uint8_t index, uint32_t value) {
  pending_sregs_.emplace_back(index, value);
}

void ExecContext::SetP(uint8_t index, bool value) {
  pending_predicates_.emplace_back(index, value);
}

void ExecContext::Commit() {
  for (PendingWords& p : pending_words_) {
    std::swap((*p.bank)[p.index], p.value);
    spare_.push_back(std::move(p.value));
  }
  pending_words_.clear();
  for (const auto& [index, value] : pending_sregs_) sregs_[index] = value;
  pending_sregs_.clear();
  for (const auto& [index, value] : pending_predicates_) {
    predicates_[index] = value;
  }
  pending_predicates_.clear();
}

uint8_t* ExecContext::Vmem(int64_t address, int64_t size) {
  if (address < 0 || address % kRowBytes != 0 ||
      address + size > static_cast<int64_t>(vmem_.size())) {
    Fail(absl::StrCat("VMEM address ", address, " of ", size,
                      " bytes is outside of ", vmem_.size(),
                      " bytes or not a multiple of ", kRowBytes));
    return nullptr;
  }
  return vmem_.data() + address;
}

uint8_t* ExecContext::Smem(int64_t address) {
  if (address < 0 || address % 4 != 0 ||
      address + 4 > static_cast<int64_t>(smem_.size())) {
    Fail(absl::StrCat("SMEM address ", address, " is outside of ", smem_.size(),
                      " bytes or not a multiple of 4"));
    return nullptr;
  }
  return smem_.data() + address;
}

Words& ExecContext::PushWords(Fifo fifo, int unit) {
  auto& queue = fifos_[static_cast<int>(fifo) * kMaxUnits + unit];
  queue.push_back(Spare());
  ++pushed_;
  last_words_ = &queue;
  last_scalars_ = nullptr;
  return *queue.back();
}

void ExecContext::PopWords(Fifo fifo, int unit, Words* out) {
  auto& queue = fifos_[static_cast<int>(fifo) * kMaxUnits + unit];
  if (queue.empty()) {
    Fail(absl::StrCat("FIFO ", Name(fifo), " is empty"));
    out->fill(0);
    return;
  }
  *out = *queue.front();
  spare_.push_back(std::move(queue.front()));
  queue.pop_front();
}

void ExecContext::PushScalar(Fifo fifo, uint32_t value) {
  last_scalars_ = &scalar_fifos_[static_cast<int>(fifo)];
  last_words_ = nullptr;
  last_scalars_->push_back(value);
  ++pushed_;
}

uint32_t ExecContext::PopScalar(Fifo fifo) {
  auto& queue = scalar_fifos_[static_cast<int>(fifo)];
  if (queue.empty()) {
    Fail(absl::StrCat("FIFO ", Name(fifo), " is empty"));
    return 0;
  }
  const uint32_t value = queue.front();
  queue.pop_front();
  return value;
}

ExecContext::OutputMark ExecContext::Mark() const {
  return {pending_words_.size(), pending_sregs_.size(),
          pending_predicates_.size(), pushed_};
}

bool ExecContext::CorruptSince(const OutputMark& before) {
  // The sign of a word, of its halves and of its bytes, and the lowest bit.
  constexpr uint32_t kSign = 0x80808081;
  auto flip = [](uint32_t bits, Words* words) {
    for (uint32_t& word : *words) word ^= bits;
  };
  for (size_t i = before.words; i < pending_words_.size(); ++i) {
    const bool mask = pending_words_[i].bank == &masks_;
    flip(mask ? ~0u : kSign, pending_words_[i].value.get());
  }
  for (size_t i = before.sregs; i < pending_sregs_.size(); ++i) {
    pending_sregs_[i].second = ~pending_sregs_[i].second;
  }
  for (size_t i = before.predicates; i < pending_predicates_.size(); ++i) {
    pending_predicates_[i].second = !pending_predicates_[i].second;
  }
  for (size_t n = 0; n < pushed_ - before.pushed; ++n) {
    if (last_words_ != nullptr) flip(kSign, last_words_->rbegin()[n].get());
    if (last_scalars_ != nullptr) {
      last_scalars_->rbegin()[n] = ~last_scalars_->rbegin()[n];
    }
  }
  const OutputMark now = Mark();
  return now.words + now.sregs + now.predicates + now.pushed >
         before.words + before.sregs + before.predicates + before.pushed;
}

void ExecContext::Fail(absl::string_view message) {
  if (status_.ok()) status_ = absl::InternalError(message);
}

}  // namespace ptxla::isa
