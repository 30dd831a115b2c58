/* Compiled into the node and copied into every C export: see c_runtime.h. What it computes is what
 * trainer/features and trainer/models/row_scores.cpp compute, in the same order. */
#include "trainer/export/c_runtime.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
/* export: begin code */
#define SAMOVAR_WORDS_MAX 10000
#define SAMOVAR_WORD_BYTES 128

static uint64_t samovar_mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static uint64_t samovar_key(const samovar_model* m, uint64_t what) {
  return samovar_mix(m->hash_seed ^ samovar_mix(what + 0x9e3779b97f4a7c15u));
}

/* Where a hash belongs: hash_places of them, by its upper half. */
static uint32_t samovar_hash_place(const samovar_model* m, uint64_t hash) {
  return m->hash_first + (uint32_t)((hash >> 32) * m->hash_places >> 32);
}

/* The weight of a level or a word among the hashed ones. */
static uint32_t samovar_hash_text(const samovar_model* m, uint32_t input, const char* text, size_t bytes) {
  const uint64_t odd = 0x9e3779b97f4a7c15u;
  uint64_t hash = samovar_mix(m->hash_seed) ^ ((uint64_t)input + 1) * 0xbf58476d1ce4e5b9u ^ bytes * odd;
  size_t at = 0;
  while (at < bytes) {
    uint64_t eight = 0;
    size_t i;
    for (i = 0; i < 8 && at + i < bytes; ++i) eight |= (uint64_t)(unsigned char)text[at + i] << (8 * i);
    hash = (hash ^ eight) * odd;
    hash ^= hash >> 32;
    at += i;
  }
  return samovar_hash_place(m, samovar_mix(hash));
}

static uint32_t samovar_hash_whole(const samovar_model* m, uint64_t key, uint64_t value) {
  uint64_t x = value ^ key;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  return samovar_hash_place(m, x);
}

static double samovar_weight(const samovar_model* m, uint32_t output, uint32_t place) {
  const uint32_t at = output * m->width + place;
  uint32_t low = 0, high = m->stored;
  if (m->weight_place == NULL) return m->weight[at];
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (m->weight_place[middle] < at)
      low = middle + 1;
    else
      high = middle;
  }
  return low < m->stored && m->weight_place[low] == at ? m->weight[low] : 0.0f;
}

static int samovar_present(const samovar_value* v) {
  return v->kind == SAMOVAR_NUMBER && v->number >= -1.7976931348623157e308 &&
         v->number <= 1.7976931348623157e308;
}

static float samovar_bounded(double value) {
  if (value < -1e15) value = -1e15;
  if (value > 1e15) value = 1e15;
  return (float)value;
}

/* A cell of a category as text: `room` holds what is made of a number. Null: it is missing. */
static const char* samovar_text(const samovar_input* in, const samovar_value* v, char* room) {
  double left;
  int at = 24, minus;
  if (v->kind == SAMOVAR_TEXT) return v->text == NULL || v->text[0] == 0 ? NULL : v->text;
  if (!samovar_present(v)) return NULL;
  if (in->boolean) return v->number != 0 ? "true" : "false";
  /* Categories written as numbers are whole; another one is a level that training never saw. */
  left = fabs(v->number);
  minus = v->number < 0;
  if (left >= 1e15 || left != floor(left)) return "\037";
  room[at] = 0;
  do {
    room[--at] = (char)('0' + (int)fmod(left, 10));
    left = floor(left / 10);
  } while (left > 0);
  if (minus) room[--at] = '-';
  return room + at;
}

/* Whether a text that is no known level says that there is none: "NA", "null", "?" and the like. */
static int samovar_says_missing(const char* text) {
  static const char* const words[] = {"na", "n/a", "#n/a", "nan", "null", "none", "?", "-"};
  size_t bytes, i, at;
  while (*text == ' ' || (*text >= '\t' && *text <= '\r')) ++text;
  bytes = strlen(text);
  while (bytes > 0 && (text[bytes - 1] == ' ' || (text[bytes - 1] >= '\t' && text[bytes - 1] <= '\r')))
    --bytes;
  if (bytes == 0) return 1;
  for (i = 0; i < sizeof words / sizeof words[0]; ++i) {
    if (strlen(words[i]) != bytes) continue;
    for (at = 0; at < bytes; ++at) {
      const char c = text[at] >= 'A' && text[at] <= 'Z' ? (char)(text[at] + 32) : text[at];
      if (c != words[i][at]) break;
    }
    if (at == bytes) return 1;
  }
  return 0;
}

static uint32_t samovar_level_slot(const samovar_model* m, uint32_t i, const samovar_value* v) {
  const samovar_input* in = &m->input[i];
  const samovar_level* level = m->level + in->level_first;
  uint32_t low = 0, high = in->levels;
  char room[32];
  const char* text = samovar_text(in, v, room);
  if (text == NULL) return in->missing;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (strcmp(level[middle].text, text) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < in->levels && strcmp(level[low].text, text) == 0) return level[low].weight;
  if (in->treatment == SAMOVAR_LEVEL_HASH) return samovar_hash_text(m, i, text, strlen(text));
  return samovar_says_missing(text) ? in->missing : in->other;
}

static uint32_t samovar_time_slot(const samovar_input* in, const samovar_value* v) {
  double hours, days;
  if (!samovar_present(v) || fabs(v->number) > 1e17) return SAMOVAR_NONE;
  hours = floor(v->number / 3600e6);
  days = floor(hours / 24);
  if (in->treatment == SAMOVAR_HOUR) return in->first + (uint32_t)(hours - days * 24);
  days += 3; /* 1970-01-01 was a Thursday; Monday is the first day */
  return in->first + (uint32_t)(days - floor(days / 7) * 7);
}

static uint32_t samovar_number_slot(const samovar_model* m, uint32_t i, const samovar_value* v) {
  const samovar_input* in = &m->input[i];
  const samovar_token* token = m->token + in->token_first;
  const double value = v->number + 0.0; /* zero has one sign */
  uint64_t bits;
  uint32_t low = 0, high = in->tokens;
  if (!samovar_present(v)) return in->missing;
  memcpy(&bits, &value, sizeof bits);
  bits >>= 50; /* numbers within a quarter of a power of two are one token */
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (token[middle].token < bits)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < in->tokens && token[low].token == bits) return token[low].weight;
  return samovar_hash_whole(m, samovar_key(m, 0x6e000000u + (uint64_t)i), bits);
}

/* One character off the front; 0 for what is no UTF-8. */
static uint32_t samovar_take(const char** text) {
  const unsigned char* at = (const unsigned char*)*text;
  const unsigned lead = at[0];
  const int size = lead < 0x80                   ? 1
                   : lead >= 0xf0 && lead < 0xf5 ? 4
                   : lead >= 0xe0                ? 3
                   : lead >= 0xc2                ? 2
                                                 : 0;
  uint32_t code;
  int i;
  if (lead >= 0xf5 || size == 0) {
    *text += 1;
    return 0;
  }
  code = size == 1 ? lead : lead & (0x7fu >> size);
  for (i = 1; i < size; ++i) {
    if ((at[i] & 0xc0) != 0x80) {
      *text += 1;
      return 0;
    }
    code = code << 6 | (at[i] & 0x3fu);
  }
  *text += size;
  return code;
}

static uint32_t samovar_lower(uint32_t c) {
  if (c >= 'A' && c <= 'Z') return c + 32;
  if (c < 0xc0) return c;
  if (c <= 0xde && c != 0xd7) return c + 32;
  if (c >= 0x100 && c <= 0x137) return c | 1;
  if (c >= 0x139 && c <= 0x148) return c % 2 == 1 ? c + 1 : c;
  if (c >= 0x14a && c <= 0x177) return c | 1;
  if (c == 0x178) return 0xff;
  if (c >= 0x179 && c <= 0x17e) return c % 2 == 1 ? c + 1 : c;
  if (c >= 0x391 && c <= 0x3ab && c != 0x3a2) return c + 32;
  if (c >= 0x400 && c <= 0x40f) return c + 80;
  if (c >= 0x410 && c <= 0x42f) return c + 32;
  if (c >= 0x460 && c <= 0x481) return c | 1;
  return c;
}

static int samovar_in_word(uint32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  if (c < 0xc0) return c == 0xaa || c == 0xb5 || c == 0xba;
  if (c == 0xd7 || c == 0xf7) return 0;
  return !(c >= 0x2000 && c <= 0x2bff) && !(c >= 0x3000 && c <= 0x303f) && !(c >= 0xff00 && c <= 0xff0f) &&
         !(c >= 0xfe00 && c <= 0xfe6f) && c != 0xfeff && c != 0xfffd;
}

static int samovar_alone(uint32_t c) {
  return (c >= 0x3040 && c <= 0x30ff) || (c >= 0x3400 && c <= 0x9fff) || (c >= 0xf900 && c <= 0xfaff) ||
         c >= 0x1f000;
}

static size_t samovar_put(char* out, uint32_t c) {
  if (c < 0x80) return out[0] = (char)c, 1;
  if (c < 0x800) return out[0] = (char)(0xc0 | c >> 6), out[1] = (char)(0x80 | (c & 0x3f)), 2;
  if (c < 0x10000) {
    out[0] = (char)(0xe0 | c >> 12);
    out[1] = (char)(0x80 | (c >> 6 & 0x3f));
    out[2] = (char)(0x80 | (c & 0x3f));
    return 3;
  }
  out[0] = (char)(0xf0 | c >> 18);
  out[1] = (char)(0x80 | (c >> 12 & 0x3f));
  out[2] = (char)(0x80 | (c >> 6 & 0x3f));
  out[3] = (char)(0x80 | (c & 0x3f));
  return 4;
}

/* The next word in lower case; 0 at the end. */
static size_t samovar_word(const char** text, char* word) {
  size_t bytes = 0;
  while (**text != 0) {
    const char* before = *text;
    const uint32_t c = samovar_take(text);
    if (!samovar_in_word(c)) {
      if (bytes == 0) continue;
      break;
    }
    if (samovar_alone(c)) {
      if (bytes != 0)
        *text = before;
      else
        bytes = samovar_put(word, c);
      break;
    }
    if (bytes + 4 <= SAMOVAR_WORD_BYTES) bytes += samovar_put(word + bytes, samovar_lower(c));
  }
  return bytes;
}

static int samovar_by_place(const void* a, const void* b) {
  const uint32_t left = *(const uint32_t*)a, right = *(const uint32_t*)b;
  return left < right ? -1 : left > right;
}

static void samovar_words(const samovar_model* m, uint32_t i, const samovar_value* v, double* out) {
  uint32_t place[SAMOVAR_WORDS_MAX];
  char word[SAMOVAR_WORD_BYTES + 4];
  const char* text = v->kind == SAMOVAR_TEXT && v->text != NULL ? v->text : "";
  size_t bytes, count = 0, at, distinct = 0;
  float value;
  uint32_t k;
  while (count < SAMOVAR_WORDS_MAX && (bytes = samovar_word(&text, word)) != 0)
    place[count++] = samovar_hash_text(m, i, word, bytes);
  if (count == 0) return;
  qsort(place, count, sizeof place[0], samovar_by_place);
  for (at = 0; at < count; ++at) {
    if (at == 0 || place[at] != place[at - 1]) place[distinct++] = place[at];
  }
  value = (float)(1 / sqrt((double)distinct));
  for (k = 0; k < m->outputs; ++k) {
    for (at = 0; at < distinct; ++at) out[k] += samovar_weight(m, k, place[at]) * value;
  }
}

/* The next pair "index:value" of a sparse cell: 1; 0 at the end, -1 for what is no pair. */
static int samovar_next_pair(const char** text, uint64_t* index, float* value) {
  char* end;
  while (**text == ' ' || **text == '\t') ++*text;
  if (**text == 0) return 0;
  if (**text < '0' || **text > '9') return -1;
  *index = strtoull(*text, &end, 10);
  if (*end != ':' || *index > 0xffffffffu) return -1;
  *text = end + 1;
  *value = strtof(*text, &end);
  if (end == *text || !(fabsf(*value) <= 3.40282347e38f)) return -1;
  *text = end;
  return *end == 0 || *end == ' ' || *end == '\t' ? 1 : -1;
}

static void samovar_sparse(const samovar_model* m, uint32_t i, const samovar_value* v, double* out) {
  const samovar_input* in = &m->input[i];
  const uint64_t key = samovar_key(m, 0x69000000u + (uint64_t)i);
  const char *cell = v->kind == SAMOVAR_TEXT && v->text != NULL ? v->text : "", *text = cell;
  uint64_t index, last = 0;
  float value;
  uint32_t k, place;
  int found, first = 1;
  /* All of it first: a cell with a fault, or with indices that do not rise, counts as missing. */
  while ((found = samovar_next_pair(&text, &index, &value)) == 1) {
    if (!first && index <= last) return;
    first = 0;
    last = index;
  }
  if (found < 0) return;
  for (text = cell; samovar_next_pair(&text, &index, &value) == 1;) {
    if (in->treatment == SAMOVAR_PLACES && index >= in->count) continue;
    place = in->treatment == SAMOVAR_PLACES ? in->first + (uint32_t)index : samovar_hash_whole(m, key, index);
    for (k = 0; k < m->outputs; ++k) out[k] += samovar_weight(m, k, place) * value;
  }
}

static float samovar_offset(const samovar_value* v, int logarithm) {
  double value = v->number;
  if (!samovar_present(v) || (logarithm && value <= 0)) return 0;
  if (logarithm) value = log(value);
  return (float)(value < -700 ? -700 : value > 700 ? 700 : value);
}

static void samovar_number(const samovar_input* in, const samovar_value* v, float* dense) {
  const int present = samovar_present(v);
  dense[in->first] = samovar_bounded(((present ? v->number : in->fill) - in->center) * in->scale);
  if (in->indicator != SAMOVAR_NONE) dense[in->indicator] = present ? 0.0f : 1.0f;
}

static uint32_t samovar_slot(const samovar_model* m, uint32_t i, const samovar_value* v) {
  switch (m->input[i].treatment) {
    case SAMOVAR_NUMBER_HASH:
      return samovar_number_slot(m, i, v);
    case SAMOVAR_WEEKDAY:
    case SAMOVAR_HOUR:
      return samovar_time_slot(&m->input[i], v);
    default:
      return samovar_level_slot(m, i, v);
  }
}

static void samovar_cross(const samovar_model* m, uint32_t i, float* dense, uint32_t* slot) {
  const samovar_pair* pair = &m->pair[i];
  const samovar_input *a = &m->input[pair->a], *b = &m->input[pair->b];
  uint32_t at_a, at_b;
  if (pair->kind == SAMOVAR_PRODUCT) dense[pair->first] = dense[a->first] * dense[b->first];
  if (pair->kind != SAMOVAR_CROSS && pair->kind != SAMOVAR_CROSS_HASH) return;
  at_a = slot[a->slot];
  at_b = slot[b->slot];
  slot[pair->slot] = SAMOVAR_NONE;
  if (at_a == SAMOVAR_NONE || at_b == SAMOVAR_NONE) return;
  if (pair->kind == SAMOVAR_CROSS)
    slot[pair->slot] = pair->first + (at_a - a->first) * b->count + (at_b - b->first);
  else
    slot[pair->slot] =
        samovar_hash_whole(m, samovar_key(m, 0x70000000u + (uint64_t)i), (uint64_t)at_a << 32 | at_b);
}

static void samovar_scale(const samovar_model* m, uint32_t i, const float* dense, const uint32_t* slot,
                          double* out) {
  const samovar_pair* pair = &m->pair[i];
  const samovar_input* a = &m->input[pair->a];
  uint32_t k, place;
  if (pair->kind != SAMOVAR_SCALED && pair->kind != SAMOVAR_SCALED_HASH) return;
  place = slot[a->slot];
  if (place == SAMOVAR_NONE) return;
  place = pair->kind == SAMOVAR_SCALED
              ? pair->first + (place - a->first)
              : samovar_hash_whole(m, samovar_key(m, 0x70000000u + (uint64_t)i), place);
  for (k = 0; k < m->outputs; ++k) out[k] += samovar_weight(m, k, place) * dense[m->input[pair->b].first];
}

static double samovar_clamp(double value, double low, double high) {
  return value < low ? low : value > high ? high : value;
}

static double samovar_mean(uint32_t link, double eta) {
  switch (link) {
    case SAMOVAR_LOGIT:
      return samovar_clamp(1 / (1 + exp(-samovar_clamp(eta, -80, 80))), 1e-15, 1 - 1e-15);
    case SAMOVAR_LOG:
      return exp(samovar_clamp(eta, -80, 80));
    case SAMOVAR_INVERSE:
      return 1 / (eta < 1e-12 ? 1e-12 : eta);
    case SAMOVAR_PROBIT:
      return samovar_clamp(0.5 * erfc(-eta * 0.70710678118654752440), 1e-15, 1 - 1e-15);
    case SAMOVAR_CLOGLOG:
      return samovar_clamp(-expm1(-exp(samovar_clamp(eta, -80, 5))), 1e-15, 1 - 1e-15);
    default:
      return eta;
  }
}

static void samovar_link(const samovar_model* m, double* out) {
  double most = out[0], sum = 0;
  uint32_t k;
  if (m->link != SAMOVAR_SOFTMAX) {
    out[0] = samovar_mean(m->link, out[0]);
    return;
  }
  for (k = 1; k < m->outputs; ++k) most = out[k] > most ? out[k] : most;
  for (k = 0; k < m->outputs; ++k) sum += out[k] = exp(out[k] - most);
  for (k = 0; k < m->outputs; ++k) out[k] /= sum;
}

SAMOVAR_PRIVATE void samovar_score(const samovar_model* m, const samovar_value* row, float* dense,
                                   uint32_t* slot, double* out) {
  uint32_t i, k;
  float offset = 0;
  for (i = 0; i < m->inputs; ++i) {
    const samovar_input* in = &m->input[i];
    if (in->treatment == SAMOVAR_NUMBER_INPUT) samovar_number(in, &row[in->column], dense);
    if (in->slot != SAMOVAR_NONE) slot[in->slot] = samovar_slot(m, i, &row[in->column]);
  }
  for (i = 0; i < m->pairs; ++i) samovar_cross(m, i, dense, slot);
  for (k = 0; k < m->outputs; ++k) {
    out[k] = m->intercept[k];
    for (i = 0; i < m->dense_width; ++i) out[k] += samovar_weight(m, k, i) * dense[i];
    for (i = 0; i < m->slot_width; ++i) {
      if (slot[i] != SAMOVAR_NONE) out[k] += samovar_weight(m, k, slot[i]);
    }
  }
  for (i = 0; i < m->inputs; ++i) {
    const samovar_input* in = &m->input[i];
    if (in->treatment == SAMOVAR_WORDS) samovar_words(m, i, &row[in->column], out);
    if (in->treatment == SAMOVAR_PLACES || in->treatment == SAMOVAR_PLACE_HASH)
      samovar_sparse(m, i, &row[in->column], out);
  }
  for (i = 0; i < m->pairs; ++i) samovar_scale(m, i, dense, slot, out);
  if (m->offset_column != SAMOVAR_NONE) offset += samovar_offset(&row[m->offset_column], 0);
  if (m->exposure_column != SAMOVAR_NONE) offset += samovar_offset(&row[m->exposure_column], 1);
  for (k = 0; k < m->outputs; ++k) out[k] += offset;
  samovar_link(m, out);
}
/* export: end code */
