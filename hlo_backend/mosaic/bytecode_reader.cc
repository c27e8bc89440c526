#include "hlo_backend/mosaic/bytecode_reader.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "hlo_backend/mosaic/byte_stream.h"
#include "hlo_backend/mosaic/bytecode_tables.h"

namespace ptxla::mosaic {
namespace {

constexpr absl::string_view kMagic = "ML\xefR";
constexpr int kMaxNesting = 100;

// What an operation has, besides name and location.
enum OperationMask : uint8_t {
  kHasAttributes = 1,
  kHasResults = 2,
  kHasOperands = 4,
  kHasSuccessors = 8,
  kHasRegions = 16,
};

absl::StatusOr<Sections> ReadSections(ByteStream in) {
  Sections sections;
  while (!in.AtEnd()) {
    const uint8_t head = in.Byte();
    const size_t size = in.Count();
    if (head & 0x80) {
      const uint64_t alignment = in.Varint();
      if (alignment == 0) return in.Error("the sections");
      while (in.ok() && in.position() % alignment != 0) in.Byte();
    }
    const absl::string_view bytes = in.Bytes(size);
    if ((head & 0x7f) < sections.size()) sections[head & 0x7f] = bytes;
  }
  if (!in.ok()) return in.Error("the sections");
  return sections;
}

class OperationReader {
 public:
  OperationReader(absl::string_view bytes, Tables* tables, Module* module)
      : in_(bytes), tables_(tables), module_(module) {}

  absl::Status Read() {
    next_.push_back(0);
    ReadBlock(&module_->top);
    return in_.ok() ? absl::OkStatus() : in_.Error("the operations");
  }

 private:
  // Values of a region have numbers that follow those around it; in a region
  // that is isolated they begin at 0. Here every value has one of its own.
  int NewValue(const Type* type) {
    const int id = static_cast<int>(module_->values.size());
    module_->values.push_back(type);
    if (next_.back() >= scope_.size()) {
      in_.Fail();
      return id;
    }
    scope_[next_.back()++] = id;
    return id;
  }

  const Type* NextType() {
    const size_t index = in_.Index(tables_->type_count());
    const Type* type = in_.ok() ? tables_->TypeAt(index) : nullptr;
    if (type == nullptr) in_.Fail();
    return type;
  }

  void SkipLocation() { in_.Index(tables_->attribute_count()); }

  void ReadBlock(Block* block) {
    const uint64_t head = in_.Varint();
    if (head & 1) {
      for (size_t n = in_.Count(); n > 0 && in_.ok(); --n) {
        const Type* type = NextType();
        SkipLocation();
        if (in_.ok()) block->arguments.push_back(NewValue(type));
      }
    }
    for (uint64_t n = head >> 1; n > 0 && in_.ok(); --n) {
      block->operations.emplace_back();
      ReadOperation(&block->operations.back());
    }
  }

  void ReadRegion(bool isolated, Region* region) {
    const size_t blocks = in_.Count();
    if (blocks == 0) return;
    const size_t values = in_.Count();
    std::vector<int> outer;
    if (isolated) outer.swap(scope_);
    const size_t base = scope_.size();
    scope_.resize(base + values, -1);
    next_.push_back(base);
    ++nesting_;
    if (nesting_ > kMaxNesting) in_.Fail();
    for (size_t n = blocks; n > 0 && in_.ok(); --n) {
      region->blocks.emplace_back();
      ReadBlock(&region->blocks.back());
    }
    --nesting_;
    next_.pop_back();
    scope_.resize(base);
    if (isolated) outer.swap(scope_);
  }

  void ReadOperation(Operation* op) {
    const size_t name = in_.Index(tables_->operation_names().size());
    const uint8_t mask = in_.Byte();
    SkipLocation();
    if (!in_.ok()) return;
    op->name = std::string(
        absl::StripPrefix(tables_->operation_names()[name], "stable_mosaic."));
    if (mask & kHasAttributes) {
      const size_t index = in_.Index(tables_->attribute_count());
      if (in_.ok()) op->attributes = tables_->AttributeAt(index);
      if (op->attributes == nullptr) in_.Fail();
    }
    std::vector<const Type*> results;
    if (mask & kHasResults) {
      for (size_t n = in_.Count(); n > 0 && in_.ok(); --n) {
        results.push_back(NextType());
      }
    }
    if (mask & kHasOperands) {
      for (size_t n = in_.Count(); n > 0 && in_.ok(); --n) {
        const size_t number = in_.Index(scope_.size());
        if (!in_.ok()) return;
        // A value that comes later, or never: no order of Mosaic has it.
        if (scope_[number] < 0) in_.Fail();
        op->operands.push_back(scope_[number]);
      }
    }
    if (mask & kHasSuccessors) {
      for (size_t n = in_.Count(); n > 0 && in_.ok(); --n) in_.Varint();
    }
    for (const Type* type : results) {
      if (in_.ok()) op->results.push_back(NewValue(type));
    }
    if (mask & kHasRegions) {
      const uint64_t head = in_.Varint();
      for (uint64_t n = head >> 1; n > 0 && in_.ok(); --n) {
        op->regions.emplace_back();
        ReadRegion((head & 1) != 0, &op->regions.back());
      }
    }
  }

  ByteStream in_;
  Tables* tables_;
  Module* module_;
  std::vector<int> scope_;    // number in the file -> value id
  std::vector<size_t> next_;  // per open region: its next number
  int nesting_ = 0;
};

}  // namespace

absl::StatusOr<Module> ReadBytecode(absl::string_view bytes) {
  if (!absl::StartsWith(bytes, kMagic)) {
    return absl::InvalidArgumentError(
        "Mosaic bytecode: does not begin as MLIR bytecode does");
  }
  ByteStream in(bytes);
  in.Bytes(kMagic.size());
  const uint64_t version = in.Varint();
  in.ZeroTerminated();  // who wrote it
  if (!in.ok()) return in.Error("the first bytes");
  if (version != 0) {
    return absl::UnimplementedError(absl::StrCat(
        "Mosaic bytecode of version ", version, "; only version 0 is read"));
  }
  ASSIGN_OR_RETURN(const Sections sections, ReadSections(in));
  Module module;
  Tables tables(&module);
  RETURN_IF_ERROR(tables.Read(sections));
  RETURN_IF_ERROR(
      OperationReader(sections[kIrSection], &tables, &module).Read());
  return module;
}

}  // namespace ptxla::mosaic
