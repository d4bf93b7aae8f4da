package k8s

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/seedmend/seedmend/api"
	"github.com/seedmend/seedmend/k8s/v1alpha1"
)

// Ownership says whose an object of an output's name is.
type Ownership string

// Ownerships.
const (
	// Absent: the name is free.
	Absent Ownership = "absent"
	// Ours: the request is the object's controller.
	Ours Ownership = "ours"
	// Foreign: somebody else's. It is never touched.
	Foreign Ownership = "foreign"
	// OptedIn: somebody else's Secret that allows us to set our keys.
	OptedIn Ownership = "opted in"
)

// ownership judges an object by its controller. An object that is about to go
// (the garbage collector removes what a former object of the request's name
// owned) is neither ours nor an obstacle: it is waited for, as a soft failure.
func ownership(obj metav1.Object, req api.Request, what call) (Ownership, error) {
	owner := metav1.GetControllerOf(obj)
	switch {
	case owner == nil:
		return Foreign, nil
	case owner.UID == types.UID(req.UID):
		if obj.GetDeletionTimestamp() != nil {
			return "", api.Failf(api.ClusterConflict, "The object is still being deleted (%s).", what)
		}
		return Ours, nil
	case isDatabaseRequest(owner) && owner.Name == req.Name:
		return "", api.Failf(api.ClusterConflict, "The object of a former request of this name is still there (%s).", what)
	}
	return Foreign, nil
}

func isDatabaseRequest(owner *metav1.OwnerReference) bool {
	gv, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && gv.Group == v1alpha1.GroupVersion.Group && owner.Kind == v1alpha1.KindDatabaseRequest
}

// ownerReference makes the request the controller. It does not block the
// request's deletion, which would need a further permission on some clusters.
func ownerReference(req api.Request) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(v1alpha1.GroupVersion.String()).
		WithKind(v1alpha1.KindDatabaseRequest).
		WithName(req.Name).
		WithUID(types.UID(req.UID)).
		WithController(true)
}

// taken is the failure for a name that somebody else has.
func taken(kind, name string, obj metav1.Object) *api.Failure {
	if owner := metav1.GetControllerOf(obj); owner != nil {
		return api.Failf(api.OutputNameTaken, "A %s named %s exists and belongs to %s %s, not to this request.", kind, name, owner.Kind, owner.Name)
	}
	return api.Failf(api.OutputNameTaken, "A %s named %s exists and does not belong to this request.", kind, name)
}
