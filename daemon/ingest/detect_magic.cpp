#include "daemon/ingest/detect_magic.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace samovar::ingest {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::size_t at;
  std::string_view bytes;
  std::string_view what;
  std::string_view advice;
};

constexpr std::string_view kNoTable = "there is no table of text in it";
constexpr std::string_view kSaveCsv = "save the sheet as CSV (UTF-8) and upload that";

constexpr Magic kMagics[] = {
    {0, "\x89PNG\r\n\x1a\n"sv, "a PNG image", kNoTable},
    {0, "\xff\xd8\xff"sv, "a JPEG image", kNoTable},
    {0, "GIF87a"sv, "a GIF image", kNoTable},
    {0, "GIF89a"sv, "a GIF image", kNoTable},
    {8, "WEBP"sv, "a WebP image", kNoTable},
    {0, "II*\0"sv, "a TIFF image", kNoTable},
    {0, "MM\0*"sv, "a TIFF image", kNoTable},
    {128, "DICM"sv, "a DICOM image", kNoTable},
    {0, "%PDF-"sv, "a PDF document", "export the table from where the PDF came, as CSV"},
    {0,
     "\x7f"
     "ELF"sv,
     "a program", kNoTable},
    {0, "MZ\x90"sv, "a Windows program", kNoTable},
    {0, "\xca\xfe\xba\xbe"sv, "a program", kNoTable},
    {0, "\xcf\xfa\xed\xfe"sv, "a program", kNoTable},
    {0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "an old Excel or Word document", kSaveCsv},
    {0, "PAR1"sv, "a Parquet file",
     "convert it: pandas.read_parquet(…).to_csv(…, index=False), then upload the CSV"},
    {0, "ORC"sv, "an ORC file", "convert it to CSV"},
    {0, "Obj\x01"sv, "an Avro file", "convert it to CSV or to JSON lines"},
    {0, "ARROW1"sv, "an Arrow (Feather) file", "convert it: pandas.read_feather(…).to_csv(…, index=False)"},
    {0, "FEA1"sv, "a Feather file", "convert it to CSV"},
    {0, "SQLite format 3\0"sv, "an SQLite database",
     "export the table: sqlite3 -header -csv FILE 'select * from TABLE'"},
    {0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file", "convert it to CSV"},
    {0, "\x93NUMPY"sv, "a NumPy array", "save it with numpy.savetxt(…, delimiter=',')"},
    {0, "RDX2\n"sv, "an R data file", "save it with write.csv(…, row.names=FALSE)"},
    {0, "RDX3\n"sv, "an R data file", "save it with write.csv(…, row.names=FALSE)"},
    {0, "X\n\0\0\0"sv, "an R object (RDS)", "save it with write.csv(…, row.names=FALSE)"},
    {0, "$FL2"sv, "an SPSS file", "save it as CSV in SPSS, or with haven::read_sav and write.csv"},
    {0, "$FL3"sv, "an SPSS file", "save it as CSV in SPSS, or with haven::read_sav and write.csv"},
    {0, "<stata_dta>"sv, "a Stata file", "save it with `export delimited`"},
    {84, "SAS FILE"sv, "a SAS file", "save it as CSV with `proc export`"},
    {257, "ustar"sv, "a tar archive", "unpack it and upload the one file you want"},
    {0, "7z\xbc\xaf\x27\x1c"sv, "a 7-Zip archive", "unpack it, or pack it as gzip, zstd, xz or zip"},
    {0, "Rar!\x1a\x07"sv, "a RAR archive", "unpack it, or pack it as gzip, zstd, xz or zip"},
    {0, "BZh"sv, "a bzip2 file", "unpack it, or pack it as gzip, zstd, xz or zip"},
    {0, "\x1f\x9d"sv, "a file packed with compress (.Z)", "unpack it, or pack it as gzip, zstd, xz or zip"},
    {0, "\x04\x22\x4d\x18"sv, "an LZ4 file", "unpack it, or pack it as gzip, zstd, xz or zip"},
    {0, "!<arch>\n"sv, "a library or Debian package", kNoTable},
    {0, "\xff\xfe\0\0"sv, "text in UTF-32", "save it as UTF-8"},
    {0, "\0\0\xfe\xff"sv, "text in UTF-32", "save it as UTF-8"},
    {0, "ID3"sv, "an MP3 recording", kNoTable},
    {0, "OggS"sv, "an Ogg recording", kNoTable},
    {0, "fLaC"sv, "a FLAC recording", kNoTable},
    {8, "WAVE"sv, "a sound recording", kNoTable},
    {4, "ftyp"sv, "a video or a HEIC image", kNoTable},
    {0, "\x1a\x45\xdf\xa3"sv, "a video", kNoTable},
    {0, "\x80\x02}"sv, "a Python pickle",
     "save the table as CSV; pickles are never opened, as they may run code"},
    {0, "\x80\x03}"sv, "a Python pickle",
     "save the table as CSV; pickles are never opened, as they may run code"},
    {0, "\x80\x04\x95"sv, "a Python pickle",
     "save the table as CSV; pickles are never opened, as they may run code"},
    {0, "\x80\x05\x95"sv, "a Python pickle",
     "save the table as CSV; pickles are never opened, as they may run code"},
    {0, "{\\rtf"sv, "an RTF document", "save the table as CSV"},
    {0, "-----BEGIN "sv, "a key or certificate", kNoTable},
    {0, "\xd4\xc3\xb2\xa1"sv, "a network capture", "export the packets as CSV"},
};

std::string lower_start(ByteView head) {
  std::string text;
  for (const std::uint8_t byte : head) {
    if (text.empty() && (byte <= ' ' || byte >= 0x80)) continue;  // blanks and a byte order mark
    if (text.size() == 32) break;
    text += static_cast<char>(byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte);
  }
  return text;
}

std::string sentence(std::string_view what, std::string_view advice) {
  return "this is " + std::string(what) + ": " + std::string(advice);
}

}  // namespace

std::optional<std::string> not_a_table(ByteView head) {
  for (const auto& magic : kMagics) {
    if (head.size() < magic.at + magic.bytes.size()) continue;
    if (std::memcmp(head.data() + magic.at, magic.bytes.data(), magic.bytes.size()) != 0) continue;
    // "BM", "MZ" and the like could begin a line of text; what is left in the table cannot, but for these
    // two.
    const bool textual = magic.bytes == "ORC" || magic.bytes == "ID3" || magic.bytes == "BZh";
    if (textual && std::find(head.begin(), head.end(), std::uint8_t{0}) == head.end()) continue;
    return sentence(magic.what, magic.advice);
  }
  const std::string start = lower_start(head);
  if (start.rfind("<!doctype html", 0) == 0 || start.rfind("<html", 0) == 0)
    return sentence("a web page",
                    "download the file itself, or copy the table into a sheet and save it as CSV");
  if (start.rfind("<?xml", 0) == 0) return sentence("an XML document", "convert its records to CSV");
  return std::nullopt;
}

}  // namespace samovar::ingest
