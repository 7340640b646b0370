# hushway with the workbench and shared ledgers, for an ordinary user and a root that nobody writes to:
#   docker build -t hushway .
#   docker run --rm --read-only --tmpfs /tmp -v "$PWD":/data -v hushway-cache:/cache hushway price plan.toml
# Versions are those of the locks that the tests have run with.
FROM python:3.12-slim-bookworm AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY requirements requirements
COPY src src
COPY .ci/install-locked .ci/install-locked
RUN .ci/install-locked /opt/hushway serve postgres

FROM python:3.12-slim-bookworm
COPY --from=build /opt/hushway /opt/hushway
# Compiled loops are kept in /cache, a volume; rows and releases are in /data.
RUN useradd --uid 1000 --no-create-home steward && install -d -o steward -m 700 /cache /data
ENV PATH=/opt/hushway/bin:$PATH XDG_CACHE_HOME=/cache XDG_STATE_HOME=/cache/state HOME=/tmp LANG=C.UTF-8
USER 1000
WORKDIR /data
ENTRYPOINT ["hushway"]
CMD ["--help"]
