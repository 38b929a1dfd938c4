//! Test programs for both ends: a server and a client. Each connection starts with a header that
//! describes its job. Received data is checked by its SHA-256.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::thread;
use std::time::Duration;

use rustix::net::sockopt;
use rustix::net::{AddressFamily, SocketType};
use sha2::{Digest, Sha256};

use super::proxy::reset_at_close;
use crate::random::Random;

/// Maximum time of a read or write. Only a hang takes longer: the buffers hold megabytes, and the
/// simulation may be slow.
const LIMIT: Duration = Duration::from_secs(1800);
const CHUNK: usize = 16_384;
/// Size of a header in bytes.
const HEADER: usize = 25;

/// The job of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceJob {
    /// Seed of the data.
    pub seed: u64,
    /// Number of bytes from the client.
    pub up: u64,
    /// Number of bytes to the client.
    pub down: u64,
    /// How the connection ends.
    pub end: End,
    /// Size of the client's receive buffer. 0 means the default.
    pub buffer: usize,
    /// Maximum segment size of the client. 0 means the default.
    pub mss: u32,
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// The client closes its direction first, once it has sent all data.
    #[default]
    ClientFirst,
    /// The server closes first.
    ServerFirst,
    /// The client resets the connection during the transfer.
    ClientAborts,
    /// The server resets the connection during the transfer.
    ServerAborts,
}

impl ServiceJob {
    fn header(&self) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        for (place, value) in header.chunks_exact_mut(8).zip([self.seed, self.up, self.down]) {
            place.copy_from_slice(&value.to_le_bytes());
        }
        header[HEADER - 1] = self.end as u8;
        header
    }

    fn parse(header: &[u8; HEADER]) -> Self {
        let mut words = header
            .chunks_exact(8)
            .map(|bytes| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        let mut word = || words.next().unwrap_or(0);
        let (seed, up, down) = (word(), word(), word());
        let end = match header[HEADER - 1] {
            0 => End::ClientFirst,
            1 => End::ServerFirst,
            2 => End::ClientAborts,
            _ => End::ServerAborts,
        };
        Self { seed, up, down, end, ..Self::default() }
    }
}

type DataHash = [u8; 32];

/// Sends the data of a seed and returns its hash.
fn send(stream: &mut impl Write, seed: u64, mut left: u64) -> io::Result<DataHash> {
    let (mut random, mut sum) = (Random::new(seed), Sha256::new());
    let mut chunk = [0; CHUNK];
    while left > 0 {
        for place in chunk.chunks_exact_mut(8) {
            place.copy_from_slice(&random.bits().to_le_bytes());
        }
        let part = &chunk[..left.min(CHUNK as u64) as usize];
        sum.update(part);
        stream.write_all(part)?;
        left -= part.len() as u64;
    }
    Ok(sum.finalize().into())
}

/// Hash of the data that [`send`] sends.
fn expected(seed: u64, bytes: u64) -> DataHash {
    send(&mut io::sink(), seed, bytes).unwrap_or_default()
}

/// Receives `left` bytes and returns their hash.
fn receive(stream: &mut TcpStream, mut left: u64) -> io::Result<DataHash> {
    let mut sum = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    while left > 0 {
        let want = left.min(CHUNK as u64) as usize;
        let count = stream.read(&mut chunk[..want])?;
        if count == 0 {
            let text = format!("the other end closed {left} bytes too early");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
        }
        sum.update(&chunk[..count]);
        left -= count as u64;
    }
    Ok(sum.finalize().into())
}

/// Checks that the stream ends here.
fn end(stream: &mut TcpStream) -> io::Result<()> {
    match stream.read(&mut [0])? {
        0 => Ok(()),
        _ => Err(io::Error::other("unexpected data after the end")),
    }
}

fn limit(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(LIMIT))?;
    stream.set_write_timeout(Some(LIMIT))
}

/// Serves connections on an address in new threads. Returns the port.
///
/// # Errors
/// The address is in use.
pub fn serve(address: SocketAddrV4) -> Result<u16, String> {
    let listener = TcpListener::bind(address).map_err(|e| format!("{address}: {e}"))?;
    let port = listener.local_addr().map_err(|e| format!("{address}: {e}"))?.port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // The client notices errors.
            thread::spawn(move || serve_one(stream));
        }
    });
    Ok(port)
}

fn serve_one(mut stream: TcpStream) -> io::Result<()> {
    limit(&stream)?;
    let mut header = [0; HEADER];
    stream.read_exact(&mut header)?;
    let job = ServiceJob::parse(&header);
    if job.end == End::ServerAborts {
        reset_at_close(&stream);
        return Ok(());
    }
    let mut out = stream.try_clone()?;
    let sender = thread::spawn(move || send(&mut out, !job.seed, job.down));
    let got = receive(&mut stream, job.up)?;
    if job.end == End::ClientFirst {
        end(&mut stream)?;
    }
    sender.join().map_err(|_| io::Error::other("the sending thread panicked"))??;
    stream.write_all(&got)?;
    stream.shutdown(Shutdown::Write)?;
    if job.end == End::ServerFirst {
        end(&mut stream)?;
    }
    Ok(())
}

/// Opens a connection and does its job.
///
/// # Errors
/// The connection fails, or received data differs from the sent data.
pub fn connect(address: SocketAddrV4, job: &ServiceJob) -> Result<(), String> {
    connect_late(address, job, || Ok(()))
}

/// Like [`connect`], but the client does not read before `wait` has returned.
///
/// # Errors
/// The connection fails, received data differs from the sent data, or the error of `wait`.
pub fn connect_late(
    address: SocketAddrV4,
    job: &ServiceJob,
    wait: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    open(address, job).and_then(|stream| run(stream, job, wait)).map_err(|e| text(address, job, &e))
}

/// Waits for all threads and returns the first error.
fn all_done(ends: impl Iterator<Item = thread::Result<Result<(), String>>>) -> Result<(), String> {
    let died = |_| Err("the thread of a connection panicked".to_owned());
    let ends: Vec<_> = ends.map(|end| end.unwrap_or_else(died)).collect();
    ends.into_iter().collect()
}

fn text(address: SocketAddrV4, job: &ServiceJob, error: &io::Error) -> String {
    format!("{address}, {job:?}: {error}")
}

fn open(address: SocketAddrV4, job: &ServiceJob) -> io::Result<TcpStream> {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None)?;
    if job.buffer != 0 {
        sockopt::set_socket_recv_buffer_size(&socket, job.buffer)?;
    }
    if job.mss != 0 {
        let mss = job.mss as libc::c_int;
        // SAFETY: the option is an int, and `mss` is one.
        let done = unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_MAXSEG,
                (&raw const mss).cast(),
                size_of::<libc::c_int>() as libc::socklen_t,
            )
        };
        if done != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    // This also limits the time of the handshake.
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(LIMIT))?;
    rustix::net::connect(&socket, &address)?;
    Ok(TcpStream::from(socket))
}

fn run(
    mut stream: TcpStream,
    job: &ServiceJob,
    wait: impl FnOnce() -> Result<(), String>,
) -> io::Result<()> {
    limit(&stream)?;
    stream.write_all(&job.header())?;
    if job.end == End::ServerAborts {
        return match stream.read(&mut [0; 1]) {
            Err(e) if e.kind() == io::ErrorKind::ConnectionReset => Ok(()),
            other => Err(io::Error::other(format!("expected a reset, got {other:?}"))),
        };
    }
    if job.end == End::ClientAborts {
        send(&mut stream, job.seed, job.up)?;
        receive(&mut stream, job.down)?;
        reset_at_close(&stream);
        return Ok(());
    }
    let mut out = stream.try_clone()?;
    let job = *job;
    let sender = thread::spawn(move || {
        let sum = send(&mut out, job.seed, job.up)?;
        if job.end == End::ClientFirst {
            out.shutdown(Shutdown::Write)?;
        }
        Ok::<_, io::Error>(sum)
    });
    wait().map_err(io::Error::other)?;
    let got = receive(&mut stream, job.down)?;
    let sent = sender.join().map_err(|_| io::Error::other("the sending thread panicked"))??;
    let mut theirs = [0; 32];
    stream.read_exact(&mut theirs)?;
    end(&mut stream)?;
    if theirs != sent {
        return Err(io::Error::other("the server received other data than was sent"));
    }
    if got != expected(!job.seed, job.down) {
        return Err(io::Error::other("received other data than the server sent"));
    }
    Ok(())
}

/// Runs `count` connections in `threads` threads. `job` returns each by its number.
///
/// # Errors
/// Returns the first error.
pub fn connect_all(
    address: SocketAddrV4,
    threads: u32,
    count: u32,
    job: impl Fn(u32) -> ServiceJob + Sync,
) -> Result<(), String> {
    let next = std::sync::atomic::AtomicU32::new(0);
    let worker = || {
        loop {
            let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if number >= count {
                return Ok(());
            }
            connect(address, &job(number))?;
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let results = workers.into_iter().map(|w| w.join());
        all_done(results)
    })
}

/// Runs several connections, which are all open before the first byte is sent.
///
/// # Errors
/// Returns the first error.
pub fn connect_together(jobs: &[(SocketAddrV4, ServiceJob)]) -> Result<(), String> {
    let mut streams = Vec::new();
    for (address, job) in jobs {
        streams.push(open(*address, job).map_err(|e| text(*address, job, &e))?);
    }
    thread::scope(|scope| {
        let both = streams.into_iter().zip(jobs);
        // Start all of them before waiting for the first.
        let runs: Vec<_> = both
            .map(|(stream, (address, job))| {
                scope
                    .spawn(move || run(stream, job, || Ok(())).map_err(|e| text(*address, job, &e)))
            })
            .collect();
        let results = runs.into_iter().map(thread::ScopedJoinHandle::join);
        all_done(results)
    })
}

/// Joins an address and a port.
#[must_use]
pub fn at(ip: Ipv4Addr, port: u16) -> SocketAddrV4 {
    SocketAddrV4::new(ip, port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_end_as_told_over_loopback() {
        let port = serve(at(Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let address = at(Ipv4Addr::LOCALHOST, port);
        let job = ServiceJob { seed: 5, up: 100_001, down: 70_000, ..ServiceJob::default() };
        for end in [End::ClientFirst, End::ServerFirst, End::ClientAborts, End::ServerAborts] {
            connect(address, &ServiceJob { end, ..job }).expect("passes");
            assert_eq!(
                ServiceJob::parse(&ServiceJob { end, ..job }.header()),
                ServiceJob { end, ..job }
            );
        }
        connect_all(address, 4, 20, |n| ServiceJob { seed: n.into(), ..job }).expect("passes");
    }
}
