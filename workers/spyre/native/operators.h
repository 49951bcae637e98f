// What the device knows about an operator: its name, whether it was seen, and what the profile decided about it.
//
// One record per operator, found by the address of the operator's schema: a hash and one comparison, no string work.
// Everything that depends on an operator alone is worked out once, when the record is made. Records are never freed,
// as a thread may hold one while another removes the operator.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace spyre {

struct OperatorRecord {
  explicit OperatorRecord(const c10::OperatorHandle& op)
      : schema(&op.schema()),
        name(c10::toString(op.operator_name())),
        random(op.hasTag(at::Tag::nondeterministic_seeded)) {}

  // Marks the operator as used. A plain store when it is already marked would make threads fight for the line.
  void note() {
    if (!seen.load(std::memory_order_relaxed)) {
      seen.store(true, std::memory_order_relaxed);
    }
  }

  std::atomic<const c10::FunctionSchema*> schema; // null once the operator is gone
  const std::string name; // "aten::add.Tensor"
  const bool random; // may draw from a default generator that it does not take as an argument
  std::atomic<bool> seen{false};
};

class OperatorTable {
 public:
  static OperatorTable& instance() {
    static auto* table = new OperatorTable;
    return *table;
  }

  OperatorRecord& record(const c10::OperatorHandle& op) {
    const auto* schema = &op.schema();
    for (size_t i = slot(schema);; i = (i + 1) % kSlots) {
      auto* found = slots_[i].load(std::memory_order_acquire);
      if (found == nullptr) {
        return add(op);
      }
      if (found->schema.load(std::memory_order_relaxed) == schema) {
        return *found;
      }
    }
  }

  // Names of the operators noted since the last call, in the order in which they were first met.
  std::vector<std::string> take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::string> names;
    for (auto* known : records_) {
      if (known->seen.exchange(false, std::memory_order_relaxed)) {
        names.push_back(known->name);
      }
    }
    return names;
  }

 private:
  static constexpr size_t kSlots = size_t{1} << 14; // torch has about 3,500 operators

  // An operator that a test defines and drops may be followed by another at the same address.
  struct Forgetting final : c10::OpRegistrationListener {
    void onOperatorRegistered(const c10::OperatorHandle&) override {}
    void onOperatorDeregistered(const c10::OperatorHandle& op) override { instance().forget(&op.schema()); }
  };

  OperatorTable() {
    // Never destroyed: the dispatcher outlives this library's static objects.
    static auto* listening = new c10::RegistrationHandleRAII(
        c10::Dispatcher::singleton().addRegistrationListener(std::make_unique<Forgetting>()));
    static_cast<void>(listening);
  }

  static size_t slot(const c10::FunctionSchema* schema) {
    return (reinterpret_cast<uintptr_t>(schema) * 0x9E3779B97F4A7C15ULL) >> 50;
  }

  OperatorRecord& add(const c10::OperatorHandle& op) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto* schema = &op.schema();
    TORCH_CHECK(records_.size() < kSlots / 2, "spyre: more than ", kSlots / 2, " operators in one process");
    for (size_t i = slot(schema);; i = (i + 1) % kSlots) {
      auto* found = slots_[i].load(std::memory_order_relaxed);
      if (found != nullptr && found->schema.load(std::memory_order_relaxed) == schema) {
        return *found; // another thread was quicker
      }
      if (found == nullptr) {
        auto* made = records_.emplace_back(new OperatorRecord(op));
        slots_[i].store(made, std::memory_order_release);
        return *made;
      }
    }
  }

  void forget(const c10::FunctionSchema* schema) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto* known : records_) {
      if (known->schema.load(std::memory_order_relaxed) == schema) {
        known->schema.store(nullptr, std::memory_order_relaxed);
      }
    }
  }

  std::mutex mutex_;
  std::array<std::atomic<OperatorRecord*>, kSlots> slots_{};
  std::vector<OperatorRecord*> records_; // in the order of first use
};

// Notes an operator that has a typed kernel; all others pass `run_on_host`. Meant for a static variable of the kernel.
class TypedOperator {
 public:
  explicit TypedOperator(const char* name, const char* overload = "")
      : record_(OperatorTable::instance().record(c10::Dispatcher::singleton().findSchemaOrThrow(name, overload))) {}
  void note() const { record_.note(); }

 private:
  OperatorRecord& record_;
};

} // namespace spyre
