#include "base/json.hpp"

template class nlohmann::basic_json<>;

#if SAMOVAR_JSON_PARTS_ONCE
template class nlohmann::detail::serializer<nlohmann::json>;
template class nlohmann::detail::json_sax_dom_parser<nlohmann::json>;
template class nlohmann::detail::json_sax_dom_callback_parser<nlohmann::json>;
template class nlohmann::detail::lexer<nlohmann::json, samovar::json_parts::FromPointer>;
template class nlohmann::detail::lexer<nlohmann::json, samovar::json_parts::FromString>;
template class nlohmann::detail::parser<nlohmann::json, samovar::json_parts::FromPointer>;
template class nlohmann::detail::parser<nlohmann::json, samovar::json_parts::FromString>;
template bool samovar::json_parts::PointerParser::sax_parse_internal(samovar::json_parts::Builder*);
template bool samovar::json_parts::PointerParser::sax_parse_internal(samovar::json_parts::FilteredBuilder*);
template bool samovar::json_parts::StringParser::sax_parse_internal(samovar::json_parts::Builder*);
template bool samovar::json_parts::StringParser::sax_parse_internal(samovar::json_parts::FilteredBuilder*);
#endif
