#include "hlo_backend/mosaic/prefetched_arrays.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "hlo_backend/mosaic/index_math.h"

namespace ptxla::mosaic {
namespace {

// Who makes each value of a block and of those inside of it.
using Makers = absl::flat_hash_map<int, const Operation*>;

void Collect(const Block& block, Makers* makers,
             std::vector<const Operation*>* operations) {
  for (const Operation& op : block.operations) {
    operations->push_back(&op);
    for (const int result : op.results) (*makers)[result] = &op;
    for (const Region& region : op.regions) {
      for (const Block& inner : region.blocks) {
        Collect(inner, makers, operations);
      }
    }
  }
}

struct Body {
  Makers makers;
  std::vector<const Operation*> operations;

  explicit Body(const Block& block) { Collect(block, &makers, &operations); }

  // The value that a chain of casts starts from.
  int Source(int value) const {
    for (;;) {
      const auto found = makers.find(value);
      if (found == makers.end() || found->second->operands.empty()) {
        return value;
      }
      if (!IsCast(found->second->name)) return value;
      value = found->second->operands[0];
    }
  }
  const Operation* Maker(int value) const {
    const auto found = makers.find(Source(value));
    return found == makers.end() ? nullptr : found->second;
  }
  // The array that a value is loaded from, -1 if it is not.
  int LoadedFrom(int value) const {
    const Operation* op = Maker(value);
    return op != nullptr && op->name == "memref.load" && !op->operands.empty()
               ? op->operands[0]
               : -1;
  }
};

class Prefetched {
 public:
  Prefetched(const PallasKernel& kernel, const CallFacts& facts,
             ScalarMemory* memory)
      : kernel_(kernel),
        facts_(facts),
        memory_(memory),
        body_(kernel.body()),
        open_(static_cast<size_t>(kernel.scalar_prefetch), true) {}

  std::vector<std::string> Fill() {
    for (size_t k = 0; k < open_.size() && k < facts_.constants.size(); ++k) {
      if (facts_.constants[k].empty()) continue;
      Set(k, [values = facts_.constants[k]](int64_t at) {
        return static_cast<size_t>(at) < values.size()
                   ? std::optional<int64_t>(values[at])
                   : std::nullopt;
      });
    }
    FillTables();
    FillOffsets();
    FillCounts();
    FillLengths();
    return std::move(lines_);
  }

 private:
  int Id(size_t k) const {
    return kernel_.body().arguments[kernel_.grid.size() + k];
  }
  const Type& TypeAt(size_t k) const { return *kernel_.module.values[Id(k)]; }
  // Number of a prefetched array among them, -1: no such array.
  int NumberOf(int value) const {
    for (size_t k = 0; k < open_.size(); ++k) {
      if (Id(k) == value) return static_cast<int>(k);
    }
    return -1;
  }
  void Set(size_t k, ScalarMemory::Values values) {
    open_[k] = false;
    memory_->Fill(Id(k), std::move(values));
  }
  const std::vector<int64_t>* Array(size_t window) const {
    return window < facts_.arrays.size() && !facts_.arrays[window].empty()
               ? &facts_.arrays[window]
               : nullptr;
  }

  // Numbers of blocks, as index maps look them up.
  void FillTables() {
    for (size_t w = 0; w < kernel_.windows.size(); ++w) {
      const PallasWindow& window = kernel_.windows[w];
      if (window.map == nullptr || Array(w) == nullptr) continue;
      const Block& block = window.map->regions[0].blocks[0];
      const Body map(block);
      if (block.operations.empty() ||
          block.arguments.size() < kernel_.grid.size() + open_.size()) {
        continue;
      }
      const std::vector<int>& results = block.operations.back().operands;
      for (size_t d = 0; d < results.size() && d < Array(w)->size(); ++d) {
        int loaded = map.LoadedFrom(results[d]);
        // Less where the first block begins.
        const Operation* made = map.Maker(results[d]);
        if (loaded < 0 && made != nullptr && !made->operands.empty() &&
            (made->name == "arith.subi" || made->name == "arith.addi")) {
          loaded = map.LoadedFrom(made->operands[0]);
        }
        for (size_t k = 0; loaded >= 0 && k < open_.size(); ++k) {
          if (!open_[k] || block.arguments[kernel_.grid.size() + k] != loaded) {
            continue;
          }
          const int64_t size = d < window.block.size() ? window.block[d] : 1;
          FillInOrder(k, CeilOfRatio<int64_t>((*Array(w))[d],
                                              std::max<int64_t>(1, size)));
          rows_ = std::max(rows_, (*Array(w))[d]);
        }
      }
    }
  }

  void FillInOrder(size_t k, int64_t blocks) {
    const int64_t entries = TypeAt(k).Elements();
    if (entries < 1) return;
    Set(k, [entries, blocks](int64_t at) { return at * blocks / entries; });
    if (entries > 1) {
      lines_.push_back(
          absl::StrCat(entries, " entries name ", blocks, " blocks in order"));
    }
  }

  void FillOffsets() {
    const size_t first = kernel_.windows.size() -
                         std::min(kernel_.windows.size(), facts_.results);
    if (rows_ == 0 && Array(first) != nullptr && !Array(first)->empty()) {
      rows_ = Array(first)->front();
    }
    if (rows_ == 0) return;
    std::map<int, std::set<int>> read;  // array -> where
    for (const Operation* op : body_.operations) {
      if (op->name == "memref.load" && op->operands.size() == 2) {
        read[op->operands[0]].insert(body_.Source(op->operands[1]));
      }
    }
    for (const auto& [array, places] : read) {
      const int k = NumberOf(array);
      if (k < 0 || !open_[k]) continue;
      const int64_t parts = TypeAt(k).Elements() - 1;
      for (const int place : places) {
        const Operation* op = body_.Maker(place);
        if (parts < 1 || op == nullptr || op->name != "arith.addi" ||
            op->operands.empty() ||
            places.count(body_.Source(op->operands[0])) == 0) {
          continue;
        }
        Set(k, [rows = rows_, parts](int64_t at) { return at * rows / parts; });
        lines_.push_back(
            absl::StrCat(rows_, " rows in ", parts, " equal parts"));
        break;
      }
    }
  }

  // A table of pages is what a slice of an array takes its index from; the
  // dimension behind that index is the page.
  void FillLengths() {
    for (const Operation* op : body_.operations) {
      if (op->name != "tpu.memref_slice" || op->operands.empty()) continue;
      const std::vector<int64_t>& dims =
          kernel_.module.values[op->operands[0]]->dims;
      for (size_t d = 0; d + 1 < dims.size() && d + 1 < op->operands.size();
           ++d) {
        const int table = NumberOf(body_.LoadedFrom(op->operands[d + 1]));
        if (table >= 0) FillLengthsOf(TypeAt(table), dims[d], dims[d + 1]);
      }
    }
  }

  void FillLengthsOf(const Type& table, int64_t pages, int64_t page) {
    for (size_t k = 0; k < open_.size(); ++k) {
      const int64_t rows = TypeAt(k).Elements();
      if (rows < 1 || TypeAt(k).dims.size() != 1) continue;
      const bool fits =
          table.dims.size() > 1
              ? rows * table.dims.back() == table.Elements()
              : rows < table.Elements() && table.Elements() % rows == 0;
      if (!open_[k] || !fits) continue;
      const int64_t room =
          std::min(table.Elements() / rows, std::max<int64_t>(1, pages / rows));
      const int64_t length = room * page;
      Set(k, [length](int64_t) { return length; });
      lines_.push_back(absl::StrCat(rows, " lengths of ", length));
    }
  }

  void FillCounts() {
    for (const Operation* op : body_.operations) {
      if (op->name != "memref.load" || op->operands.size() != 2) continue;
      const int k = NumberOf(body_.LoadedFrom(op->operands[1]));
      const int of = NumberOf(op->operands[0]);
      if (k < 0 || of < 0 || k == of || !open_[k] ||
          TypeAt(k).Elements() != 1) {
        continue;
      }
      const int64_t last = TypeAt(of).Elements() - 1;
      Set(k, [last](int64_t) { return last; });
      lines_.push_back(absl::StrCat("a count of ", last));
    }
  }

  const PallasKernel& kernel_;
  const CallFacts& facts_;
  ScalarMemory* memory_;
  const Body body_;
  int64_t rows_ = 0;        // what offsets count
  std::vector<bool> open_;  // nothing is known of it
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> FillPrefetched(const PallasKernel& kernel,
                                        const CallFacts& facts,
                                        ScalarMemory* memory) {
  return Prefetched(kernel, facts, memory).Fill();
}

}  // namespace ptxla::mosaic
