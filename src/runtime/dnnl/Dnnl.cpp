#include "runtime/dnnl/Dnnl.h"

#include "base/MappedFile.h"
#include "runtime/kernels/gemm/Activate.h"
#include "runtime/kernels/gemm/SharedByAddress.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <array>

namespace ingot {
namespace {

/// Of one call of a primitive.
constexpr size_t kMaxArguments = 6;

dnnl::stream &threadStream() {
  thread_local dnnl::stream stream(dnnlEngine());
  return stream;
}

struct Layouts {
  dnnl::memory::desc from, to;
  bool operator==(const Layouts &other) const { return from == other.from && to == other.to; }
};

SharedByAddress<Layouts, dnnl::memory> &packedWeights() {
  static auto *weights = new SharedByAddress<Layouts, dnnl::memory>; // outlives kernels that static objects own
  return *weights;
}

} // namespace

const dnnl::engine &dnnlEngine() {
  static const dnnl::engine *engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

dnnl::memory::desc dnnlDesc(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  return dnnl::memory::desc(dnnl::memory::dims(sizes.begin(), sizes.end()), dnnl::memory::data_type::f32,
                            dnnl::memory::dims(strides.begin(), strides.end()));
}

dnnl::primitive_attr dnnlAttr(dnnl::post_ops postOps) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attr.set_fpmath_mode(dnnl::fpmath_mode::strict);
  attr.set_post_ops(std::move(postOps));
  return attr;
}

void appendActivation(dnnl::post_ops &postOps, Activation activation) {
  using dnnl::algorithm;
  switch (activation) {
  case Activation::Relu:
    return postOps.append_eltwise(algorithm::eltwise_relu, 0, 0);
  case Activation::Relu6:
    return postOps.append_eltwise(algorithm::eltwise_clip, 0, 6);
  case Activation::HardSwish:
    return postOps.append_eltwise(algorithm::eltwise_hardswish, 1.0f / 6.0f, 0.5f);
  case Activation::HardSigmoid:
    return postOps.append_eltwise(algorithm::eltwise_hardsigmoid, 1.0f / 6.0f, 0.5f);
  case Activation::None:
  case Activation::Gelu:
  case Activation::GeluTanh:
  case Activation::Silu:
  case Activation::Sigmoid:
  case Activation::Tanh:
    return; // see canFuse()
  }
}

bool canFuse(Activation activation) {
  switch (activation) {
  case Activation::Gelu:
  case Activation::GeluTanh:
  case Activation::Silu:
  case Activation::Sigmoid:
  case Activation::Tanh:
    return false;
  case Activation::None:
  case Activation::Relu:
  case Activation::Relu6:
  case Activation::HardSwish:
  case Activation::HardSigmoid:
    return true;
  }
}

void Tail::run(float *result, const float *added) const {
  constexpr int64_t kPiece = 4096; // stays in the nearest cache
  parallelFor(0, (count + kPiece - 1) / kPiece, 4, [&](int64_t first, int64_t last) {
    const int64_t end = std::min(count, last * kPiece);
    for (int64_t begin = first * kPiece; begin < end; begin += kPiece) {
      const int64_t length = std::min(kPiece, end - begin);
      auto add = [&] {
        for (int64_t i = begin; added && i < begin + length; ++i)
          result[i] += added[i];
      };
      if (addsFirst)
        add();
      gemm::activateAll(activation, result + begin, length);
      if (!addsFirst)
        add();
    }
  });
}

Result<std::shared_ptr<dnnl::memory>> packWeights(const void *data, const dnnl::memory::desc &from,
                                                  const dnnl::memory::desc &to) {
  if (std::shared_ptr<dnnl::memory> memory = packedWeights().find(data, {from, to}))
    return memory;
  return catchDnnl("packing weights", [&]() -> Result<std::shared_ptr<dnnl::memory>> {
    dnnl::memory source(from, dnnlEngine(), const_cast<void *>(data));
    auto packed = std::make_shared<dnnl::memory>(to, dnnlEngine());
    dnnl::reorder(source, *packed).execute(threadStream(), source, *packed);
    threadStream().wait();
    MappedFile::releasePages(data, from.get_size());
    return packedWeights().add(data, {from, to}, std::move(packed));
  });
}

Status DnnlPrimitive::run(std::initializer_list<Argument> arguments, void *scratch) const {
  return catchDnnl("running a primitive", [&]() -> Status {
    // The C interface: the C++ one makes a hash table for every call.
    std::array<dnnl::memory, kMaxArguments + 1> memories;
    std::array<dnnl_exec_arg_t, kMaxArguments + 1> bound;
    size_t count = 0;
    auto bind = [&](int index, const dnnl::memory::desc &desc, void *data) {
      memories[count] = dnnl::memory(desc, dnnlEngine(), data);
      bound[count] = {index, memories[count].get()};
      ++count;
    };
    if (arguments.size() > kMaxArguments)
      return internalError("a primitive has too many arguments");
    for (const Argument &argument : arguments)
      if (argument.desc)
        bind(argument.index, *argument.desc, argument.data);
    bind(DNNL_ARG_SCRATCHPAD, scratchpad, static_cast<char *>(scratch) + scratchOffset);
    const dnnl_status_t status =
        dnnl_primitive_execute(primitive.get(), threadStream().get(), static_cast<int>(count), bound.data());
    dnnl::error::wrap_c_api(status, "could not execute a primitive");
    return {};
  });
}

Result<DnnlPrimitive> makeReorder(const dnnl::memory::desc &from, const dnnl::memory::desc &to, ScratchLayout &layout) {
  return catchDnnl("making a reorder", [&]() -> Result<DnnlPrimitive> {
    dnnl::reorder::primitive_desc pd(dnnlEngine(), from, dnnlEngine(), to, dnnlAttr({}));
    return DnnlPrimitive(dnnl::reorder(pd), pd.scratchpad_desc(), layout);
  });
}

} // namespace ingot
