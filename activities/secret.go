package activities

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

// seedSecret is a seed Secret that can be used.
type seedSecret struct {
	database.Seed
	host string
	port int // 0 where the seed names none
}

// parseSeed reads the keys of a seed Secret. Host and port are trimmed; the
// other values are taken byte for byte. No value but host and port is ever
// echoed.
func parseSeed(name string, data map[string][]byte) (seedSecret, error) {
	var s seedSecret
	for key, into := range map[string]*string{"database": &s.Database, "username": &s.Username, "password": &s.Password} {
		value, ok := data[key]
		if !ok || len(value) == 0 {
			return s, invalid(name, "key %q is missing or empty", key)
		}
		*into = string(value)
	}
	if !utf8.ValidString(s.Database) || !utf8.ValidString(s.Username) {
		return s, invalid(name, "keys \"database\" and \"username\" must be UTF-8")
	}
	host, err := seedHost(name, data)
	if err != nil {
		return s, err
	}
	s.host = host
	s.port, err = seedPort(name, data)
	return s, err
}

func seedHost(name string, data map[string][]byte) (string, error) {
	hostname := strings.TrimSpace(string(data["hostname"]))
	short := strings.TrimSpace(string(data["host"]))
	switch {
	case hostname == "" && short == "":
		return "", invalid(name, "key \"hostname\" is missing or empty")
	case hostname != "" && short != "" && !strings.EqualFold(hostname, short):
		return "", invalid(name, "keys \"hostname\" and \"host\" differ; keep one")
	case hostname == "":
		hostname = short
	}
	if strings.ContainsFunc(hostname, func(r rune) bool { return r <= ' ' || r == '/' || r == '@' || r > '~' }) {
		return "", invalid(name, "key \"hostname\" holds %q, which is no hostname", hostname)
	}
	return hostname, nil
}

func seedPort(name string, data map[string][]byte) (int, error) {
	text := strings.TrimSpace(string(data["port"]))
	if text == "" {
		return 0, nil
	}
	port, err := strconv.Atoi(text)
	if err != nil || port < 1 || port > 65535 {
		return 0, invalid(name, "key \"port\" holds %q, which is no port", text)
	}
	return port, nil
}

func invalid(secret, format string, args ...any) error {
	return api.Failf(api.SeedInvalid, "seed Secret %q: %s", secret, fmt.Sprintf(format, args...))
}
