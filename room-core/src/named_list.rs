//! A named list as its owner configured it, for rules to refer to. Reads no JSON, searches nothing.

use crate::id::{ListId, ListItemId};
use crate::rule::{KnownLists, List, ListKind, Lists};
use crate::sorted::SortedMap;
use crate::time::Timestamp;

/// Longest name of a list, in bytes, as in the original.
pub const MAX_LIST_NAME_BYTES: usize = 50;
/// Most items of one list: they are one row of at most 2 MB. The original takes 10,000 in all.
pub const MAX_LIST_ITEMS: usize = 5_000;

/// Items of one kind under a name. Made by `config`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedList {
    /// Names the list for ever.
    pub id: ListId,
    /// What rules call it, behind `$`: small letters, digits and `_`.
    pub name: String,
    /// What its items are.
    pub kind: ListKind,
    /// A note of the owner.
    pub description: String,
    /// When the list was made.
    pub created_on: Timestamp,
    /// When the list or an item was last changed.
    pub modified_on: Timestamp,
    /// The items, oldest first; none stands twice.
    pub items: Vec<ListItem>,
}

/// One item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListItem {
    /// Names the item.
    pub id: ListItemId,
    /// An address or a network, a host name, or an AS number, as written; it fits the list's kind.
    pub value: String,
    /// A note of the owner.
    pub comment: String,
    /// When the item was added.
    pub created_on: Timestamp,
    /// When its comment was last changed.
    pub modified_on: Timestamp,
}

impl NamedList {
    /// The items, ready to be searched; or which of them does not fit the kind.
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

/// What expressions may refer to if there are these lists.
pub fn known<'l>(lists: impl IntoIterator<Item = &'l NamedList>) -> KnownLists {
    lists.into_iter().map(|list| (list.name.clone(), list.kind)).collect()
}

/// All lists by name, ready to be searched.
pub fn compiled<'l>(lists: impl IntoIterator<Item = &'l NamedList>) -> Result<Lists, String> {
    let compiled = |list: &NamedList| {
        let items = list.compiled().map_err(|why| format!("the list {}: {why}", list.name))?;
        Ok((list.name.clone(), items))
    };
    lists.into_iter().map(compiled).collect::<Result<SortedMap<_, _>, String>>()
}
