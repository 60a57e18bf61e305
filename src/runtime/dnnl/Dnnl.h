// What the kernels built on oneDNN share: one engine, errors as values, packed weights, scratch memory.
#pragma once

#include "base/ForkSafeMutex.h"
#include "runtime/dnnl/DnnlApi.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <initializer_list>
#include <memory>
#include <vector>

namespace ingot {

Result<std::unique_ptr<BoundKernel>> makeDnnlConv(const ConvProblem &problem);
Result<std::unique_ptr<BoundKernel>> makeDnnlMatmul(const MatmulProblem &problem);

const dnnl::engine &dnnlEngine();

/// Runs `make`, which may throw what oneDNN throws.
template <typename F> auto catchDnnl(const char *what, F &&make) -> decltype(make()) {
  const HiddenLocks locks;
  try {
    return make();
  } catch (const dnnl::error &error) {
    return internalError(std::string(what) + ": oneDNN says: " + error.what());
  } catch (const std::exception &error) {
    return internalError(std::string(what) + ": " + error.what());
  }
}

/// Memory of f32 elements with the desc's strides.
dnnl::memory::desc dnnlDesc(std::span<const int64_t> sizes, std::span<const int64_t> strides);

/// User-managed scratch, and f32 means f32: no silent bfloat16.
dnnl::primitive_attr dnnlAttr(dnnl::post_ops postOps);
/// Only of those that oneDNN may compute.
void appendActivation(dnnl::post_ops &postOps, Activation activation);
/// Whether oneDNN may compute it: some of its implementations of exponentials have a number for NaN, or another infinity,
/// and raise no flag.
bool canFuse(Activation activation);

/// Activation and residual of a dense result, where oneDNN does not compute them.
struct Tail {
  Activation activation = Activation::None;
  bool addsFirst = false;
  int64_t count = 0; ///< 0: there is nothing to do

  /// `added` may be null.
  void run(float *result, const float *added) const;
};

/// `data` (described by `from`) in the layout `to`. Bindings of one program share packed weights: they are
/// found by address and layout while somebody uses them.
Result<std::shared_ptr<dnnl::memory>> packWeights(const void *data, const dnnl::memory::desc &from,
                                                  const dnnl::memory::desc &to);

/// Places buffers in a kernel's scratch memory.
class ScratchLayout {
public:
  size_t add(size_t bytes) {
    const size_t offset = total;
    total += (bytes + 63) / 64 * 64;
    return offset;
  }
  size_t bytes() const { return total; }

private:
  size_t total = 0;
};

/// A primitive with its scratchpad. Arguments are (DNNL_ARG_*, address) pairs of known layout.
class DnnlPrimitive {
public:
  struct Argument {
    int index;
    const dnnl::memory::desc *desc;
    void *data;
  };

  DnnlPrimitive() = default;
  DnnlPrimitive(const dnnl::primitive &primitive, const dnnl::memory::desc &scratchpad, ScratchLayout &layout)
      : primitive(primitive), scratchpad(scratchpad), scratchOffset(layout.add(scratchpad.get_size())) {}

  explicit operator bool() const { return static_cast<bool>(primitive); }
  Status run(std::initializer_list<Argument> arguments, void *scratch) const;

private:
  dnnl::primitive primitive;
  dnnl::memory::desc scratchpad;
  size_t scratchOffset = 0;
};

/// A primitive that copies from one layout to another.
Result<DnnlPrimitive> makeReorder(const dnnl::memory::desc &from, const dnnl::memory::desc &to, ScratchLayout &layout);

} // namespace ingot
