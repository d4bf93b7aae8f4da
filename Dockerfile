# syntax=docker/dockerfile:1
FROM golang:1.26.5-bookworm AS build
WORKDIR /src
ENV CGO_ENABLED=0 GOCACHE=/cache/build GOMODCACHE=/cache/mod GOFLAGS=-buildvcs=false

COPY go.mod go.sum ./
RUN --mount=type=cache,target=/cache go mod download

COPY . .
ARG VERSION=dev
RUN --mount=type=cache,target=/cache \
    go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/seedmend ./cmd/seedmend

# CA certificates and time zones, no shell, no package manager.
FROM gcr.io/distroless/static-debian12:nonroot
LABEL org.opencontainers.image.title="seedmend" \
      org.opencontainers.image.description="Durable seeding and mending of databases for Kubernetes platforms" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /out/seedmend /seedmend
# Numeric, so that Kubernetes can check runAsNonRoot.
USER 65532:65532
EXPOSE 8080 9090
ENTRYPOINT ["/seedmend"]
CMD ["run"]
