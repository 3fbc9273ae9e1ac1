//! Objects that sleep. The platform may take their memory, and the next call starts a new one.

use room_core::base::id::Incarnation;
use room_core::machines::data_center_aggregator::DataCenterAggregator;
use room_core::machines::data_center_counter::DataCenterCounter;

use super::{Instance, Objects};
use crate::world::address::{Object, counter_node, node};
use crate::world::calls::Context;

impl Objects {
    /// Starts an object again that slept, with what it has stored and its copy.
    pub(super) fn forget(&mut self, object: Object, context: &mut Context<'_>) {
        let incarnation = Incarnation(context.chance.product.number());
        match object {
            Object::Global => {
                self.restart_global(context);
                self.writes_all = true;
            }
            Object::Counter(counter) => {
                let Some(instance) = self.counters.get_mut(counter.index()) else { return };
                let now = instance.clock(context.now);
                let (node, copy) = (counter_node(counter.index()), instance.object.machine.copy());
                let machine = DataCenterCounter::new(node, Some(&copy), now);
                *instance = Instance::new(machine, incarnation, instance.ahead_ms);
            }
            Object::Aggregator(data_center) => {
                let data_center = data_center as usize;
                let Some(instance) = self.aggregators.get_mut(data_center) else { return };
                let now = instance.clock(context.now);
                let (node, copy) = (node(data_center), instance.object.machine.copy());
                let machine = DataCenterAggregator::new(node, Some(&copy), now, incarnation);
                *instance = Instance::new(machine, incarnation, instance.ahead_ms);
            }
        }
    }
}
