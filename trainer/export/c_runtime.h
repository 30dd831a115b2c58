/* The arithmetic of an exported model, in C99: its tables and the call that scores a row by them.
 *
 * These lines stand at the head of every C export, and the node runs the same ones: an export is given only
 * when its tables, read back from the text, score the test rows as the model itself does.
 *
 * Threading: pure functions. */
#ifndef SAMOVAR_C_RUNTIME_H
#define SAMOVAR_C_RUNTIME_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#define SAMOVAR_PRIVATE
/* export: begin types */
#ifndef SAMOVAR_VALUE
#define SAMOVAR_VALUE
/* One cell of a row. A category and a text are UTF-8 that ends with a zero byte; a number is a number, true
 * is 1, a time is microseconds since 1970-01-01T00:00:00Z; a sparse column is text like "3:1 17:0.5". */
enum { SAMOVAR_MISSING = 0, SAMOVAR_NUMBER = 1, SAMOVAR_TEXT = 2 };
typedef struct samovar_value {
  int kind;
  double number;
  const char* text;
} samovar_value;
#endif
/* export: end types */
/* export: begin tables */
#define SAMOVAR_NONE 0xffffffffu
enum {
  SAMOVAR_NUMBER_INPUT,
  SAMOVAR_NUMBER_HASH,
  SAMOVAR_LEVELS,
  SAMOVAR_LEVEL_HASH,
  SAMOVAR_WORDS,
  SAMOVAR_PLACES,
  SAMOVAR_PLACE_HASH,
  SAMOVAR_WEEKDAY,
  SAMOVAR_HOUR
};
enum { SAMOVAR_PRODUCT, SAMOVAR_CROSS, SAMOVAR_CROSS_HASH, SAMOVAR_SCALED, SAMOVAR_SCALED_HASH };
enum {
  SAMOVAR_IDENTITY,
  SAMOVAR_LOGIT,
  SAMOVAR_LOG,
  SAMOVAR_INVERSE,
  SAMOVAR_PROBIT,
  SAMOVAR_CLOGLOG,
  SAMOVAR_SOFTMAX
};

typedef struct samovar_level {
  const char* text;
  uint32_t weight;
} samovar_level;

/* A frequent number of a hashed column: sign, exponent and two more bits of it. */
typedef struct samovar_token {
  uint32_t token, weight;
} samovar_token;

/* What is made of a column. Places are those of the weights; SAMOVAR_NONE: there is none. */
typedef struct samovar_input {
  uint32_t column, treatment, boolean;
  double center, scale, fill;
  uint32_t first, count, slot, indicator;
  uint32_t level_first,
      levels; /* in the table of levels, sorted by their bytes; of a hash, the frequent ones */
  uint32_t token_first, tokens; /* in the table of tokens, rising */
  uint32_t other, missing;
} samovar_input;

typedef struct samovar_pair {
  uint32_t kind, a, b, first, slot;
} samovar_pair;

typedef struct samovar_model {
  uint32_t columns, inputs, pairs, outputs, link;
  uint32_t width, stored, dense_width, slot_width;
  uint32_t hash_first, hash_places, offset_column, exposure_column;
  uint64_t hash_seed;
  const samovar_input* input;
  const samovar_pair* pair;
  const samovar_level* level;
  const samovar_token* token;
  const float* weight;          /* stored of them */
  const uint32_t* weight_place; /* where they belong, rising; null: all are there */
  const double* intercept;
} samovar_model;
/* export: end tables */
/* `dense` and `slot` are room for dense_width and slot_width values; `out` gets one score for each output. */
void samovar_score(const samovar_model* model, const samovar_value* row, float* dense, uint32_t* slot,
                   double* out);
#ifdef __cplusplus
}
#endif
#endif
