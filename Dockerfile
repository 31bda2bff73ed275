# Two images: `server`, PostgreSQL 15 of Debian with pgvector and plpython3u, and `daemon`, the Python package.
# compose.yaml builds and runs both; docs/server.md says what of it was tried.
FROM debian:bookworm-slim@sha256:7b140f374b289a7c2befc338f42ebe6441b7ea838a042bbd5acbfca6ec875818 AS packages
COPY tools/system_server.sh /usr/local/bin/
# The image has a data folder of its own, not the one that Debian makes for each server it installs.
RUN apt-get update -qq \
    && apt-get install -qq --yes --no-install-recommends postgresql-common \
    && sed --in-place 's/^#create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf \
    && system_server.sh packages \
    && rm -rf /var/lib/apt/lists/*

FROM packages AS pgvector
RUN system_server.sh pgvector /built

FROM packages AS server
COPY --from=pgvector /built/ /
COPY tools/docker_server.sh /usr/local/bin/
USER postgres
VOLUME /var/lib/postgresql
EXPOSE 5432
# Clients are disconnected, what they committed is kept: PostgreSQL's fast shutdown.
STOPSIGNAL SIGINT
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=12 \
    CMD ["pg_isready", "--quiet", "--host=127.0.0.1", "--dbname=pgrecall"]
ENTRYPOINT ["docker_server.sh"]

FROM python:3.11.15-slim-bookworm@sha256:b18992999dbe963a45a8a4da40ac2b1975be1a776d939d098c647482bcad5cba AS daemon
# daemon: the extra embedder. runtime: all extras but those of development.
ARG REQUIREMENTS=daemon
WORKDIR /opt/pgrecall
COPY requirements requirements
RUN pip install --no-cache-dir --no-deps --require-hashes --requirement requirements/$REQUIREMENTS.txt \
    && if grep --quiet '^Requires-Dist: nvidia-' /usr/local/lib/python3.11/site-packages/torch-*.dist-info/METADATA; then \
        pip install --no-cache-dir --no-deps --require-hashes --requirement requirements/cuda.txt; fi
COPY pyproject.toml README.md LICENSE ./
COPY pyclient pyclient
COPY embedder embedder
COPY sql sql
COPY migrations migrations
RUN pip install --no-cache-dir --no-deps --no-build-isolation . \
    && useradd --create-home pgrecall
USER pgrecall
CMD ["pgrecall", "embedder"]
