package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"hopwise/lab/site"
)

// Request is a line to the server's process. The first one has Start.
type Request struct {
	Start *Config `json:"start,omitempty"`
	// Site is a folder to serve from now on.
	Site string `json:"site,omitempty"`
	// Change has new settings by origin.
	Change []site.Origin `json:"change,omitempty"`
	Log    bool          `json:"log,omitempty"`
}

// Reply is the line that answers a Request.
type Reply struct {
	Error string `json:"error,omitempty"`
	Log   *Log   `json:"log,omitempty"`
	// Stacks answers a request to serve a site.
	Stacks *Stacks `json:"stacks,omitempty"`
}

// Child is the main function of the server's process: it answers requests until in ends.
func Child(in io.Reader, out io.Writer) error {
	// The bodies form a large live heap, while a request's garbage is small.
	debug.SetGCPercent(400)
	// The buffer's size depends on the machine, and quic-go's warning about it helps no user.
	if err := os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true"); err != nil {
		return err
	}
	requests, replies := json.NewDecoder(in), json.NewEncoder(out)
	var server *Server
	for {
		var request Request
		if err := requests.Decode(&request); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("server: request: %w", err)
		}
		if err := replies.Encode(handle(&server, request)); err != nil {
			return fmt.Errorf("server: reply: %w", err)
		}
	}
}

func handle(server **Server, request Request) (reply Reply) {
	err := func() (err error) {
		if request.Start != nil {
			if *server, err = New(*request.Start); err != nil {
				return err
			}
		}
		if *server == nil {
			return errors.New("server: not started")
		}
		if request.Site != "" {
			if err := (*server).Serve(request.Site); err != nil {
				return err
			}
			stacks := (*server).Stacks()
			reply.Stacks = &stacks
			return nil
		}
		if request.Change != nil {
			return (*server).Change(request.Change)
		}
		if request.Log {
			log := (*server).Log()
			reply.Log = &log
		}
		return nil
	}()
	if err != nil {
		reply.Error = err.Error()
	}
	return reply
}
