package k8s

import (
	"strings"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// cut shortens a text to so many characters, at the end of a character.
func cut(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// timeOr is t, or now where t is not set.
func timeOr(t time.Time) metav1.Time {
	if t.IsZero() {
		return metav1.Now()
	}
	return metav1.NewTime(t)
}

// cutBytes shortens a text to so many bytes, at the end of a character.
func cutBytes(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text
	}
	end := most - len("…")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
