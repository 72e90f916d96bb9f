//! The network links of this process's namespace, over netlink.

use super::HostError;
use crate::facts::Link;
use futures_util::TryStreamExt;
use ipnet::IpNet;
use rtnetlink::packet_route::address::AddressAttribute;
use rtnetlink::packet_route::link::{LinkAttribute, LinkFlags, LinkInfo};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(5);

/// Lists links with their addresses.
pub(super) fn links() -> Result<BTreeMap<String, Link>, HostError> {
    let fail = |why: String| HostError::Links { why };
    let list = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| fail(e.to_string()))?;
        runtime.block_on(async {
            match tokio::time::timeout(DEADLINE, dump()).await {
                Ok(links) => links.map_err(|e| fail(e.to_string())),
                Err(_) => Err(fail("no answer within 5 s".to_owned())),
            }
        })
    };
    if tokio::runtime::Handle::try_current().is_err() {
        return list();
    }
    // A runtime cannot run inside another one, but beside it.
    std::thread::scope(|scope| match std::thread::Builder::new().spawn_scoped(scope, list) {
        Ok(thread) => thread.join().unwrap_or_else(|_| Err(fail("the listing stopped".to_owned()))),
        Err(e) => Err(fail(format!("there is no thread for it: {e}"))),
    })
}

async fn dump() -> Result<BTreeMap<String, Link>, rtnetlink::Error> {
    let (connection, handle, _) =
        rtnetlink::new_connection().map_err(|e| rtnetlink::Error::NamespaceError(e.to_string()))?;
    tokio::spawn(connection);
    let mut found: BTreeMap<u32, (String, Link)> = BTreeMap::new();
    let mut links = handle.link().get().execute();
    while let Some(message) = links.try_next().await? {
        let mut name = String::new();
        let up = message.header.flags.contains(LinkFlags::Up);
        let mut link = Link { kind: None, mtu: 0, up, addresses: Vec::new() };
        for attribute in message.attributes {
            match attribute {
                LinkAttribute::IfName(text) => name = text,
                LinkAttribute::Mtu(mtu) => link.mtu = mtu,
                LinkAttribute::LinkInfo(infos) => {
                    link.kind = infos.into_iter().find_map(|info| match info {
                        LinkInfo::Kind(kind) => Some(kind.to_string()),
                        _ => None,
                    });
                }
                _ => {}
            }
        }
        found.insert(message.header.index, (name, link));
    }
    let mut addresses = handle.address().get().execute();
    while let Some(message) = addresses.try_next().await? {
        let Some((_, link)) = found.get_mut(&message.header.index) else { continue };
        // On a point-to-point link the address is the peer's, and the local one is ours.
        let (mut address, mut local): (Option<IpAddr>, Option<IpAddr>) = (None, None);
        for attribute in message.attributes {
            match attribute {
                AddressAttribute::Address(ip) => address = Some(ip),
                AddressAttribute::Local(ip) => local = Some(ip),
                _ => {}
            }
        }
        let ours = local.or(address).and_then(|ip| IpNet::new(ip, message.header.prefix_len).ok());
        link.addresses.extend(ours);
    }
    Ok(found
        .into_values()
        .map(|(name, mut link)| {
            link.addresses.sort();
            link.addresses.dedup();
            (name, link)
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_link_is_seen() {
        let links = links().unwrap();
        assert_eq!(links["lo"].kind, None);
        assert!(links["lo"].mtu > 0);
    }

    #[test]
    fn it_may_be_called_from_inside_a_runtime() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert!(runtime.block_on(async { links() }).is_ok());
    }
}
