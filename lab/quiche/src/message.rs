//! Messages of HTTP/3 as messages of HTTP/1.1 and back (RFC 9114, section 4.3; RFC 9110, section 7.6.1).

use anyhow::{Context, Result, bail};
use http::header::{
    CONNECTION, COOKIE, HOST, HeaderMap, HeaderName, HeaderValue, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{Request, Response};
use quiche::h3::{Header, NameValue};

/// Facts of a QUIC connection, passed on with each of its requests.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionFacts {
    /// Numbers the connections of this process.
    pub number: u64,
    /// The TLS handshake resumed an earlier session.
    pub resumed: bool,
}

/// # Errors
/// One line, where the request is malformed or HTTP/1.1 cannot carry it.
pub fn request_of(fields: &[Header], facts: ConnectionFacts) -> Result<Request<()>> {
    let mut request = Request::new(());
    let mut path = None;
    let mut cookies: Vec<&[u8]> = Vec::new();
    for field in fields {
        match (field.name(), field.value()) {
            (b":method", value) => *request.method_mut() = value.try_into().context(":method")?,
            (b":path", value) => path = Some(value.try_into().context(":path")?),
            (b":authority", value) => {
                request.headers_mut().insert(HOST, HeaderValue::from_bytes(value).context(":authority")?);
            }
            (b":scheme", _) => {}
            (name, _) if name.starts_with(b":") => bail!("{}: unknown", String::from_utf8_lossy(name)),
            (b"cookie", value) => cookies.push(value),
            (b"host", value) => {
                request.headers_mut().entry(HOST).or_insert(HeaderValue::from_bytes(value).context("host")?);
            }
            (name, value) => {
                let name = HeaderName::from_bytes(name)?;
                request.headers_mut().append(name, HeaderValue::from_bytes(value)?);
            }
        }
    }
    *request.uri_mut() = path.context(":path: missing")?;
    let headers = request.headers_mut();
    if !cookies.is_empty() {
        headers.insert(COOKIE, HeaderValue::from_bytes(&cookies.join(&b"; "[..]))?);
    }
    remove_hop_by_hop(headers);
    headers.insert("hopwise-protocol", HeaderValue::from_static("HTTP/3"));
    headers.insert("hopwise-connection", facts.number.into());
    headers.insert("hopwise-resumed", HeaderValue::from_static(if facts.resumed { "1" } else { "0" }));
    Ok(request)
}

pub fn fields_of<B>(response: &Response<B>) -> Vec<Header> {
    let mut headers = response.headers().clone();
    remove_hop_by_hop(&mut headers);
    let status = Header::new(b":status", response.status().as_str().as_bytes());
    let others = headers.iter().map(|(name, value)| Header::new(name.as_ref(), value.as_bytes()));
    std::iter::once(status).chain(others).collect()
}

fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let listed: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let (keep_alive, proxy_connection) =
        (HeaderName::from_static("keep-alive"), HeaderName::from_static("proxy-connection"));
    for name in
        listed.into_iter().chain([CONNECTION, keep_alive, proxy_connection, TE, TRAILER, TRANSFER_ENCODING, UPGRADE])
    {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: ConnectionFacts = ConnectionFacts { number: 7, resumed: true };

    fn fields(pairs: &[(&str, &str)]) -> Vec<Header> {
        pairs.iter().map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes())).collect()
    }

    #[test]
    fn passes_a_request_on() {
        let request = request_of(
            &fields(&[
                (":method", "POST"),
                (":scheme", "https"),
                (":authority", "www.lab.test"),
                (":path", "/a?b=c|d"),
                ("cookie", "a=1"),
                ("x-twice", "1"),
                ("x-twice", "2"),
                ("cookie", "b=2"),
                ("te", "trailers"),
                ("hopwise-connection", "99"),
            ]),
            FACTS,
        )
        .unwrap();
        assert_eq!((request.method().as_str(), request.uri().to_string().as_str()), ("POST", "/a?b=c|d"));
        let all = |name: &str| -> Vec<&str> {
            request.headers().get_all(name).iter().map(|value| value.to_str().unwrap()).collect()
        };
        assert_eq!(all("host"), ["www.lab.test"]);
        assert_eq!(all("cookie"), ["a=1; b=2"]);
        assert_eq!(all("x-twice"), ["1", "2"]);
        assert_eq!(all("te"), [""; 0]);
        assert_eq!(all("hopwise-protocol"), ["HTTP/3"]);
        assert_eq!(all("hopwise-connection"), ["7"]);
        assert_eq!(all("hopwise-resumed"), ["1"]);
    }

    #[test]
    fn refuses_malformed_requests() {
        for broken in
            [fields(&[(":method", "GET")]), fields(&[(":method", "GET"), (":path", "/"), (":protocol", "x")])]
        {
            assert!(request_of(&broken, FACTS).is_err());
        }
    }

    #[test]
    fn passes_a_response_back() {
        let response = Response::builder()
            .status(404)
            .header("connection", "x-hop")
            .header("x-hop", "1")
            .header("transfer-encoding", "chunked")
            .header("set-cookie", "a=1")
            .header("set-cookie", "b=2")
            .body(())
            .unwrap();
        assert_eq!(fields_of(&response), fields(&[(":status", "404"), ("set-cookie", "a=1"), ("set-cookie", "b=2")]));
    }
}
