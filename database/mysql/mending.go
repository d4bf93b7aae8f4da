package mysql

import (
	"context"
	"errors"
	"strings"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/database"
)

var _ database.Replication = (*Engine)(nil)

// side is the server of a pair that an error came from.
type side struct{ unreachable api.Reason }

var (
	onReplica = side{api.ReplicaUnreachable}
	onPrimary = side{api.PrimaryUnreachable}
)

// mending gives an error the reasons of mending: the others speak of a request's
// provider, and some of them are hard.
func (s side) mending(err error) error {
	var taken lockTaken
	if errors.As(err, &taken) {
		return api.Failf(api.ServerBusy, "%s", string(taken))
	}
	var f *api.Failure
	if !errors.As(err, &f) {
		return err
	}
	g := *f
	switch f.Reason {
	case api.ProviderCredentialsRejected:
		g.Reason = api.AdminCredentialsRejected
	case api.ProviderPrivilegeMissing:
		g.Reason = api.AdminPrivilegeMissing
	case api.ServerUnreachable, api.ServerBusy, api.TLSRequired:
		// Certificates are renewed, and not all at one moment: that passes as well.
		g.Reason = s.unreachable
	}
	g.Message = strings.ReplaceAll(g.Message, "the provider's admin user", "the admin user")
	return &g
}

// Channels reads the status of every channel of a server, in one statement.
func (e *Engine) Channels(ctx context.Context, server database.Admin) ([]api.Channel, error) {
	s, err := e.session(ctx, server)
	if err != nil {
		return nil, onReplica.mending(err)
	}
	defer s.close()
	all, err := s.readChannels(ctx)
	if err != nil {
		return nil, onReplica.mending(err)
	}
	channels := make([]api.Channel, len(all))
	for i, c := range all {
		channels[i] = c.Channel
	}
	return channels, nil
}
