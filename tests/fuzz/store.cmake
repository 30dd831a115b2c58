samovar_fuzz(shard_fuzz SOURCES shard_fuzz.cpp LINKS samovar_store samovar_base_sim)
samovar_fuzz(staging_fuzz SOURCES staging_fuzz.cpp LINKS samovar_store samovar_base_sim)
