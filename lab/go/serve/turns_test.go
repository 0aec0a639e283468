package serve

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// gate lets writes through one at a time and records their senders.
type gate struct {
	open  chan struct{}
	mutex sync.Mutex
	order []string
}

func (g *gate) write(name string) func([]byte) error {
	return func([]byte) error {
		<-g.open
		g.mutex.Lock()
		defer g.mutex.Unlock()
		g.order = append(g.order, name)
		return nil
	}
}

// waitFor returns when this many responses wait for their turn.
func (t *turns) waitFor(count int) {
	for {
		t.mutex.Lock()
		waiting := len(t.waiting)
		t.mutex.Unlock()
		if waiting == count {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func TestTurns(t *testing.T) {
	type response struct {
		name string
		priority
		chunks int
	}
	for _, c := range []struct {
		name      string
		responses []response
		want      string
	}{
		{"urgency before order", []response{
			{"a", priority{5, false}, 2}, {"b", priority{3, true}, 2}, {"c", priority{0, false}, 2},
		}, "f c c b b a a"},
		{"in order of request", []response{
			{"a", priority{3, false}, 2}, {"b", priority{3, false}, 2}, {"c", priority{3, false}, 2},
		}, "f a a b b c c"},
		{"incremental ones take turns", []response{
			{"a", priority{3, true}, 3}, {"b", priority{3, true}, 2}, {"c", priority{3, true}, 3},
		}, "f a b c a b c a c"},
		{"incremental ones after the others", []response{
			{"a", priority{3, true}, 2}, {"b", priority{3, true}, 2}, {"c", priority{3, false}, 2},
		}, "f c c a b a b"},
	} {
		turns, gate := &turns{}, &gate{open: make(chan struct{})}
		var all sync.WaitGroup
		begin := func(name string, wanted priority, order uint64, chunks int) {
			all.Add(1)
			go func() {
				defer all.Done()
				body := make([]byte, chunks*chunkBytes)
				if written, err := turns.send(context.Background(), wanted, order, body, gate.write(name)); written != len(body) || err != nil {
					t.Errorf("%s: %d bytes and %v", c.name, written, err)
				}
			}()
		}
		// The first has its turn before the others arrive.
		begin("f", priority{7, false}, 0, 1)
		for turns.held() == nil {
			time.Sleep(time.Millisecond)
		}
		for i, r := range c.responses {
			begin(r.name, r.priority, uint64(i+1), r.chunks)
			turns.waitFor(i + 1)
		}
		close(gate.open)
		all.Wait()
		if got := strings.Join(gate.order, " "); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func (t *turns) held() *sender {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.holder
}

func TestAStalledResponseLetsOthersGoOn(t *testing.T) {
	turns, stuck := &turns{}, make(chan struct{})
	urgent := make(chan error)
	began := time.Now()
	go func() {
		_, err := turns.send(context.Background(), priority{urgency: 0}, 1, make([]byte, 2*chunkBytes), func([]byte) error {
			<-stuck
			return nil
		})
		urgent <- err
	}()
	for turns.held() == nil {
		time.Sleep(time.Millisecond)
	}
	body := make([]byte, 100*chunkBytes)
	written, err := turns.send(context.Background(), priority{urgency: 7}, 2, body, func([]byte) error { return nil })
	if written != len(body) || err != nil {
		t.Errorf("%d bytes and %v beside a stalled response", written, err)
	}
	if elapsed := time.Since(began); elapsed < stallAfter || elapsed > stallAfter+10*time.Second {
		t.Errorf("waited %v for a stalled response, want %v", elapsed, stallAfter)
	}
	close(stuck)
	if err := <-urgent; err != nil {
		t.Errorf("the stalled response ended with %v", err)
	}
}

func TestAFailedOrAbandonedResponseGivesItsTurnUp(t *testing.T) {
	turns := &turns{}
	broken := errors.New("broken")
	if written, err := turns.send(context.Background(), priority{}, 1, make([]byte, 3*chunkBytes), func([]byte) error { return broken }); written != 0 || err != broken {
		t.Errorf("%d bytes and %v of a broken response", written, err)
	}
	gate := &gate{open: make(chan struct{})}
	first, abandoned := make(chan error), make(chan error)
	go func() {
		_, err := turns.send(context.Background(), priority{urgency: 3}, 2, make([]byte, chunkBytes), gate.write("first"))
		first <- err
	}()
	for turns.held() == nil {
		time.Sleep(time.Millisecond)
	}
	gone, leave := context.WithCancel(context.Background())
	go func() {
		_, err := turns.send(gone, priority{urgency: 0}, 3, make([]byte, chunkBytes), gate.write("abandoned"))
		abandoned <- err
	}()
	turns.waitFor(1)
	leave()
	if err := <-abandoned; err != context.Canceled {
		t.Errorf("the abandoned response ended with %v", err)
	}
	close(gate.open)
	if err := <-first; err != nil || !slices.Equal(gate.order, []string{"first"}) {
		t.Errorf("%v, written by %v", err, gate.order)
	}
}
