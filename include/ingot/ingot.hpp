// C++ over the C interface: handles release themselves, errors are exceptions. Header only, C++20.
//
//   ingot::Program program("model.ingot");
//   std::vector<float> pixels(3 * 224 * 224);
//   int64_t sizes[] = {1, 3, 224, 224};
//   ingot::Result result = program.run({ingot::tensor(pixels.data(), sizes)});
//   const float *scores = result.data<float>(0);
#pragma once

#include "ingot/ingot.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

// An inline namespace keeps these names apart from those inside the library.
namespace ingot::inline v1 {

/// What ingot_last_error() said; kind() tells whose problem it is.
class Exception : public std::runtime_error {
public:
  explicit Exception(ingot_status kind) : std::runtime_error(ingot_last_error()), status(kind) {}
  Exception(ingot_status kind, const std::string &message) : std::runtime_error(message), status(kind) {}
  ingot_status kind() const noexcept { return status; }

private:
  ingot_status status;
};

namespace detail {

inline void check(ingot_status status) {
  if (status != INGOT_OK)
    throw Exception(status);
}

template <typename T> constexpr ingot_dtype dtypeOf() {
  if constexpr (std::is_same_v<T, bool>)
    return INGOT_BOOL;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return INGOT_UINT8;
  else if constexpr (std::is_same_v<T, int8_t>)
    return INGOT_INT8;
  else if constexpr (std::is_same_v<T, int16_t>)
    return INGOT_INT16;
  else if constexpr (std::is_same_v<T, int32_t>)
    return INGOT_INT32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return INGOT_INT64;
  else if constexpr (std::is_same_v<T, float>)
    return INGOT_FLOAT32;
  else {
    static_assert(std::is_same_v<T, double>, "fill an ingot_tensor by hand for this element type");
    return INGOT_FLOAT64;
  }
}

struct Free {
  void operator()(ingot_program *program) const { ingot_program_free(program); }
  void operator()(ingot_session *session) const { ingot_session_free(session); }
  void operator()(ingot_result *result) const { ingot_result_free(result); }
};

} // namespace detail

/// A view of the caller's memory: `data` and `sizes` (and `strides`, in elements) must outlive it.
template <typename T>
ingot_tensor tensor(const T *data, std::span<const int64_t> sizes, std::span<const int64_t> strides = {}) {
  return {const_cast<void *>(static_cast<const void *>(data)), detail::dtypeOf<std::remove_cv_t<T>>(),
          static_cast<int32_t>(sizes.size()), sizes.data(), strides.empty() ? nullptr : strides.data()};
}

/// A state in the caller's memory, which a call reads and changes in place; `name` must outlive it.
inline ingot_state state(const char *name, ingot_tensor tensor) { return {name, tensor}; }

/// The outputs of one call. They live as long as this object.
class Result {
public:
  explicit Result(ingot_result *handle) : handle(handle) {}

  size_t size() const { return ingot_result_count(handle.get()); }
  const ingot_tensor &operator[](size_t index) const {
    const ingot_tensor *found = ingot_result_tensor(handle.get(), index);
    if (!found)
      throw Exception(INGOT_ERROR_USAGE, "there is no output " + std::to_string(index));
    return *found;
  }
  std::span<const int64_t> sizes(size_t index) const {
    return {(*this)[index].sizes, static_cast<size_t>((*this)[index].rank)};
  }
  /// The elements of an output, which must have this type.
  template <typename T> const T *data(size_t index) const {
    const ingot_tensor &output = (*this)[index];
    if (output.dtype != detail::dtypeOf<T>())
      throw Exception(INGOT_ERROR_USAGE, std::string("the output is ") + ingot_dtype_name(output.dtype));
    return static_cast<const T *>(output.data);
  }

private:
  std::unique_ptr<ingot_result, detail::Free> handle;
};

/// A loaded asset. May be called from several threads at once.
class Program {
public:
  /// Options as for ingot_program_load_with: R"({"memory_limit": 1000000000})".
  explicit Program(const std::string &assetPath, const char *optionsJson = nullptr) {
    ingot_program *loaded = nullptr;
    detail::check(ingot_program_load_with(assetPath.c_str(), optionsJson, &loaded));
    handle.reset(loaded);
  }

  /// Entry points, inputs, outputs and states as JSON text.
  std::string describe() const { return ingot_program_describe(handle.get()); }

  Result run(std::span<const ingot_tensor> inputs, const char *entry = nullptr,
             std::span<const ingot_state> states = {}) {
    ingot_result *result = nullptr;
    detail::check(ingot_program_run_with_states(handle.get(), entry, inputs.data(), inputs.size(), states.data(),
                                                states.size(), &result));
    return Result(result);
  }
  Result run(std::initializer_list<ingot_tensor> inputs, const char *entry = nullptr,
             std::initializer_list<ingot_state> states = {}) {
    return run(std::span(inputs.begin(), inputs.size()), entry, std::span(states.begin(), states.size()));
  }

  /// A copy of a state's value, as the only output.
  Result readState(const char *name) const {
    ingot_result *result = nullptr;
    detail::check(ingot_program_read_state(handle.get(), name, &result));
    return Result(result);
  }
  void writeState(const char *name, const ingot_tensor &value) {
    detail::check(ingot_program_write_state(handle.get(), name, &value));
  }
  /// Gives every state its initial value.
  void resetStates() { detail::check(ingot_program_reset_states(handle.get())); }
  void cancel() { detail::check(ingot_program_cancel(handle.get())); }

private:
  friend class Session;

  std::unique_ptr<ingot_program, detail::Free> handle;
};

/// States of one user over the weights and the plan of a program, which it keeps alive.
class Session {
public:
  explicit Session(const Program &program) {
    ingot_session *made = nullptr;
    detail::check(ingot_session_create(program.handle.get(), &made));
    handle.reset(made);
  }

  Result run(std::span<const ingot_tensor> inputs, const char *entry = nullptr,
             std::span<const ingot_state> states = {}) {
    ingot_result *result = nullptr;
    detail::check(
        ingot_session_run(handle.get(), entry, inputs.data(), inputs.size(), states.data(), states.size(), &result));
    return Result(result);
  }
  Result run(std::initializer_list<ingot_tensor> inputs, const char *entry = nullptr,
             std::initializer_list<ingot_state> states = {}) {
    return run(std::span(inputs.begin(), inputs.size()), entry, std::span(states.begin(), states.size()));
  }
  Result readState(const char *name) const {
    ingot_result *result = nullptr;
    detail::check(ingot_session_read_state(handle.get(), name, &result));
    return Result(result);
  }
  void writeState(const char *name, const ingot_tensor &value) {
    detail::check(ingot_session_write_state(handle.get(), name, &value));
  }
  void resetStates() { detail::check(ingot_session_reset_states(handle.get())); }
  void cancel() { detail::check(ingot_session_cancel(handle.get())); }

private:
  std::unique_ptr<ingot_session, detail::Free> handle;
};

/// Converts an exported program (.pt2) and saves it as an asset.
inline void convert(const std::string &pt2Path, const std::string &assetPath, bool overwrite = false,
                    const char *optionsJson = nullptr) {
  detail::check(ingot_convert(pt2Path.c_str(), assetPath.c_str(), overwrite, optionsJson));
}

} // namespace ingot::inline v1
