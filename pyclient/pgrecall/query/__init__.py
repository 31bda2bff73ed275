"""Query processing in the client: embedding, expansion, timeframes, reranking."""
