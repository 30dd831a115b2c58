samovar_fuzz(base_text_fuzz SOURCES base_text_fuzz.cpp LINKS samovar_base)
