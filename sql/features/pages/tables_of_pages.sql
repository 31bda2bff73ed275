-- Declares the tables of pages; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_pages()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "pages": {"written": "INSERT, UPDATE, DELETE", "exported": "page"},
    "page_lines": {"not_exported": "an import fills the pages anew"},
    "page_changes": {"not_exported": "an import fills the pages anew"}
}';
