"""What is built on the clients: servers, importers, copies, shards, adapters to frameworks."""
