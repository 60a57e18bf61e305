// Reading .pt2 files: from a path (weights stay in the mapped file) or from memory.
#pragma once

#include "base/Result.h"
#include "pt2/Graph.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::pt2 {

enum class PayloadKind : uint8_t {
  Tensor,
  Pickled,      ///< a tensor subclass; bytes are a pickle we do not read
  CustomObject, ///< a TorchBind or opaque object; bytes are a pickle we do not read
};

/// One entry of the weights or constants table: a strided view of a storage.
struct Weight {
  PayloadKind kind = PayloadKind::Tensor;
  DType dtype = DType::Float32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides; ///< elements of `dtype`, never negative
  int64_t storageOffset = 0;    ///< elements of `dtype`
  bool isParameter = false;     ///< nn.Parameter, as opposed to a buffer
  bool requiresGrad = false;
  /// Equal ids share memory (tied weights, views of one base). Index into Program::storages.
  size_t storageId = 0;
  /// The whole storage. The view is checked to lie inside it. Points into the mapped file, 64-byte
  /// aligned (a copy only if somebody re-zipped the file and lost alignment or stored mode).
  std::span<const std::byte> storage;

  int64_t elementCount() const;
  /// The index behind the view's last element; nullopt on overflow.
  std::optional<int64_t> end() const;
  /// Whether they have memory in common. The gaps of a strided view count as its memory.
  bool overlaps(const Weight &other) const;
  /// The address of the view's first element.
  const std::byte *data() const { return storage.data() + storageOffset * byteSize(dtype); }
  bool isContiguous() const;
};

struct Storage {
  std::string name; ///< record name, or the name given by the caller
  std::span<const std::byte> bytes;
};

struct SchemaVersion {
  int64_t major = 0, minor = 0;
};

enum class Dialect : uint8_t {
  Training, ///< pre-dispatch ATen with in-place operators: aliasing must be honoured
  Aten,     ///< functional; mutations are listed in the signature
  Other,    ///< executorch's and others; see `verifiers`
};

/// A whole exported program.
struct Program {
  std::string path; ///< of the file, empty when it came from memory
  std::string modelName;
  SchemaVersion schemaVersion;
  std::string torchVersion;
  std::vector<std::string> verifiers;
  Dialect dialect = Dialect::Training;
  NameMap<int64_t> opsetVersion;

  Graph graph;
  Signature signature;
  /// Keys are `str(expr)`, normally a symbol ("s77"), sometimes derived ("2*s77").
  NameMap<RangeConstraint> rangeConstraints;
  /// Python conditions over the inputs, all of which must hold.
  std::vector<std::string> guards;
  std::vector<ModuleCall> moduleCalls; ///< [0] is the root and has a signature
  NameMap<std::vector<std::string>> namedTupleFields;
  NameMap<std::string> metadata;

  NameMap<Weight> weights;   ///< parameters and persistent buffers
  NameMap<Weight> constants; ///< lifted constants and non-persistent buffers
  std::vector<Storage> storages;

  /// Keeps the memory of the spans above alive. Copy it wherever spans outlive the Program.
  std::shared_ptr<const void> memory;

  const ModuleCallSignature &rootSignature() const { return *moduleCalls.front().signature; }
  /// The weight or constant behind a parameter, buffer or constant input; null for other kinds.
  const Weight *findWeight(const InputSpec &input) const;
};

struct ReadOptions {
  /// Which program to read; empty means the only one.
  std::string modelName = {};
  /// Drop stack traces and module paths: less memory, but diagnostics lose the user's source.
  bool keepMetadata = true;
  /// Also check the CRC of weight records (reads the whole file).
  bool verifyChecksums = false;
  /// Refuse weights that were saved without data (of a model on the meta device).
  bool needsData = true;
};

/// Reads one program of a .pt2 archive written by torch.export.save (torch 2.9 and newer).
Result<Program> readProgram(const std::string &path, const ReadOptions &options = {});

/// The names of the programs in an archive, sorted.
Result<std::vector<std::string>> listModels(const std::string &path);

/// A tensor that the caller already holds, for programs that never were a file.
struct MemoryWeight {
  std::string name;        ///< key of the weights or constants table
  bool isConstant = false; ///< goes to Program::constants
  bool isParameter = false;
  DType dtype = DType::Float32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t storageOffset = 0;
  std::span<const std::byte> storage; ///< same pointer and length = same storage id
};

/// `programJson` is the text of models/<name>.json. `memory` owns the weights' bytes.
Result<Program> readProgramFromMemory(std::string_view programJson, const std::vector<MemoryWeight> &weights,
                                      std::shared_ptr<const void> memory = nullptr, const ReadOptions &options = {});

} // namespace ingot::pt2
