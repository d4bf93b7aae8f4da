package starter

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Election is how watchers agree on one of them.
type Election struct {
	Client    kubernetes.Interface
	Namespace string
	Identity  string
	Log       *slog.Logger
}

// leaseName is the Lease that the leader holds.
const leaseName = "seedmend-watcher"

// Run calls lead while this process is the leader, again after each loss, until
// ctx ends. The durations are those that Kubernetes' own controllers use.
func (e Election) Run(ctx context.Context, lead func(context.Context)) error {
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: e.Namespace, Name: leaseName},
		Client:     e.Client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: e.Identity},
	}
	for ctx.Err() == nil {
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
			ReleaseOnCancel: true, Name: leaseName,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(ctx context.Context) {
					e.Log.Info("watching: this process leads", "identity", e.Identity)
					lead(ctx)
				},
				OnStoppedLeading: func() { e.Log.Info("watching: this process does not lead any more", "identity", e.Identity) },
			},
		})
		if err != nil {
			return fmt.Errorf("leader election: %w", err)
		}
		elector.Run(ctx)
	}
	return nil
}
