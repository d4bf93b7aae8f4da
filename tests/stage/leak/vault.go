// Package leak finds passwords where none may be: in what Temporal and the
// Kubernetes API have stored, and in what was printed.
package leak

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Vault makes the passwords of a test run, and knows each of them.
//
// Every password that it makes holds the same core: letters and digits, which
// look the same in JSON, in quotes and in a URL. So one search finds all of
// them, also cut short or escaped twice.
type Vault struct {
	core string

	mu    sync.Mutex
	known []string
}

// NewVault makes an empty vault.
func NewVault() *Vault {
	v := &Vault{core: rand.Text()[:16]}
	v.Add(v.core)
	return v
}

// Password makes a new password. In shape each ~ stands for the core with some
// characters more, the same in one password; without shape that is all of it.
func (v *Vault) Password(shape ...string) string {
	unique := v.core + rand.Text()[:6]
	if len(shape) == 0 {
		return unique
	}
	p := strings.ReplaceAll(strings.Join(shape, ""), "~", unique)
	v.Add(p)
	return p
}

// Add makes a secret of other making known.
func (v *Vault) Add(secrets ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range secrets {
		if len(s) < 8 {
			panic("a secret this short is found everywhere")
		}
		if !slices.Contains(v.known, s) {
			v.known = append(v.known, s)
		}
	}
}

// Knows tells whether a value is one of the vault's.
func (v *Vault) Knows(value string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return strings.Contains(value, v.core) || slices.Contains(v.known, value)
}

// Needles are all secrets in every spelling.
func (v *Vault) Needles() Needles {
	v.mu.Lock()
	defer v.mu.Unlock()
	var all Needles
	for i, s := range v.known {
		for _, n := range spellings(s) {
			n.secret = i
			if !slices.ContainsFunc(all, func(o needle) bool { return bytes.Equal(o.text, n.text) }) {
				all = append(all, n)
			}
		}
	}
	return all
}

type needle struct {
	secret   int
	spelling string
	text     []byte
}

// Needles is what is looked for.
type Needles []needle

// In names what is found in data, without repeating it.
func (all Needles) In(data []byte) []string {
	var found []string
	for _, n := range all {
		if at := bytes.Index(data, n.text); at >= 0 {
			found = append(found, fmt.Sprintf("secret %d as %s, after %q", n.secret, n.spelling, data[max(0, at-60):at]))
		}
	}
	return found
}

func spellings(s string) []needle {
	var all []needle
	add := func(spelling, text string) {
		all = append(all, needle{spelling: spelling, text: []byte(text)})
	}
	add("it is", s)
	add("JSON", encodeJSON(s, true))
	add("JSON without HTML", encodeJSON(s, false))
	add("JSON in JSON", encodeJSON(encodeJSON(s, true), true))
	quoted := strconv.Quote(s)
	add("a Go string", quoted[1:len(quoted)-1])
	add("an SQL string", strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), "'", "''"))
	add("an SQL string with backslashes", strings.NewReplacer(`\`, `\\`, "'", `\'`, `"`, `\"`).Replace(s))
	add("a URL's query", url.QueryEscape(s))
	add("a URL's path", url.PathEscape(s))
	add("hex", hex.EncodeToString([]byte(s)))
	add("HEX", strings.ToUpper(hex.EncodeToString([]byte(s))))
	for shift := range 3 {
		add(fmt.Sprintf("base64 at %d", shift), inside(base64.RawStdEncoding, s, shift))
		add(fmt.Sprintf("base64 for URLs at %d", shift), inside(base64.RawURLEncoding, s, shift))
	}
	return all
}

func encodeJSON(s string, escapeHTML bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escapeHTML)
	if err := e.Encode(s); err != nil {
		panic(err)
	}
	text := strings.TrimSuffix(b.String(), "\n")
	return text[1 : len(text)-1]
}

// inside is how s looks in the base64 of a longer text in which it begins at a
// multiple of three plus shift: the characters that no neighbour has a part in.
func inside(enc *base64.Encoding, s string, shift int) string {
	text := enc.EncodeToString(append(make([]byte, shift), s...))
	return text[(shift*8+5)/6 : (shift+len(s))*8/6]
}
