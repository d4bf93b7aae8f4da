package mysql

import "strings"

// ident quotes an identifier: a database, a table, or either part of an account.
// Backticks mean the same under every sql_mode, and a backslash in them is an
// ordinary character.
func ident(name string) string {
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// account names one row of the server's accounts.
func account(user, host string) string { return ident(user) + "@" + ident(host) }

// literal quotes a string where only a string will do (IDENTIFIED BY takes
// neither a hexadecimal literal nor a parameter). noBackslashEscapes is that
// connection's own mode; no form is right in both.
func literal(s string, noBackslashEscapes bool) string {
	if !noBackslashEscapes {
		s = strings.ReplaceAll(s, `\`, `\\`)
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

var wildcards = strings.NewReplacer(`\`, `\\`, `_`, `\_`, `%`, `\%`)

// pattern is a database's name as GRANT reads it: a pattern, in which `_` and
// `%` reach the neighbours. With partial_revokes=ON (MySQL from 8.0.16) GRANT
// compares byte for byte, and an escaped name would match nothing.
func pattern(name string, partialRevokes bool) string {
	if partialRevokes {
		return name
	}
	return wildcards.Replace(name)
}
