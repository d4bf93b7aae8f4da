// Package lab starts the real servers that seedmend works with, on loopback
// and on free ports: MariaDB (with replicas and TLS), a Kubernetes API server
// with its etcd, Temporal's dev server and PostgreSQL.
//
// A [Lab] owns every process it starts. They end with [Lab.Close], and also
// when the process that made the lab panics, is interrupted or is killed.
// Several labs, also in several processes, do not get in each other's way.
//
// All Start methods may be called concurrently.
package lab
