# Two stages: the first has what building needs, the second only what runs.
FROM node:24-slim AS build
WORKDIR /app
COPY . .
# `npm ci` builds through the `prepare` script.
RUN npm ci && npm prune --omit=dev --ignore-scripts

FROM node:24-slim
WORKDIR /app
ENV NODE_ENV=production \
    GATE_SIDECAR_DATA=/data \
    GATE_SIDECAR_POLICIES=/policies \
    GATE_SIDECAR_HOST=0.0.0.0
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/bin ./bin
COPY policies /policies
RUN ln -s /app/bin/gate-sidecar.js /usr/local/bin/gate-sidecar && mkdir -m 700 /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 4283
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["gate-sidecar", "health"]
ENTRYPOINT ["gate-sidecar"]
CMD ["serve"]
