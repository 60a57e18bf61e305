// The specification of an Ingot asset, the directory a model is saved as.
//
//   NAME.ingot/
//     manifest.json         what the asset holds; struct Manifest below says what each member means
//     program.mlirbc        the optimised program as MLIR bytecode; this layer does not look inside
//     weights.safetensors   every weight once, data at multiples of 64 bytes, used where it is mapped
//     cache/CPU_KEY/        what was made of the program for one kind of CPU; may be deleted at any time
//       plan.json           the steps the runtime executes (runtime/PlanJson.h)
//       kernels.so          compiled loops, absent when the plan needs none
//       meta.json           what the two were made from, and their checksums
//       prepared.bin        constants that were computed from weights at the first load (runtime/Prepared.h), if large
//       packed.bin          weights as kernels want them, from the first call (runtime/Packed.h), if large
//       methods.json        which implementations were faster than the usual ones (runtime/Methods.h), from `ingot tune`
//       intact              files whose checksums were right, by what the system says of them (Intact.h)
//
// Rules
// - The portable part (everything but cache/) never changes once it is saved. A save writes a hidden
//   sibling directory and renames it, so that a reader sees the old asset or the new one.
// - Every file has its size and its XXH3-128 in the manifest, and the manifest has a checksum of itself:
//   the hash of its JSON without the member "checksum", keys sorted, no blanks.
// - Checksums find accidents, not attacks: kernels.so is code, so trust an asset as you would a program.
// - A cache entry that does not fit the asset, or is damaged, is ignored and made anew. If the asset cannot
//   be written to, entries go to $XDG_CACHE_HOME/ingot/CHECKSUM/CPU_KEY (default: ~/.cache).
//
// Versions (the log that tests/compat keeps honest). A reader takes every asset of its major version;
// members it does not know are ignored, and what it must not ignore is named in `requirements`.
//   1.0  first
//   1.1  "fallback", with the requirement "libtorch"
//   1.2  an argument that the program changes is among the states, without "weight", and has "state"; before, its new
//        value was an output with the argument's name in "mutates". "metadata". Functions that call each other
#pragma once

#include "base/DType.h"
#include "base/Hash.h"
#include "base/Result.h"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::asset {

inline constexpr std::string_view kFormatName = "ingot-asset";
inline constexpr int64_t kFormatMajor = 1;
inline constexpr int64_t kFormatMinor = 2;

inline constexpr std::string_view kManifestFile = "manifest.json";
inline constexpr std::string_view kProgramFile = "program.mlirbc";
inline constexpr std::string_view kWeightsFile = "weights.safetensors";
inline constexpr std::string_view kCacheFolder = "cache";
inline constexpr std::string_view kPlanFile = "plan.json";
inline constexpr std::string_view kKernelsFile = "kernels.so";
inline constexpr std::string_view kMetaFile = "meta.json";
inline constexpr std::string_view kPreparedFile = "prepared.bin";
inline constexpr std::string_view kPackedFile = "packed.bin";
inline constexpr std::string_view kMethodsFile = "methods.json";
inline constexpr std::string_view kIntactFile = "intact";
/// Of plans and compiled functions: entries of another one are made anew. Count it up with every change of either.
inline constexpr int kCacheFormat = 2;

/// The asset runs some of its operators with the libtorch plugin.
inline constexpr std::string_view kRequiresLibtorch = "libtorch";

struct FormatVersion {
  int64_t major = kFormatMajor, minor = kFormatMinor;

  bool operator==(const FormatVersion &) const = default;
};

/// An input or an output of an entry point.
struct Port {
  std::string name;
  DType dtype = DType::Float32;
  /// Per dimension a number ("3") or an expression over symbols ("s0", "2*s0").
  std::vector<std::string> shape = {};
  /// A number instead of a tensor: rank 0, and dtype is int64, float64 or bool.
  bool isScalar = false;
  /// JSON text of an argument or result that is no tensor and never changes (null, 3, "x"); else empty.
  std::string literal = {};
  /// Inputs only: the state that this argument is, because the program changes it; else empty.
  std::string state = {};

  bool operator==(const Port &) const = default;
};

/// A tensor that a call changes in place: in the caller's memory, or in the program's, where it survives the call.
struct StatePort {
  std::string name;
  DType dtype = DType::Float32;
  std::vector<std::string> shape = {};
  /// Name in Manifest::weights of the value before the first call; empty for arguments, which the caller gives.
  std::string weight = {};

  bool operator==(const StatePort &) const = default;
};

/// Inclusive bounds of a symbol used in shapes.
struct Symbol {
  std::string name;
  int64_t min = 0;
  int64_t max = std::numeric_limits<int64_t>::max();

  bool operator==(const Symbol &) const = default;
};

struct EntryPoint {
  std::string name;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<StatePort> states;
  std::vector<Symbol> symbols;
  /// torch's tree specs as JSON text: how the caller's arguments flatten to inputs, and outputs back.
  std::string inSpec, outSpec;

  bool operator==(const EntryPoint &) const = default;
};

/// An operator that runs with PyTorch, because it has no native form.
struct FallbackOp {
  std::string name;                      ///< "aten::nonzero"
  int64_t count = 0;                     ///< nodes
  std::string reason;                    ///< why it has none
  std::vector<std::string> sources = {}; ///< the first lines of the user's Python it comes from, "model.py:12"

  bool operator==(const FallbackOp &) const = default;
};

struct FileInfo {
  uint64_t size = 0;
  Hash128 checksum;

  bool operator==(const FileInfo &) const = default;
};

template <typename T> using NameMap = std::map<std::string, T, std::less<>>;

/// The content of manifest.json. Members are written under the names in the comments.
struct Manifest {
  FormatVersion version;                 ///< "version": [major, minor], beside "format": "ingot-asset"
  std::string ingotVersion;              ///< "ingot": the version that wrote the asset
  std::string torchVersion;              ///< "torch": the version that exported the program, may be empty
  std::vector<EntryPoint> entryPoints;   ///< "entry_points"
  NameMap<std::string> weights;          ///< "weights": name in the program -> key; tied weights share a key
  NameMap<int64_t> opCounts;             ///< "ops": how often each operator occurs in the program
  NameMap<FileInfo> files;               ///< "files": name -> {"size", "xxh3_128"}; filled by the writer
  std::vector<std::string> requirements; ///< "requirements": features a reader must know
  std::vector<FallbackOp> fallback;      ///< "fallback": {"ops"}; absent when there are none
  NameMap<std::string> metadata;         ///< "metadata": what the creator wants to say; absent when there is none

  bool operator==(const Manifest &) const = default;
};

/// manifest.json, with its checksum.
std::string manifestText(const Manifest &manifest);

/// The parsed manifest and its checksum, which also identifies the asset.
struct CheckedManifest {
  Manifest manifest;
  Hash128 checksum;
};
Result<CheckedManifest> parseManifest(std::string_view text);

/// The operators that run with PyTorch, as in the manifest.
std::string fallbackText(const std::vector<FallbackOp> &ops);

/// One entry point as in the manifest, which is also what the doors show.
std::string entryPointsText(const std::vector<EntryPoint> &entryPoints);

} // namespace ingot::asset
