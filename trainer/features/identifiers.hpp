// Columns that name a row or its owner rather than say something about it, by what people call them.
//
// Threading: pure.
#pragma once
#include <string_view>

namespace samovar::trainer {

// "id", "patient_id", "CustomerID", "uuid".
bool sounds_like_identifier(std::string_view name);
// Also "patient", "user", "account": what several rows can share.
bool sounds_like_owner(std::string_view name);

}  // namespace samovar::trainer
