package mysql

import (
	"crypto/x509"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
)

// F5: each policy that encrypts against a server without TLS, one that offers it, one that
// demands it (both with a certificate that only the lab's authority vouches for).
func TestTLSPolicies(t *testing.T) {
	plain, offers := newRig(t, "plain"), newRig(t, "tls")
	plain.setUp()
	offers.setUp()
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(offers.CA))

	const ok, encrypted = "", "encrypted"
	for _, test := range []struct {
		Options
		plain, offers, demands string // ok, encrypted, or a reason
	}{
		{Options{}, ok, encrypted, encrypted},
		{Options{TLS: TLSPreferred}, ok, encrypted, encrypted},
		{Options{TLS: TLSRequired}, string(api.TLSRequired), encrypted, encrypted},
		{Options{TLS: TLSVerify}, string(api.TLSRequired), string(api.TLSRequired), string(api.TLSRequired)},
		{Options{TLS: TLSVerify, RootCAs: roots}, string(api.TLSRequired), encrypted, encrypted},
		{Options{TLS: "nonsense"}, string(api.TLSRequired), string(api.TLSRequired), string(api.TLSRequired)},
	} {
		t.Run(string(test.TLS), func(t *testing.T) {
			e := newEngine(t, test.Options)
			try := func(r *rig, wanted string) {
				t.Helper()
				err := r.check(e.Login(t.Context(), r.admin.Address, r.seed))
				if wanted != ok && wanted != encrypted {
					want(t, api.Reason(wanted), err)
					_, err := e.Probe(t.Context(), r.admin, r.seed)
					want(t, api.Reason(wanted), r.check(err))
					return
				}
				require.NoError(t, err)
				f, err := e.Probe(t.Context(), r.admin, r.seed)
				require.NoError(t, err)
				require.Equal(t, wanted == encrypted, f.TLS)
				require.Equal(t, api.LoginOK, f.Access)
			}
			try(plain, test.plain)
			try(offers, test.offers)
			offers.exec("SET GLOBAL require_secure_transport = ON")
			defer offers.exec("SET GLOBAL require_secure_transport = OFF")
			try(offers, test.demands)
		})
	}
}

// MariaDB does not say what it wants.
func TestAServerThatDemandsTLSOfAPolicyWithout(t *testing.T) {
	r := newRig(t, "tls")
	r.setUp()
	r.engine = newEngine(t, Options{TLS: TLSDisabled})
	require.Equal(t, api.LoginOK, r.facts().Access)
	require.False(t, r.facts().TLS)
	r.exec("SET GLOBAL require_secure_transport = ON")
	defer r.exec("SET GLOBAL require_secure_transport = OFF")
	f := want(t, api.CredentialsRejected, r.login())
	require.Contains(t, f.Message, "demands TLS")
	require.Equal(t, api.LoginNeedsTLS, r.facts().Auth, "asked over a connection from before")
	r.engine = newEngine(t, Options{TLS: TLSDisabled})
	_, err := r.probe()
	f = want(t, api.ProviderCredentialsRejected, err)
	require.Contains(t, f.Message, "demands TLS")
}

func TestAnAccountThatDemandsTLSWorksWhereTheServerHasIt(t *testing.T) {
	r := newRig(t, "tls")
	r.setUp()
	r.exec("ALTER USER " + r.seed.Username + " REQUIRE SSL")
	require.Equal(t, api.LoginOK, r.facts().Access)
	r.exec("ALTER USER " + r.seed.Username + " REQUIRE X509")
	require.Equal(t, api.LoginNeedsTLS, r.facts().Auth)
}

func TestTheSeedSecretIsNotSentToAServerWhoseCertificateIsWrong(t *testing.T) {
	r := newRig(t, "tls")
	require.NoError(t, r.ResetGeneralLog(t.Context()))
	e := newEngine(t, Options{TLS: TLSVerify})
	want(t, api.TLSRequired, r.check(e.Login(t.Context(), r.admin.Address, r.seed)))
	log, err := r.Statements(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.StopGeneralLog(t.Context()))
	for _, s := range log {
		require.NotEqual(t, r.seed.Username, s.User)
	}
}

func TestParseTLSPolicy(t *testing.T) {
	for _, s := range []string{"disabled", "preferred", "required", "verify"} {
		p, err := ParseTLSPolicy(s)
		require.NoError(t, err)
		require.EqualValues(t, s, p)
	}
	p, err := ParseTLSPolicy("")
	require.NoError(t, err)
	require.Equal(t, TLSPreferred, p)
	_, err = ParseTLSPolicy("Required")
	require.Error(t, err)
}
