package mysql

import "github.com/seedmend/seedmend/api"

// Two more outcomes of a login into a database; neither leaves the package.
const (
	loginNoAccess   api.Login = "no access to the database"
	loginNoDatabase api.Login = "unknown database"
)

// loginCodes reads the answer to a login, by the codes of MariaDB 10.11
// (tried) and of MySQL 8 (from its reference).
//
// Both servers check the password before anything else: a wrong password on a
// locked account is 1045, and 1044 and 1049 come only to somebody who is in.
var loginCodes = map[uint16]api.Login{
	1044: loginNoAccess,
	1045: api.LoginRefused, // also: the account wants TLS and got none
	1049: loginNoDatabase,
	1130: api.LoginRefused, // no account for this host
	1251: api.LoginUnsupportedPlugin,
	1275: api.LoginUnsupportedPlugin, // a password in the format before 4.1
	1524: api.LoginUnsupportedPlugin, // the plugin is not loaded
	1698: api.LoginRefused,           // unix_socket and the like
	1820: api.LoginExpired,           // comes with the first statement
	1862: api.LoginExpired,
	3118: api.LoginLocked, // MySQL
	3159: api.LoginNeedsTLS,
	3955: api.LoginLocked, // MySQL: too many wrong passwords
	4150: api.LoginLocked, // MariaDB: too many wrong passwords
	4151: api.LoginLocked, // MariaDB
}

// rule says what a code means for a statement of the admin's, and for anybody's
// login where loginCodes has nothing.
type rule struct {
	reason api.Reason
	// text is ours. It goes on from "cannot <step>: ".
	text string
	// server allows the server's own text to be added: it can hold neither a
	// statement nor a secret, at most a name.
	server bool
}

const badName = "the server cannot store a name as it is in the seed"

var codes = map[uint16]rule{
	1040: {api.ServerBusy, "the server has too many connections", false},
	1203: {api.ServerBusy, "the user has too many connections", false},
	1226: {api.ServerBusy, "the user's limit of connections or statements is reached", true},
	1205: {api.ServerBusy, "a lock was not to be had in time", false},
	1213: {api.ServerBusy, "a deadlock was resolved at our cost", false},
	1969: {api.ServerBusy, "the server's limit on statement time was reached", false},
	3024: {api.ServerBusy, "the server's limit on statement time was reached", false},
	3058: {api.ServerBusy, "a deadlock of named locks was resolved at our cost", false},
	1021: {api.ServerBusy, "the server's disk is full", false},
	1037: {api.ServerBusy, "the server is out of memory", false},
	1041: {api.ServerBusy, "the server is out of memory", false},
	1114: {api.ServerBusy, "a table of the server is full", false},
	1135: {api.ServerBusy, "the server cannot start another thread", false},

	1290: {api.ServerReadOnly, "an option of the server forbids it", true},
	1792: {api.ServerReadOnly, "the server is read only", false},
	1836: {api.ServerReadOnly, "the server is read only", false},

	1053: {api.ServerUnreachable, "the server is shutting down", false},
	1158: {api.ServerUnreachable, "the connection broke", false},
	1159: {api.ServerUnreachable, "the connection timed out", false},
	1160: {api.ServerUnreachable, "the connection broke", false},
	1161: {api.ServerUnreachable, "the connection timed out", false},
	1317: {api.ServerUnreachable, "the statement was interrupted", false},
	1927: {api.ServerUnreachable, "the connection was killed", false},

	1129: {api.HostBlocked, "the server has blocked this host after too many connection errors", false},

	1044: {api.ProviderPrivilegeMissing, "", true},
	1045: {api.ProviderPrivilegeMissing, "", true}, // in a statement; logins are told apart
	1142: {api.ProviderPrivilegeMissing, "", true},
	1143: {api.ProviderPrivilegeMissing, "", true},
	1227: {api.ProviderPrivilegeMissing, "", true},
	1370: {api.ProviderPrivilegeMissing, "", true},
	1410: {api.ProviderPrivilegeMissing, "", true},

	1059: {api.NameInvalid, badName, true},
	1102: {api.NameInvalid, badName, true},
	1300: {api.NameInvalid, badName + " (character set)", false}, // the text may hold bytes of any literal
	1470: {api.NameInvalid, badName, true},

	1372: {api.SeedInvalid, "the server does not take the password", false},
	1819: {api.SeedInvalid, "the password does not satisfy the server's policy", false},

	// Our own fault, or a server that speaks another dialect. The text of a
	// syntax error echoes the statement.
	1064: {reasonStatement, "the server does not understand the statement; please report this with the server's version", false},
	1149: {reasonStatement, "the server does not understand the statement; please report this with the server's version", false},
}

// reasonStatement is hard: the same statement will never be understood.
const reasonStatement = api.StatementRejected

// adminLogin says why the admin cannot log in; all are ProviderCredentialsRejected.
var adminLogin = map[api.Login]string{
	api.LoginRefused:           "the server refuses the user, its password, or the host that seedmend comes from",
	api.LoginLocked:            "the account is locked",
	api.LoginExpired:           "the account's password has expired",
	api.LoginUnsupportedPlugin: "the account uses an authentication plugin that seedmend does not speak",
}

// step is what a statement was for, and the privilege that the admin needs for it.
type step struct{ name, privilege string }

var (
	stepAdminLogin = step{name: "log in as the provider's admin user"}
	stepSeedLogin  = step{name: "log in with the seed"}
	stepServer     = step{name: "read the server's version"}
	stepFacts      = step{"read the server's accounts, databases and claims", "SELECT on mysql.* and on seedmend.*"}
	stepLock       = step{name: "take the server's named lock"}
	stepClaims     = step{"create the table of claims", "CREATE on seedmend.*"}
	stepClaim      = step{"write the claim", "SELECT, INSERT, UPDATE and DELETE on seedmend.*"}
	stepDatabase   = step{"create the database", "CREATE"}
	stepUser       = step{"create the user", "CREATE USER"}
	stepGrant      = step{"grant the user its privileges", "GRANT OPTION, together with every privilege on the database"}
	stepProof      = step{name: "write a table with the new user"}
)

// Steps of mending. MariaDB splits SUPER from 10.5 on, MySQL from 8.0.
var (
	stepReplicationLogin = step{name: "log in as the replication user"}
	stepAccounts         = step{"read the server's accounts", "SELECT on mysql.*"}
	stepStatus           = step{"read the replication status", "REPLICA MONITOR (MariaDB from 10.5) or REPLICATION CLIENT"}
	stepPositions        = step{"compare positions", "BINLOG MONITOR (MariaDB from 10.5) or REPLICATION CLIENT"}
	stepStop             = step{"stop the replica", replicaAdmin}
	stepChange           = step{"change the replica's credentials", replicaAdmin}
	stepStart            = step{"start the replica", replicaAdmin}
)

const replicaAdmin = "REPLICATION SLAVE ADMIN (MariaDB from 10.5), REPLICATION_SLAVE_ADMIN (MySQL 8) or SUPER"
