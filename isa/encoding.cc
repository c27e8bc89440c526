#include "isa/encoding.h"

#include <limits>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hash.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "isa/enum_names.h"
#include "isa/fields.h"
#include "isa/program.pb.h"

namespace ptxla::isa {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Changes when the meaning of a row number or of an instruction's bits does.
uint64_t TableFingerprint() {
  Fingerprint fingerprint;
  for (const InstrInfo& info : InstructionTable()) {
    fingerprint.Add(info.mnemonic);
    for (Operand operand : info.operands) {
      fingerprint.Add(static_cast<int64_t>(operand));
    }
  }
  return fingerprint.value();
}

const FieldDescriptor* FieldOf(const Message& message, absl::string_view name) {
  const FieldDescriptor* field =
      message.GetDescriptor()->FindFieldByName(std::string(name));
  CHECK(field != nullptr) << "isa/program.proto: " << message.GetTypeName()
                          << " lacks " << name;
  return field;
}

uint64_t LowWord(const Instr& i) {
  return uint64_t{static_cast<uint16_t>(i.op)} | uint64_t{i.unit} << 16 |
         uint64_t{i.guard} << 24 | uint64_t{i.dst} << 32 | uint64_t{i.a} << 40 |
         uint64_t{i.b} << 48 | uint64_t{i.c} << 56;
}
uint64_t HighWord(const Instr& i) {
  return uint64_t{static_cast<uint32_t>(i.imm)} |
         uint64_t{static_cast<uint32_t>(i.imm2)} << 32;
}
Instr FromWords(uint64_t low, uint64_t high) {
  Instr i;
  i.op = static_cast<Opcode>(low & 0xFFFF);
  i.unit = static_cast<uint8_t>(low >> 16);
  i.guard = static_cast<uint8_t>(low >> 24);
  i.dst = static_cast<uint8_t>(low >> 32);
  i.a = static_cast<uint8_t>(low >> 40);
  i.b = static_cast<uint8_t>(low >> 48);
  i.c = static_cast<uint8_t>(low >> 56);
  i.imm = static_cast<int32_t>(static_cast<uint32_t>(high));
  i.imm2 = static_cast<int32_t>(static_cast<uint32_t>(high >> 32));
  return i;
}

void WriteNode(const Node& node, proto::Node* out) {
  if (const Block* block = node.block()) {
    proto::Block* to = out->mutable_block();
    to->set_label(block->label);
    to->mutable_words()->Reserve(2 * static_cast<int>(block->instrs.size()));
    for (const Instr& instr : block->instrs) {
      to->add_words(LowWord(instr));
      to->add_words(HighWord(instr));
    }
    to->mutable_ends()->Add(block->ends.begin(), block->ends.end());
  } else if (const Loop* loop = node.loop()) {
    proto::Loop* to = out->mutable_loop();
    to->set_counter(loop->counter);
    to->set_trips(loop->trips);
    to->set_increment(loop->increment);
    if (loop->count != kNoReg) to->set_count(1 + loop->count);
    for (const Node& child : loop->body) WriteNode(child, to->add_body());
  } else if (const When* when = node.when()) {
    proto::When* to = out->mutable_when();
    to->set_dim(when->dim);
    to->set_kind(static_cast<int>(when->kind));
    for (const Node& child : when->body) WriteNode(child, to->add_body());
  }
}

class Writer {
 public:
  explicit Writer(Message* message)
      : m_(*message), r_(*message->GetReflection()) {}

  template <class T>
  void operator()(absl::string_view name, T& x) {
    Write(FieldOf(m_, name), x);
  }
  template <class T, class Variant>
  void Alternative(absl::string_view name, Variant& action) {
    if (T* x = std::get_if<T>(&action)) Write(FieldOf(m_, name), *x);
  }

 private:
  template <class T>
  void Write(const FieldDescriptor* f, T& x) {
    if constexpr (std::is_same_v<T, bool>) {
      r_.SetBool(&m_, f, x);
    } else if constexpr (std::is_same_v<T, uint64_t>) {
      r_.SetUInt64(&m_, f, x);
    } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
      r_.SetInt64(&m_, f, static_cast<int64_t>(x));
    } else {
      WriteStruct(r_.MutableMessage(&m_, f), x);
    }
  }
  void Write(const FieldDescriptor* f, std::string& x) {
    r_.SetString(&m_, f, x);
  }
  void Write(const FieldDescriptor* f, Code& code) {
    for (const Node& node : code) {
      WriteNode(node, static_cast<proto::Node*>(r_.AddMessage(&m_, f)));
    }
  }
  void Write(const FieldDescriptor* f, std::vector<int64_t>& x) {
    for (int64_t value : x) r_.AddInt64(&m_, f, value);
  }
  void Write(const FieldDescriptor* f, std::vector<std::vector<int64_t>>& x) {
    for (const auto& list : x) {
      auto* to = static_cast<proto::IntList*>(r_.AddMessage(&m_, f));
      to->mutable_values()->Add(list.begin(), list.end());
    }
  }
  void Write(const FieldDescriptor* f, std::vector<Schedule>& x) {
    for (Schedule& ops : x) {
      Branch branch{ops};
      WriteStruct(r_.AddMessage(&m_, f), branch);
    }
  }
  template <class T>
  void Write(const FieldDescriptor* f, std::vector<T>& x) {
    for (T& item : x) WriteStruct(r_.AddMessage(&m_, f), item);
  }
  template <class T>
  static void WriteStruct(Message* to, T& x) {
    Writer writer(to);
    VisitFields(writer, x);
  }

  Message& m_;
  const Reflection& r_;
};

class MessageReader {
 public:
  MessageReader(const Message& message, absl::Status* status)
      : m_(message), r_(*message.GetReflection()), status_(status) {}

  template <class T>
  void operator()(absl::string_view name, T& x) {
    Read(FieldOf(m_, name), &x);
  }
  template <class T, class Variant>
  void Alternative(absl::string_view name, Variant& action) {
    const FieldDescriptor* f = FieldOf(m_, name);
    if (!r_.HasField(m_, f)) return;
    T x;
    ReadStruct(r_.GetMessage(m_, f), &x);
    action = std::move(x);
  }

 private:
  void Fail(absl::string_view what) {
    if (status_->ok()) {
      *status_ = absl::InvalidArgumentError(
          absl::StrCat("not a program of this instruction table: ", what));
    }
  }

  template <class T>
  void Read(const FieldDescriptor* f, T* x) {
    if constexpr (std::is_same_v<T, bool>) {
      *x = r_.GetBool(m_, f);
    } else if constexpr (std::is_same_v<T, uint64_t>) {
      *x = r_.GetUInt64(m_, f);
    } else if constexpr (std::is_enum_v<T>) {
      const int64_t value = r_.GetInt64(m_, f);
      if (value < 0 || value >= EnumSize<T>::kValue) return Fail(f->name());
      *x = static_cast<T>(value);
    } else if constexpr (std::is_integral_v<T>) {
      const int64_t value = r_.GetInt64(m_, f);
      if (value < std::numeric_limits<T>::min() ||
          value > std::numeric_limits<T>::max()) {
        return Fail(f->name());
      }
      *x = static_cast<T>(value);
    } else {
      ReadStruct(r_.GetMessage(m_, f), x);
    }
  }
  void Read(const FieldDescriptor* f, std::string* x) {
    *x = r_.GetString(m_, f);
  }
  void Read(const FieldDescriptor* f, Code* code) {
    for (int i = 0; i < r_.FieldSize(m_, f); ++i) {
      ReadNode(static_cast<const proto::Node&>(r_.GetRepeatedMessage(m_, f, i)),
               code);
    }
  }
  void Read(const FieldDescriptor* f, std::vector<int64_t>* x) {
    for (int i = 0; i < r_.FieldSize(m_, f); ++i) {
      x->push_back(r_.GetRepeatedInt64(m_, f, i));
    }
  }
  void Read(const FieldDescriptor* f, std::vector<std::vector<int64_t>>* x) {
    for (int i = 0; i < r_.FieldSize(m_, f); ++i) {
      const auto& list =
          static_cast<const proto::IntList&>(r_.GetRepeatedMessage(m_, f, i));
      x->emplace_back(list.values().begin(), list.values().end());
    }
  }
  void Read(const FieldDescriptor* f, std::vector<Schedule>* x) {
    for (int i = 0; i < r_.FieldSize(m_, f); ++i) {
      Branch branch;
      ReadStruct(r_.GetRepeatedMessage(m_, f, i), &branch);
      x->push_back(std::move(branch.op));
    }
  }
  template <class T>
  void Read(const FieldDescriptor* f, std::vector<T>* x) {
    for (int i = 0; i < r_.FieldSize(m_, f); ++i) {
      ReadStruct(r_.GetRepeatedMessage(m_, f, i), &x->emplace_back());
    }
  }
  template <class T>
  void ReadStruct(const Message& from, T* x) {
    MessageReader reader(from, status_);
    VisitFields(reader, *x);
  }

  void ReadBlock(const proto::Block& from, Block* block) {
    block->label = from.label();
    for (int i = 0; i + 1 < from.words_size(); i += 2) {
      block->instrs.push_back(FromWords(from.words(i), from.words(i + 1)));
      if (static_cast<int>(block->instrs.back().op) >= kNumOpcodes) {
        return Fail("opcode");
      }
    }
    block->ends.assign(from.ends().begin(), from.ends().end());
    uint32_t last = 0;
    for (uint32_t end : block->ends) {
      if (end < last || end > block->instrs.size()) return Fail("bundle ends");
      last = end;
    }
    if (last != block->instrs.size()) Fail("bundle ends");
  }

  void ReadNode(const proto::Node& from, Code* code) {
    if (from.has_block()) {
      Block block;
      ReadBlock(from.block(), &block);
      code->push_back(std::move(block));
    } else if (from.has_loop()) {
      Loop loop;
      loop.counter = static_cast<uint8_t>(from.loop().counter());
      loop.trips = from.loop().trips();
      loop.increment = static_cast<int32_t>(from.loop().increment());
      if (from.loop().count() != 0) {
        loop.count = static_cast<uint8_t>(from.loop().count() - 1);
      }
      for (const auto& child : from.loop().body()) ReadNode(child, &loop.body);
      code->push_back(std::move(loop));
    } else if (from.has_when()) {
      When when;
      when.dim = static_cast<int>(from.when().dim());
      if (from.when().kind() < 0 || from.when().kind() > 3) Fail("when");
      when.kind = static_cast<When::Kind>(from.when().kind() & 3);
      for (const auto& child : from.when().body()) ReadNode(child, &when.body);
      code->push_back(std::move(when));
    } else {
      Fail("node");
    }
  }

  const Message& m_;
  const Reflection& r_;
  absl::Status* status_;
};

}  // namespace

std::string Encode(const Program& program) {
  proto::ProgramFile file;
  file.set_table_fingerprint(TableFingerprint());
  Writer writer(file.mutable_program());
  // Visitors take mutable values for readers' sake; this one reads.
  VisitFields(writer, const_cast<Program&>(program));
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    CHECK(file.SerializeToCodedStream(&coded));
  }
  return bytes;
}

absl::StatusOr<Program> Decode(absl::string_view bytes) {
  proto::ProgramFile file;
  if (!file.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError("not an encoded program");
  }
  if (file.table_fingerprint() != TableFingerprint()) {
    return absl::InvalidArgumentError(
        "the program was encoded with another instruction table");
  }
  Program program;
  absl::Status status;
  MessageReader reader(file.program(), &status);
  VisitFields(reader, program);
  if (!status.ok()) return status;
  return program;
}

}  // namespace ptxla::isa
