-- A copy of the memories as the table would be with all embeddings in it, for its size.
CREATE TEMPORARY TABLE bench_embedded (LIKE pgrecall.memories INCLUDING STORAGE);

DO $do$
BEGIN
    EXECUTE (
        SELECT format('ALTER TABLE bench_embedded SET (toast_tuple_target = %s)', o.option_value)
        FROM pg_class c
        CROSS JOIN LATERAL pg_options_to_table(c.reloptions) o
        WHERE c.oid = 'pgrecall.memories'::regclass AND o.option_name = 'toast_tuple_target'
    );
    EXECUTE (
        SELECT format(
            'INSERT INTO bench_embedded SELECT %s FROM pgrecall.memories m ORDER BY m.id',
            string_agg(CASE a.attname WHEN 'embedding' THEN '$1' ELSE format('m.%I', a.attname) END, ', ' ORDER BY a.attnum)
        )
        FROM pg_attribute a
        WHERE a.attrelid = 'pgrecall.memories'::regclass AND a.attnum > 0 AND NOT a.attisdropped
    ) USING array_fill(0.1::real, ARRAY[pgrecall.embedding_dimension()])::halfvec;
END
$do$;
