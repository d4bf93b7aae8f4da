package starter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seedmend/seedmend/api"
)

func TestSweepsAreThoseThatTheGroupsNeed(t *testing.T) {
	all := Sweeps{Groups: 30 * time.Second, Operated: 5 * time.Minute}
	ours := api.Group{GroupRef: api.GroupRef{Kind: api.KindReplicationGroup}}
	theirs := api.Group{GroupRef: api.GroupRef{Kind: api.KindMariaDB}}
	optedIn := theirs
	optedIn.OptedIn = true
	assert.Equal(t, Sweeps{}, all.For(nil))
	assert.Equal(t, Sweeps{}, all.For([]api.Group{theirs}))
	assert.Equal(t, Sweeps{Groups: all.Groups}, all.For([]api.Group{ours, theirs}))
	assert.Equal(t, all, all.For([]api.Group{optedIn}))
	assert.Equal(t, Sweeps{}, Sweeps{}.For([]api.Group{ours, optedIn}), "switched off")
}
