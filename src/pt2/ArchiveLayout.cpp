#include "pt2/ArchiveLayout.h"

#include "base/Bytes.h"
#include "base/MappedFile.h"

#include <algorithm>

using namespace ingot;
using namespace ingot::pt2;

namespace {

constexpr std::string_view exportAgain = "; export the model again with torch 2.9 or newer: "
                                         "torch.export.save(torch.export.export(model, args), path)";

/// The shortest record that is `name` or ends in "/<name>": user files may repeat a name below.
const Zip::Entry *findBelowAnyRoot(const Zip &zip, std::string_view name) {
  const Zip::Entry *best = nullptr;
  for (const Zip::Entry &entry : zip.entries()) {
    bool matches = entry.name == name || entry.name.ends_with("/" + std::string(name));
    if (matches && (!best || entry.name.size() < best->name.size()))
      best = &entry;
  }
  return best;
}

bool hasFolder(const ArchiveLayout &layout, std::string_view folder) {
  std::string prefix = layout.root + std::string(folder);
  return std::ranges::any_of(layout.zip.entries(), [&](const Zip::Entry &entry) {
    return entry.name.starts_with(prefix) && entry.name.size() > prefix.size();
  });
}

/// For files that are no zip archive at all: what they look like instead.
Error describeForeignFile(std::span<const std::byte> bytes, Error zipError) {
  std::string_view text = asText(bytes);
  if (bytes.empty())
    return corruptError("the file is empty");
  if (text.starts_with("PK\x03\x04"))
    return std::move(zipError).note("the file begins like a .pt2 archive but its end is missing or "
                                    "damaged; copy or export it again");
  if (text.starts_with("\x80"))
    return corruptError("this is a Python pickle, not a .pt2 archive; rebuild the model and use "
                        "torch.export.save");
  if (text.size() > 9 && text[8] == '{')
    return corruptError("this is a safetensors file: weights without a program; rebuild the model, "
                        "load the weights and use torch.export.save");
  return corruptError("this is not a .pt2 archive (no zip file at all); make one with "
                      "torch.export.save");
}

/// For zip archives that torch.export did not make in the form we read.
Error describeForeignArchive(const Zip &zip) {
  if (findBelowAnyRoot(zip, "serialized_exported_program.json"))
    return unsupportedError("this .pt2 file has the layout of torch 2.5 to 2.7, whose weights are "
                            "Python pickles" +
                            std::string(exportAgain));
  if (findBelowAnyRoot(zip, "constants.pkl"))
    return corruptError("this is a TorchScript file, not an exported program" + std::string(exportAgain));
  if (findBelowAnyRoot(zip, "data.pkl"))
    return corruptError("this is a torch.save checkpoint: weights without a program; rebuild the "
                        "model, load the weights and use torch.export.save");
  return corruptError("this zip archive is not a .pt2 file (it has no 'archive_format' record); "
                      "make one with torch.export.save");
}

Result<std::string> readSmall(const ArchiveLayout &layout, std::string_view name) {
  const Zip::Entry *entry = layout.find(name);
  if (!entry)
    return corruptError("the archive lacks the record '" + std::string(name) + "'");
  INGOT_TRY(std::vector<std::byte> bytes, layout.zip.read(*entry, 1024));
  std::string text(asText(bytes));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
    text.pop_back();
  return text;
}

Status checkHeaderRecords(const ArchiveLayout &layout) {
  INGOT_TRY(std::string format, readSmall(layout, "archive_format"));
  if (format != "pt2")
    return corruptError("the archive's format is '" + format + "', not 'pt2'");
  INGOT_TRY(std::string version, readSmall(layout, "archive_version"));
  if (version != "0")
    return unsupportedError("the archive has version '" + version +
                            "', only '0' is known; it comes from a newer torch");
  INGOT_TRY(std::string order, readSmall(layout, "byteorder"));
  if (order == "big")
    return unsupportedError("the archive was written on a big-endian machine; export the model "
                            "again on a little-endian one (x86-64, ARM)");
  if (order != "little")
    return corruptError("the archive has the unknown byte order '" + order + "'");
  return {};
}

void findModels(ArchiveLayout &layout) {
  std::string prefix = layout.root + "models/";
  constexpr std::string_view suffix = ".json";
  for (const Zip::Entry &entry : layout.zip.entries()) {
    std::string_view name = entry.name;
    if (!name.starts_with(prefix) || !name.ends_with(suffix))
      continue;
    name.remove_prefix(prefix.size());
    if (name.size() > suffix.size())
      layout.models.emplace_back(name.substr(0, name.size() - suffix.size()));
  }
  std::ranges::sort(layout.models);
}

Error describeMissingModel(const ArchiveLayout &layout) {
  if (hasFolder(layout, "data/aotinductor/"))
    return unsupportedError("this is an AOTInductor package (compiled code without a program); "
                            "use torch.export.save instead of aoti_compile_and_package");
  if (hasFolder(layout, "data/executorch/"))
    return unsupportedError("this archive holds an ExecuTorch program only; use torch.export.save");
  return corruptError("the archive holds no program (models/*.json): torch.export.save failed "
                      "half-way and left this file behind; look at the error it printed");
}

} // namespace

Result<ArchiveLayout> pt2::openArchive(std::shared_ptr<const MappedFile> file) {
  std::span<const std::byte> bytes = file->bytes();
  Result<Zip> zip = Zip::open(file); // `file` stays ours: the bytes are looked at again when this fails
  if (!zip)
    return describeForeignFile(bytes, std::move(zip.error()));
  ArchiveLayout layout;
  layout.zip = *std::move(zip);
  constexpr std::string_view format = "archive_format";
  const Zip::Entry *entry = findBelowAnyRoot(layout.zip, format);
  if (!entry)
    return describeForeignArchive(layout.zip);
  layout.root = entry->name.substr(0, entry->name.size() - format.size());
  INGOT_CHECK(checkHeaderRecords(layout));
  findModels(layout);
  if (layout.models.empty())
    return describeMissingModel(layout);
  return layout;
}

Status pt2::checkPayloadLayout(const ArchiveLayout &layout, const std::string &model) {
  if (layout.find(weightsConfig(model)))
    return {};
  if (layout.find("data/weights/" + model + ".pt"))
    return unsupportedError("this .pt2 file has the layout of torch 2.8, whose weights are one "
                            "Python pickle" +
                            std::string(exportAgain));
  return corruptError("the archive lacks '" + weightsConfig(model) + "'");
}
