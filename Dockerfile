# Two stages: the first has what building needs, the second only what runs. Both are of the same Debian release, so that
# what is compiled in the first fits the C library of the second.
FROM node:24-bookworm AS build
WORKDIR /app
# SQLite is compiled from the package that the lockfile names by hash; the prebuilt binary elsewhere has no such hash.
# Compiler and Node.js headers are in this stage, so that nothing but npm packages is downloaded.
ENV npm_config_nodedir=/usr/local
# What is compiled with the headers of 24.19 and later can abort the process during garbage collection
# (github.com/nodejs/node/issues/65446). Without these two calls they are as they were before.
RUN sed -i '/^ *\(Add\|Remove\)CleanupHook();$/d' /usr/local/include/node/node_object_wrap.h
# The packages first: as long as they stay the same, this layer does. `prepare` would build, and there is no source yet.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts && npm --prefix node_modules/better-sqlite3 run build-release
COPY LICENSE tsconfig.json ./
COPY src ./src
# The build runs some commands about them, and keeps what V8 compiled.
COPY bin ./bin
COPY policies ./policies
# The program is in bundles, with the licences of what they hold; of packages, SQLite and what loads it stay outside them.
# Other packages than this one are not for here, nor is what only a compiler reads.
RUN npm run build \
    && rm -r dist/client dist/hook dist/typebox.js \
    && find dist -name '*.map' -delete \
    && mkdir -p run/node_modules \
    && cp -r node_modules/better-sqlite3 node_modules/bindings node_modules/file-uri-to-path run/node_modules/ \
    && find run -type f ! -name package.json ! -name 'LICENSE*' ! -name '*.js' ! -path '*/build/Release/better_sqlite3.node' -delete \
    && find run -type d -empty -delete

FROM node:24-bookworm-slim
LABEL org.opencontainers.image.title="gate-sidecar" \
      org.opencontainers.image.description="Decides, before an AI agent acts, whether the action may run" \
      org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /app
# SQLite puts what it sorts, and what a large commit may have to undo, into temporary files. With --read-only there is
# no other place for them than the data folder.
ENV NODE_ENV=production \
    GATE_SIDECAR_DATA=/data \
    GATE_SIDECAR_POLICIES=/policies \
    GATE_SIDECAR_HOST=0.0.0.0 \
    SQLITE_TMPDIR=/data
COPY package.json LICENSE ./
COPY bin ./bin
COPY policies /policies
COPY --from=build /app/run/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# The data folder is the one place that is written. Its group is 0, that of a user without an entry in /etc/passwd, so that
# `--user 1234` can write there too. Users by number: Kubernetes' runAsNonRoot does not look up names.
RUN ln -s /app/bin/gate-sidecar.js /usr/local/bin/gate-sidecar \
    && mkdir /data && chown 1000:0 /data && chmod 770 /data
USER 1000
VOLUME /data
EXPOSE 4283
# It asks whether the process answers, not whether it is ready: engines restart what is unhealthy, and a stop that a full
# disk did not take is in memory alone. It asks with the settings of the environment; a flag of `serve` would be unknown
# to it. A start that checks a large data file may take its time.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["gate-sidecar", "health", "--live"]
# Node.js is process 1 and handles SIGTERM itself: it serves on for 1 s (`stopDelay`) and answers what is under way for
# up to 5 s, of the 10 s that Docker gives.
STOPSIGNAL SIGTERM
ENTRYPOINT ["gate-sidecar"]
CMD ["serve"]
