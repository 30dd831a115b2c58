// The C of every export, compiled into the node: the self-test of an export runs it.
#include "trainer/export/c_runtime.c"  // NOLINT: one text for the node and for the world outside
