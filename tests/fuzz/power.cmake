samovar_fuzz(history_fuzz SOURCES history_fuzz.cpp LINKS samovar_power)
samovar_fuzz(power_message_fuzz SOURCES power_message_fuzz.cpp LINKS samovar_power)
