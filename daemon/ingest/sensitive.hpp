// Columns that seem to hold what identifies a person. Meant to err on the side of caution: the person
// decides.
//
// Threading: any thread; pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace samovar::ingest {

// By the column's name or by what its values are; empty when neither tells. `values` without missing ones.
std::string sensitive_reason(std::string_view name, const std::vector<std::string_view>& values);

// For a preview: the shape of the value without its letters and digits.
std::string mask(std::string_view value);

// The checks themselves.
bool is_email(std::string_view value) noexcept;
bool is_phone(std::string_view value) noexcept;
bool is_iban(std::string_view value) noexcept;         // ISO 13616, checked by its remainder
bool is_card_number(std::string_view value) noexcept;  // 13 to 19 digits, Luhn
bool is_national_id(
    std::string_view value) noexcept;  // US SSN, Swiss AHV (checked), UK NINO, French NIR (checked)
bool is_ip_address(std::string_view value) noexcept;

}  // namespace samovar::ingest
