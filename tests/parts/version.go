package parts

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// requiredVersion reads what a go.mod file requires of a module.
func requiredVersion(file, module string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) >= 2 && fields[0] == module && strings.HasPrefix(fields[1], "v") {
			return fields[1], nil
		}
	}
	return "", fmt.Errorf("%s does not require %s", file, module)
}

// fits tells whether a program found on PATH will do: the same major version,
// and at least the wanted minor one.
func fits(ctx context.Context, path, wanted string) bool {
	out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	if err != nil {
		return false
	}
	have, want := numbers(string(out)), numbers(wanted)
	return len(have) > 1 && len(want) > 1 && have[0] == want[0] && have[1] >= want[1]
}

// compareVersions orders paths that differ in a version only.
func compareVersions(a, b string) int { return slices.Compare(numbers(a), numbers(b)) }

var versionPattern = regexp.MustCompile(`\d+(\.\d+)*`)

// numbers reads the first version-like part of a text: "etcd Version: 3.6.13"
// is 3, 6, 13.
func numbers(text string) []int {
	var all []int
	for part := range strings.SplitSeq(versionPattern.FindString(text), ".") {
		n, _ := strconv.Atoi(part)
		all = append(all, n)
	}
	return all
}
