; A pattern's parameters are its own; the variables of a statement are declared by their use.

[
  (pattern_declaration)
  (statement_declaration)
  (rule_declaration)
] @local.scope

(parameters (identifier) @local.definition)

(reference (identifier) @local.reference)
(field_test operand: (identifier) @local.reference)
