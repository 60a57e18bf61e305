// Names of compiled clusters. A name ends with the types that the function was compiled for, so that a plan cannot have it
// called with others: the function trusts the number of its tensors and the size of their elements.
#pragma once

#include "base/DType.h"

#include <span>
#include <string>

namespace ingot {

/// Such as `_e_ll_l`: of elements (or of rows, `r`), two operands of one type, a result of it.
inline std::string clusterSignature(bool isReduce, std::span<const DType> operands, std::span<const DType> results) {
  std::string text = isReduce ? "_r_" : "_e_";
  for (DType dtype : operands)
    text += static_cast<char>('a' + static_cast<int>(dtype));
  text += '_';
  for (DType dtype : results)
    text += static_cast<char>('a' + static_cast<int>(dtype));
  return text;
}

} // namespace ingot
