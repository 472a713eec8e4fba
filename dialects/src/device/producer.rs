//! A group of lanes that does nothing but ask for boxes, and leaves most of its registers to the others.
//!
//! ```text
//! 65536 registers, 2 blocks a unit of 256 lanes and 128 that ask
//!   at first    65536 / (2 * 384) = 85, in eights 80 for each lane
//!   then        24 for one that asks, (384 * 80 - 128 * 24) / 256 = 108, in eights 104 for each other
//! ```

/// Which group asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Producer {
    /// Its lanes.
    pub lanes: u64,
    /// Bytes of registers that each of them keeps.
    pub bytes: u64,
    /// Registers of a lane are given away in so many bytes.
    pub step: u64,
}

/// Bytes of registers of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterShares {
    /// When a block begins, of each lane.
    pub first: u64,
    /// Of one that asks.
    pub producer: u64,
    /// Of every other one.
    pub others: u64,
}

impl Producer {
    /// What lanes have where a core with `core` bytes of registers has so many blocks, each of `lanes` lanes and the
    /// producer's; a lane can have `most` bytes.
    ///
    /// # Errors
    /// The sum that is not one, as a sentence.
    pub fn share(
        &self,
        [core, most]: [u64; 2],
        lanes: u64,
        blocks: u64,
    ) -> Result<RegisterShares, String> {
        let Self { lanes: own, bytes, step } = *self;
        let whole = |bytes: u64| bytes.min(most) / step * step;
        let all = lanes + own;
        let first = whole(core / blocks.saturating_mul(all).max(1));
        if first < bytes || lanes == 0 {
            return Err(format!(
                "{blocks} x ({lanes} + {own}) lanes have {first} bytes of registers each, of {core} in a core, and one that \
                 asks keeps {bytes}"
            ));
        }
        let others = whole((first * all - bytes * own) / lanes);
        Ok(RegisterShares { first, producer: bytes, others })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Producer = Producer { lanes: 128, bytes: 96, step: 32 };

    #[test]
    fn others_get_what_is_left() {
        let of = |lanes, blocks| OWN.share([262144, 1020], lanes, blocks).unwrap();
        assert_eq!(of(256, 2), RegisterShares { first: 320, producer: 96, others: 416 });
        assert_eq!(of(256, 1), RegisterShares { first: 672, producer: 96, others: 960 });
        assert_eq!(of(384, 1), RegisterShares { first: 512, producer: 96, others: 640 });
        // No lane has more than it can name.
        assert_eq!(of(128, 1), RegisterShares { first: 992, producer: 96, others: 992 });
    }

    #[test]
    fn too_many_lanes_are_a_sum() {
        let wrong = OWN.share([262144, 1020], 1024, 4).unwrap_err();
        assert!(wrong.starts_with("4 x (1024 + 128) lanes have 32 bytes"), "{wrong}");
    }
}
