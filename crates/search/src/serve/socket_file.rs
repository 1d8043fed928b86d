//! Creates and removes sockets in the file system.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use super::place::{Endpoint, ListenError};

/// A socket in the file system that this process created.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    /// The device and inode of the socket. They are checked before the file is removed, because another process may have replaced
    /// the socket.
    id: (u64, u64),
}

impl SocketFile {
    /// Removes the socket.
    pub(super) fn remove(&self) {
        if id_of(&self.path).is_ok_and(|id| id == self.id) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Listens at a path to which no other user can connect. An old socket on which no process listens is replaced.
///
/// # Errors
///
/// Fails if another process listens at the path, if the path is not a socket, or if the system does not permit it.
pub(super) fn bind(path: &Path) -> Result<(UnixListener, SocketFile), ListenError> {
    let place = || Endpoint::Path(path.to_owned());
    match fs::symlink_metadata(path) {
        Ok(found) if !found.file_type().is_socket() => return Err(ListenError::NoSocket(path.to_owned())),
        Ok(_) => match UnixStream::connect(path) {
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
            Ok(_) => return Err(ListenError::Taken(place())),
            Err(error) => return Err(ListenError::System(place(), error)),
        },
        Err(_) => {}
    }
    listen(path).map_err(|error| ListenError::System(place(), error))
}

/// Creates the socket. A socket accepts connections as soon as it has a name, and its initial permissions depend on the umask.
/// Therefore it is created in a folder that no other user can enter, and is moved to its final path once its permissions are set.
fn listen(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    // The socket could be moved to a path that is too long for clients.
    SocketAddr::from_pathname(path)?;
    let folder = path.with_file_name(format!(".orbit-{}", std::process::id()));
    let made = folder.join("s");
    DirBuilder::new().mode(0o700).create(&folder)?;
    let listened = UnixListener::bind(&made).and_then(|listener| {
        fs::set_permissions(&made, Permissions::from_mode(0o600))?;
        let id = id_of(&made)?;
        fs::rename(&made, path)?;
        Ok((listener, SocketFile { path: path.to_owned(), id }))
    });
    let _ = fs::remove_file(&made);
    let _ = fs::remove_dir(&folder);
    listened
}

fn id_of(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}
