//! The interpreter of payloads against plain loops, and models against their kernels.

mod interpret {
    mod models;
    mod nests;
    mod programs;
    mod support;
}
