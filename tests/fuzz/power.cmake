samovar_fuzz(history_fuzz SOURCES history_fuzz.cpp LINKS samovar_power)
