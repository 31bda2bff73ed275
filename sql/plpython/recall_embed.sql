-- Returns the embedding of a query, for recall(query, recall_embed(query)); NULL if none is available in time. Over the
-- embedder's socket: uses cached embeddings first, else asks the daemon on this machine.
--
-- See features/query_cache/recall_embed.sql. The socket comes only from the stored setting embed_socket: a session's SET could redirect
-- other users' queries. The session keeps the connection and reconnects once to a restarted daemon. It does not wait
-- longer than embed_timeout. The request names the generation, so a daemon with another model does not answer. No
-- notice quotes the query.
--
-- Errors  54000 query too long
CREATE OR REPLACE FUNCTION public.recall_embed(query text)
RETURNS pgvector.halfvec
LANGUAGE plpython3u STABLE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $function$
import json
import select
import socket
import time

KEY = "pgrecall embedder"
# Cancelling the statement, or its own timeout, is noticed that often.
SLICE_SECONDS = 0.05
MOST_BYTES = 1 << 18
LOOK = """
SELECT pgrecall.cached_query_embedding($1)::text AS known, pgrecall.stored_setting('embed_socket') AS path,
       pgrecall.stored_setting('embed_timeout')::double precision / 1000 AS seconds,
       g.id AS generation, m.name AS model
FROM (SELECT pgrecall.active_generation() AS id) active
LEFT JOIN pgrecall.generations g ON g.id = active.id
LEFT JOIN pgrecall.embedding_models m ON m.id = g.model_id
"""


class Unanswered(Exception):
    pass


def prepared(text, *types):
    if text not in SD:
        SD[text] = plpy.prepare(text, types)
    return SD[text]


def connected(path, deadline):
    known = GD.get(KEY)
    if known is not None and known[0] == path:
        return known[1], True
    forget()
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        link.settimeout(max(deadline - time.monotonic(), 0.001))
        link.connect(path)
        link.setblocking(False)
    except OSError:
        link.close()
        raise
    GD[KEY] = (path, link)
    return link, False


def forget():
    known = GD.pop(KEY, None)
    if known is not None:
        known[1].close()


def wait(link, deadline, writing):
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            raise Unanswered("the embedder did not answer in time")
        readable, writable, _ = select.select(
            [] if writing else [link], [link] if writing else [], [], min(left, SLICE_SECONDS)
        )
        if readable or writable:
            return
        plpy.execute(prepared("SELECT"))


def asked(path, request, deadline):
    """Send a line, return the line that comes; None if the daemon that was connected is gone."""
    link, is_old = connected(path, deadline)
    answer = b""
    try:
        while request:
            wait(link, deadline, True)
            request = request[link.send(request):]
        while not answer.endswith(b"\n"):
            wait(link, deadline, False)
            part = link.recv(65536)
            if not part or len(answer) > MOST_BYTES:
                break
            answer += part
    except BaseException as error:
        # An answer that comes later would be taken for that of the next query.
        forget()
        if is_old and isinstance(error, (BrokenPipeError, ConnectionResetError)):
            return None
        raise
    if answer.endswith(b"\n"):
        return answer
    forget()
    if is_old and not answer:
        return None
    raise Unanswered("the embedder closed the connection")


def answered(look):
    if not look["path"]:
        raise Unanswered("the setting embed_socket is empty")
    if look["model"] is None:
        raise Unanswered("the database has no embedding model")
    deadline = time.monotonic() + look["seconds"]
    request = {"generation": look["generation"], "model": look["model"], "seconds": look["seconds"], "query": query}
    line = json.dumps(request, ensure_ascii=False).encode() + b"\n"
    try:
        reply = asked(look["path"], line, deadline)
        if reply is None:
            reply = asked(look["path"], line, deadline)
        found = {} if reply is None else json.loads(reply)
    except (OSError, ValueError) as error:
        raise Unanswered("the embedder cannot be reached: " + (getattr(error, "strerror", None) or "no answer"))
    if not isinstance(found, dict) or not isinstance(found.get("vector"), str):
        told = found.get("error") if isinstance(found, dict) else None
        raise Unanswered(told if isinstance(told, str) else "the embedder's answer cannot be read")
    return found["vector"]


if query is None or not query.strip():
    return None
if len(query) > 16384:
    plpy.error(
        "the query has %d characters; 16384 is the limit" % len(query),
        sqlstate="54000",
        hint="Recall by the question, not by a whole document.",
    )
look = plpy.execute(prepared(LOOK, "text"), [query])[0]
if look["known"] is not None:
    return look["known"]
try:
    return answered(look)
except Unanswered as reason:
    plpy.notice(
        "the query has no embedding: %s" % reason,
        hint="Run `pgrecall embedder --socket PATH` on this machine; the setting embed_socket is that path.",
    )
    return None
$function$;

REVOKE ALL ON FUNCTION public.recall_embed FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.recall_embed TO pgrecall_reader;
