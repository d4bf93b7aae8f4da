// Package k8s is the cluster as seedmend sees it: typed clients and informers
// for its kinds, the output Secret and Service of a request, seed Secrets,
// status, events, the providers, and the groups of replicas that are mended.
//
// Everything is written under one field manager (api.FieldManager), by
// server-side apply but for the status of a group, which many write to. Two rules of the API server, tried on 1.37, shape the code:
//
//   - metadata.resourceVersion in an apply is a precondition where the object
//     exists, and is ignored where it does not. So an apply with a version that
//     no object can have creates, or conflicts, and never touches what is there.
//   - metadata.uid in an apply to the status of a custom resource is ignored.
//     Only resourceVersion keeps a status from landing on a re-created object.
//
// Methods of Client return errors that are ready for a workflow: an
// *api.Failure, or one of the Err values of this package, or the context's
// error when it was cancelled. None of them holds a value of a Secret.
package k8s
