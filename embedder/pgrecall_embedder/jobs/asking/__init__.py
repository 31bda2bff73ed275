"""What the jobs share that ask a language model: access, pauses, one loop for claims."""
