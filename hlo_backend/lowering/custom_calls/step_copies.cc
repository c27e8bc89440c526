// The copies of a kernel on its walk: which part of which array they read and
// write, when they are started and waited for.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "hlo_backend/lowering/custom_calls/block_bytes.h"
#include "hlo_backend/lowering/custom_calls/step_walker.h"

namespace ptxla::lowering {
namespace {

using mosaic::Operation;
using mosaic::Type;

// Bundles that make a copy's descriptor: addresses, bounds, the semaphore. A
// wait asks once. libtpu 0.0.42.1: 11 to 22 bundles of code a copy in kernels
// of paged attention, 16 in the median; the one bundle of a wait is assumed.
constexpr int64_t kStartBundles = 16, kWaitBundles = 1;

// Elements between two neighbours along an axis.
int64_t StrideOf(const Type& array, size_t axis) {
  int64_t stride = 1;
  for (size_t d = axis + 1; d < array.dims.size(); ++d) {
    stride *= std::max<int64_t>(1, array.dims[d]);
  }
  return stride;
}

bool InHbm(const Type& type) {
  return type.memory_space == "any" || type.memory_space == "hbm" ||
         type.memory_space.empty();
}

// Operands of an operation that come in segments, some empty: of each segment
// the first, -1 if it has none.
std::vector<int> Segments(const Operation& op) {
  std::vector<int> first;
  const mosaic::Attribute* sizes = op.Find("operandSegmentSizes");
  size_t at = 0;
  for (size_t k = 0; sizes != nullptr && k < sizes->integers.size(); ++k) {
    const int64_t n = sizes->integers[k];
    first.push_back(n > 0 && at < op.operands.size() ? op.operands[at] : -1);
    at += static_cast<size_t>(std::max<int64_t>(0, n));
  }
  return first;
}

}  // namespace

StepWalker::Part StepWalker::PartOf(int value) const {
  const auto found = parts_.find(value);
  if (found != parts_.end()) return found->second;
  Part whole{value, 0, kernel_.module.values[value]->dims, {}};
  for (size_t d = 0; d < whole.dims.size(); ++d) whole.axes.push_back(d);
  return whole;
}

// tpu.memref_slice %array, indices... cuts, tpu.memref_squeeze leaves out
// dimensions of 1. Other views are arrays of their own from there on.
void StepWalker::Slice(const Operation& op, const Walk& walk) {
  if (op.results.size() != 1 || op.operands.empty()) return;
  Part part = PartOf(op.operands[0]);
  const std::vector<int64_t>& from =
      kernel_.module.values[op.operands[0]]->dims;
  const std::vector<int64_t>& to = kernel_.module.values[op.results[0]]->dims;
  if (op.name == "tpu.memref_slice") {
    if (to.size() != from.size() || part.axes.size() != from.size()) return;
    const Type& array = *kernel_.module.values[part.array];
    for (size_t d = 0; d < to.size(); ++d) {
      part.dims[part.axes[d]] = to[d];
      if (d + 1 >= op.operands.size()) continue;
      const int64_t index = walk.math.Get(op.operands[d + 1]).value_or(0);
      // Of a broken kernel: anything.
      if (index > 0 && index < from[d]) {
        part.first += index * StrideOf(array, part.axes[d]);
      }
    }
  } else if (op.name == "tpu.memref_squeeze") {
    std::vector<size_t> left;
    for (size_t d = 0; d < from.size(); ++d) {
      const bool stays = left.size() < to.size() && from[d] == to[left.size()];
      if (stays &&
          (from[d] != 1 || from.size() - d <= to.size() - left.size())) {
        left.push_back(part.axes[d]);
      }
    }
    if (left.size() != to.size()) return;
    part.axes = std::move(left);
  } else {
    return;
  }
  parts_[op.results[0]] = std::move(part);
}

OwnCopy StepWalker::CopyOf(int source, int target) const {
  const Type& from = *kernel_.module.values[source];
  const Type& to = *kernel_.module.values[target];
  OwnCopy copy;
  copy.reads = InHbm(from);
  copy.writes = InHbm(to);
  copy.amount = to.Bytes();
  const Part part = PartOf(copy.writes && !copy.reads ? target : source);
  const BlockBytes block = BytesOfBlock(
      from.element->bits, part.dims, kernel_.module.values[part.array]->dims);
  copy.bytes = block.bytes;
  copy.run = block.run;
  return copy;
}

// Devices have the links in the order in which they are first sent to. One
// whose number is not known, as neighbours' are not, is who its value names.
int StepWalker::LinkOf(int device, const Walk& walk) {
  const std::optional<int64_t> number = walk.math.Get(device);
  const std::pair<bool, int64_t> name(number.has_value(),
                                      number.value_or(device));
  const auto next = static_cast<int>(links_.size());
  return links_.try_emplace(name, next).first->second;
}

// Source, its semaphore, target, its semaphore, the target's device. A copy to
// another device sets both semaphores, each on its side.
void StepWalker::StartCopy(const Operation& op, Walk* walk) {
  scalar_ += kStartBundles;
  const std::vector<int> operands = Segments(op);
  const auto array = [&](size_t k) {
    return k < operands.size() && operands[k] >= 0 &&
           kernel_.module.values[operands[k]]->IsMemRef();
  };
  if (operands.size() < 4 || !array(0) || !array(2)) return;
  OwnCopy copy = CopyOf(operands[0], operands[2]);
  if (operands.size() > 4 && operands[4] >= 0) {
    copy.link = LinkOf(operands[4], *walk);
  }
  walk->time.copied_bytes += copy.bytes * (copy.reads + copy.writes);
  if (copies_ == nullptr || walk->listing) return;
  std::vector<OwnCopies::Semaphore> semaphores;
  for (const int semaphore : {operands[1], operands[3]}) {
    if (semaphore < 0) continue;
    const Part part = PartOf(semaphore);
    semaphores.push_back({part.array, part.first});
  }
  copies_->Start(semaphores, copy, now_);
}

// Semaphore, source, target.
void StepWalker::AwaitCopy(const Operation& op, Walk* walk) {
  TakeTime(kWaitBundles, walk);
  const std::vector<int> operands = Segments(op);
  if (copies_ == nullptr || walk->listing || operands.size() < 3 ||
      operands[0] < 0 || operands[2] < 0) {
    return;
  }
  const Part part = PartOf(operands[0]);
  const int64_t end =
      copies_->Wait({part.array, part.first},
                    kernel_.module.values[operands[2]]->Bytes(), now_);
  walk->time.waits += end - now_;
  now_ = end;
}

}  // namespace ptxla::lowering
