package house

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMakeTargets holds that every target that a text names is one.
func TestMakeTargets(t *testing.T) {
	targets := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z0-9-]+):`).FindAllStringSubmatch(read(t, "Makefile"), -1) {
		targets[m[1]] = true
	}
	named := 0
	mention := regexp.MustCompile("(?m)(?:^|`|&& )make ([a-z0-9-]+)")
	for _, file := range files(t) {
		if filepath.Ext(file) != ".md" {
			continue
		}
		for _, m := range mention.FindAllStringSubmatch(code(read(t, file)), -1) {
			named++
			require.True(t, targets[m[1]], "%s names `make %s`, which the Makefile does not have", file, m[1])
		}
	}
	require.NotZero(t, named)
}

// TestHelpIsComplete holds that `make help` is the default and shows every target.
func TestHelpIsComplete(t *testing.T) {
	text := read(t, "Makefile")
	require.Contains(t, text, ".DEFAULT_GOAL := help")
	help := string(run(t, "make", "--no-print-directory"))
	for _, m := range regexp.MustCompile(`(?m)^([a-z0-9-]+):`).FindAllStringSubmatch(text, -1) {
		require.Regexp(t, `(?m)^  `+m[1]+` +\S`, help)
	}
}

// code is what a Markdown text sets as code: a sentence may begin with "make".
func code(text string) string {
	var b strings.Builder
	for _, m := range regexp.MustCompile("(?s)```[a-z]*\n(.*?)```|(`[^`\n]+`)").FindAllStringSubmatch(text, -1) {
		b.WriteString(m[1] + m[2] + "\n")
	}
	return b.String()
}

// Written in halves, so that this file does not hold them.
var machine = []string{
	`(?:^|[\s"'=(:,` + "`" + `])/` + `(?:root|work|Users)/`,
	`(?:proxy|sum)\.` + `golang\.org`,
	`registry\.` + `npmjs\.org`,
	`deb\.` + `debian\.org`,
}

// TestNoMachineInFiles holds that nothing in git names a path of the machine
// that it was written on, or a host that packages came from.
func TestNoMachineInFiles(t *testing.T) {
	pattern := regexp.MustCompile(`(?m)` + strings.Join(machine, "|"))
	for _, bad := range []string{"cd /" + "root/go", "x=\"/" + "work/main\"", "GOPROXY=https://proxy." + "golang.org"} {
		require.True(t, pattern.MatchString(bad), bad)
	}
	for _, good := range []string{"/usr/src/root/x", "a/work/b", "/workflows/", "https://golang.org"} {
		require.False(t, pattern.MatchString(good), good)
	}
	for _, file := range files(t) {
		data, err := os.ReadFile(filepath.Join(root, file))
		if os.IsNotExist(err) {
			continue // deleted, and not yet committed so
		}
		require.NoError(t, err)
		if bytes.IndexByte(data, 0) >= 0 {
			continue
		}
		for _, m := range pattern.FindAllIndex(data, -1) {
			line := 1 + bytes.Count(data[:m[0]+1], []byte("\n"))
			t.Errorf("%s:%d holds %q", file, line, data[m[0]:m[1]])
		}
	}
}

// files are those that git keeps, or would. It looks into their folders as
// well, so that Go runs these tests again when a file comes or goes: Go keeps a
// test's result until something changes that the test itself has opened.
func files(t *testing.T) []string {
	t.Helper()
	all := strings.FieldsFunc(string(run(t, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")),
		func(r rune) bool { return r == 0 })
	folders := map[string]bool{}
	for _, file := range all {
		if folder := filepath.Dir(file); !folders[folder] {
			folders[folder] = true
			_, _ = os.ReadDir(filepath.Join(root, folder))
		}
	}
	return all
}
