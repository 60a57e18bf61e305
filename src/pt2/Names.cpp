#include "pt2/Names.h"

namespace ingot::pt2 {

std::string_view layoutName(Layout layout) {
  switch (layout) {
  case Layout::SparseCoo:
    return "sparse_coo";
  case Layout::SparseCsr:
    return "sparse_csr";
  case Layout::SparseCsc:
    return "sparse_csc";
  case Layout::SparseBsr:
    return "sparse_bsr";
  case Layout::SparseBsc:
    return "sparse_bsc";
  case Layout::Mkldnn:
    return "_mkldnn";
  case Layout::Strided:
    return "strided";
  case Layout::Unknown:
    break;
  }
  return "unknown";
}

std::string_view memoryFormatName(MemoryFormat format) {
  switch (format) {
  case MemoryFormat::Contiguous:
    return "contiguous_format";
  case MemoryFormat::ChannelsLast:
    return "channels_last";
  case MemoryFormat::ChannelsLast3d:
    return "channels_last_3d";
  case MemoryFormat::Preserve:
    return "preserve_format";
  case MemoryFormat::Unknown:
    break;
  }
  return "unknown";
}

std::string deviceText(const Device &device) {
  return device.index ? device.type + ":" + std::to_string(*device.index) : device.type;
}

} // namespace ingot::pt2
