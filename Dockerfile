# syntax=docker/dockerfile:1
# LogMem's processes: `logmem serve api` and, beside it, every other command of logmem. The store is not in it.
#
# The interpreter is the version that the tests run on. All that is installed comes from a lock with hashes.
ARG PYTHON=python:3.11.14-slim-bookworm

FROM ${PYTHON} AS build
RUN python -m venv /opt/logmem
WORKDIR /src
COPY deploy/requirements.lock deploy/requirements.lock
RUN /opt/logmem/bin/python -I -m pip install --no-cache-dir --disable-pip-version-check --require-hashes --no-deps \
    -r deploy/requirements.lock
COPY pyproject.toml LICENSE ./
COPY store store
COPY api api
COPY bot bot
COPY scheduler scheduler
COPY logmem logmem
RUN /opt/logmem/bin/python -I -m pip install --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation . \
    && /opt/logmem/bin/python -I -m pip check

FROM ${PYTHON}
# The number is that of the user in redis's image, so that both can read the store's users, and nobody else can.
# What lies under a volume lends it owner and mode when the volume is first used.
RUN groupadd --system --gid 999 logmem \
    && useradd --system --uid 999 --gid logmem --home-dir /var/lib/logmem --shell /usr/sbin/nologin logmem \
    && install -d -o logmem -g logmem -m 0700 /var/lib/logmem /secrets/all /secrets/redis /secrets/api \
        /secrets/scheduler /secrets/bot
COPY --from=build /opt/logmem /opt/logmem
ENV PATH=/opt/logmem/bin:/usr/local/bin:/usr/bin:/bin \
    LOGMEM_HOME=/var/lib/logmem \
    LOGMEM_HOST=0.0.0.0
USER 999:999
WORKDIR /var/lib/logmem
EXPOSE 8765
STOPSIGNAL SIGTERM
ENTRYPOINT ["logmem"]
CMD ["serve", "api"]
