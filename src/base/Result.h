// The error type of every layer that does not know MLIR: a value, or what went wrong.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ingot {

/// Whose problem an error is. Doors turn the kind into an exit code or an exception type.
enum class ErrorKind {
  Usage,       ///< the caller asked for something that cannot be (wrong name, shape, dtype, flag)
  Corrupt,     ///< a file is not what it claims to be (truncated, checksum, foreign)
  Unsupported, ///< valid input that Ingot cannot handle; the message says what to do
  Io,          ///< the operating system refused (missing file, permission, full disk)
  Internal,    ///< a bug of ours
};

struct Error {
  ErrorKind kind = ErrorKind::Internal;
  std::string message;
  /// Context added while the error travels up, innermost first.
  std::vector<std::string> notes;

  Error(ErrorKind kind, std::string message) : kind(kind), message(std::move(message)) {}

  Error &&note(std::string text) && {
    notes.push_back(std::move(text));
    return std::move(*this);
  }

  /// The message followed by its notes, one a line.
  std::string str() const {
    std::string text = message;
    for (const std::string &entry : notes)
      text += "\n  " + entry;
    return text;
  }
};

/// A T or an Error. Test with `if (!result)`, then use `*result` or `result.error()`.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value(std::move(value)) {}
  Result(Error error) : failure(std::move(error)) {}

  explicit operator bool() const { return value.has_value(); }
  T &operator*() & {
    assert(value);
    return *value;
  }
  const T &operator*() const & {
    assert(value);
    return *value;
  }
  T &&operator*() && {
    assert(value);
    return std::move(*value);
  }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }
  Error &error() { return *failure; }
  const Error &error() const { return *failure; }

private:
  std::optional<T> value;
  std::optional<Error> failure;
};

template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : failure(std::move(error)) {}

  explicit operator bool() const { return !failure; }
  Error &error() { return *failure; }
  const Error &error() const { return *failure; }

private:
  std::optional<Error> failure;
};

using Status = Result<void>;

inline Error usageError(std::string message) { return {ErrorKind::Usage, std::move(message)}; }
inline Error corruptError(std::string message) { return {ErrorKind::Corrupt, std::move(message)}; }
inline Error unsupportedError(std::string message) { return {ErrorKind::Unsupported, std::move(message)}; }
inline Error ioError(std::string message) { return {ErrorKind::Io, std::move(message)}; }
inline Error internalError(std::string message) { return {ErrorKind::Internal, std::move(message)}; }

} // namespace ingot

#define INGOT_CONCAT_(a, b) a##b
#define INGOT_CONCAT(a, b) INGOT_CONCAT_(a, b)

/// `INGOT_TRY(auto x, makeX());` declares x, or returns makeX's error from the calling function.
#define INGOT_TRY(decl, expr)                                                                                          \
  auto INGOT_CONCAT(tried, __LINE__) = (expr);                                                                         \
  if (!INGOT_CONCAT(tried, __LINE__))                                                                                  \
    return std::move(INGOT_CONCAT(tried, __LINE__).error());                                                           \
  decl = *std::move(INGOT_CONCAT(tried, __LINE__))

/// Returns the error of a Status expression from the calling function.
#define INGOT_CHECK(expr)                                                                                              \
  do {                                                                                                                 \
    if (auto status_ = (expr); !status_)                                                                               \
      return std::move(status_.error());                                                                               \
  } while (false)
