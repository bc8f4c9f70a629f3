;;; check.el --- Says what vigil-mode makes of a file -*- lexical-binding: t; -*-

;; Run by tests/editors/test_emacs.py: `emacs --batch -L … -l check.el -f FUNCTION FILE`; what it finds is printed as JSON.

(require 'vigil-mode)
(require 'json)
(require 'imenu)
(require 'eglot)
(require 'flymake)

(defun check--print (value)
  (princ (decode-coding-string (json-serialize value) 'utf-8)))

(defun check--open ()
  (find-file (pop command-line-args-left)))

(defun check-faces ()
  "Each stretch of text with a face, and the face."
  (check--open)
  (font-lock-ensure)
  (let ((at (point-min)) (found nil))
    (while (< at (point-max))
      (let ((end (next-single-property-change at 'face nil (point-max)))
            (face (get-text-property at 'face)))
        (when face
          (push (vector (buffer-substring-no-properties at end) (format "%s" (if (listp face) (car face) face))) found))
        (setq at end)))
    (check--print (vconcat (list (format "%s" major-mode)) (nreverse found)))))

(defun check--ts ()
  (setq treesit-extra-load-path (list (pop command-line-args-left)))
  (setq treesit-font-lock-level 4)
  (add-to-list 'major-mode-remap-alist '(vigil-mode . vigil-ts-mode)))

(defun check-ts-faces ()
  "The same by tree-sitter; the folder of the grammar comes first."
  (check--ts)
  (check-faces))

(defun check-ts-index ()
  "What `check-index' says, by tree-sitter."
  (check--ts)
  (check-index))

(defun check-indentation ()
  "The text, indented anew."
  (check--open)
  (indent-region (point-min) (point-max))
  (check--print (vector (buffer-string))))

(defun check-index ()
  "Headings of the index with their entries, and how many items there are to go over."
  (check--open)
  (let ((count 0))
    (goto-char (point-max))
    (while (beginning-of-defun) (setq count (1+ count)))
    (check--print
     (vector count
             (vconcat
              (mapcar (lambda (group) (vector (car group) (vconcat (mapcar #'car (cdr group)))))
                      (seq-remove (lambda (entry) (equal (car entry) "*Rescan*")) (imenu--make-index-alist t))))))))

(defun check-comment ()
  "The text with its lines turned to comments, and back again."
  (check--open)
  (comment-region (point-min) (point-max))
  (let ((commented (buffer-string)))
    (uncomment-region (point-min) (point-max))
    (check--print (vector commented (buffer-string)))))

(defun check-eglot ()
  "The findings of the language server: line, kind, text."
  (check--open)
  (setq eglot-sync-connect 30)
  (apply #'eglot (eglot--guess-contact))
  (let ((end (+ (float-time) 30)))
    (flymake-start)
    (while (and (< (float-time) end) (null (flymake-diagnostics)))
      (accept-process-output nil 0.1)))
  (check--print
   (vconcat
    (mapcar (lambda (found)
              (vector (line-number-at-pos (flymake-diagnostic-beg found))
                      (format "%s" (flymake-diagnostic-type found))
                      (flymake-diagnostic-text found)))
            (flymake-diagnostics))))
  (eglot-shutdown (eglot-current-server)))

(defvar lsp-language-id-configuration nil)

(defun check-lsp-mode ()
  "What an lsp-mode is told that is loaded after the mode: its languages, and a server by its properties."
  (let (told)
    (cl-letf (((symbol-function 'lsp-stdio-connection) #'identity)
              ((symbol-function 'make-lsp-client) #'list)
              ((symbol-function 'lsp-register-client) (lambda (client) (setq told client))))
      (provide 'lsp-mode))
    (check--print
     (vector (vconcat (mapcar (lambda (pair) (vector (format "%s" (car pair)) (cdr pair))) lsp-language-id-configuration))
             (vconcat (plist-get told :new-connection))
             (vconcat (mapcar #'symbol-name (plist-get told :major-modes)))))))

;;; check.el ends here
