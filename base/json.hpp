// nlohmann::json for everybody: include this, never <nlohmann/json.hpp>; json_fwd.hpp is for headers.
//
// What every user of it would compile again (the value, its parser of text, its writer) is compiled once,
// in json.cpp: that is a sixth of the time of each of some two hundred files.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

extern template class nlohmann::basic_json<>;

// The parts behind parse() and dump(), one a line: with another version, files only take longer to compile.
// clang-format off
#if NLOHMANN_JSON_VERSION_MAJOR == 3 && NLOHMANN_JSON_VERSION_MINOR == 11
#define SAMOVAR_JSON_PARTS_ONCE 1
namespace samovar::json_parts {
using Value = nlohmann::json;
using Builder = nlohmann::detail::json_sax_dom_parser<Value>;
using FilteredBuilder = nlohmann::detail::json_sax_dom_callback_parser<Value>;
using FromPointer = nlohmann::detail::iterator_input_adapter<const char*>;
using FromString = nlohmann::detail::iterator_input_adapter<std::string::const_iterator>;
using PointerParser = nlohmann::detail::parser<Value, FromPointer>;
using StringParser = nlohmann::detail::parser<Value, FromString>;
}  // namespace samovar::json_parts

extern template class nlohmann::detail::serializer<nlohmann::json>;
extern template class nlohmann::detail::json_sax_dom_parser<nlohmann::json>;
extern template class nlohmann::detail::json_sax_dom_callback_parser<nlohmann::json>;
extern template class nlohmann::detail::lexer<nlohmann::json, samovar::json_parts::FromPointer>;
extern template class nlohmann::detail::lexer<nlohmann::json, samovar::json_parts::FromString>;
extern template class nlohmann::detail::parser<nlohmann::json, samovar::json_parts::FromPointer>;
extern template class nlohmann::detail::parser<nlohmann::json, samovar::json_parts::FromString>;
extern template bool samovar::json_parts::PointerParser::sax_parse_internal(samovar::json_parts::Builder*);
extern template bool samovar::json_parts::PointerParser::sax_parse_internal(samovar::json_parts::FilteredBuilder*);
extern template bool samovar::json_parts::StringParser::sax_parse_internal(samovar::json_parts::Builder*);
extern template bool samovar::json_parts::StringParser::sax_parse_internal(samovar::json_parts::FilteredBuilder*);
#endif
