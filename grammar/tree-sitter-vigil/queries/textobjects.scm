; Neovim's nvim-treesitter-textobjects says outer and inner, Helix around and inside. A node takes three captures.

(pattern_declaration body: (_) @function.inner @function.inside) @function.outer @function.around
(statement_declaration form: (_) @class.inner @class.inside) @class.outer @class.around
(rule_declaration condition: (_) @class.inner @class.inside) @class.outer @class.around
(test_declaration body: (_) @test.inner @test.inside) @test.outer @test.around

(parameters (identifier) @parameter.inner @parameter.outer)
(arguments (_) @parameter.inner @parameter.outer)
(event_arguments (argument) @parameter.inner @parameter.outer)
(parameters (identifier) @parameter.inside @parameter.around)
(arguments (_) @parameter.inside @parameter.around)
(event_arguments (argument) @parameter.inside @parameter.around)

(set_literal (_) @entry.inner @entry.outer)
(set_literal (_) @entry.inside @entry.around)

[(comment) (doc_comment)] @comment.inner @comment.inside
[(comment) (doc_comment)]+ @comment.outer @comment.around
