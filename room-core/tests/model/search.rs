//! The search: every order of events from one situation, the shortest paths first.
//!
//! A state is kept as its fingerprint, and as its parent and the event that led to it; 24 bytes in
//! all. The worlds themselves are made again from their parents, layer by layer: those of one layer
//! stand in the order of their parents, so that a walk along a layer applies each event of the tree
//! once. Orders of independent events lead to one state and are followed once from there.

use std::rc::Rc;

use crate::events::Event;
use crate::fingerprint::Seen;
use crate::room::Room;
use crate::world::World;

/// A state, and how it was reached first.
#[derive(Clone, Copy)]
struct Node {
    parent: u32,
    event: Event,
}

/// When a search stops.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The most events after the situation.
    pub depth: usize,
    /// The most states.
    pub states: usize,
    /// One state in so many of the last layers is followed to the end.
    pub drains_one_in: u128,
}

/// What a search found.
pub struct Found {
    pub states: usize,
    /// Events that were tried.
    pub events: usize,
    /// The depth up to which every order was tried.
    pub depth: usize,
    /// How many states were followed to the end.
    pub drains: usize,
    /// The shortest way to break a law, and which law.
    pub broken: Option<(Vec<Event>, String)>,
}

struct Search {
    bounds: Bounds,
    seen: Seen,
    nodes: Vec<Node>,
    found: Found,
}

/// The same events once more, and if they alone break no law what follows, in words.
pub fn trace(room: &Rc<Room>, events: &[Event]) -> Vec<String> {
    let mut world = World::new(Rc::clone(room));
    world.begin();
    world.told = Some(Vec::new());
    for event in events {
        world.apply(*event);
    }
    if world.broken.is_none() {
        world.drain();
    }
    let mut told = world.told.unwrap_or_default();
    told.extend(world.broken.map(|law| format!("BROKEN: {law}")));
    told
}

/// Tries every order of events after those that the room begins with.
pub fn search(room: &Rc<Room>, bounds: Bounds) -> Found {
    let mut root = World::new(Rc::clone(room));
    root.begin();
    assert_eq!(root.broken, None, "the situation itself breaks a law");
    let found = Found { states: 0, events: 0, depth: 0, drains: 0, broken: None };
    let mut search = Search { bounds, seen: Seen::new(), nodes: Vec::new(), found };
    search.seen.insert(root.print());
    search.nodes.push(Node { parent: 0, event: Event::Pass });
    search.run(root);
    search.found.states = search.seen.len();
    search.found
}

impl Search {
    fn run(&mut self, root: World) {
        let mut layer = 0..1;
        let mut path = vec![(0, root)];
        for depth in 0..self.bounds.depth {
            for index in layer.clone() {
                self.expand(index, &mut path);
                if self.found.broken.is_some() || self.nodes.len() >= self.bounds.states {
                    return;
                }
            }
            self.found.depth = depth + 1;
            layer = layer.end..self.nodes.len();
        }
    }

    /// Tries every event in one state.
    fn expand(&mut self, index: usize, path: &mut Vec<(usize, World)>) {
        self.walk_to(index, path);
        let Some((_, world)) = path.last() else { return };
        for event in world.enabled() {
            let mut next = world.clone();
            next.apply(event);
            self.found.events += 1;
            if let Some(law) = next.broken {
                self.found.broken = Some((self.events_to(index, Some(event)), law));
                return;
            }
            let print = next.print();
            if !self.seen.insert(print) {
                continue;
            }
            self.nodes.push(Node { parent: index as u32, event });
            if print % self.bounds.drains_one_in == 0 {
                self.found.drains += 1;
                next.drain();
                if let Some(law) = next.broken {
                    self.found.broken = Some((self.events_to(index, Some(event)), law));
                    return;
                }
            }
        }
    }

    /// Makes the worlds on the way to a state, from the last one that both ways share.
    fn walk_to(&self, index: usize, path: &mut Vec<(usize, World)>) {
        let mut missing = Vec::new();
        let mut at = index;
        loop {
            while path.last().is_some_and(|(last, _)| *last > at) {
                path.pop();
            }
            if path.last().is_some_and(|(last, _)| *last == at) {
                break;
            }
            missing.push(at);
            at = self.nodes[at].parent as usize;
        }
        for index in missing.into_iter().rev() {
            let Some((_, world)) = path.last() else { return };
            let mut next = world.clone();
            next.apply(self.nodes[index].event);
            path.push((index, next));
        }
    }

    fn events_to(&self, index: usize, last: Option<Event>) -> Vec<Event> {
        let mut events: Vec<Event> = last.into_iter().collect();
        let mut at = index;
        while at > 0 {
            events.push(self.nodes[at].event);
            at = self.nodes[at].parent as usize;
        }
        events.reverse();
        events
    }
}
