//! All random draws of a world, from one seed, split by concern. There is no other entropy.
//!
//! Each concern has a stream of its own, so that another draw in the network changes no visitor.

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Exp1, Poisson, StandardNormal};
use rand_pcg::Pcg64Mcg;
use room_core::admission::RandomInputs;
use room_core::base::id::TicketId;
use room_core::order::lottery::LotteryKey;

/// One stream of random draws.
#[derive(Debug)]
pub struct Stream(Pcg64Mcg);

/// The streams of a world, all derived from its seed.
#[derive(Debug)]
pub struct Chance {
    /// When visitors come, and where: the same for every algorithm.
    pub arrivals: Stream,
    /// What visitors do: patience, stay, times between pages, repeated requests.
    pub visitors: Stream,
    /// Delay, loss, repetition and order of messages; the clocks.
    pub network: Stream,
    /// Birth, death and choice of isolates.
    pub isolates: Stream,
    /// The product's own draws: ticket ids, jitter, incarnations.
    pub product: Stream,
}

impl Chance {
    /// Makes the streams of this seed.
    pub fn new(seed: u64) -> Self {
        let stream = |concern: u64| Stream::new(seed.wrapping_mul(1_009).wrapping_add(concern));
        Self {
            arrivals: stream(5),
            visitors: stream(1),
            network: stream(2),
            isolates: stream(3),
            product: stream(4),
        }
    }
}

impl Stream {
    /// Makes the stream of this seed.
    pub fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    /// Draws a time that is exponential with this mean, at least 1 ms.
    pub fn exponential_ms(&mut self, mean_ms: f64) -> u64 {
        let one: f64 = Exp1.sample(&mut self.0);
        ((one * mean_ms) as u64).max(1)
    }

    /// Draws a time that is log-normal with this median and this sigma of the logarithm.
    pub fn log_normal_ms(&mut self, median_ms: f64, sigma: f64) -> u64 {
        let one: f64 = StandardNormal.sample(&mut self.0);
        (median_ms * (one * sigma).exp()) as u64
    }

    /// Draws a count that is `mean` on average, by a Poisson distribution.
    pub fn poisson(&mut self, mean: f64) -> u64 {
        Poisson::new(mean).map_or(0, |counts: Poisson<f64>| counts.sample(&mut self.0) as u64)
    }

    /// Draws a number from `low` to `high`, both included, all equally likely.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        self.0.random_range(low..=high)
    }

    /// Draws whether an event of this probability happens, 0 to 1. Probability 0 draws nothing.
    pub fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.0.random::<f64>() < probability
    }

    /// Draws an index by its weight; `cumulated` holds the running sums of the weights.
    pub fn pick(&mut self, cumulated: &[f64]) -> usize {
        let point = self.0.random::<f64>() * cumulated.last().copied().unwrap_or(0.0);
        let index = cumulated.partition_point(|end| *end <= point);
        index.min(cumulated.len().saturating_sub(1))
    }

    /// Draws a number that names an incarnation.
    pub fn number(&mut self) -> u64 {
        self.0.random()
    }

    /// Draws the product's random inputs for one visit: the ticket id and the jitter.
    pub fn random(&mut self) -> RandomInputs {
        RandomInputs {
            ticket_id: TicketId::from_bytes(self.0.random()),
            jitter: self.0.random(),
            lottery: LotteryKey::default(),
        }
    }
}

/// The weight `1 / rank^exponent` of the given index, counted from 0.
pub fn zipf(index: usize, exponent: f64) -> f64 {
    (index as f64 + 1.0).powf(-exponent)
}

/// Returns the running sums of weights, for [`Stream::pick`].
pub fn cumulated(weights: impl Iterator<Item = f64>) -> Vec<f64> {
    let sums = weights.scan(0.0, |sum, weight| {
        *sum += weight;
        Some(*sum)
    });
    sums.collect()
}
