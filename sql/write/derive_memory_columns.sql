-- Trigger on memories that fills what follows from the rest of the row: search_vector, word_count and content_hash.
--
-- An embedding of another text, or of a memory that is now sensitive, goes in the same statement; the queue sees the
-- NULL. Writing back an embedding does not come here.
CREATE OR REPLACE FUNCTION _pgrecall.derive_memory_columns()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $function$
DECLARE
    config regconfig := NEW.language::regconfig;
    recipe text := _pgrecall.embedding_recipe();
BEGIN
    NEW.search_vector :=
        setweight(_pgrecall.analyze_text(config, concat_ws(E'\n', NEW.title, NEW.content)), 'A')
        || setweight(_pgrecall.analyze_text(config, array_to_string(NEW.expanded_keywords, ' ')), 'B')
        || setweight(_pgrecall.analyze_text(config, array_to_string(NEW.tags, ' ')), 'C')
        || setweight(_pgrecall.analyze_text(config, COALESCE(NEW.category, '')), 'D');
    NEW.word_count := (SELECT COALESCE(sum(cardinality(l.positions)), 0)::integer FROM unnest(NEW.search_vector) l);
    NEW.content_hash := sha256(convert_to(
        recipe || E'\n' || _pgrecall.embedding_text(NEW.title, NEW.content, NEW.expanded_keywords, recipe), 'UTF8'
    ));
    IF TG_OP = 'UPDATE' AND (NEW.is_sensitive OR NEW.content_hash <> OLD.content_hash) THEN
        -- Of every generation.
        NEW := jsonb_populate_record(
            NEW, (SELECT jsonb_object_agg(g.column_name, NULL) FROM pgrecall.generations g)
        );
    END IF;
    RETURN NEW;
END
$function$;

COMMENT ON FUNCTION _pgrecall.derive_memory_columns IS
    'Trigger: fills search_vector, word_count and content_hash, empties an embedding that is no longer that of the row.';

CREATE OR REPLACE TRIGGER memories_10_derive
    BEFORE INSERT OR UPDATE OF title, content, category, tags, expanded_keywords, language, is_sensitive, content_hash, search_vector
    ON pgrecall.memories
    FOR EACH ROW EXECUTE FUNCTION _pgrecall.derive_memory_columns();
