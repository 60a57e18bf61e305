// What the inputs and outputs of a signature are called in documents.
#pragma once

#include "pt2/Graph.h"

#include <optional>
#include <span>
#include <string_view>

namespace ingot::graph {

// In the order of pt2::InputKind and pt2::OutputKind.
constexpr std::string_view kInputKinds[] = {"user_input",      "constant_input", "parameter", "buffer",
                                            "tensor_constant", "custom_obj",     "token"};
constexpr std::string_view kOutputKinds[] = {"user_output",
                                             "loss",
                                             "buffer_mutation",
                                             "parameter_mutation",
                                             "user_input_mutation",
                                             "gradient_to_parameter",
                                             "gradient_to_user_input",
                                             "token"};
static_assert(std::size(kInputKinds) == static_cast<size_t>(pt2::InputKind::Token) + 1);
static_assert(std::size(kOutputKinds) == static_cast<size_t>(pt2::OutputKind::Token) + 1);

template <typename Kind>
std::optional<Kind> kindFromName(std::span<const std::string_view> names, std::string_view name) {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == name)
      return static_cast<Kind>(i);
  return std::nullopt;
}

} // namespace ingot::graph
