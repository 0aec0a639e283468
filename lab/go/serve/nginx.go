package serve

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

const nginxName = "nginx"

// nginxConfig makes nginx serve all origins from one process. Values that are not in it are nginx's defaults.
var nginxConfig = template.Must(template.New("nginx.conf").Parse(`daemon off;
# A master would leave its workers behind when it is killed.
master_process off;
# The lab's root may be that of a user namespace, without other users.
user root root;
pid {{.Dir}}/nginx.pid;
error_log stderr warn;
events {
    worker_connections 4096;
}
http {
    access_log off;
    client_body_temp_path {{.Dir}}/temp;
    proxy_temp_path {{.Dir}}/temp;
    fastcgi_temp_path {{.Dir}}/temp;
    uwsgi_temp_path {{.Dir}}/temp;
    scgi_temp_path {{.Dir}}/temp;

    ssl_protocols TLSv1.3;
    ssl_session_tickets on;
    ssl_session_ticket_key {{.Dir}}/{{.TicketKey}};
    http2_max_concurrent_streams {{.MaxStreams}};
    large_client_header_buffers 8 64k;
    client_max_body_size 0;

    map $ssl_session_reused $resumed {
        r 1;
        default 0;
    }
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host $host;
    proxy_set_header Hopwise-Protocol $server_protocol;
    proxy_set_header Hopwise-Connection $connection;
    proxy_set_header Hopwise-Resumed $resumed;
    proxy_request_buffering off;
    proxy_next_upstream off;
    # Think times last up to 20 minutes.
    proxy_read_timeout 1h;
    proxy_buffer_size 32k;
    proxy_buffers 16 8k;
    proxy_max_temp_file_size 0;
    # Recorded headers go to the browser.
    proxy_pass_header Server;
    proxy_pass_header Date;
    proxy_ignore_headers X-Accel-Redirect X-Accel-Expires X-Accel-Limit-Rate X-Accel-Buffering X-Accel-Charset;
{{range $index, $origin := .Origins}}
    # {{.Origin.Origin}}
    upstream origin{{$index}} {
        server unix:{{.Upstream}} max_fails=0;
        keepalive 128;
        keepalive_requests 1000000;
        keepalive_time 24h;
        keepalive_timeout 24h;
    }
    server {
{{- range .Addresses}}
        listen {{.}} ssl{{if and $origin.OffersH2 (not $.HasHTTP2Directive)}} http2{{end}};
{{- end}}
{{- if and .OffersH2 $.HasHTTP2Directive}}
        http2 on;
{{- end}}
        ssl_certificate {{.Certificate}};
        ssl_certificate_key {{.Key}};
        location / {
{{- if not .OffersH1}}
            # With HTTP/2 on, ALPN always has HTTP/1.1 too.
            if ($server_protocol != HTTP/2.0) {
                return 444;
            }
{{- end}}
            proxy_pass http://origin{{$index}};
        }
    }
{{end}}}
`))

// OffersH1 is for the template.
func (o frontOrigin) OffersH1() bool { return o.offers("h1") }

// OffersH2 is for the template.
func (o frontOrigin) OffersH2() bool { return o.offers("h2") }

// nginxConfigOf is the configuration that serves the origins. Every one offers HTTP/1.1 or HTTP/2.
func nginxConfigOf(dir, version string, origins []frontOrigin) ([]byte, error) {
	var text bytes.Buffer
	err := nginxConfig.Execute(&text, map[string]any{
		"Dir": dir, "TicketKey": ticketKeyFile, "MaxStreams": maxStreams, "Origins": origins,
		// The parameter of listen is deprecated since.
		"HasHTTP2Directive": slices.Compare(numbersOf(version), []int{1, 25, 1}) >= 0,
	})
	return text.Bytes(), err
}

// numbersOf splits a version such as 1.22.1.
func numbersOf(version string) []int {
	var numbers []int
	for part := range strings.SplitSeq(version, ".") {
		// nginxVersionForm only matches numbers.
		number, _ := strconv.Atoi(part)
		numbers = append(numbers, number)
	}
	return numbers
}

func (f *fronts) nginxEnvironment() []string {
	if f.config.NginxLibraries == "" {
		return nil
	}
	return []string{"LD_LIBRARY_PATH=" + f.config.NginxLibraries}
}

func (f *fronts) startNginx(origins []frontOrigin) (err error) {
	text, err := nginxConfigOf(f.config.Dir, f.nginxVersion, origins)
	if err != nil {
		return err
	}
	file, ready := f.file("nginx.conf"), f.file("nginx.pid")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	if err := os.RemoveAll(ready); err != nil {
		return err
	}
	f.nginx, err = f.spawn(nginxName, f.nginxEnvironment(), f.config.Nginx, "-e", "stderr", "-p", f.config.Dir, "-c", file)
	if err != nil {
		return err
	}
	// nginx writes it after it has bound its ports.
	return f.nginx.await(func() bool {
		info, err := os.Stat(ready)
		return err == nil && info.Size() > 0
	})
}

var nginxVersionForm = regexp.MustCompile(`nginx/(\d+(\.\d+)+)`)

func (f *fronts) askNginxVersion() (string, error) {
	command := exec.Command(f.config.Nginx, "-v")
	command.Env = append(os.Environ(), f.nginxEnvironment()...)
	text, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("nginx: %s cannot be run: %w", f.config.Nginx, err)
	}
	version := nginxVersionForm.FindSubmatch(text)
	if version == nil {
		return "", fmt.Errorf("nginx: %s: expected its version, got %.80q", f.config.Nginx, text)
	}
	return string(version[1]), nil
}
