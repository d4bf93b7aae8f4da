// Package operator stands in for the mariadb-operator: its definition of the
// kind MariaDB, in so far as seedmend reads it. Nothing reconciles the objects.
package operator
