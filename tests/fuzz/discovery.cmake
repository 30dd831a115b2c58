samovar_fuzz(beacon_fuzz SOURCES beacon_fuzz.cpp LINKS samovar_discovery)
