"""What a query needs before it reaches the database: an embedding, an expansion, a time; then reranking."""
