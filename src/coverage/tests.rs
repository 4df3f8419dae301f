//! What is written is read again.

use super::*;

fn class(id: u64, name: &str, probes: &[bool]) -> ExecutionData {
    ExecutionData {
        id: ClassId(id),
        name: name.try_into().unwrap(),
        probes: probes.iter().copied().collect(),
    }
}

#[test]
fn what_is_written_is_read_again() {
    let mut store = Store::new();
    store.add_session(SessionInfo {
        id: "pet-1".try_into().unwrap(),
        start: 1,
        dump: 2,
    });
    let growth = store.put(class(7, "shop/Pet", &[true, false, true]).as_ref());
    let (new_classes, new_probes) = (1, 2);
    assert_eq!(
        growth,
        Ok(Growth {
            new_classes,
            new_probes
        })
    );
    let mut file = Vec::new();
    write_exec(&store, &mut file).unwrap();
    assert_eq!(read_exec(&file, &Limits::default()).unwrap(), store);
}
