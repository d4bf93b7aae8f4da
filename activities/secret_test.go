package activities

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seedmend/seedmend/api"
)

func seedWith(change map[string]string) map[string][]byte {
	data := map[string][]byte{}
	for k, v := range map[string]string{"database": "db", "username": "user", "password": "secret-word", "hostname": "db.example", "port": "3306"} {
		data[k] = []byte(v)
	}
	for k, v := range change {
		if v == "-" {
			delete(data, k)
			continue
		}
		data[k] = []byte(v)
	}
	return data
}

func TestASeedThatCanBeUsed(t *testing.T) {
	for name, c := range map[string]struct {
		change map[string]string
		host   string
		port   int
	}{
		"all keys":                          {nil, "db.example", 3306},
		"host is the short spelling":        {map[string]string{"hostname": "-", "host": "other"}, "other", 3306},
		"both spellings, the same":          {map[string]string{"host": "DB.example"}, "db.example", 3306},
		"no port means the engine's":        {map[string]string{"port": "-"}, "db.example", 0},
		"host and port lose their newline":  {map[string]string{"hostname": "db\n", "port": " 3307\n"}, "db", 3307},
		"an address":                        {map[string]string{"hostname": "2001:db8::5"}, "2001:db8::5", 3306},
		"names and password are left alone": {map[string]string{"password": " p\n", "username": "u@host "}, "db.example", 3306},
	} {
		t.Run(name, func(t *testing.T) {
			data := seedWith(c.change)
			s, err := parseSeed("seed", data)
			require.NoError(t, err)
			assert.Equal(t, c.host, s.host)
			assert.Equal(t, c.port, s.port)
			assert.Equal(t, string(data["password"]), s.Password)
			assert.Equal(t, string(data["username"]), s.Username)
		})
	}
}

func TestASeedThatCannotBeUsedIsInvalidAndSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		change map[string]string
		says   string
	}{
		"no database":         {map[string]string{"database": "-"}, `"database"`},
		"no username":         {map[string]string{"username": "-"}, `"username"`},
		"empty password":      {map[string]string{"password": ""}, `"password"`},
		"no host":             {map[string]string{"hostname": "-"}, `"hostname"`},
		"blank host":          {map[string]string{"hostname": " \n"}, `"hostname"`},
		"two different hosts": {map[string]string{"host": "other"}, "differ"},
		"host with a path":    {map[string]string{"hostname": "db/x"}, "no hostname"},
		"port in words":       {map[string]string{"port": "many"}, "no port"},
		"port out of range":   {map[string]string{"port": "70000"}, "no port"},
		"name not UTF-8":      {map[string]string{"database": "\xff"}, "UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseSeed("seed", seedWith(c.change))
			f, ok := api.FromTemporal(err)
			require.True(t, ok)
			assert.Equal(t, api.SeedInvalid, f.Reason)
			assert.Contains(t, f.Message, c.says)
			assert.NotContains(t, f.Message, "secret-word")
		})
	}
}
