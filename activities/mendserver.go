package activities

import (
	"context"
	"crypto/x509"
	"errors"

	corev1 "k8s.io/api/core/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
	"github.com/seedmend/seedmend/k8s"
)

// servers gives the engine a replica, its primary, and the means to log in.
func (m *Mender) servers(ctx context.Context, t api.MendTarget) (s database.ReplicaServer, err error) {
	access, err := m.access(ctx, t.Admin, t.TLS)
	if err != nil {
		return s, err
	}
	return database.ReplicaServer{
		Replica: access.at(t.Replica.Endpoint), Primary: access.at(t.Primary),
		Channel: t.Replica.Channel, Group: t.Group.Kind + "/" + t.Group.Key(),
	}, nil
}

// access is the admin of a group's servers.
type access struct {
	username string
	password func(context.Context) (string, error)
	tls      database.TLS
}

func (a access) at(e api.Endpoint) database.Admin {
	return database.Admin{Address: database.Address{Host: e.Host, Port: e.Port}, Username: a.username, Password: a.password, TLS: a.tls}
}

func (m *Mender) access(ctx context.Context, admin api.CredentialRef, tls api.TLSRef) (a access, err error) {
	a.username = admin.Username
	if a.username == "" {
		_, cred, err := m.credentials(ctx, admin, api.AdminCredentialsRejected)
		if err != nil {
			return a, err
		}
		a.username = cred.Username
	}
	a.password = func(ctx context.Context) (string, error) {
		_, cred, err := m.credentials(ctx, admin, api.AdminCredentialsRejected)
		return cred.Password, err
	}
	a.tls.Mode = tls.Mode
	if tls.CA != nil {
		err = m.trust(ctx, tls, &a.tls)
	}
	return a, err
}

// trust reads the certificates that are trusted.
func (m *Mender) trust(ctx context.Context, ref api.TLSRef, out *database.TLS) error {
	secret, err := m.Groups.ReadSecret(ctx, *ref.CA)
	if errors.Is(err, k8s.ErrNotFound) {
		return api.Failf(api.GroupInvalid, "Secret %q with the certificates to trust does not exist", ref.CA.Name)
	}
	if err != nil {
		return err
	}
	out.RootCAs = x509.NewCertPool()
	if !out.RootCAs.AppendCertsFromPEM(secret.Data[ref.CAKey]) {
		return api.Failf(api.GroupInvalid, "Secret %q has no certificate under key %q", ref.CA.Name, ref.CAKey)
	}
	out.Key = string(secret.UID) + "/" + secret.ResourceVersion
	return nil
}

// credentials reads a Secret live. What is missing is named, never shown.
func (m *Mender) credentials(ctx context.Context, ref api.CredentialRef, reason api.Reason) (*corev1.Secret, database.Credentials, error) {
	cred := database.Credentials{Username: ref.Username}
	secret, err := m.Groups.ReadSecret(ctx, ref.SecretRef)
	if errors.Is(err, k8s.ErrNotFound) {
		return nil, cred, api.Failf(reason, "Secret %q does not exist in namespace %q", ref.Name, ref.Namespace)
	}
	if err != nil {
		return nil, cred, err
	}
	read := func(key string, into *string) error {
		value, ok := secret.Data[key]
		switch {
		case !ok:
			return api.Failf(reason, "Secret %q has no key %q", ref.Name, key)
		case len(value) == 0:
			return api.Failf(reason, "key %q of Secret %q is empty", key, ref.Name)
		}
		*into = string(value)
		return nil
	}
	if cred.Username == "" {
		if err := read(ref.UsernameKey, &cred.Username); err != nil {
			return nil, cred, err
		}
	}
	return secret, cred, read(ref.PasswordKey, &cred.Password)
}

// versions change when Secret, account or resource do. What cannot be read is
// left empty, which is a change as well.
func (m *Mender) versions(ctx context.Context, g api.Group, primary database.Admin) api.Versions {
	v := api.Versions{Generation: g.Generation}
	secret, cred, err := m.credentials(ctx, g.Replication, api.SecretUnusable)
	if err != nil {
		return v
	}
	v.Secret = secret.ResourceVersion
	v.Account, _ = m.Engine.AccountVersion(ctx, primary, cred.Username)
	return v
}
