samovar_fuzz(block_fuzz
  SOURCES block_fuzz.cpp ${CMAKE_SOURCE_DIR}/tests/support/block_samples.cpp
  LINKS samovar_trainer)
samovar_fuzz(schema_fuzz SOURCES schema_fuzz.cpp LINKS samovar_trainer)
