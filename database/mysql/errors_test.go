package mysql

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

var adminSite = site{addr: database.Address{Host: "db1", Port: 3306}, admin: "root"}

const echo = "CREATE USER 'x' IDENTIFIED BY 'S3cretEcho'"

func serverError(code uint16) error {
	return fmt.Errorf("wrapped: %w", &mysql.MySQLError{Number: code, Message: echo})
}

func TestEveryCodeIsMappedAndNoTextGetsOutThatIsNotAllowed(t *testing.T) {
	for c, r := range codes {
		_, known := api.Lookup(r.reason)
		require.True(t, known, "%d", c)
		err := adminSite.failure(t.Context(), stepGrant, serverError(c))
		f := want(t, r.reason, err)
		require.NotContains(t, f.Message, "S3cretEcho", "%d", c)
		if !r.server {
			require.Empty(t, f.Operator, "%d", c)
		}
		require.Contains(t, f.Message, fmt.Sprint(c))
		require.Contains(t, f.Message, "db1:3306")
	}
	for _, c := range []uint16{1064, 1149, 1300, 1396, 1062, 9999} {
		require.NotContains(t, adminSite.failure(t.Context(), stepUser, serverError(c)).Error(), "S3cretEcho")
	}
}

func TestHardAndSoft(t *testing.T) {
	for c, hard := range map[uint16]bool{
		1129: true, 1227: true, 1044: true, 1142: true, 1410: true, 1045: true, 1470: true, 1102: true, 1059: true, 1064: true, 1819: true,
		1040: false, 1203: false, 1226: false, 1205: false, 1213: false, 1290: false, 1836: false, 1053: false, 1317: false, 9999: false, 1133: false,
	} {
		var f *api.Failure
		require.ErrorAs(t, adminSite.failure(t.Context(), stepUser, serverError(c)), &f)
		require.Equal(t, hard, f.Hard(), "%d", c)
	}
}

func TestAPrivilegeIsNamedByTheStepThatNeedsIt(t *testing.T) {
	for st, privilege := range map[step]string{stepUser: "CREATE USER", stepGrant: "GRANT OPTION", stepDatabase: "CREATE", stepFacts: "mysql.*"} {
		f := want(t, api.ProviderPrivilegeMissing, adminSite.failure(t.Context(), st, serverError(1044)))
		require.Contains(t, f.Message, privilege)
		require.Contains(t, f.Message, `"root"`)
	}
}

func TestLoginsOfTheAdmin(t *testing.T) {
	for c, reason := range map[uint16]api.Reason{
		1045: api.ProviderCredentialsRejected, 1698: api.ProviderCredentialsRejected, 1130: api.ProviderCredentialsRejected,
		4151: api.ProviderCredentialsRejected, 1862: api.ProviderCredentialsRejected, 1524: api.ProviderCredentialsRejected,
		3159: api.TLSRequired, 1129: api.HostBlocked, 1040: api.ServerBusy,
	} {
		f := want(t, reason, adminSite.failure(t.Context(), stepServer, &loginError{serverError(c)}))
		require.NotContains(t, f.Error(), "S3cretEcho")
	}
	want(t, api.ProviderCredentialsRejected, adminSite.failure(t.Context(), stepServer, &loginError{mysql.ErrUnknownPlugin}))
}

func TestOutcomesOfASeedsLogin(t *testing.T) {
	for c, outcome := range loginCodes {
		got, err := site{}.outcome(t.Context(), stepSeedLogin, serverError(c))
		require.NoError(t, err)
		require.Equal(t, outcome, got)
	}
	for _, e := range []error{mysql.ErrUnknownPlugin, mysql.ErrOldPassword, mysql.ErrCleartextPassword, mysql.ErrNativePassword} {
		got, err := site{}.outcome(t.Context(), stepSeedLogin, &loginError{e})
		require.NoError(t, err)
		require.Equal(t, api.LoginUnsupportedPlugin, got)
	}
	for c, reason := range map[uint16]api.Reason{1129: api.HostBlocked, 1040: api.ServerBusy, 1203: api.ServerBusy, 1226: api.ServerBusy, 1053: api.ServerUnreachable} {
		_, err := site{}.outcome(t.Context(), stepSeedLogin, &loginError{serverError(c)})
		want(t, reason, err)
	}
}

func TestErrorsThatAreNotTheServers(t *testing.T) {
	for reason, errs := range map[api.Reason][]error{
		api.ServerUnreachable: {
			io.EOF, io.ErrUnexpectedEOF, sqldriver.ErrBadConn, mysql.ErrInvalidConn, tls.AlertError(40), tls.RecordHeaderError{},
			&net.OpError{Op: "dial", Err: errors.New("refused")}, &net.DNSError{Err: "no such host", Name: "db1"}, context.DeadlineExceeded,
		},
		api.TLSRequired:   {mysql.ErrNoTLS, &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}},
		api.DatabaseError: {errors.New(echo), mysql.ErrMalformPkt, fmt.Errorf("no pem data found, data: %s", echo)},
	} {
		for _, e := range errs {
			f := want(t, reason, adminSite.failure(t.Context(), stepServer, &loginError{fmt.Errorf("wrapped: %w", e)}))
			require.NotContains(t, f.Error(), "S3cretEcho")
		}
	}
}

func TestAContextThatEndedAnswersItsOwnError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, e := range []error{mysql.ErrInvalidConn, context.Canceled, serverError(1317), serverError(1927), errors.New("x")} {
		require.ErrorIs(t, adminSite.failure(ctx, stepUser, e), context.Canceled)
	}
	want(t, api.ProviderPrivilegeMissing, adminSite.failure(ctx, stepUser, serverError(1227)))
	require.NoError(t, adminSite.failure(ctx, stepUser, nil))
}
