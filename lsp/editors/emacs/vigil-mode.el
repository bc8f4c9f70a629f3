;;; vigil-mode.el --- Major mode for Vigil policies -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0
;; Version: 0.1.0
;; Package-Requires: ((emacs "29.1"))
;; Keywords: languages

;;; Commentary:

;; Policies in the language Vigil (`.vgl'): colours, comments, indentation, an index of what a file declares, and the
;; language server by eglot or lsp-mode.
;;
;;   (require 'vigil-mode)
;;   (add-hook 'vigil-mode-hook #'eglot-ensure) ; or #'lsp
;;
;; Where the grammar for tree-sitter is installed, `vigil-ts-mode' colours by it:
;;
;;   (add-to-list 'major-mode-remap-alist '(vigil-mode . vigil-ts-mode))

;;; Code:

(require 'conf-mode)
(require 'treesit)
(eval-when-compile (require 'cl-lib) (require 'rx))

(defvar eglot-server-programs)
(defvar lsp-language-id-configuration)

(declare-function lsp-register-client "lsp-mode")
(declare-function lsp-stdio-connection "lsp-mode")
(declare-function make-lsp-client "lsp-mode")

(declare-function treesit-parser-create "treesit.c")

(defgroup vigil nil
  "Policies in the language Vigil."
  :group 'languages)

(defcustom vigil-indent-offset 4
  "How far what is in brackets is indented."
  :type 'natnum
  :safe #'natnump
  :group 'vigil)

;;; Syntax

(defvar vigil-base-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?/ ". 12" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?\\ "\\" table)
    (modify-syntax-entry ?' "." table)
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?. "_" table)
    (modify-syntax-entry ?- "_" table)
    (dolist (mark (string-to-list "=!~<>|@+&*%□◇⁻⁺¬∧∨⇒∈∉≠≤≥∼≁⊤⊥"))
      (modify-syntax-entry mark "." table))
    table)
  "Syntax of policies; a name may have dots and hyphens in it.")

(defconst vigil--name (rx (any "A-Za-z_") (* (any "A-Za-z0-9_")) (* (any ".-") (+ (any "A-Za-z0-9_")))))

(defconst vigil--regex (rx (group "/") (+ (or (not (any "/\\\n")) (seq "\\" nonl))) (group "/")))

(defun vigil--syntax-propertize (start end)
  "Mark regular expressions, and quotes that nothing closes, from START to END."
  (goto-char start)
  (while (re-search-forward "[\"/]" end t)
    (let ((at (1- (point))))
      (unless (nth 8 (save-excursion (syntax-ppss at)))
        (goto-char at)
        (cond
         ((looking-at-p "//") (end-of-line))
         ((looking-at vigil--regex)
          (dolist (group '(1 2))
            (put-text-property (match-beginning group) (match-end group) 'syntax-table (string-to-syntax "|")))
          (goto-char (match-end 0)))
         ((looking-at (rx "\"" (* (or (not (any "\"\\\n")) (seq "\\" nonl))) "\""))
          (goto-char (match-end 0)))
         (t
          (put-text-property at (1+ at) 'syntax-table (string-to-syntax "."))
          (forward-char)))))))

;;; Colours

(defconst vigil--items '("policy" "use" "let" "param" "pattern" "statement" "rule"))

(defconst vigil--forms '("abs" "prec" "resp" "rslv" "bresp" "until" "atmost" "atleast" "budget"
                        "always"))

(defconst vigil--before-names (string-to-list "@=~∼≁≠≤≥<>,({|:"))

(defun vigil--match-word (limit)
  "Find a word before LIMIT that joins conditions, or stands before one.
It is a name where something before it wants one, or where it is compared."
  (let ((found nil))
    (while (and (not found)
                (re-search-forward
                 (rx symbol-start
                     (or (group (or "and" "or" "implies" "after" "where" "since" "until" "weak" "distinct" "in"
                                "contains"))
                         "not" "has" "earlier" "later" "always")
                     symbol-end)
                 limit t))
      (setq found
            (save-match-data
              (and (not (looking-at-p "\\s-*\\(?:[]=~∼≁≠≤≥<>!,)|:]\\|\\'\\)"))
                   (save-excursion
                     (goto-char (match-beginning 0))
                     (skip-chars-backward " \t\n")
                     (not (memq (char-before) (if (match-beginning 1) vigil--before-names '(?@)))))))))
    found))

;; A word is one of the language only where it has a place; what can be told from what stands beside it is.
(defconst vigil-font-lock-keywords
  `((,(concat "\\(@" vigil--name "\\)") 1 'font-lock-preprocessor-face)
    (,(concat "^\\s-*\\(policy\\|use\\)\\s-+\\(\\.*" vigil--name "\\)")
     (1 'font-lock-keyword-face) (2 'font-lock-constant-face))
    (,(concat "^\\s-*\\(let\\)\\s-+\\(" vigil--name "\\)\\s-*=")
     (1 'font-lock-keyword-face) (2 'font-lock-constant-face))
    (,(concat "^\\s-*\\(param\\)\\s-+\\(" vigil--name "\\)\\s-*:\\s-*\\(number\\|text\\|bool\\|set\\)?")
     (1 'font-lock-keyword-face) (2 'font-lock-constant-face) (3 'font-lock-type-face nil t))
    (,(concat "^\\s-*\\(pattern\\)\\s-+\\(" vigil--name "\\)\\s-*[(=]")
     (1 'font-lock-keyword-face) (2 'font-lock-function-name-face))
    (,(concat "^\\s-*\\(statement\\)\\s-+\\(" vigil--name "\\)\\s-*:")
     (1 'font-lock-keyword-face) (2 'font-lock-type-face))
    (,(concat "^\\s-*\\(rule\\)\\s-+\\(" vigil--name "\\)\\s-*:\\s-*\\(when\\_>\\)?")
     (1 'font-lock-keyword-face) (2 'font-lock-type-face) (3 'font-lock-keyword-face nil t))
    ("^\\s-*\\(when\\|record\\|relaxes\\)\\_>\\s-+[^=~∼≁≠≤≥<>!,|]" 1 'font-lock-keyword-face)
    ("\\_<\\(then\\)\\s-+\\(pass\\|hold\\|block\\)\\_>\\(?:\\s-+\\(record\\|relaxes\\)\\_>\\)?"
     (1 'font-lock-keyword-face) (2 'font-lock-constant-face) (3 'font-lock-keyword-face nil t))
    (,(concat "[A-Za-z0-9_\"]\\s-+\\(relaxes\\)\\s-+" vigil--name) 1 'font-lock-keyword-face)
    (,(concat "\\_<\\(violates\\)\\s-+\\(" vigil--name "\\)")
     (1 'font-lock-keyword-face) (2 'font-lock-type-face))
    ("\\_<context\\.[A-Za-z0-9_.-]+" 0 'font-lock-builtin-face)
    ("^\\s-*\\(test\\)\\s-+\"" 1 'font-lock-keyword-face)
    (,(concat "^\\s-*\\(" (regexp-opt vigil--items) "\\)\\_>\\s-*$") 1 'font-lock-keyword-face)
    (,(concat ":\\s-*\\(" (regexp-opt vigil--forms) "\\)\\_>") 1 'font-lock-builtin-face)
    ("\\(?:^\\s-*\\|[{}] *\\)\\(run\\|calls\\|expect\\)\\_>" 1 'font-lock-keyword-face)
    (,(concat "\\(?:^\\s-*\\|[{}] *\\)\\(set\\)\\s-+" vigil--name "\\s-*=") 1 'font-lock-keyword-face)
    ("\\_<\\(satisfied\\|violated\\|vacuous\\|holds\\|blocks\\|passes\\)\\_>" 1 'font-lock-constant-face)
    ("\\_<violated\\s-+\\(at\\)\\_>" 1 'font-lock-keyword-face)
    (,(concat "\\_<\\(with\\)\\s-+" vigil--name "\\s-*=") 1 'font-lock-keyword-face)
    ("\\(?:->\\|\\_<status\\_>\\s-*=\\)\\s-*\\(ok\\|error\\)\\_>" 1 'font-lock-constant-face)
    (,(concat "\\_<\\(action\\|status\\|output\\)\\_>\\s-*"
              "\\(?:[=~∼!<>≠≁∈∉≤≥]\\|\\(?:not\\s-+\\)?in\\_>\\|contains\\_>\\)")
     1 'font-lock-builtin-face)
    ("\\_<\\(repeated\\)\\[" 1 'font-lock-keyword-face)
    (,(concat ":\\(" vigil--name "\\)") 1 'font-lock-function-call-face)
    ("[0-9.] \\(calls?\\|steps?\\)\\_>" 1 'font-lock-keyword-face)
    (vigil--match-word 0 'font-lock-keyword-face)
    (,(concat "\\_<\\(" vigil--name "\\)(") 1 'font-lock-function-call-face)
    ("\\_<\\(true\\|false\\|⊤\\|⊥\\)\\_>" 1 'font-lock-constant-face)
    ("\\_<-?[0-9]+\\(?:\\(?:\\.[0-9]+\\)?\\(?:[eE][+-]?[0-9]+\\)?\\|ms\\|[smhd]\\)\\_>" 0 'font-lock-number-face)
    ("[□¬∧∨⇒∈∉≠≤≥∼≁]\\|◇[⁻⁺+-]" 0 'font-lock-operator-face))
  "What is coloured besides comments and strings.")

(defun vigil--syntactic-face (state)
  "The face of the comment or string that STATE is in."
  (cond
   ((nth 3 state) (if (eq (nth 3 state) t) 'font-lock-regexp-face 'font-lock-string-face))
   ((save-excursion (goto-char (nth 8 state)) (looking-at-p "///\\(?:[^/]\\|$\\)")) 'font-lock-doc-face)
   (t 'font-lock-comment-face)))

;;; Indentation

(defconst vigil--item
  (concat "^\\s-*\\(?:\\(?:let\\|param\\|pattern\\|statement\\|rule\\)\\s-+" vigil--name "\\|test\\s-+\"\\)"))

(defun vigil--indentation ()
  "The column that the line at point should begin in."
  (save-excursion
    (back-to-indentation)
    (let* ((state (syntax-ppss))
           (opening (nth 1 state)))
      (cond
       (opening
        (let ((inside (if (looking-at-p "[])}]") 0 (+ vigil-indent-offset (vigil--hang opening)))))
          (+ (vigil--base opening) inside)))
       ((vigil--continues) (+ vigil-indent-offset (vigil--hang nil)))
       (t 0)))))

(defun vigil--level ()
  "How tightly the connective at point joins; nil where none is."
  (cond ((looking-at-p "\\(?:implies\\_>\\|⇒\\)") 0)
        ((looking-at-p "\\(?:or\\_>\\|∨\\)") 1)
        ((looking-at-p "\\(?:and\\_>\\|∧\\)") 2)
        ((looking-at-p "since\\_>") 3)))

(defun vigil--base (opening)
  "The column that what is in the brackets at OPENING is indented from.
It is that of a connective that begins the line behind them."
  (goto-char opening)
  (let ((line (progn (back-to-indentation) (current-column)))
        (end (ignore-errors (scan-sexps opening 1))))
    (goto-char (or end opening))
    (skip-chars-forward " \t")
    (if (and end (eolp) (zerop (forward-line)) (progn (back-to-indentation) (vigil--level)))
        (max line (vigil--indentation))
      line)))

(defun vigil--part (opening)
  "Where the part around point begins and ends in the brackets at OPENING.
The third value is whether they hold several parts."
  (save-excursion
    (let ((at (point))
          (start opening)
          (end (or (ignore-errors (scan-sexps opening 1)) (point-max)))
          (several nil))
      (goto-char opening)
      (while (and (< start end) (search-forward "," end t))
        (let ((state (save-excursion (syntax-ppss))))
          (when (and (eql opening (nth 1 state)) (not (nth 8 state)))
            (setq several t)
            (if (<= (point) at) (setq start (point)) (setq end (point))))))
      (list start end several))))

(defun vigil--hang (opening)
  "How much deeper the line at point stands where a connective begins it.
Looser ones count that begin a line of the same part of what the brackets at
OPENING hold, and whether these hold several parts."
  (let ((level (vigil--level))
        (looser nil))
    (when level
      (save-excursion
        (pcase-let ((`(,start ,end ,several)
                     (if opening (vigil--part opening)
                       (list nil (save-excursion
                                   (unless (re-search-forward vigil--item nil t) (goto-char (point-max)))
                                   (point))
                             nil))))
          (when several
            (push 'several looser))
          (if start (goto-char start) (re-search-backward vigil--item nil 'move))
          (while (and (zerop (forward-line)) (< (point) end))
            (back-to-indentation)
            (let ((other (vigil--level)))
              (when (and other (< other level) (eql opening (nth 1 (syntax-ppss))))
                (cl-pushnew other looser)))))))
    (* vigil-indent-offset (length looser))))

(defun vigil--continues ()
  "Whether the line at point goes on with what the line above has begun."
  (or (looking-at-p "\\(?:and\\|or\\|implies\\|after\\|where\\|since\\|when\\|then\\|record\\|relaxes\\)\\_>\\|[|∧∨⇒]")
      (save-excursion
        (forward-comment (- (point)))
        (and (not (bobp))
             (or (memq (char-before) (string-to-list "=:,|∧∨⇒¬□"))
                 (looking-back "\\_<\\(?:and\\|or\\|implies\\|after\\|not\\|in\\)" (line-beginning-position)))))))

(defun vigil-indent-line ()
  "Indent the line at point; inside of a string nothing is moved."
  (interactive)
  (unless (nth 3 (syntax-ppss (line-beginning-position)))
    (let ((column (vigil--indentation)))
      (if (<= (current-column) (current-indentation))
          (indent-line-to column)
        (save-excursion (indent-line-to column))))))

;;; Items

(defvar vigil-imenu-generic-expression
  `(("Statements" ,(concat "^\\s-*statement\\s-+\\(" vigil--name "\\)\\s-*:") 1)
    ("Rules" ,(concat "^\\s-*rule\\s-+\\(" vigil--name "\\)\\s-*:") 1)
    ("Patterns" ,(concat "^\\s-*pattern\\s-+\\(" vigil--name "\\)\\s-*[(=]") 1)
    ("Values" ,(concat "^\\s-*let\\s-+\\(" vigil--name "\\)\\s-*=") 1)
    ("Parameters" ,(concat "^\\s-*param\\s-+\\(" vigil--name "\\)\\s-*:") 1)
    ("Tests" "^\\s-*test\\s-+\"\\(\\(?:[^\"\\\n]\\|\\\\.\\)*\\)\"" 1)))

(defun vigil-beginning-of-defun (&optional count)
  "Go back to the beginning of an item, COUNT times."
  (re-search-backward vigil--item nil t (or count 1)))

(defun vigil-end-of-defun ()
  "Go from the beginning of an item to its end."
  (end-of-line)
  (if (re-search-forward (concat vigil--item "\\|^\\s-*\\(?:@\\|///\\)") nil 'move)
      (goto-char (match-beginning 0)))
  (forward-comment (- (point)))
  (forward-line))

;;; The modes

(define-derived-mode vigil-base-mode prog-mode "Vigil"
  "What the modes for policies share."
  (setq-local comment-start "// ")
  (setq-local comment-end "")
  (setq-local comment-start-skip "//+\\s-*")
  (setq-local indent-tabs-mode nil)
  (setq-local tab-width vigil-indent-offset)
  (setq-local fill-column 100)
  (setq-local indent-line-function #'vigil-indent-line)
  (setq-local electric-indent-chars (append ")}]\n" electric-indent-chars))
  (setq-local parse-sexp-lookup-properties t)
  (setq-local syntax-propertize-function #'vigil--syntax-propertize))

;;;###autoload
(define-derived-mode vigil-mode vigil-base-mode "Vigil"
  "Major mode for policies in the language Vigil."
  (setq-local imenu-generic-expression vigil-imenu-generic-expression)
  (setq-local beginning-of-defun-function #'vigil-beginning-of-defun)
  (setq-local end-of-defun-function #'vigil-end-of-defun)
  (setq-local font-lock-defaults
              '(vigil-font-lock-keywords nil nil nil (font-lock-syntactic-face-function . vigil--syntactic-face))))

(defvar vigil--treesit-settings nil
  "What `vigil-ts-mode' colours, once the grammar is there.")

(defun vigil--treesit-settings ()
  "Make `vigil--treesit-settings'."
  (or vigil--treesit-settings
      (setq vigil--treesit-settings
            (treesit-font-lock-rules
             :language 'vigil :feature 'comment
             '((comment) @font-lock-comment-face (doc_comment) @font-lock-doc-face)
             :language 'vigil :feature 'string
             '((string) @font-lock-string-face (regex) @font-lock-regexp-face)
             :language 'vigil :feature 'escape-sequence :override t
             '((escape_sequence) @font-lock-escape-face)
             :language 'vigil :feature 'keyword
             '(["policy" "use" "let" "param" "pattern" "statement" "rule" "test" "after" "run" "calls" "set" "expect" "at"
                "with" "where" "since" "weak" "distinct" "repeated" "and" "or" "not" "implies" "in" "has" "contains" "always"
                "earlier" "later" "when" "then" "record" "relaxes" "violates"]
               @font-lock-keyword-face)
             :language 'vigil :feature 'definition
             '((policy_header name: (identifier) @font-lock-constant-face)
               (use_declaration module: (_) @font-lock-constant-face)
               (let_declaration name: (identifier) @font-lock-constant-face)
               (param_declaration name: (identifier) @font-lock-constant-face)
               (pattern_declaration name: (identifier) @font-lock-function-name-face)
               (statement_declaration name: (identifier) @font-lock-type-face)
               (rule_declaration name: (identifier) @font-lock-type-face)
               (relaxes rule: (identifier) @font-lock-type-face)
               (violates_test statement: (identifier) @font-lock-type-face)
               (parameters (identifier) @font-lock-variable-name-face))
             :language 'vigil :feature 'builtin
             '((form name: _ @font-lock-builtin-face)
               ["action" "status" "output"] @font-lock-builtin-face
               (interval direction: _ @font-lock-keyword-face)
               (unit) @font-lock-keyword-face)
             :language 'vigil :feature 'annotation
             '((annotation "@" @font-lock-preprocessor-face name: (identifier) @font-lock-preprocessor-face))
             :language 'vigil :feature 'type
             '((type) @font-lock-type-face)
             :language 'vigil :feature 'constant
             '([(status) (mode) (boolean) "satisfied" "violated" "vacuous" "holds" "blocks" "passes"]
               @font-lock-constant-face)
             :language 'vigil :feature 'number
             '([(number) (duration) (range)] @font-lock-number-face)
             :language 'vigil :feature 'function
             '((application name: (identifier) @font-lock-function-call-face)
               (view name: (identifier) @font-lock-function-call-face)
               (event action: (identifier) @font-lock-function-call-face))
             :language 'vigil :feature 'property
             '(((field (identifier) @font-lock-builtin-face) (:match "\\`context\\." @font-lock-builtin-face))
               (field (identifier) @font-lock-property-use-face)
               (argument name: (identifier) @font-lock-property-use-face))
             :language 'vigil :feature 'operator
             '(["=" "!=" "≠" "~" "∼" "!~" "≁" "<" "<=" "≤" ">" ">=" "≥" "∈" "∉" "|" "->" "□" "¬" "∧" "∨" "⇒"]
               @font-lock-operator-face)))))

(defconst vigil--treesit-item (rx (or "let" "param" "pattern" "statement" "rule" "test") "_declaration"))

;;;###autoload
(define-derived-mode vigil-ts-mode vigil-base-mode "Vigil"
  "Major mode for policies that reads them with the grammar for tree-sitter."
  (unless (treesit-ready-p 'vigil)
    (user-error "The grammar for tree-sitter is not installed"))
  (treesit-parser-create 'vigil)
  (setq-local treesit-font-lock-settings (vigil--treesit-settings))
  (setq-local treesit-font-lock-feature-list
              '((comment definition) (keyword string type builtin annotation) (constant number escape-sequence)
                (function property operator)))
  (setq-local treesit-defun-type-regexp vigil--treesit-item)
  (setq-local treesit-defun-name-function #'vigil--treesit-name)
  (setq-local treesit-simple-imenu-settings
              '(("Statements" "\\`statement_declaration\\'" nil nil)
                ("Rules" "\\`rule_declaration\\'" nil nil)
                ("Patterns" "\\`pattern_declaration\\'" nil nil)
                ("Values" "\\`let_declaration\\'" nil nil)
                ("Parameters" "\\`param_declaration\\'" nil nil)
                ("Tests" "\\`test_declaration\\'" nil nil)))
  (treesit-major-mode-setup))

(defun vigil--treesit-name (node)
  "The name of the item NODE."
  (let ((name (treesit-node-child-by-field-name node "name")))
    (and name (string-trim (treesit-node-text name t) "\"" "\""))))

;;;###autoload
(define-derived-mode vigil-config-mode conf-toml-mode "Vigil-Config"
  "Major mode for `vigil.toml': TOML, with the language server of Vigil.")

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.vgl\\'" . vigil-mode))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\(?:\\`\\|/\\)vigil\\.toml\\'" . vigil-config-mode))

;;;###autoload
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs
               '((vigil-mode vigil-ts-mode (vigil-config-mode :language-id "toml")) . ("vigil" "lsp"))))

;;;###autoload
(with-eval-after-load 'lsp-mode
  (dolist (mode '((vigil-mode . "vigil") (vigil-ts-mode . "vigil") (vigil-config-mode . "toml")))
    (add-to-list 'lsp-language-id-configuration mode))
  (lsp-register-client
   (make-lsp-client :new-connection (lsp-stdio-connection '("vigil" "lsp"))
                    :major-modes '(vigil-mode vigil-ts-mode vigil-config-mode)
                    :server-id 'vigil)))

(provide 'vigil-mode)

;;; vigil-mode.el ends here
