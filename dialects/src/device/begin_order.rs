//! Which rTasks of a kernel are begun together, and in which order.

/// The rTasks that run at the same time, on units beside each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// How many, at least 2.
    pub count: u64,
    /// Between the numbers of two that follow each other in it, at least 1.
    pub apart: u64,
}

impl Cluster {
    /// The cluster that `[rTasks, distance]` writes; `None` where it is none.
    pub(super) fn read(numbers: &[i64]) -> Option<Self> {
        let &[count, apart] = numbers else { return None };
        let [count, apart] = [count, apart].map(|own| u64::try_from(own).ok());
        let (count, apart) = (count.filter(|own| *own > 1)?, apart.filter(|own| *own > 0)?);
        Some(Self { count, apart })
    }

    /// As many rTasks as are whole clusters, whose numbers follow each other.
    pub fn whole(self) -> u64 {
        self.count.saturating_mul(self.apart)
    }
}

/// The order in which a launch begins rTasks: some of those that are apart before the ones that lie between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bands {
    /// RTasks of a band, at least 2.
    pub count: u64,
    /// RTasks of all bands, at least as many; the last band may have fewer.
    pub all: u64,
    /// Between the numbers of two that follow each other in a band, at least 2.
    pub apart: u64,
}

impl Bands {
    /// The bands that `[rTasks, all, distance]` writes; `None` where they are none.
    pub(super) fn read(numbers: &[i64]) -> Option<Self> {
        let numbers: Option<Vec<u64>> =
            numbers.iter().map(|own| u64::try_from(*own).ok()).collect();
        let &[count, all, apart] = &numbers?[..] else { return None };
        (count > 1 && all >= count && apart > 1).then_some(Self { count, all, apart })
    }

    /// As many rTasks as are whole bands, whose numbers follow each other.
    pub fn whole(self) -> u64 {
        self.all.saturating_mul(self.apart)
    }

    /// The same of clusters in the place of rTasks; `None` where bands cut clusters.
    pub fn of_clusters(self, cluster: Cluster) -> Option<Self> {
        let Self { count, all, apart } = self;
        let by = |own: u64| own.is_multiple_of(cluster.count).then_some(own / cluster.count);
        if cluster.apart == apart {
            return Some(Self { count: by(count)?, all: by(all)?, apart });
        }
        if apart.is_multiple_of(cluster.whole()) {
            return Some(Self { apart: apart / cluster.count, ..self });
        }
        cluster.apart.is_multiple_of(self.whole()).then_some(self)
    }
}
