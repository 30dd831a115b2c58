// Little helpers for names of files.
#pragma once
#include <string>

namespace samovar::store {

inline std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace samovar::store
