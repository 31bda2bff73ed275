-- Tells whether a language model is asked about names: it is configured, and may read memories.
CREATE OR REPLACE FUNCTION _pgrecall.asks_about_names()
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN pgrecall.stored_setting('extract_llm') = 'on' AND pgrecall.stored_setting('llm_model') <> '';
