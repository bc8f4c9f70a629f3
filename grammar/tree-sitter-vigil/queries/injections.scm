((regex_content) @injection.content
  (#set! injection.language "regex"))

([(comment) (doc_comment)] @injection.content
  (#set! injection.language "comment"))
