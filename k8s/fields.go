package k8s

import (
	"fmt"
	"math"
	"strings"
)

// fields reads an object of a kind that somebody else defines. A field that is
// not there, or null, is empty; the first one that is not of its type is kept.
type fields struct {
	object map[string]any
	odd    string
}

// complain keeps the first complaint.
func (f *fields) complain(format string, args ...any) {
	if f.odd == "" {
		f.odd = fmt.Sprintf(format, args...)
	}
}

// field reads a field as a T.
func field[T any](f *fields, what string, path []string) (value T, set bool) {
	at := f.object
	for i, name := range path[:len(path)-1] {
		next, isObject := at[name].(map[string]any)
		if !isObject {
			if at[name] != nil {
				f.complain("%s is not an object.", strings.Join(path[:i+1], "."))
			}
			return value, false
		}
		at = next
	}
	found := at[path[len(path)-1]]
	if value, set = found.(T); !set && found != nil {
		f.complain("%s is not %s.", strings.Join(path, "."), what)
	}
	return value, set
}

func (f *fields) text(path ...string) string {
	value, _ := field[string](f, "a text", path)
	return value
}

func (f *fields) truth(path ...string) bool {
	value, _ := field[bool](f, "true or false", path)
	return value
}

func (f *fields) section(path ...string) map[string]any {
	value, _ := field[map[string]any](f, "an object", path)
	return value
}

func (f *fields) list(path ...string) []any {
	value, _ := field[[]any](f, "a list", path)
	return value
}

// number reads a whole number; JSON's decoders make an int64 or a float64 of it.
func (f *fields) number(path ...string) (int64, bool) {
	const what = "a whole number"
	value, set := field[any](f, what, path)
	switch n := value.(type) {
	case int64:
		return n, true
	case float64:
		if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
			return int64(n), true
		}
	}
	if set && value != nil {
		f.complain("%s is not %s.", strings.Join(path, "."), what)
	}
	return 0, false
}
