package api

// Hard reasons of mending: the run ends, and is started again only when the
// resource or its Secret has changed, or by a person.
const (
	PasswordTooLong Reason = "PasswordTooLong"
)

// Reasons for which a replica is left as it is, and looked at again by itself.
const (
	GroupInvalid             Reason = "GroupInvalid"
	SecretMismatch           Reason = "SecretMismatch"
	SecretUnusable           Reason = "SecretUnusable"
	RelayLogNotApplied       Reason = "RelayLogNotApplied"
	PrimarySwitching         Reason = "PrimarySwitching"
	PrimaryMismatch          Reason = "PrimaryMismatch"
	PrimaryUnreachable       Reason = "PrimaryUnreachable"
	ReplicaUnreachable       Reason = "ReplicaUnreachable"
	AdminCredentialsRejected Reason = "AdminCredentialsRejected"
	AdminPrivilegeMissing    Reason = "AdminPrivilegeMissing"
	StillRefused             Reason = "StillRefused"
	NotVerified              Reason = "NotVerified"
	RepairOff                Reason = "RepairOff"
	IOError                  Reason = "IOError"
	SQLThreadStopped         Reason = "SQLThreadStopped"
	ReplicationStopped       Reason = "ReplicationStopped"
	ChannelMissing           Reason = "ChannelMissing"
	SecretChanged            Reason = "SecretChanged"
	RebuildAhead             Reason = "RebuildAhead"
	StepTimedOut             Reason = "StepTimedOut"
)

// Reasons of a replica that needs nothing, or is being seen to.
const (
	ReasonReplicating Reason = "Replicating"
	ReasonThreshold   Reason = "WaitingForThreshold"
	ReasonRepaired    Reason = "Repaired"
)

var mendTable = []Entry{
	{PasswordTooLong, true, "The replication password is longer than the replica's server can store.", "Set a shorter password on the primary and in the Secret: MySQL takes 32 bytes, MariaDB 96 characters. The replica was not touched."},

	{GroupInvalid, false, "The resource contradicts itself or lacks what a repair needs.", "Correct the field that the message names."},
	{SecretMismatch, false, "The primary refuses the user and password that the replication Secret holds.", "Put the password that the primary knows into the Secret, or set the Secret's password on the primary; seedmend notices either within a sweep. The replica was not touched."},
	{SecretUnusable, false, "The replication Secret is missing, a key that is needed is missing or empty, or the value is one that the server cannot keep (a newline, say).", "Restore the Secret that the message names. The replica was not touched."},
	{RelayLogNotApplied, false, "The replica has fetched events that it has not applied, and the primary does not have them any more; a repair would lose them.", "Let the SQL thread run (START SLAVE SQL_THREAD, on MySQL 8.4 START REPLICA SQL_THREAD, or lower its delay) until all is applied; seedmend then goes on by itself. Do not run CHANGE MASTER or STOP SLAVE by hand. The replica was not touched."},
	{PrimarySwitching, false, "The operator is switching the primary.", "Wait for the switch to end; seedmend stands aside until then."},
	{PrimaryMismatch, false, "The replica follows another server than the group's primary.", "Correct spec.primary (write the host as the replica's Master_Host has it), or re-point the replica. The replica was not touched."},
	{PrimaryUnreachable, false, "The primary cannot be reached to prove the credentials.", "Check the network and the primary; seedmend looks again by itself. The replica was not touched."},
	{ReplicaUnreachable, false, "The replica cannot be reached.", "Check the network and the replica; seedmend looks again by itself."},
	{AdminCredentialsRejected, false, "A server refuses the admin user, or its Secret is missing.", "Correct the admin Secret that the message names; seedmend looks again by itself. The replica was not touched."},
	{AdminPrivilegeMissing, false, "The admin user lacks a privilege.", "Grant the privilege named in the message; docs/mend.md lists all. The replica was not touched."},
	{StillRefused, false, "The replica has the Secret's credentials, and the primary still refuses it with 1045.", "Look at the account on the primary: its host pattern may exclude the replica, or it may demand TLS. seedmend tries again after a growing pause."},
	{NotVerified, false, "The credentials were changed and the replica was started, but it did not come to replicate in time.", "Look at the replica's IO thread: the message has its state and error code. seedmend looks again after a growing pause."},
	{RepairOff, false, "The replica is stuck on 1045, and the resource does not ask for repairs.", "Set recovery.reconnectOnAuthError, or the annotation seedmend.dev/reconnect-on-auth-error: \"true\", to have it mended."},
	{IOError, false, "The replica's IO thread reports another error than 1045.", "Look up the code in the message: it is not about a password, and seedmend keeps its hands off."},
	{SQLThreadStopped, false, "The replica's SQL thread has stopped with an error.", "Look up the code in the message and mend it on the replica; seedmend repairs authentication only."},
	{ReplicationStopped, false, "Replication has been stopped by hand: no error is reported.", "Start it again when you are done; seedmend keeps its hands off."},
	{ChannelMissing, false, "The server answers with no status for this replica's channel; that says nothing about its health.", "Check that the server is a replica and that the channel's name is right."},
	{SecretChanged, false, "The replication Secret was edited between its proof and the repair.", "Nothing; the new values are proven by the next look. The replica was not touched."},
	{RebuildAhead, false, "The operator would rebuild the replica from a backup before seedmend mends it.", "Set the annotation seedmend.dev/error-duration-threshold below the operator's own recovery.errorDurationThreshold."},
	{StepTimedOut, false, "A step of the repair did not end in time, on any worker.", "Check that seedmend's workers run; the repair goes on by itself. What it has stopped is started first."},
}
