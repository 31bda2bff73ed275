"""Transcripts of agents and exports of chat programs, as conversations that `remember_messages` stores.

Reading is tolerant, since none of these formats is promised by anybody: a line that says nothing to us is
counted and passed over. What a line says once it says forever, so a transcript can be read while it grows: no
message that was read before changes, and storing all of it again stores only what is new.
"""

from .conversation import Conversation, Message
from .storing import StoredTurns, store_conversation

__all__ = ["Conversation", "Message", "StoredTurns", "store_conversation"]
