package story

import (
	"crypto/rand"
	"strings"
)

// What stands on a server before a scene begins.

func base(name string) string { return strings.ReplaceAll(name, "-", "_") }

func (sc scene) account() string { return "'" + sc.seed["username"] + "'@'%'" }

func (sc scene) database() []string { return []string{"CREATE DATABASE " + sc.seed["database"]} }

func (sc scene) user() string {
	password := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(sc.seed["password"])
	return "CREATE USER " + sc.account() + " IDENTIFIED BY '" + password + "'"
}

// otherUser is an account of the seed's name with a password of its own.
func (sc scene) otherUser() string {
	return "CREATE USER " + sc.account() + " IDENTIFIED BY '" + rand.Text() + "'"
}

func (sc scene) grant() string {
	return "GRANT ALL ON `" + strings.ReplaceAll(sc.seed["database"], "_", `\_`) + "`.* TO " + sc.account()
}
