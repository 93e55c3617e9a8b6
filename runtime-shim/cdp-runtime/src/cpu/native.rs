//! Machine code for the CPU device from another process, which has LLVM: `cdpc run` makes it for its program.
//!
//! A request is a run's text (`cdp_emulator::native::text`), an answer its code, none being no bytes. Either
//! has its number of bytes before it, four bytes in the order of the processor. What comes is called as it is:
//! the socket is named by whoever starts the program, who could start another one as well, and a process of this
//! user listens there. A program with rights that who starts it has not (set-user-ID) asks nobody.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cdp_emulator::native::Maker;

/// Code of a run is never longer.
const MOST_BYTES: u32 = 16 << 20;

/// Asks at a socket, to which it connects when there is something to ask.
#[derive(Debug)]
pub struct Remote {
    socket: PathBuf,
    state: Mutex<Line>,
}

#[derive(Debug)]
enum Line {
    /// Nobody has asked yet.
    New,
    /// In this process; one that was forked off must not listen to answers of the other.
    Open(UnixStream, u32),
    /// It broke, or was never there.
    Closed,
}

impl Remote {
    /// Somebody who listens there.
    pub fn new(socket: &Path) -> Remote {
        Remote { socket: socket.to_path_buf(), state: Mutex::new(Line::New) }
    }
}

impl Maker for Remote {
    fn make(&self, run: &str) -> Option<Vec<u8>> {
        let mut line = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Line::New = *line {
            *line = match UnixStream::connect(&self.socket) {
                Ok(stream) if trust::is_ours(&stream) => Line::Open(stream, std::process::id()),
                _ => Line::Closed,
            };
        }
        let Line::Open(stream, process) = &mut *line else { return None };
        let answer = if *process == std::process::id() { ask(stream, run) } else { Ok(Vec::new()) };
        match answer {
            Ok(code) => Some(code).filter(|code| !code.is_empty()),
            Err(_) => {
                *line = Line::Closed;
                None
            }
        }
    }
}

/// Whose code may be called: the folder of the run goes with `cdpc`, and its name may then be anybody's.
#[cfg(target_os = "linux")]
mod trust {
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    /// This program has the rights of who started it, and who listens is the same user.
    pub fn is_ours(stream: &UnixStream) -> bool {
        let mut peer = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
        let mut bytes = size_of::<libc::ucred>() as u32;
        // SAFETY: a socket of ours; the structure is that of socket(7), and as long as is said.
        unsafe {
            let to = (&raw mut peer).cast();
            let (level, name) = (libc::SOL_SOCKET, libc::SO_PEERCRED);
            libc::getauxval(libc::AT_SECURE) == 0
                && libc::getsockopt(stream.as_raw_fd(), level, name, to, &raw mut bytes) == 0
                && bytes == size_of::<libc::ucred>() as u32
                && peer.uid == libc::geteuid()
        }
    }
}

/// Elsewhere nobody is trusted, and programs are interpreted.
#[cfg(not(target_os = "linux"))]
mod trust {
    pub fn is_ours(_: &std::os::unix::net::UnixStream) -> bool {
        false
    }
}

fn ask(stream: &mut UnixStream, run: &str) -> io::Result<Vec<u8>> {
    send(stream, run.as_bytes())?;
    receive(stream, MOST_BYTES)
}

/// Sends a request or an answer.
///
/// # Errors
/// The other side is gone, or the bytes are too many to be counted.
pub fn send(stream: &mut UnixStream, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    stream.write_all(&length.to_ne_bytes())?;
    stream.write_all(bytes)
}

/// Waits for a request or an answer of at most so many bytes.
///
/// # Errors
/// The other side is gone, or says that it sends more; nothing of that is read.
pub fn receive(stream: &mut UnixStream, most_bytes: u32) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_ne_bytes(length);
    if length > most_bytes {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length as usize];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::thread;

    use super::*;

    /// What a program gets that asks `asked` times while the other side answers as these say, and then goes.
    fn answers(asked: usize, of: &'static [&[u8]]) -> Vec<Option<Vec<u8>>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let other = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            for answer in of {
                let mut request = [0; 4 + 3];
                stream.read_exact(&mut request).unwrap();
                assert_eq!(request, *b"\x03\0\0\0run");
                stream.write_all(answer).unwrap();
            }
        });
        let remote = Remote::new(&path);
        let first = remote.make("run");
        let mut all = vec![first];
        all.extend((1..asked).map(|_| remote.make("run")));
        other.join().unwrap();
        all
    }

    #[test]
    fn code_comes_in_answers_until_the_other_side_goes() {
        let two: &[&[u8]] = &[b"\x02\0\0\0ab", b"\0\0\0\0"];
        assert_eq!(answers(4, two), [Some(b"ab".to_vec()), None, None, None]);
    }

    #[test]
    fn an_answer_that_is_too_long_or_cut_short_is_none() {
        assert_eq!(answers(2, &[b"\xff\xff\xff\xff"]), [None, None]);
        assert_eq!(answers(2, &[b"\x05\0\0\0abc"]), [None, None]);
    }

    #[test]
    fn where_nobody_listens_there_is_no_code() {
        assert_eq!(Remote::new(Path::new("/nowhere/socket")).make("run"), None);
    }
}
