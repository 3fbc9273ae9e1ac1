//! Named lists as their owner configured them. Bypass rules refer to them by `in $name`.

use crate::base::id::{ListId, ListItemId};
use crate::base::sorted::SortedMap;
use crate::base::time::Timestamp;
use crate::rules::{KnownLists, List, ListKind, Lists};

/// The longest name of a list, in bytes, as with Cloudflare.
pub const MAX_LIST_NAME_BYTES: usize = 50;
/// The most items of one list, since they are one row of at most 2 MB. Cloudflare allows 10,000 in
/// all lists together.
pub const MAX_LIST_ITEMS: usize = 5_000;

/// A named list: items of one kind for bypass rules. Only `management::config` makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedList {
    /// The permanent id of the list.
    pub id: ListId,
    /// The name by which rules refer to the list, behind a `$`: small letters, digits and `_`.
    pub name: String,
    /// What the items are: addresses, host names or AS numbers.
    pub kind: ListKind,
    /// A note of the owner, without effect.
    pub description: String,
    /// When the list was made.
    pub created_on: Timestamp,
    /// When the list or one of its items was last changed.
    pub modified_on: Timestamp,
    /// The items, oldest first. No value occurs twice.
    pub items: Vec<ListItem>,
}

/// One item of a named list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListItem {
    /// The permanent id of the item.
    pub id: ListItemId,
    /// The value as written. By the kind of the list it is an address or a network, a host name, or
    /// an AS number.
    pub value: String,
    /// A note of the owner, without effect.
    pub comment: String,
    /// When the item was added.
    pub created_on: Timestamp,
    /// When the comment was last changed.
    pub modified_on: Timestamp,
}

impl NamedList {
    /// Makes the items ready to be searched. Errors: what is wrong with an item that does not fit
    /// the kind.
    pub fn compiled(&self) -> Result<List, String> {
        let values = || self.items.iter().map(|item| item.value.as_str());
        match self.kind {
            ListKind::Asn => {
                let numbers: Result<Vec<u32>, _> = values().map(str::parse).collect();
                numbers.map(List::of_asns).map_err(|_| "an AS number is none".to_owned())
            }
            ListKind::Hostname => List::of_hostnames(values()).map_err(|error| error.to_string()),
            ListKind::Ip => List::of_ips(values()).map_err(|error| error.to_string()),
        }
    }
}

/// Returns the names and kinds of these lists, to which expressions may refer.
pub fn known<'l>(lists: impl IntoIterator<Item = &'l NamedList>) -> KnownLists {
    lists.into_iter().map(|list| (list.name.clone(), list.kind)).collect()
}

/// Makes all lists ready to be searched, by name. Errors: which list has an item that does not fit
/// its kind.
pub fn compiled<'l>(lists: impl IntoIterator<Item = &'l NamedList>) -> Result<Lists, String> {
    let compiled = |list: &NamedList| {
        let items = list.compiled().map_err(|why| format!("the list {}: {why}", list.name))?;
        Ok((list.name.clone(), items))
    };
    lists.into_iter().map(compiled).collect::<Result<SortedMap<_, _>, String>>()
}
