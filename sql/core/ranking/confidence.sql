-- Returns the probability that a memory answers the query, 0 to 1: the logistic function of confidence_parts().
--
-- The arguments are those of confidence_parts().
CREATE OR REPLACE FUNCTION _pgrecall.confidence(
    evidence double precision, firm double precision, lead double precision, has_vector boolean, is_contradicted boolean
)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT 1 / (1 + exp(-(p.base + p.share + p.evidence + p.lead + p.contradiction)))
    FROM _pgrecall.confidence_parts(evidence, firm, lead, has_vector, is_contradicted) p;
END;
