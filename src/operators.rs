//! The hosts of the management surface `/_waiting-room/`, the variable `ADMIN_HOSTS`. On all others
//! such requests are ordinary traffic.

use room_core::base::sorted::SortedMap;
use room_core::base::url::split_url;
use room_core::visit::session;

/// Where the paths of the management surface begin.
pub const PREFIX: &str = "/_waiting-room/";
const DEFAULT_HOSTS: &str = "localhost,127.0.0.1,*.workers.dev";

/// The hosts on which owners are answered.
pub struct OperatorHosts(Vec<String>);

impl OperatorHosts {
    /// Reads the variable `ADMIN_HOSTS`.
    pub fn new(vars: &SortedMap<String, String>) -> Self {
        let hosts = vars.get("ADMIN_HOSTS").map_or(DEFAULT_HOSTS, String::as_str);
        let host = |host: &str| host.trim().to_ascii_lowercase();
        Self(hosts.split(',').map(host).filter(|host| !host.is_empty()).collect())
    }

    /// Whether this URL belongs to the management surface.
    pub fn serves(&self, url: &str) -> bool {
        // Nearly every visit ends here, most of them with the quick search for one byte.
        if !url.contains('_') || !url.contains(PREFIX) {
            return false;
        }
        let Some(parts) = split_url(url) else { return false };
        let host = parts.host.to_ascii_lowercase();
        let is_below = parts.path.starts_with(PREFIX) && parts.path != session::PATH;
        is_below && self.0.iter().any(|pattern| covers(pattern, &host))
    }
}

/// Whether an entry of `ADMIN_HOSTS` covers this host. `*.example` covers every host below
/// `example`, any other entry only itself.
fn covers(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(ending) => host.len() > ending.len() && host.ends_with(ending),
        None => host == pattern,
    }
}

#[cfg(test)]
mod tests {
    use room_core::base::sorted::SortedMap;

    use super::OperatorHosts;

    #[test]
    fn the_surface_is_served_on_admin_hosts_alone() {
        let hosts = OperatorHosts::new(&SortedMap::default());
        let check = |url: &str, want: bool| {
            assert_eq!(hosts.serves(url), want, "{url}");
        };
        check("http://localhost:8787/_waiting-room/health", true);
        check("https://room.someone.workers.dev/_waiting-room/health", true);
        check("https://workers.dev/_waiting-room/health", false);
        check("https://shop.example/_waiting-room/health", false);
        check("http://localhost/x/_waiting-room/health", false);
        check("http://localhost/?/_waiting-room/health", false);
    }
}
