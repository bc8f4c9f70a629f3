; Captures have the names that nvim-treesitter, Helix and the tree-sitter command share; later patterns win.

; --- words and marks ---

(identifier) @variable

["policy" "let" "param" "pattern" "statement" "rule" "test"] @keyword
"use" @keyword.import
["after" "where" "run" "calls" "set" "expect" "at" "with" "distinct" "when" "then" "record" "relaxes"]
  @keyword
(form ["in" "since"] @keyword)
(unit) @keyword
(entry_test "with" @keyword.operator)
(calls "in" @keyword)
["satisfied" "violated" "vacuous" "holds" "blocks" "passes"] @constant.builtin

["and" "or" "not" "implies" "has" "contains" "always" "earlier" "later" "weak" "repeated" "violates"]
  @keyword.operator
(interval ["since" "until"] @keyword.operator)
(action_test "in" @keyword.operator)
(field_test "in" @keyword.operator)

[
  "=" "!=" "≠" "~" "∼" "!~" "≁" "<" "<=" "≤" ">" ">=" "≥" "∈" "∉" "|" "->"
  "□" "◇⁻" "◇-" "◇⁺" "◇+" "¬" "∧" "∨" "⇒"
] @operator

["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ":"] @punctuation.delimiter

; --- values ---

(string) @string
(escape_sequence) @string.escape
(regex) @string.regexp
(regex_flags) @string.regexp
(number) @number
(duration) @number
(range) @number
(boolean) @boolean
(status) @constant.builtin
(mode) @constant.builtin
(type) @type.builtin
(set_literal (identifier) @constant)
(set (identifier) @constant)
(form limit: (identifier) @constant)

; --- conditions ---

(form name: _ @function.builtin)
["action" "status" "output"] @variable.builtin
(field (identifier) @variable.member)
(field (string) @variable.member)
(record (identifier) @variable.member)
(record (string) @variable.member)
((field (identifier) @variable.builtin)
  (#match? @variable.builtin "^context[.]"))
((record (identifier) @variable.builtin)
  (#match? @variable.builtin "^context[.]"))
(view name: (identifier) @function.method)
(action_test "=" (identifier) @constant)
(application name: (identifier) @function.call)
(application name: (string) @function.call)
; A name by itself is a pattern; among what is handed to a pattern it is mostly a variable.
(reference (identifier) @function.call)
(arguments (reference (identifier) @variable.parameter))
(field_test "=" operand: (identifier) @variable.parameter)
(field_test "!=" operand: (identifier) @variable.parameter)
(field_test "≠" operand: (identifier) @variable.parameter)
(field_test "contains" operand: (identifier) @variable.parameter)
; What is written large was declared with `let`.
((identifier) @constant
  (#match? @constant "^[A-Z][A-Z0-9_]+$"))

(violates_test statement: (identifier) @type)

; --- declarations ---

(policy_header name: (identifier) @module)
(use_declaration module: _ @module)
(use_declaration name: (identifier) @function)
(let_declaration name: (identifier) @constant)
(param_declaration name: (identifier) @constant)
(pattern_declaration name: (identifier) @function)
(parameters (identifier) @variable.parameter)
(statement_declaration name: (identifier) @type)
(rule_declaration name: (identifier) @type)
(relaxes rule: (identifier) @type)

(annotation "@" @attribute)
(annotation name: (identifier) @attribute)
(annotation_arguments (identifier) @constant)

; --- tests ---

(setting name: (identifier) @constant)
(event id: (identifier) @label)
(event action: (identifier) @function.call)
(event action: (string) @function.call)
(event kind: (identifier) @type.builtin)
(argument name: (identifier) @variable.member)
(argument name: (string) @variable.member)
(expectation statement: (identifier) @type)
(expectation event: (identifier) @label)
(binding name: (identifier) @variable.parameter)

; --- comments ---

(comment) @comment
(doc_comment) @comment.documentation
