// The profile: which rules this process's device keeps, and their evidence. The data come from a file that the Python
// side reads (workers/spyre/profiles); this header only holds them. They are set once, before the first operator.
#pragma once

#include "device_name.h"

#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace spyre {

// A set of dtypes.
class Dtypes {
 public:
  bool has(c10::ScalarType dtype) const { return (bits_ >> static_cast<unsigned>(dtype)) & 1; }
  uint64_t bits() const { return bits_; }

  bool empty() const { return bits_ == 0; }

  void add(const std::string& name) {
    const auto found = c10::getStringToDtypeMap().find(name);
    TORCH_CHECK_VALUE(
        found != c10::getStringToDtypeMap().end(), DEVICE_NAME ": the profile names a dtype that torch does not have: ", name);
    bits_ |= uint64_t{1} << static_cast<unsigned>(found->second);
  }

 private:
  uint64_t bits_ = 0;
};

// Operators by name: "aten::add" stands for all overloads, "aten::ne.Tensor" for one.
class OperatorNames {
 public:
  void add(const std::string& name) { names_.insert(name); }
  bool has(const std::string& name) const {
    return names_.count(name) != 0 || names_.count(name.substr(0, name.find('.'))) != 0;
  }

 private:
  std::unordered_set<std::string> names_;
};

struct Profile {
  std::string name = "compat";
  std::map<std::string, std::string, std::less<>> evidence; // by rule

  bool restricted = false; // anything below is set: each call must be checked
  bool lists_operators = false;
  OperatorNames compiled, uncompiled, compiled_in_single;
  Dtypes living, computing, advertised, one_six_nine;
  int64_t most_dimensions = 0;
  bool contiguous_only = false, int64_as_int32 = false, poisoned = false;
  uint64_t capacity = UINT64_MAX, scratchpad = UINT64_MAX, span = UINT64_MAX, cores = 1;
  bool refuse_scratchpad = false, refuse_span = false;

  void set(const std::string& setting);
};

inline Profile& mutable_profile() {
  static auto* profile = new Profile;
  return *profile;
}

inline const Profile& profile() {
  return mutable_profile();
}

// The one thing that the hot path reads: false in a profile that only a CPU's own limits bound.
inline bool profile_is_restricted = false;

// Inside the harness (printing, comparing) no rule applies and nothing is reported.
inline thread_local int host_work_depth = 0;

inline bool rules_apply() {
  return profile_is_restricted && host_work_depth == 0;
}

inline void Profile::set(const std::string& setting) {
  const auto equals = setting.find('=');
  const auto key = setting.substr(0, equals);
  const auto value = setting.substr(equals + 1);
  const auto number = [&] { return std::stoull(value); };
  const auto dot = key.find('.');
  if (key == "name") {
    name = value;
    return;
  }
  if (dot != std::string::npos && key.substr(dot) == ".evidence") {
    evidence[key.substr(0, dot)] = value;
    return;
  }
  restricted = true;
  if (key == "operator-missing.compiled") {
    compiled.add(value);
    lists_operators = true;
  } else if (key == "operator-missing.host" || key == "operator-missing.memory") {
    uncompiled.add(value);
    lists_operators = true;
  } else if (key == "dtype-storage.dtypes") {
    living.add(value);
  } else if (key == "dtype-compute.dtypes") {
    computing.add(value);
  } else if (key == "dtype-compute.float32") {
    compiled_in_single.add(value);
  } else if (key == "advertised.dtypes") {
    advertised.add(value);
  } else if (key == "one-six-nine.dtypes") {
    one_six_nine.add(value);
  } else if (key == "rank.most") {
    most_dimensions = static_cast<int64_t>(number());
  } else if (key == "memory-format.contiguous_only") {
    contiguous_only = number() != 0;
  } else if (key == "int64-as-int32.enabled") {
    int64_as_int32 = number() != 0;
  } else if (key == "sticks.poisoned") {
    poisoned = number() != 0;
  } else if (key == "capacity.bytes") {
    capacity = number();
  } else if (key == "scratchpad.bytes_per_core") {
    scratchpad = number();
  } else if (key == "scratchpad.cores") {
    cores = std::max<uint64_t>(number(), 1);
  } else if (key == "scratchpad.refuse") {
    refuse_scratchpad = number() != 0;
  } else if (key == "span.bytes_per_core") {
    span = number();
  } else if (key == "span.refuse") {
    refuse_span = number() != 0;
  } else {
    TORCH_CHECK_VALUE(false, DEVICE_NAME ": the profile has a setting that the device does not know: ", key);
  }
}

inline std::string refusal_text(std::string_view rule, const std::string& reason) {
  const auto known = profile().evidence.find(rule);
  const auto because = known == profile().evidence.end()
      ? std::string()
      : c10::str(" (profile ", profile().name, ": ", known->second, ")");
  return c10::str(DEVICE_NAME ": unsupported: ", rule, ": ", reason, because);
}

// A refusal by a named rule. The prefix is a contract: a runner tells "the device does not do this" from a failure by it.
[[noreturn]] inline void refuse(const char* rule, const std::string& reason) {
  C10_THROW_ERROR(NotImplementedError, refusal_text(rule, reason));
}

} // namespace spyre
