//! How soon a client wants a response (RFC 9218, section 4).

use quiche::h3::{Header, NameValue};
use sfv::{BareItem, Dictionary, ListEntry, Parser};

use crate::config::Priorities;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priority {
    /// 0 for the most urgent to 7.
    urgency: u8,
    /// The client can use a part of the response.
    incremental: bool,
}

const DEFAULT: Priority = Priority { urgency: 3, incremental: false };
const HIGHEST_URGENCY: i64 = 7;

/// All responses share a connection equally.
const EQUAL: Priority = Priority { urgency: 3, incremental: true };

/// What quiche adds to a response's urgency; its own streams come before (`PRIORITY_URGENCY_OFFSET` in its h3/mod.rs).
const STREAM_URGENCY_OFFSET: u8 = 124;

impl Priority {
    /// Reads a request's Priority fields.
    pub fn of_request(fields: &[Header], priorities: Priorities) -> Self {
        let wanted: Vec<&[u8]> =
            fields.iter().filter(|field| field.name() == b"priority").map(NameValue::value).collect();
        Self::read(&wanted.join(&b", "[..]), priorities)
    }

    /// Reads Priority fields, combined, or a PRIORITY_UPDATE. Unreadable fields and values out of range are ignored (RFC
    /// 9218, sections 4 and 5), as by the lab's other server.
    pub fn read(field: &[u8], priorities: Priorities) -> Self {
        if priorities == Priorities::Ignored {
            return EQUAL;
        }
        let Ok(members) = Parser::new(field).parse::<Dictionary>() else { return DEFAULT };
        let value = |name: &str| match members.get(name) {
            Some(ListEntry::Item(item)) => Some(&item.bare_item),
            _ => None,
        };
        let urgency = value("u").and_then(BareItem::as_integer).map(i64::from);
        Self {
            urgency: urgency
                .filter(|urgency| (0..=HIGHEST_URGENCY).contains(urgency))
                .map_or(DEFAULT.urgency, |urgency| urgency as u8),
            incremental: value("i").and_then(BareItem::as_boolean).unwrap_or(DEFAULT.incremental),
        }
    }

    pub fn is_incremental(self) -> bool {
        self.incremental
    }

    pub fn apply(self, quic: &mut quiche::Connection, stream: u64) -> quiche::Result<()> {
        quic.stream_priority(stream, STREAM_URGENCY_OFFSET + self.urgency, self.incremental)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_fields_as_the_other_server() {
        for (field, urgency, incremental) in [
            ("", 3, false),
            ("u=0", 0, false),
            ("u=5, i", 5, true),
            ("i", 3, true),
            ("i=?0, u=7", 7, false),
            ("u=1;x=2, y=3", 1, false),
            ("u=8", 3, false),
            ("u=-1, i", 3, true),
            ("u=1.5", 3, false),
            ("u=high", 3, false),
            ("i=1", 3, false),
            ("u=(1 2)", 3, false),
            ("u=2, u=4", 4, false),
            ("u=2, nonsense(", 3, false),
        ] {
            let read = Priority::read(field.as_bytes(), Priorities::Honoured);
            assert_eq!(read, Priority { urgency, incremental }, "{field}");
            assert_eq!(Priority::read(field.as_bytes(), Priorities::Ignored), EQUAL, "{field}");
        }
    }
}
