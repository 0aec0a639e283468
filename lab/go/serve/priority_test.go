package serve

import "testing"

func TestParsePriority(t *testing.T) {
	for field, want := range map[string]priority{
		"":               {3, false},
		"u=0":            {0, false},
		"u=5, i":         {5, true},
		"i":              {3, true},
		"i=?0, u=7":      {7, false},
		"u=1;x=2, y=3":   {1, false},
		"u=8":            {3, false},
		"u=-1, i":        {3, true},
		"u=1.5":          {3, false},
		"u=high":         {3, false},
		"i=1":            {3, false},
		"u=(1 2)":        {3, false},
		"u=2, u=4":       {4, false},
		"u=2, nonsense(": {3, false},
	} {
		if got := parsePriority([]string{field}); got != want {
			t.Errorf("%q: got %+v, want %+v", field, got, want)
		}
	}
	if got := parsePriority([]string{"u=2", "i"}); got != (priority{2, true}) {
		t.Errorf("two fields: got %+v", got)
	}
}
