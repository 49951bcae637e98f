// What the device knows about an operator: its name, whether it was seen, and what the profile decided about it.
//
// One record per operator, found by the address of the operator's schema: a hash and one comparison, no string work.
// Everything that depends on an operator alone is worked out once, when the record is made. Records are never freed,
// as a thread may hold one while another removes the operator.
#pragma once

#include "profile.h"

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
        random(op.hasTag(at::Tag::nondeterministic_seeded)),
        missing(profile().lists_operators && !profile().compiled.has(name) && !profile().uncompiled.has(name)),
        compiled(profile().compiled.has(name)),
        compiled_in_single(profile().compiled_in_single.has(name)) {}

  // Marks the operator as used, but not by the harness. A plain store when it is already marked would make threads fight for the line.
  void note() {
    if (!seen.load(std::memory_order_relaxed) && host_work_depth == 0) {
      seen.store(true, std::memory_order_relaxed);
    }
  }

  std::atomic<const c10::FunctionSchema*> schema; // null once the operator is gone
  const std::string name; // "aten::add.Tensor"
  const bool random; // may draw from a default generator that it does not take as an argument
  std::atomic<bool> seen{false};

  // What the profile says; worked out once.
  const bool missing, compiled, compiled_in_single;

  // The largest call so far, for profiles that account for compiled kernels. Guarded by the table's mutex.
  struct Footprint {
    int64_t calls = 0, bytes = 0, cores = 0, scratchpad_bytes = 0, span_bytes = 0;
  } footprint;
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

  bool empty() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return records_.empty();
  }

  void account(OperatorRecord& record, const OperatorRecord::Footprint& call) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto calls = record.footprint.calls + 1;
    if (call.bytes >= record.footprint.bytes) {
      record.footprint = call;
    }
    record.footprint.calls = calls;
  }

  // The footprints since the last call, as (name, five numbers) in two lists.
  std::tuple<std::vector<std::string>, std::vector<int64_t>> take_footprints() {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::string> names;
    std::vector<int64_t> numbers;
    for (auto* known : records_) {
      const auto largest = std::exchange(known->footprint, {});
      if (largest.calls != 0) {
        names.push_back(known->name);
        numbers.insert(
            numbers.end(),
            {largest.calls, largest.bytes, largest.cores, largest.scratchpad_bytes, largest.span_bytes});
      }
    }
    return {std::move(names), std::move(numbers)};
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
    TORCH_CHECK(records_.size() < kSlots / 2, DEVICE_NAME ": more than ", kSlots / 2, " operators in one process");
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
    for (size_t i = slot(schema);; i = (i + 1) % kSlots) {
      auto* found = slots_[i].load(std::memory_order_relaxed);
      if (found == nullptr) {
        return;
      }
      if (found->schema.load(std::memory_order_relaxed) == schema) {
        found->schema.store(nullptr, std::memory_order_relaxed);
      }
    }
  }

  std::mutex mutex_;
  std::array<std::atomic<OperatorRecord*>, kSlots> slots_{};
  std::vector<OperatorRecord*> records_; // in the order of first use
};

} // namespace spyre
