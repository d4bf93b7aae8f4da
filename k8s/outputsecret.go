package k8s

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"
)

// OutputSecret is what the Secret of a request holds. Username, password and
// database are the bytes that the tenant gets, untouched. It prints as nothing
// but a mark: it must not reach a log, an error or a history.
type OutputSecret struct {
	Username string
	Password string
	Database string
	Port     int
	// ReplicaHosts is empty where the connection has no replicas; the key is
	// left out then.
	ReplicaHosts []string
}

const redacted = "[redacted]"

// Format hides the values from every verb of package fmt.
func (OutputSecret) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(redacted)) }

// String hides the values.
func (OutputSecret) String() string { return redacted }

// GoString hides the values.
func (OutputSecret) GoString() string { return redacted }

// LogValue hides the values from package slog.
func (OutputSecret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON hides the values, also from Temporal's data converter.
func (OutputSecret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText hides the values from encoders other than JSON's.
func (OutputSecret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// KeyPrefix is what the keys of a request's Secret begin with: the service's
// name in capitals, with _ for -.
func KeyPrefix(serviceName string) string {
	return strings.ToUpper(strings.ReplaceAll(serviceName, "-", "_"))
}

// data is the Secret's data for a service name, which is the host as well.
func (o OutputSecret) data(serviceName string) map[string][]byte {
	prefix := KeyPrefix(serviceName)
	data := map[string][]byte{
		prefix + "_USERNAME": []byte(o.Username),
		prefix + "_PASSWORD": []byte(o.Password),
		prefix + "_DATABASE": []byte(o.Database),
		prefix + "_HOST":     []byte(serviceName),
		prefix + "_PORT":     []byte(strconv.Itoa(o.Port)),
	}
	if len(o.ReplicaHosts) > 0 {
		data[prefix+"_READREPLICA_HOSTS"] = []byte(strings.Join(o.ReplicaHosts, ","))
	}
	return data
}

// outputFrom reads back what data wrote.
func outputFrom(data map[string][]byte, serviceName string) OutputSecret {
	prefix := KeyPrefix(serviceName)
	o := OutputSecret{
		Username: string(data[prefix+"_USERNAME"]),
		Password: string(data[prefix+"_PASSWORD"]),
		Database: string(data[prefix+"_DATABASE"]),
	}
	o.Port, _ = strconv.Atoi(string(data[prefix+"_PORT"])) // 0 where somebody wrote something else
	if hosts := string(data[prefix+"_READREPLICA_HOSTS"]); hosts != "" {
		o.ReplicaHosts = strings.Split(hosts, ",")
	}
	return o
}
