package api

// Login is how a login ended. It is a fact about the server's answer, read from
// the driver's error code.
type Login string

// Outcomes of a login.
const (
	LoginOK                Login = "ok"
	LoginRefused           Login = "refused"
	LoginLocked            Login = "locked"
	LoginExpired           Login = "expired"
	LoginNeedsTLS          Login = "needs TLS"
	LoginUnsupportedPlugin Login = "unsupported plugin"
	LoginNoPassword        Login = "no password set"
)

// Account is one row of the server's accounts that bears the seed's user name.
type Account struct {
	Host   string `json:"host"`
	Plugin string `json:"plugin,omitempty"`
	// RequiresTLS is the row's own demand (ANY, X509, SPECIFIED), empty for none.
	RequiresTLS string `json:"requiresTLS,omitempty"`
	Locked      bool   `json:"locked,omitempty"`
	NoPassword  bool   `json:"noPassword,omitempty"`
}

// Facts are what the probe found. Existence is asked as the provider's admin,
// never derived from a login error.
type Facts struct {
	Auth           Login     `json:"auth"`
	DatabaseExists bool      `json:"databaseExists"`
	UserExists     bool      `json:"userExists"`
	Access         Login     `json:"access,omitempty"`
	Accounts       []Account `json:"accounts,omitempty"`
	// AccountHost is the host part of the row that the seed's login used.
	AccountHost   string `json:"accountHost,omitempty"`
	ServerVersion string `json:"serverVersion,omitempty"`
	TLS           bool   `json:"tls,omitempty"`
	Claim         *Claim `json:"claim,omitempty"`
	// Cluster is the UID of the cluster that the probe ran for: the claims of
	// several clusters may stand on one server.
	Cluster string `json:"cluster,omitempty"`
	// Hint is a remark on the seed's bytes (such as a newline at the end of a
	// value), without the value.
	Hint string `json:"hint,omitempty"`
}

// Origins and phases of a claim.
const (
	OriginAdopted = "adopted"
	OriginCreated = "created"

	ClaimCreating = "creating"
	ClaimReady    = "ready"
)

// Claim says which request a database on a server belongs to.
type Claim struct {
	Owner    Owner  `json:"owner"`
	Username string `json:"username"`
	Host     string `json:"host"` // host part of the account row
	Origin   string `json:"origin"`
	Phase    string `json:"phase"`
}

// Verdict is what the facts come to.
type Verdict string

// Verdicts. Every other outcome is a failure with a Reason.
const (
	VerdictAdopt  Verdict = "Adopt"
	VerdictCreate Verdict = "Create"
	// VerdictResume goes on with a creation of our own that was cut.
	VerdictResume Verdict = "Resume"
	// VerdictKeep is a database that is ours and works.
	VerdictKeep Verdict = "Keep"
	// VerdictNothing is a run that had nothing to do.
	VerdictNothing Verdict = "Nothing"
)
