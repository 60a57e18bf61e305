// Makes the checksums of a changed asset right again, for fuzzing what lies behind them.
#pragma once

#include "asset/Format.h"
#include "base/Bytes.h"
#include "base/Hash.h"
#include "base/Json.h"

#include <functional>

namespace ingot::asset::test {

/// The text of a manifest whose files have the contents that `contentOf` knows; anything that is no manifest stays.
inline std::string sealManifest(std::string_view text,
                                const std::function<std::optional<std::string_view>(const std::string &)> &contentOf) {
  using nlohmann::json;
  Result<json> document = parseJson(text, 64);
  if (!document || !document->is_object())
    return std::string(text);
  if (auto files = document->find("files"); files != document->end() && files->is_object())
    for (auto file = files->begin(); file != files->end(); ++file)
      if (std::optional<std::string_view> content = contentOf(file.key()); content && file->is_object()) {
        (*file)["size"] = content->size();
        (*file)["xxh3_128"] = hashBytes(asBytes(*content)).hex();
      }
  document->erase("checksum");
  (*document)["checksum"] = hashText(document->dump(-1, ' ', false, json::error_handler_t::replace)).hex();
  return document->dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace ingot::asset::test
