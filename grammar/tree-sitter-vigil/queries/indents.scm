; Neovim reads the captures with a dot, Helix the others.

[
  (annotation_arguments)
  (parameters)
  (form)
  (arguments)
  (repeated)
  (entry_test)
  (parenthesized)
  (set_literal)
  (test_body)
  (run)
  (calls)
  (call)
  (event_arguments)
  (composite)
  (pattern_declaration)
  (statement_declaration)
  (rule_declaration)
  (use_declaration)
  (expectation)
] @indent.begin @indent

[")" "}"] @indent.branch @indent.end @outdent

[(comment) (doc_comment)] @indent.ignore
(ERROR) @indent.auto
