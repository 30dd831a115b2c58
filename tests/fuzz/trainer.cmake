samovar_fuzz(block_fuzz
  SOURCES block_fuzz.cpp ${CMAKE_SOURCE_DIR}/tests/support/block_samples.cpp
  LINKS samovar_trainer)
samovar_fuzz(schema_fuzz SOURCES schema_fuzz.cpp LINKS samovar_trainer)
samovar_fuzz(model_file_fuzz SOURCES model_file_fuzz.cpp LINKS samovar_trainer)
samovar_fuzz(model_import_fuzz SOURCES model_import_fuzz.cpp LINKS samovar_trainer)
samovar_fuzz(job_spec_fuzz SOURCES job_spec_fuzz.cpp LINKS samovar_trainer)
samovar_fuzz(pipeline_json_fuzz SOURCES pipeline_json_fuzz.cpp LINKS samovar_trainer)
samovar_fuzz(peer_message_fuzz SOURCES peer_message_fuzz.cpp LINKS samovar_trainer)
samovar_fuzz(codec_fuzz SOURCES codec_fuzz.cpp LINKS samovar_trainer)
