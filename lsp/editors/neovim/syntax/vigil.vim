" What shows before the language server says more, and what it leaves to the editor: keywords, forms, operators,
" strings, regular expressions, numbers and comments.
"
" A word is a keyword only where nothing compares it: `status = ok`, but `where != x` tests an argument.

if exists("b:current_syntax")
  finish
endif

syntax case match

syntax match vigilOperator /[=~<>|≠∼≁≤≥∈∉□◇∧∨¬→]\|!=\|!\~\|->/
syntax match vigilNumber /\v[A-Za-z0-9_.-]@1<!-?\d+%(\.\d+)?%(ms|[smhd])?[A-Za-z0-9_-]@!/
syntax match vigilConnective /\v[A-Za-z0-9_.-]@1<!%(and|or|not|implies|in|has|contains|earlier|later|always|since|until|weak|repeated|distinct|violates|true|false)[A-Za-z0-9_-]@!%(\s*[=~<>]|\s*!)@!/
syntax match vigilScope /\v[A-Za-z0-9_.-]@1<!%(after|where|when|then|record|relaxes|with)[A-Za-z0-9_-]@!%(\s*[=~<>]|\s*!)@!/
syntax match vigilTested /\v[A-Za-z0-9_.-]@1<!%(action|status|output)[A-Za-z0-9_-]@!/
syntax match vigilForm /\v[A-Za-z0-9_.-]@1<!%(abs|prec|resp|bresp|rslv|until|atmost|atleast|budget)%(\s*[([])@=/
syntax match vigilItem /\v^\s*%(policy|use|let|param|pattern|statement|rule|test|expect|run|calls|set)[A-Za-z0-9_.-]@!%(\s*[=~<>(:]|\s*!)@!/
syntax match vigilMode /\v%(then\_s+)@40<=%(pass|hold|block)[A-Za-z0-9_.-]@!/
syntax match vigilStatus /\v%([A-Za-z0-9_.-]@1<!status\s*\=\s*|-\>\s*)@40<=%(ok|error)[A-Za-z0-9_.-]@!/
syntax match vigilType /\v%(^\s*param\s+[A-Za-z0-9_.-]+\s*:\s*)@120<=%(number|text|bool|set)[A-Za-z0-9_.-]@!/
syntax match vigilUnit /\v%(\d\s*)@20<=%(calls|call|steps|step)[A-Za-z0-9_.-]@!/
" Clauses of tests, wherever they stand in a line: `run` of an action is followed by its arguments.
syntax match vigilItem /\v[A-Za-z0-9_.-]@1<!%(run%(\_s*[{"])@=|calls%(\_s*\{|\_s+in\_s*")@=|set%(\s+[A-Za-z_][A-Za-z0-9_.-]*\s*\=)@=)/
syntax match vigilItem /\v[A-Za-z0-9_.-]@1<!expect%(\s+%(in|not|contains|and|or|implies)[A-Za-z0-9_.-]@!)@!%(\s+[A-Za-z_])@=/
syntax match vigilOutcome /\v[A-Za-z0-9_.-]@1<!%(satisfied|violated|vacuous|holds|blocks|passes)[A-Za-z0-9_.-]@!%(\s*[=~<>(:]|\s*!)@!/
syntax match vigilScope /\v[A-Za-z0-9_.-]@1<!at%(\s+\d)@=|%(%(violated|holds|blocks|passes)\_s+)@40<=at[A-Za-z0-9_.-]@!/
syntax match vigilAnnotation /@\s*[A-Za-z_][A-Za-z0-9_.-]*/
syntax match vigilEscape /\\./ contained
syntax match vigilPlaceholder /{[A-Za-z_][A-Za-z0-9_.-]*}/ contained
syntax region vigilString start=/"/ skip=/\\./ end=/"/ oneline contains=vigilEscape,vigilPlaceholder
syntax match vigilRegex /\v[A-Za-z0-9_)"]@1<!\/[^/* \n]%([^/\\\n]|\\.)*\/i?/
syntax match vigilComment /\/\/.*$/ contains=@Spell
syntax match vigilDocumentation "///.*$" contains=@Spell

highlight default link vigilOperator Operator
highlight default link vigilNumber Number
highlight default link vigilConnective Keyword
highlight default link vigilScope Keyword
highlight default link vigilTested Identifier
highlight default link vigilForm Statement
highlight default link vigilItem Keyword
highlight default link vigilMode Constant
highlight default link vigilStatus Constant
highlight default link vigilType Type
highlight default link vigilUnit Keyword
highlight default link vigilOutcome Constant
highlight default link vigilAnnotation PreProc
highlight default link vigilEscape SpecialChar
highlight default link vigilPlaceholder Special
highlight default link vigilString String
highlight default link vigilRegex String
highlight default link vigilComment Comment
highlight default link vigilDocumentation Comment

let b:current_syntax = "vigil"
