package leak

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNeedlesFindEverySpelling(t *testing.T) {
	v := NewVault()
	for _, password := range []string{v.Password(), v.Password("~'\"\\ <ä%&~"), v.Password("~\n")} {
		needles := v.Needles()
		asJSON, err := json.Marshal(map[string]string{"x": password})
		require.NoError(t, err)
		twice, err := json.Marshal(string(asJSON))
		require.NoError(t, err)
		texts := map[string]string{
			"as it is": "x" + password + "x", "JSON": string(asJSON), "JSON twice": string(twice), "quoted": strconv.Quote(password),
			"query": "?p=" + url.QueryEscape(password), "path": "/" + url.PathEscape(password), "Go": fmt.Sprintf("%#v", password),
			"hex": hex.EncodeToString([]byte(password)), "cut": password[:20],
		}
		for shift := range 6 {
			text := "abcdef"[:shift] + password + "tail"
			texts[fmt.Sprint("base64 ", shift)] = base64.StdEncoding.EncodeToString([]byte(text))
			texts[fmt.Sprint("base64 of JSON ", shift)] = base64.URLEncoding.EncodeToString(append([]byte("abcdef"[:shift]), asJSON...))
		}
		for spelling, text := range texts {
			assert.NotEmpty(t, needles.In([]byte("before "+text+" after")), "%s: %s", spelling, text)
		}
	}
	assert.Empty(t, v.Needles().In([]byte("nothing of the kind, not even "+NewVault().Password())))
}

// The core apart, a password of other making is found by its own spellings.
func TestNeedlesOfOtherMaking(t *testing.T) {
	v := NewVault()
	v.Add(`p'4"s\s <wörd>`)
	for _, text := range []string{`p'4"s\s <wörd>`, `p'4\"s\\s \u003cwörd\u003e`, `p''4"s\\s <wörd>`, "p%274%22s%5Cs+%3Cw%C3%B6rd%3E"} {
		assert.NotEmpty(t, v.Needles().In([]byte("before "+text+" after")), text)
	}
	assert.True(t, v.Knows(`p'4"s\s <wörd>`))
	assert.True(t, v.Knows(v.Password("~ tail")))
	assert.False(t, v.Knows("somebody's own"))
}
