//! How much memory libgit2 may take at once.
//!
//! A few kilobytes of a pack can stand for an object of any size: deflated zeros, or a delta that copies the same block again
//! and again. To read a small object, or to check a fetch, libgit2 unpacks all that it is made from.

use std::ffi::{c_char, c_int, c_void};

/// The largest piece. Manifests and the trees around them have a few megabytes; what is larger is only hashed while it is
/// fetched, piece by piece, unless it is part of a delta.
const LARGEST: usize = 256 << 20;

/// `git_allocator` of `git2/sys/alloc.h`.
#[repr(C)]
struct Allocator {
    malloc: extern "C" fn(usize, *const c_char, c_int) -> *mut c_void,
    realloc: extern "C" fn(*mut c_void, usize, *const c_char, c_int) -> *mut c_void,
    free: extern "C" fn(*mut c_void),
}

extern "C" fn malloc(size: usize, _: *const c_char, _: c_int) -> *mut c_void {
    realloc(std::ptr::null_mut(), size, std::ptr::null(), 0)
}

#[allow(unsafe_code)]
extern "C" fn realloc(piece: *mut c_void, size: usize, _: *const c_char, _: c_int) -> *mut c_void {
    if size > LARGEST {
        // To libgit2, memory has run out: the operation fails, and the process goes on.
        return std::ptr::null_mut();
    }
    // SAFETY: libgit2 gives null or what it got from here or from its own allocator, which is the C library's as well.
    unsafe { libc::realloc(piece, size) }
}

#[allow(unsafe_code)]
extern "C" fn free(piece: *mut c_void) {
    // SAFETY: as above.
    unsafe { libc::free(piece) }
}

/// What libgit2 says of an error, and of one that comes from the bound, what that means.
pub(super) fn told(error: &git2::Error) -> String {
    match error.class() {
        git2::ErrorClass::NoMemory => format!(
            "takes at most {} MiB of memory at once, and an object or what it is made from is larger",
            LARGEST >> 20
        ),
        _ => error.message().to_owned(),
    }
}

/// Sets the bound, for the whole process. Before libgit2's first use.
#[allow(unsafe_code)]
pub(super) fn bound() {
    let allocator = Allocator {
        malloc,
        realloc,
        free,
    };
    // SAFETY: the option takes a pointer to a `git_allocator`, which libgit2 copies.
    let _ = unsafe {
        libgit2_sys::git_libgit2_opts(
            libgit2_sys::GIT_OPT_SET_ALLOCATOR as c_int,
            &raw const allocator,
        )
    };
}
