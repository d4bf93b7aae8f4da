package mysql

import (
	"strings"
	"unicode/utf8"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// maxReplicationPassword is in characters on MariaDB (10.11: the 97th is 1470,
// tried) and in bytes on MySQL, whose 5.6 cuts the rest off without a word
// (tried); its reference still says 32 for 8.4.
func (s server) maxReplicationPassword() (limit int, bytes bool) {
	if s.mariadb {
		return 96, false
	}
	return 32, true
}

func (s server) maxReplicationUser() int {
	if s.mariadb && s.from(10, 11, 0) {
		return 128 // tried
	}
	return s.maxUser()
}

// storable refuses, before anything is stopped, credentials that the replica
// would cut off or mistake.
func (s server) storable(cred database.Credentials) error {
	limit, bytes := s.maxReplicationPassword()
	length, unit := utf8.RuneCountInString(cred.Password), "characters"
	if bytes {
		length, unit = len(cred.Password), "bytes"
	}
	if length > limit {
		return api.Failf(api.PasswordTooLong, "the replication password has %d %s; the replica's server takes %d", length, unit, limit)
	}
	if n, most := utf8.RuneCountInString(cred.Username), s.maxReplicationUser(); n > most {
		return api.Failf(api.PasswordTooLong, "the replication user's name has %d characters; the replica's server takes %d", n, most)
	}
	if !s.mariadb && s.from(8, 0, 0) {
		return nil
	}
	// These servers keep both in a file of lines, which they read at their next
	// start: a newline there moves host and port (tried on 10.11).
	if strings.ContainsAny(cred.Username+cred.Password, "\r\n") {
		return api.Failf(api.SecretUnusable, "the replication user's name or password holds a newline, which the replica's server cannot store")
	}
	if !utf8.ValidString(cred.Username+cred.Password) || strings.IndexFunc(cred.Username+cred.Password, beyondBMP) >= 0 {
		return api.Failf(api.SecretUnusable, "the replication user's name or password holds a character beyond U+FFFF, or is not UTF-8; the replica's server cannot store it")
	}
	return nil
}

func beyondBMP(r rune) bool { return r > 0xFFFF }
