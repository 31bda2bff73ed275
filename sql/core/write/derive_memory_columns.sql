-- Trigger on memories: fills the derived columns search_vector, word_count and content_hash, and clears embeddings of
-- another text.
--
-- If the text changes or the memory becomes sensitive, the same statement clears its embeddings. A changed text is then
-- pending again. Writing an embedding does not fire this trigger.
CREATE OR REPLACE FUNCTION _pgrecall.derive_memory_columns()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $function$
DECLARE
    config regconfig := _pgrecall.stored_language(NEW.language);
    recipe text := _pgrecall.embedding_recipe();
    value_lexemes text[] := _pgrecall.value_terms(concat_ws(E'\n', NEW.title, NEW.content));
BEGIN
    NEW.search_vector :=
        setweight(_pgrecall.analyze_text(config, concat_ws(E'\n', NEW.title, NEW.content)), 'A')
        || setweight(_pgrecall.analyze_text(config, array_to_string(NEW.expanded_keywords, ' ')), 'B')
        || setweight(_pgrecall.analyze_text(config, array_to_string(NEW.tags, ' ')), 'C')
        || setweight(_pgrecall.analyze_text(config, COALESCE(NEW.category, '')), 'D');
    -- Without positions: they count neither as words nor towards the length.
    IF value_lexemes IS NOT NULL THEN
        NEW.search_vector := NEW.search_vector || array_to_tsvector(value_lexemes);
    END IF;
    NEW.word_count := _pgrecall.count_words(NEW.search_vector);
    NEW.content_hash := sha256(convert_to(
        recipe || E'\n' || _pgrecall.embedding_text(NEW.title, NEW.content, NEW.expanded_keywords, recipe), 'UTF8'
    ));
    IF TG_OP = 'UPDATE' AND (NEW.is_sensitive OR NEW.content_hash <> OLD.content_hash) THEN
        NEW := jsonb_populate_record(NEW, _pgrecall.no_embeddings());
    END IF;
    RETURN NEW;
END
$function$;

CREATE OR REPLACE TRIGGER memories_10_derive
    BEFORE INSERT OR UPDATE OF content, title, category, tags, expanded_keywords, metadata, source, speaker, is_sensitive,
        language, content_hash, search_vector
    ON pgrecall.memories
    FOR EACH ROW EXECUTE FUNCTION _pgrecall.derive_memory_columns();
