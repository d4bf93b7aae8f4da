package mysql

import (
	"context"
	"crypto/sha1" //nolint:gosec // what mysql_native_password is made of
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// Try proves credentials on the primary.
func (e *Engine) Try(ctx context.Context, primary database.Admin, cred database.Credentials) (api.Trial, string, error) {
	if f := usable(cred); f != nil {
		return "", "", f
	}
	l, err := e.loginFor(ctx, stepReplicationLogin, primary.Address, primary.TLS, cred, "")
	if err != nil {
		return "", "", onPrimary.mending(err)
	}
	defer l.close()
	if l.auth == api.LoginOK {
		// An expired password shows with the first statement only.
		if _, err := l.currentUser(ctx); err != nil {
			return "", "", onPrimary.mending(err)
		}
	}
	if l.auth == api.LoginOK {
		return api.TrialProven, fmt.Sprintf("%s: user %q can log in", l.at, cred.Username), nil
	}
	s, err := e.session(ctx, primary)
	if err != nil {
		return "", "", onPrimary.mending(err)
	}
	defer s.close()
	rows, err := s.accounts(ctx, sqlUser(cred.Username, primary.Username))
	if err != nil {
		return "", "", onPrimary.mending(err)
	}
	trial, why := weigh(l.auth, l.tls, rows, cred.Password)
	return trial, fmt.Sprintf("%s: user %q: %s", l.at, cred.Username, why), nil
}

// weigh judges a login that failed by the account rows. A server takes the row
// with the nearest host, for us another one than for the replica perhaps: so
// "refused" has to hold for every row.
func weigh(auth api.Login, tls bool, rows []accountRow, password string) (api.Trial, string) {
	if len(rows) == 0 {
		return api.TrialRefused, "there is no such account"
	}
	var unlike, opaque int
	for _, a := range rows {
		switch {
		case a.locked:
			unlike++
		case a.plugin != "mysql_native_password":
			opaque++
		case isNativeHash(a.hash, password):
			if auth == api.LoginExpired {
				return api.TrialRefused, "the account's password has expired"
			}
			return api.TrialProven, fmt.Sprintf("the stored hash of the account for host %q is that of the Secret's password; a login from here is refused", a.host)
		default:
			unlike++
		}
	}
	switch {
	case auth == api.LoginLocked:
		return api.TrialRefused, "the account is locked"
	case auth == api.LoginExpired:
		return api.TrialRefused, "the account's password has expired"
	case unlike == len(rows):
		return api.TrialRefused, "no account of that name has this password, or it is locked"
	case auth == api.LoginRefused && len(rows) == 1 && rows[0].host == "%" && speaks(api.Account{Plugin: rows[0].plugin}) &&
		(rows[0].tls == "" || rows[0].tls == "ANY" && tls):
		// The one row that there is lets everybody in who knows the password.
		return api.TrialRefused, "the primary refuses the login"
	}
	return api.TrialInconclusive, fmt.Sprintf("a login from here is refused (%s), and the stored passwords cannot be compared", auth)
}

// isNativeHash compares with * and the hash of the hash, in hexadecimal.
func isNativeHash(stored, password string) bool {
	first := sha1.Sum([]byte(password)) //nolint:gosec // the server's own format
	second := sha1.Sum(first[:])        //nolint:gosec // the server's own format
	hash := "*" + strings.ToUpper(hex.EncodeToString(second[:]))
	return subtle.ConstantTimeCompare([]byte(strings.ToUpper(stored)), []byte(hash)) == 1
}

// usable refuses what no server could take, before anything is contacted.
func usable(cred database.Credentials) error {
	switch {
	case cred.Username == "":
		return api.Failf(api.SecretUnusable, "the replication user's name is empty")
	case cred.Password == "":
		return api.Failf(api.SecretUnusable, "the replication user's password is empty")
	case strings.ContainsRune(cred.Username, 0), strings.ContainsRune(cred.Password, 0):
		return api.Failf(api.SecretUnusable, "the replication user's name or password holds a NUL byte")
	}
	return nil
}
