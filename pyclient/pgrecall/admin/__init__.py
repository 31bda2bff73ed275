"""Administration of a database: migrations, installation of the SQL code, change of embedding model."""
