-- Returns the sections of a page: which memories are in each, by their category or by their words.
--
-- Facts are also what memories are evidence of (page_candidates). Recent events are the memories of no other section. A pattern
-- is compared with the small letters of a text, in English, German, Dutch, Spanish, Portuguese, French and Italian.
--
-- categories  of its memories
-- pattern     regular expression of texts that belong to it
-- query       words that find such texts in a large namespace
CREATE OR REPLACE FUNCTION _pgrecall.page_sections()
RETURNS TABLE (section text, categories text[], pattern text, query text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 4
BEGIN ATOMIC
    SELECT s.*
    FROM (VALUES
        ('facts', '{fact,facts,decision,decisions}'::text[], NULL::text, NULL::text),
        ('preferences', '{preference,preferences}',
         '\m(prefers?|preferred|preferences?|favou?rites?|likes|loves|hates|dislikes?|enjoys|can''t stand|allergic|vegan|vegetarian'
         '|(i|we|they) (really |also |always )?(like|love|hate|enjoy)|(would|''d) rather'
         '|bevorzug\w+|lieblings\w+|am liebsten|ich (mag|liebe|hasse)|mag (kein\w*|gern\w*)|allergisch|liever|lievelings\w+|ik hou van'
         '|prefier[oe]|preferid[oa]|me (gusta|encanta)n?|prefir[oe]|gosto de|adoro|pr[ée]f[èe]r(e|es|ons|ent)|pr[ée]f[ée]r[ée]e?'
         '|j''(aime|adore)|je d[ée]teste|preferi(sco|sce|to|ta)|mi piac(e|ciono))\M',
         'prefer prefers preferred favorite favourite likes loves hates dislikes enjoys allergic vegetarian'
         ' bevorzugt Lieblings liebsten prefiere préfère preferisce gusta'),
        ('open', '{task,tasks,todo,todos,open,question,questions,reminder,reminders,issue,plan,plans}',
         '\m(todo|to-do|tbd|deadlines?|due (by|on|date|next|this|tomorrow)|needs? (to|a)|must|ha(ve|s) to|reminders?|remind me'
         '|pending|waiting (for|on)|follow[ -]up|not yet|unresolved|open question|unclear'
         '|by (monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|tonight|next (week|month))'
         '|muss|m[üu]ssen|f[äa]llig|offene?n? frage|erinner\w*|noch nicht|bis (montag|dienstag|mittwoch|donnerstag|freitag|morgen)'
         '|moet(en)?|pendiente|hay que|tengo que|tiene que|pendente|preciso|il faut|doit|dois|en attente|bisogna|deve|devo|in sospeso)\M',
         'todo deadline due must needs reminder remind pending waiting unresolved open follow'
         ' muss fällig offen pendiente faut attente deve'),
        ('recent', '{}', NULL, NULL)
    ) s (section, categories, pattern, query);
END;
