"""What changes a database itself: migrations, the bundle of SQL code, another embedding model."""
