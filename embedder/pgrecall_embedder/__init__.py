"""The embedder daemon of pgrecall: fills the embeddings that the database says are missing."""
