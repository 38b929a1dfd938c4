use super::*;

#[test]
fn memory_that_can_shrink_is_refused() {
    let fd = memfd_create("t", MemfdFlags::ALLOW_SEALING).unwrap();
    ftruncate(&fd, 8192).unwrap();
    let error = SharedMemory::open(fd, 4096).unwrap_err();
    assert!(error.to_string().contains("F_SEAL_SHRINK"), "{error}");
}

#[test]
fn memory_shorter_than_its_region_is_refused() {
    let memory = SharedMemory::create("t", 4096).unwrap();
    let fd = memory.fd().try_clone_to_owned().unwrap();
    let error = SharedMemory::open(fd, 4097).unwrap_err();
    assert!(error.to_string().contains("longer"), "{error}");
}

/// Number of KiB of a mapping that are present in this process.
fn mapped_kib(memory: &SharedMemory) -> usize {
    let start = format!("{:x}-", memory.base().as_ptr() as usize);
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let lines = maps.lines().skip_while(|line| !line.starts_with(&start));
    let rss = lines.into_iter().find_map(|line| line.strip_prefix("Rss:")).unwrap();
    rss.trim_end_matches("kB").trim().parse().unwrap()
}

#[test]
fn populating_maps_existing_pages_and_creates_none() {
    let page = rustix::param::page_size();
    let fd = memfd_create("t", MemfdFlags::ALLOW_SEALING).unwrap();
    ftruncate(&fd, 64 * page as u64).unwrap();
    fcntl_add_seals(&fd, SEALS).unwrap();
    for number in [0, 1, 30, 63] {
        rustix::io::pwrite(&fd, b"x", number * page as u64).unwrap();
    }
    let blocks = || rustix::fs::fstat(&fd).unwrap().st_blocks as usize;
    let before = blocks();
    let memory = SharedMemory::open(fd.try_clone().unwrap(), 64 * page).unwrap();
    assert_eq!(mapped_kib(&memory), 0, "opening maps no page");
    assert_eq!(memory.populate(0, 16 * page), 16 * page);
    assert_eq!(mapped_kib(&memory), 2 * page / 1024);
    assert_eq!(memory.populate(16 * page, usize::MAX / 2), 64 * page);
    assert_eq!(mapped_kib(&memory), 4 * page / 1024);
    assert_eq!(memory.populate(64 * page, page), 64 * page);
    assert_eq!((before * 512, blocks()), (4 * page, before));
}

#[test]
fn a_futex_wait_ends_at_its_deadline() {
    let word = AtomicU32::new(7);
    let deadline = now_ns() + 1_000_000;
    futex_wait(&word, 7, Some(deadline));
    assert!(now_ns() >= deadline);
}
