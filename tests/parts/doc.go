// Package parts finds the real servers that tests, the demo and the benchmark
// run against, or gets them: from PATH, else from a cache that all checkouts
// share, else compiled from the Go module proxy or installed by apt-get.
//
// The cache is ${SEEDMEND_CACHE:-${XDG_CACHE_HOME:-~/.cache}}/seedmend/bin. The
// versions are those of tools/<part>/go.mod and nowhere else.
package parts
