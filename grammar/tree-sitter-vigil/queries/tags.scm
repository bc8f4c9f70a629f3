(pattern_declaration name: (identifier) @name) @definition.function
(let_declaration name: (identifier) @name) @definition.constant
(param_declaration name: (identifier) @name) @definition.constant
(statement_declaration name: (identifier) @name) @definition.class
(rule_declaration name: (identifier) @name) @definition.class
(policy_header name: (identifier) @name) @definition.module

(application name: (identifier) @name) @reference.call
(reference (identifier) @name) @reference.call
(use_declaration name: (identifier) @name) @reference.call
(expectation statement: (identifier) @name) @reference.class
(violates_test statement: (identifier) @name) @reference.class
(relaxes rule: (identifier) @name) @reference.class
