"""The inspector: pages on this machine that show why a recall ranks as it does, the concepts and the status.

It needs `pip install 'pgrecall[ui]'`. It writes nothing except the cache of query embeddings.
"""

from .application import create_app
from .serve import serve

__all__ = ["create_app", "serve"]
