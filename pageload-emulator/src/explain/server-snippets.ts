import { ADVISED_INITIAL_WINDOW, type AdviceKind } from '../advise/improvements.ts';

/** Where a change is configured. */
export const SERVER_KINDS = ['nginx', 'caddy', 'haproxy', 'kernel', 'dns'] as const;
export type ServerKind = (typeof SERVER_KINDS)[number];

/**
 * Configuration for an advice: for nginx 1.25, Caddy 2.6, HAProxy 2.8 and Linux 4.20 or later, and a zone file (RFC 9460). HOST stands
 * for the origin's host, TARGET and PATH for the host and path that it redirects to, GATEWAY and DEVICE for those of the default route.
 * A kind of server is absent where it has no such setting.
 */
export const SERVER_SNIPPETS: Record<AdviceKind, Partial<Record<ServerKind, string>>> = {
  'offer-h2': {
    nginx: `server {
  listen 443 ssl;
  http2 on;
}`,
    caddy: `{
  servers {
    protocols h1 h2
  }
}`,
    haproxy: 'bind :443 ssl crt /etc/haproxy/site.pem alpn h2,http/1.1',
  },
  'offer-h3': {
    nginx: `server {
  listen 443 ssl;
  listen 443 quic reuseport;
  add_header Alt-Svc 'h3=":443"; ma=86400' always;
}`,
    caddy: `{
  servers {
    protocols h1 h2 h3
  }
}`,
    haproxy: `frontend web
  bind :443 ssl crt /etc/haproxy/site.pem alpn h2,http/1.1
  bind quic4@:443 ssl crt /etc/haproxy/site.pem alpn h3
  http-response set-header alt-svc 'h3=":443"; ma=86400'`,
  },
  'withdraw-h3': {
    nginx: `# without "listen 443 quic"
add_header Alt-Svc clear always;`,
    caddy: `{
  servers {
    protocols h1 h2
  }
}`,
    haproxy: `# without "bind quic4@:443"
http-response set-header alt-svc clear`,
  },
  'https-record': { dns: 'HOST. 3600 IN HTTPS 1 . alpn="h3,h2"' },
  'early-data': {
    nginx: `ssl_early_data on;
proxy_set_header Early-Data $ssl_early_data;`,
    haproxy: 'bind quic4@:443 ssl crt /etc/haproxy/site.pem alpn h3 allow-0rtt',
  },
  'initial-window': {
    kernel: `ip route change default via GATEWAY dev DEVICE initcwnd ${ADVISED_INITIAL_WINDOW}`,
  },
  'start-rate': {},
  bbr: {
    kernel: `# /etc/sysctl.d/90-bbr.conf
net.core.default_qdisc = fq
net.ipv4.tcp_congestion_control = bbr`,
  },
  'tls-1.3': {
    nginx: 'ssl_protocols TLSv1.2 TLSv1.3;',
    caddy: `tls {
  protocols tls1.2 tls1.3
}`,
    haproxy: 'ssl-default-bind-options ssl-min-ver TLSv1.2 ssl-max-ver TLSv1.3',
  },
  priorities: {},
  'no-redirect': {
    nginx: `# to another host, in place of its "return 301"
server_name HOST TARGET;
# to another path, in place of its "return 301"
rewrite ^/$ /PATH last;`,
    caddy: `# to another host, in place of its "redir"
HOST, TARGET {
  # to another path, in place of its "redir"
  rewrite / /PATH
}`,
    haproxy: `# to another host: without its "http-request redirect"
# to another path, in place of its "http-request redirect"
http-request set-path /PATH if { path / }`,
  },
  'page-cache': {
    nginx: `proxy_cache_path /var/cache/nginx/pages keys_zone=pages:10m;
server {
  proxy_cache pages;
  proxy_cache_valid 200 1m;
  proxy_cache_lock on;
  proxy_cache_use_stale updating;
}`,
    haproxy: `cache pages
  total-max-size 64
  max-age 60
backend web
  http-request cache-use pages
  http-response cache-store pages`,
  },
  compression: {
    nginx: `gzip on;
gzip_vary on;
gzip_types text/css application/javascript text/javascript application/json image/svg+xml;`,
    caddy: 'encode zstd gzip',
    haproxy: `compression algo gzip
compression type text/html text/css application/javascript text/javascript application/json image/svg+xml`,
  },
  'one-origin': {},
  preconnect: {
    nginx: `add_header Link '<ORIGIN>; rel=preconnect';`,
    caddy: 'header +Link "<ORIGIN>; rel=preconnect"',
    haproxy: 'http-response add-header link "<ORIGIN>; rel=preconnect"',
  },
  preload: {
    nginx: `add_header Link '<URL>; rel=preload; as=TYPE';`,
    caddy: 'header +Link "<URL>; rel=preload; as=TYPE"',
    haproxy: 'http-response add-header link "<URL>; rel=preload; as=TYPE"',
  },
};
