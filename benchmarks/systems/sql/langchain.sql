-- Fills the table that langchain-postgres made from the plain one: its own insertion goes row by row.
CREATE FUNCTION bench.fill_langchain()
RETURNS void
LANGUAGE plpgsql
AS $function$
BEGIN
    INSERT INTO public.langchain_documents (id, content, embedding, scope, content_tsv)
    SELECT d.id, d.content, d.embedding, d.namespace, d.fts FROM bench.documents d
    WHERE d.embedding IS NOT NULL;
    ANALYZE public.langchain_documents;
END
$function$;

SELECT bench.fill_langchain();
