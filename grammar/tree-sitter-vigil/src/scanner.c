// What the generated lexer cannot tell: which words begin an item, what is not closed on its line, and what is inside
// a string. Keeps no state. The words are those of `vigil_lang/syntax/scan.py` and `items.py`.

#include "tree_sitter/alloc.h"
#include "tree_sitter/parser.h"

#include <string.h>

enum Symbol {
  POLICY,
  USE,
  LET,
  PARAM,
  PATTERN,
  STATEMENT,
  RULE,
  TEST,
  AT,
  BEGUN,
  COMMENT,
  DOC_COMMENT,
  STRING_CONTENT,
  REGEX_CONTENT,
  REGEX_END,
  UNCLOSED,
  MALFORMED_NUMBER,
  LOST,
  SKIPPED,
};

// In the order of `Symbol`.
static const char *const ITEM_WORDS[] = {"policy", "use", "let", "param", "pattern", "statement", "rule", "test"};
enum { ITEM_WORD_COUNT = 8 };

// An item's name cannot be one of these unless `=` or `:` follows: they join what stands before them to what follows,
// or begin a clause of a test.
static const char *const GOES_ON[] = {"in",  "not",   "contains", "and", "or",    "implies",
                                      "after", "where", "since", "until", "with", "then", "record", "relaxes",
                                      "run",   "calls", "set",   "expect"};

enum { LONGEST_WORD = 48 };

// A word as far as it matters: one that is longer is none of those above.
typedef struct {
  char text[LONGEST_WORD + 1];
  unsigned length;
} Word;

static bool is_space(int32_t c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
         c == 0x202f || c == 0x205f || c == 0x3000;
}

static bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }

static bool is_word_start(int32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static bool is_word(int32_t c) { return is_word_start(c) || is_digit(c); }

static void advance(TSLexer *lexer) { lexer->advance(lexer, false); }

static bool at_line_end(const TSLexer *lexer) { return lexer->lookahead == '\n' || lexer->eof(lexer); }

static void add(Word *word, int32_t c) {
  if (word->length < LONGEST_WORD) word->text[word->length] = (char)c;
  word->length++;
}

static bool is(const Word *word, const char *text) {
  return word->length <= LONGEST_WORD && word->length == strlen(text) && memcmp(word->text, text, word->length) == 0;
}

static int item_word(const Word *word) {
  for (int at = 0; at < ITEM_WORD_COUNT; at++) {
    if (is(word, ITEM_WORDS[at])) return at;
  }
  return -1;
}

// Reads a name; what ends it is a character that may have been read already: `.` or `-` with no name after it.
static int32_t read_name(TSLexer *lexer, Word *word, bool mark) {
  for (;;) {
    while (is_word(lexer->lookahead)) {
      add(word, lexer->lookahead);
      advance(lexer);
    }
    if (mark) lexer->mark_end(lexer);
    if (lexer->lookahead != '.' && lexer->lookahead != '-') return 0;
    int32_t joint = lexer->lookahead;
    advance(lexer);
    if (!is_word(lexer->lookahead)) return joint;
    add(word, joint);
  }
}

// To the next character that is neither space nor in a comment; false where that is a lone `/`.
static bool skip_to_code(TSLexer *lexer) {
  for (;;) {
    while (is_space(lexer->lookahead)) advance(lexer);
    if (lexer->lookahead != '/') return true;
    advance(lexer);
    if (lexer->lookahead != '/') return false;
    while (!at_line_end(lexer)) advance(lexer);
  }
}

// Whether what follows an item word at the start of a line makes it one: `_declares` of `syntax/items.py`.
static bool declares(TSLexer *lexer, int item, int32_t joint) {
  if (joint != 0) return item == USE && joint == '.';
  if (!skip_to_code(lexer)) return false;
  if (item == TEST) return lexer->lookahead == '"';
  if (item == USE && lexer->lookahead == '.') return true;
  if (!is_word_start(lexer->lookahead)) return false;
  Word name = {{0}, 0};
  joint = read_name(lexer, &name, false);
  int32_t next = joint != 0 ? joint : !skip_to_code(lexer) ? '/' : lexer->lookahead;
  if ((item == LET || item == PATTERN) && next == '=') {
    advance(lexer);
    // `==` and its like are one token.
    if (lexer->lookahead != '=' && lexer->lookahead != '>' && lexer->lookahead != '~') return true;
  }
  if ((item == PARAM || item == STATEMENT || item == RULE) && next == ':') return true;
  for (unsigned at = 0; at < sizeof GOES_ON / sizeof *GOES_ON; at++) {
    if (is(&name, GOES_ON[at])) return false;
  }
  int named = item_word(&name);
  return named < 0 || (named == TEST && next != '"');
}

static bool scan_item_word(TSLexer *lexer) {
  Word word = {{0}, 0};
  int32_t joint = read_name(lexer, &word, true);
  int item = item_word(&word);
  if (item < 0 || !declares(lexer, item, joint)) return false;
  lexer->result_symbol = (TSSymbol)item;
  return true;
}

// A comment, or a regular expression that is not closed; one that is, is left to the lexer.
static bool scan_slash(TSLexer *lexer) {
  advance(lexer);
  if (lexer->lookahead == '/') {
    unsigned slashes = 1;
    while (lexer->lookahead == '/') {
      slashes++;
      advance(lexer);
    }
    lexer->mark_end(lexer);
    while (!at_line_end(lexer)) {
      bool ends_line = lexer->lookahead == '\r';
      advance(lexer);
      if (!ends_line || !at_line_end(lexer)) lexer->mark_end(lexer);
    }
    lexer->result_symbol = slashes == 3 ? DOC_COMMENT : COMMENT;
    return true;
  }
  while (!at_line_end(lexer)) {
    if (lexer->lookahead == '/') return false;
    if (lexer->lookahead == '\\') {
      advance(lexer);
      if (at_line_end(lexer)) break;
    }
    advance(lexer);
  }
  lexer->mark_end(lexer);
  lexer->result_symbol = UNCLOSED;
  return true;
}

static bool scan_quote(TSLexer *lexer) {
  advance(lexer);
  while (!at_line_end(lexer)) {
    if (lexer->lookahead == '"') return false;
    if (lexer->lookahead == '\\') {
      advance(lexer);
      if (at_line_end(lexer)) break;
    }
    advance(lexer);
  }
  lexer->mark_end(lexer);
  lexer->result_symbol = UNCLOSED;
  return true;
}

static unsigned digits_at(const Word *word, unsigned at) {
  while (at < word->length && is_digit(word->text[at])) at++;
  return at;
}

static unsigned unit_at(const Word *word, unsigned at) {
  if (at + 1 < word->length && word->text[at] == 'm' && word->text[at + 1] == 's') return at + 2;
  return at < word->length && strchr("smhd", word->text[at]) ? at + 1 : at;
}

// What follows the first digits of a range: `..3`, `s..1m`, `..`.
static bool is_range(const Word *tail) {
  if (tail->length > LONGEST_WORD) return false;
  unsigned at = unit_at(tail, 0);
  if (at + 1 >= tail->length || tail->text[at] != '.' || tail->text[at + 1] != '.') return false;
  at += 2;
  unsigned end = digits_at(tail, at);
  return (end > at ? unit_at(tail, end) : end) == tail->length;
}

// A number with a tail that makes it none; others are left to the lexer.
static bool scan_number(TSLexer *lexer) {
  bool whole = lexer->lookahead != '-';
  if (!whole) {
    advance(lexer);
    if (!is_digit(lexer->lookahead)) return false;
  }
  while (is_digit(lexer->lookahead)) advance(lexer);
  Word tail = {{0}, 0};
  if (lexer->lookahead == '.') {
    advance(lexer);
    if (!is_digit(lexer->lookahead)) add(&tail, '.');
    while (is_digit(lexer->lookahead)) {
      whole = false;
      advance(lexer);
    }
  }
  if (tail.length == 0 && (lexer->lookahead == 'e' || lexer->lookahead == 'E')) {
    add(&tail, 'e');
    advance(lexer);
    lexer->mark_end(lexer);
    bool is_signed = lexer->lookahead == '+' || lexer->lookahead == '-';
    if (is_signed) advance(lexer);
    if (is_digit(lexer->lookahead)) {
      tail.length = 0;
      whole = false;
      while (is_digit(lexer->lookahead)) advance(lexer);
    } else if (is_signed) {
      lexer->result_symbol = MALFORMED_NUMBER;
      return true;
    }
  }
  while (is_word(lexer->lookahead) || lexer->lookahead == '.') {
    add(&tail, lexer->lookahead);
    advance(lexer);
  }
  bool is_duration =
      whole && (is(&tail, "ms") || is(&tail, "s") || is(&tail, "m") || is(&tail, "h") || is(&tail, "d"));
  if (tail.length == 0 || is_duration || (whole && is_range(&tail))) return false;
  lexer->mark_end(lexer);
  lexer->result_symbol = MALFORMED_NUMBER;
  return true;
}

static bool scan_content(TSLexer *lexer, int32_t closing, enum Symbol symbol) {
  bool any = false;
  while (!at_line_end(lexer) && lexer->lookahead != closing) {
    if (lexer->lookahead == '\\') {
      if (symbol == STRING_CONTENT) break; // an escape is a token of its own
      advance(lexer);
      if (at_line_end(lexer)) break;
    }
    advance(lexer);
    any = true;
  }
  lexer->mark_end(lexer);
  lexer->result_symbol = symbol;
  return any;
}

// The one thing remembered: an item word was just found (1), and how much of the toll is paid (to TOLL + 1).
//
// When an item is broken, tree-sitter weighs two ways on: to give up what it has of the item, or to skip what follows
// until it fits in there again, the heads of later items too. Each thing skipped has its price, so whoever skips the
// head of an item has to skip a lot of things more, each of no width.
typedef uint8_t State;
enum { NOTHING = 0, FOUND = 1, TOLL = 200, PAID = TOLL + 1 };

void *tree_sitter_vigil_external_scanner_create(void) { return ts_calloc(1, sizeof(State)); }

void tree_sitter_vigil_external_scanner_destroy(void *payload) { ts_free(payload); }

unsigned tree_sitter_vigil_external_scanner_serialize(void *payload, char *buffer) {
  buffer[0] = (char)*(State *)payload;
  return sizeof(State);
}

void tree_sitter_vigil_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  *(State *)payload = length > 0 ? (State)buffer[0] : NOTHING;
}

static bool found_item(State *state, const bool *valid) {
  *state = valid[LOST] && *state == PAID ? PAID : FOUND;
  return true;
}

// Comments may stand anywhere, so this is asked before every token, and an item word it finds is one even where the
// grammar has no place for it: what stands before is then what is wrong.
bool tree_sitter_vigil_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
  State *state = payload;
  if (valid[LOST]) {
    if (*state >= FOUND && *state <= TOLL) {
      ++*state;
      lexer->mark_end(lexer);
      lexer->result_symbol = SKIPPED;
      return true;
    }
  } else {
    if (valid[BEGUN]) {
      *state = NOTHING;
      lexer->mark_end(lexer);
      lexer->result_symbol = BEGUN;
      return true;
    }
    if (valid[STRING_CONTENT]) return scan_content(lexer, '"', STRING_CONTENT);
    if (valid[REGEX_CONTENT]) return scan_content(lexer, '/', REGEX_CONTENT);
    if (valid[REGEX_END] && lexer->lookahead == '/') {
      advance(lexer);
      lexer->mark_end(lexer);
      lexer->result_symbol = REGEX_END;
      return true;
    }
  }
  bool own_line = false;
  bool spaced = false;
  while (is_space(lexer->lookahead)) {
    own_line = own_line || lexer->lookahead == '\n';
    spaced = true;
    lexer->advance(lexer, true);
  }
  switch (lexer->lookahead) {
    case '/':
      return scan_slash(lexer);
    case '"':
      return scan_quote(lexer);
    case '@':
    case 'p':
    case 'u':
    case 'l':
    case 'r':
    case 's':
    case 't':
      if (!own_line && !spaced) own_line = lexer->get_column(lexer) == 0;
      if (!own_line) return false;
      if (lexer->lookahead != '@') return scan_item_word(lexer) && found_item(state, valid);
      advance(lexer);
      lexer->mark_end(lexer);
      lexer->result_symbol = AT;
      return found_item(state, valid);
    default:
      return (lexer->lookahead == '-' || is_digit(lexer->lookahead)) && scan_number(lexer);
  }
}
