samovar_fuzz(command_fuzz SOURCES command_fuzz.cpp LINKS samovar_cluster)
samovar_fuzz(raft_entry_fuzz SOURCES raft_entry_fuzz.cpp LINKS samovar_raft)
samovar_fuzz(raft_segment_fuzz SOURCES raft_segment_fuzz.cpp LINKS samovar_raft)
samovar_fuzz(snapshot_fuzz SOURCES snapshot_fuzz.cpp LINKS samovar_cluster)
