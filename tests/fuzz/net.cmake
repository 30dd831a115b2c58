if(TARGET samovar_net)
  samovar_fuzz(mesh_frame_fuzz SOURCES mesh_frame_fuzz.cpp LINKS samovar_net)
  samovar_fuzz(exchange_envelope_fuzz SOURCES exchange_envelope_fuzz.cpp LINKS samovar_net)
endif()
