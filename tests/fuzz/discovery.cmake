samovar_fuzz(beacon_fuzz SOURCES beacon_fuzz.cpp LINKS samovar_discovery)
samovar_fuzz(mdns_fuzz SOURCES mdns_fuzz.cpp LINKS samovar_discovery)
