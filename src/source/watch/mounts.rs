//! File systems on which inotify is silent about what other machines do.

use std::fs;

/// Their types, as mount(8) names them. Those of FUSE are told by their beginning: sshfs, s3fs, a laptop's shared folders.
const REMOTE: [&str; 10] = [
    "nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "afs", "lustre", "virtiofs", "vboxsf",
];

/// Gives the type of the file system on a device, if others may write it.
pub(super) fn remote_type(device: u64) -> Option<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    remote_among(&mounts, libc::major(device), libc::minor(device)).map(str::to_owned)
}

/// Reads the kernel's list of mounts (proc_pid_mountinfo(5)).
fn remote_among(mounts: &str, major: u32, minor: u32) -> Option<&str> {
    let device = format!("{major}:{minor}");
    let line = mounts
        .lines()
        .find(|line| line.split(' ').nth(2) == Some(&device))?;
    let (_, behind) = line.split_once(" - ")?;
    let kind = behind.split(' ').next()?;
    let is_remote = REMOTE.contains(&kind) || kind == "fuse" || kind.starts_with("fuse.");
    is_remote.then_some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_that_others_write_are_told_from_our_own() {
        let mounts = "\
            22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
            40 22 0:35 / /srv/git rw shared:9 master:2 - nfs4 nas:/git rw\n\
            41 22 0:36 / /mnt/a\\040b rw - fuse.sshfs me@host: rw\n\
            42 22 0:37 / /run rw - tmpfs tmpfs rw\n";
        assert_eq!(remote_among(mounts, 0, 35), Some("nfs4"));
        assert_eq!(remote_among(mounts, 0, 36), Some("fuse.sshfs"));
        for (major, minor) in [(8, 1), (0, 37), (0, 3), (9, 9)] {
            assert_eq!(remote_among(mounts, major, minor), None, "{major}:{minor}");
        }
    }
}
