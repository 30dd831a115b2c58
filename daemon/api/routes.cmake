# Routes, handlers and the guard.
samovar_library(samovar_api
  SOURCES
    attempts.cpp auth.cpp ca_document.cpp ca_wraps.cpp cidr.cpp data_support.cpp event_hub.cpp handlers_audit.cpp
    handlers_cluster.cpp handlers_dataset_content.cpp handlers_datasets.cpp handlers_events.cpp handlers_health.cpp handlers_jobs.cpp
    handlers_links.cpp handlers_model_versions.cpp handlers_models.cpp handlers_nodes.cpp handlers_peers.cpp handlers_oip.cpp handlers_operations.cpp handlers_power.cpp
    handlers_predict.cpp handlers_scorings.cpp handlers_session.cpp handlers_setup.cpp handlers_support.cpp
    handlers_tokens.cpp handlers_uploads.cpp handlers_users.cpp idempotency.cpp json_body.cpp model_events.cpp
    model_support.cpp members.cpp node_report.cpp oip_body.cpp openapi_document.cpp power_settings.cpp predict_body.cpp problem.cpp
    routes.cpp services.cpp time_zone.cpp views.cpp views_data.cpp views_datasets.cpp views_jobs.cpp views_members.cpp views_models.cpp views_node.cpp
  LINKS samovar_http samovar_cluster samovar_ingest samovar_trainer samovar_power samovar_security samovar_base nlohmann_json::nlohmann_json)
set_source_files_properties(openapi_document.cpp PROPERTIES
  OBJECT_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/openapi.json
  COMPILE_DEFINITIONS SAMOVAR_OPENAPI_PATH="${CMAKE_CURRENT_SOURCE_DIR}/openapi.json")
