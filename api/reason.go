package api

// Reason is the one word that a status, an event, a workflow failure and the
// runbook share.
type Reason string

// Hard reasons: the run ends and is not tried again by itself.
const (
	UnsupportedType             Reason = "UnsupportedType"
	RequestInvalid              Reason = "RequestInvalid"
	SeedRequired                Reason = "SeedRequired"
	OutputNameTaken             Reason = "OutputNameTaken"
	SeedForbidden               Reason = "SeedForbidden"
	SeedSecretNotFound          Reason = "SeedSecretNotFound"
	SeedInvalid                 Reason = "SeedInvalid"
	ProviderNotMatched          Reason = "ProviderNotMatched"
	ProviderAmbiguous           Reason = "ProviderAmbiguous"
	ProviderCredentialsRejected Reason = "ProviderCredentialsRejected"
	ProviderPrivilegeMissing    Reason = "ProviderPrivilegeMissing"
	ProviderUnreachable         Reason = "ProviderUnreachable"
	ProviderHostUnusable        Reason = "ProviderHostUnusable"
	HostBlocked                 Reason = "HostBlocked"
	NameReserved                Reason = "NameReserved"
	NameInvalid                 Reason = "NameInvalid"
	AccessDenied                Reason = "AccessDenied"
	DatabaseMissing             Reason = "DatabaseMissing"
	CredentialsRejected         Reason = "CredentialsRejected"
	UserConflict                Reason = "UserConflict"
	AccountLocked               Reason = "AccountLocked"
	PasswordExpired             Reason = "PasswordExpired"
	PasswordNotSet              Reason = "PasswordNotSet"
	TLSRequired                 Reason = "TLSRequired"
	AuthPluginUnsupported       Reason = "AuthPluginUnsupported"
	DatabaseClaimed             Reason = "DatabaseClaimed"
	ProofFailed                 Reason = "ProofFailed"
	StatementRejected           Reason = "StatementRejected"
)

// Soft reasons: tried again, with a growing pause, up to the deadline.
const (
	ServerUnreachable Reason = "ServerUnreachable"
	ServerBusy        Reason = "ServerBusy"
	ServerReadOnly    Reason = "ServerReadOnly"
	DatabaseError     Reason = "DatabaseError"
	ClusterAPIError   Reason = "ClusterAPIError"
	ClusterConflict   Reason = "ClusterConflict"
	// SeedChanged sends a run back to its first step.
	SeedChanged Reason = "SeedChanged"
)

// Reasons of the Ready condition that are no failures.
const (
	ReasonAdopted        Reason = "Adopted"
	ReasonCreated        Reason = "Created"
	ReasonRetrying       Reason = "Retrying"
	ReasonWaitingForSeed Reason = "WaitingForSeed"
	// ReasonNoError is the reason of the Error condition while it is False.
	ReasonNoError Reason = "NoError"
)

// Entry is a row of the failure table.
type Entry struct {
	Reason Reason
	// Hard failures are never tried again by themselves.
	Hard bool
	// Means says what was found, in one sentence.
	Means string
	// Do says what the operator should do.
	Do string
}

var table = []Entry{
	{UnsupportedType, true, "The request's type is not one that seedmend serves.", "Set spec.type to mysql, mariadb or postgres, and check that this version serves it."},
	{RequestInvalid, true, "The request contradicts itself or lacks a field.", "Correct the spec as the message says: exactly one of selector and scope, a valid service name, a type."},
	{SeedRequired, true, "The request has no seed, and this version provisions from seeds only.", "Set spec.seed to a Secret in the request's namespace."},
	{OutputNameTaken, true, "A Secret or Service with the name that the request needs exists and belongs to somebody else.", "Rename the request (or spec.name), or remove the other object; to let seedmend set its keys in an existing Secret, annotate that Secret with seedmend.dev/allow-overwrite: <request name>."},
	{SeedForbidden, true, "The seed Secret is in another namespace than the request.", "Put the seed Secret into the request's own namespace and set spec.seed accordingly."},
	{SeedSecretNotFound, true, "The seed Secret did not appear in time.", "Create the seed Secret, then retry the request."},
	{SeedInvalid, true, "The seed Secret lacks a key or holds a value that cannot be used.", "Correct the key named in the message, then retry the request."},
	{ProviderNotMatched, true, "No enabled connection of a provider has the type, selector, hostname and port of the seed.", "Correct the selector or the seed's hostname and port, or add the connection to a provider; then retry. The seed's host was not contacted."},
	{ProviderAmbiguous, true, "More than one enabled connection matches the seed.", "Make sure that one connection alone names this hostname and port for this selector, then retry."},
	{ProviderHostUnusable, true, "The matched connection's host is one that no Service can lead to.", "Give the provider's connection a DNS name, or an address that pods can reach; then retry."},
	{ProviderCredentialsRejected, true, "The server refuses the provider's own admin user, or its password Secret is missing.", "Correct the provider's username or its password Secret, then retry."},
	{ProviderPrivilegeMissing, true, "The provider's admin user lacks a privilege.", "Grant the privilege named in the message to the provider's admin user, then retry; what was half-made is finished by the retry."},
	{ProviderUnreachable, true, "The deadline for retries passed.", "Look at the cause in the message, mend it, then retry."},
	{HostBlocked, true, "The server has blocked seedmend's host after too many connection errors (error 1129).", "Find out what broke the connections, run FLUSH HOSTS on the server, then retry."},
	{NameReserved, true, "The seed names a database or user that belongs to the server or to seedmend.", "Use a database and a user of the tenant's own."},
	{NameInvalid, true, "A name is empty, too long, or has characters that the server does not allow.", "Correct the name given in the message."},
	{AccessDenied, true, "The seed's user can log in and the database exists, but the user may not use it.", "Grant the user access to the database, or correct the seed; then retry."},
	{DatabaseMissing, true, "The seed's user can log in, but the database does not exist.", "Create or restore the database, or correct the seed's database name; then retry."},
	{CredentialsRejected, true, "The database exists and the server refuses the seed's username and password.", "Correct the seed's username or password, then retry."},
	{UserConflict, true, "The user exists with another password, and the database does not exist.", "Choose another username, or put the right password into the seed; then retry. seedmend never sets another's password."},
	{AccountLocked, true, "The seed's account is locked.", "Unlock the account on the server, then retry."},
	{PasswordExpired, true, "The password of the seed's account has expired.", "Renew the account's password on the server and in the seed, then retry."},
	{PasswordNotSet, true, "The seed's account has no password, so that it cannot log in with one.", "Set the account's password on the server, then retry."},
	{TLSRequired, true, "The server or the account demands TLS that this connection does not give.", "Allow TLS with --database-tls=preferred or required, enable TLS on the server, or lift the account's demand for a client certificate; then retry."},
	{AuthPluginUnsupported, true, "The account uses an authentication plugin that seedmend does not speak.", "Give the account a supported plugin (mysql_native_password, caching_sha2_password, sha256_password, client_ed25519), then retry."},
	{DatabaseClaimed, true, "Another request owns this database.", "Ask the platform's operators who owns it; the workflow's failure names the owner. One database belongs to one request."},
	{ProofFailed, true, "The credentials that the tenant would get do not work.", "Look at the message: the account was changed while the run was under way, or a grant has no effect. Mend it, then retry."},
	{StatementRejected, true, "The server does not understand a statement of seedmend's.", "Report this with the server's version: it is a fault of seedmend. Nothing is sent again by itself."},

	{ServerUnreachable, false, "The database server cannot be reached.", "Check the network and the server; seedmend goes on by itself."},
	{ServerBusy, false, "The database server has no connection to spare, or a lock was not to be had in time.", "Wait; look at the server's load if it lasts."},
	{ServerReadOnly, false, "The database server refuses writes.", "Check whether the connection leads to the primary; seedmend goes on by itself."},
	{DatabaseError, false, "The database server answered with an error that is not in seedmend's tables.", "Look up the code in the message; seedmend goes on by itself until the deadline."},
	{ClusterAPIError, false, "The Kubernetes API did not answer as it should.", "Check the API server and seedmend's RBAC; seedmend goes on by itself."},
	{ClusterConflict, false, "An object changed while it was written.", "Nothing; seedmend goes on by itself."},
	{SeedChanged, false, "The seed Secret was edited while the run was under way.", "Nothing; the run starts again from its first step with the new values."},
}

var byReason = func() map[Reason]Entry {
	m := map[Reason]Entry{}
	for _, e := range Table() {
		m[e.Reason] = e
	}
	return m
}()

// Table returns every failure, in the order of the runbook.
func Table() []Entry { return append(append([]Entry(nil), table...), mendTable...) }

// Lookup returns the entry of a reason.
func Lookup(r Reason) (Entry, bool) {
	e, ok := byReason[r]
	return e, ok
}

// HardReasons lists the error types that no retry policy may retry.
func HardReasons() []string {
	var out []string
	for _, e := range Table() {
		if e.Hard {
			out = append(out, string(e.Reason))
		}
	}
	return out
}
