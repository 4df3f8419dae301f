//! The objects of one watch, as far as is known, and what is news.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::kept::Kept;
use crate::cluster::Place;
use crate::plan::Live;

/// What was known of an object before, and what is known now.
#[derive(Debug)]
pub(super) struct News {
    pub place: Place,
    pub before: Option<Arc<Live>>,
    pub after: Option<Arc<Live>>,
}

/// Objects by place. What is already known, or older than that, is no news: the echo of a write of ours, whose answer was
/// put in at once, or an event that was under way meanwhile.
#[derive(Debug)]
pub(super) struct Store<T> {
    objects: BTreeMap<Place, Arc<T>>,
    /// Places by what belongs together (see [`Kept::group`]).
    groups: BTreeMap<String, BTreeSet<Place>>,
    /// uids of what we have deleted and the watch has not told of yet.
    deleted: BTreeSet<String>,
    /// The version up to which the watch has told everything.
    told: String,
}

impl<T> Default for Store<T> {
    fn default() -> Self {
        Self {
            objects: BTreeMap::new(),
            groups: BTreeMap::new(),
            deleted: BTreeSet::new(),
            told: String::new(),
        }
    }
}

impl<T: Kept> Store<T> {
    pub fn get(&self, place: &Place) -> Option<&Arc<T>> {
        self.objects.get(place)
    }

    pub fn each(&self) -> impl Iterator<Item = &Arc<T>> {
        self.objects.values()
    }

    /// What belongs together.
    pub fn group(&self, group: &str) -> impl Iterator<Item = &Arc<T>> {
        let places = self.groups.get(group).into_iter().flatten();
        places.filter_map(|place| self.objects.get(place))
    }

    /// Takes an object as the watch tells of it, at its version.
    pub fn tell(&mut self, object: T) -> Option<News> {
        object.live().resource_version.clone_into(&mut self.told);
        self.put(object)
    }

    /// Takes an object as a write was answered with it. The answer may come after the watch has told of the object's end,
    /// and must not bring it back.
    pub fn answer(&mut self, object: T) {
        let live = object.live();
        if self.objects.contains_key(&place_of(live))
            || is_later(&live.resource_version, &self.told)
        {
            self.put(object);
        }
    }

    fn put(&mut self, object: T) -> Option<News> {
        let object = Arc::new(object);
        let after = Arc::clone(object.metadata());
        if self.deleted.contains(&after.uid) {
            return None;
        }
        let place = place_of(&after);
        let before = self
            .objects
            .get(&place)
            .map(|known| Arc::clone(known.metadata()));
        if before
            .as_ref()
            .is_some_and(|known| !is_later(&after.resource_version, &known.resource_version))
        {
            return None;
        }
        if let Some(before) = &before {
            self.leave_group(before, &place);
        }
        if let Some(group) = T::group(&after) {
            self.groups
                .entry(group.to_owned())
                .or_default()
                .insert(place.clone());
        }
        self.objects.insert(place.clone(), object);
        Some(News {
            place,
            before,
            after: Some(after),
        })
    }

    /// Takes the end of an object, or of its being selected, at a version.
    pub fn end(&mut self, last: &Live) -> Option<News> {
        last.resource_version.clone_into(&mut self.told);
        if self.deleted.remove(&last.uid) {
            return None;
        }
        let place = place_of(last);
        let known = self.objects.get(&place)?.live();
        // The event carries the version of the deletion.
        if !is_later(&last.resource_version, &known.resource_version)
            && known.resource_version != last.resource_version
        {
            return None;
        }
        self.remove(place)
    }

    /// Forgets an object that we have deleted ourselves.
    pub fn forget(&mut self, place: &Place, uid: &str) {
        if self
            .objects
            .get(place)
            .is_some_and(|known| known.live().uid == uid)
        {
            self.remove(place.clone());
            self.deleted.insert(uid.to_owned());
        }
    }

    /// Takes all objects as they are at a version; what has been written since stays.
    pub fn replace(&mut self, objects: Vec<T>, version: &str) -> Vec<News> {
        version.clone_into(&mut self.told);
        let listed: BTreeSet<Place> = objects.iter().map(|o| place_of(o.live())).collect();
        let uids: BTreeSet<&str> = objects.iter().map(|o| o.live().uid.as_str()).collect();
        // Of the others, no watch from this version on will tell.
        self.deleted.retain(|uid| uids.contains(uid.as_str()));
        let gone: Vec<Place> = self
            .objects
            .iter()
            .filter(|(place, known)| {
                !listed.contains(place) && is_later(version, &known.live().resource_version)
            })
            .map(|(place, _)| place.clone())
            .collect();
        let gone: Vec<News> = gone
            .into_iter()
            .filter_map(|place| self.remove(place))
            .collect();
        let put = objects.into_iter().filter_map(|object| self.put(object));
        gone.into_iter().chain(put).collect()
    }

    /// Takes it that there is none any more.
    pub fn clear(&mut self) -> Vec<News> {
        self.deleted.clear();
        let places: Vec<Place> = self.objects.keys().cloned().collect();
        places
            .into_iter()
            .filter_map(|place| self.remove(place))
            .collect()
    }

    fn remove(&mut self, place: Place) -> Option<News> {
        let object = self.objects.remove(&place)?;
        let before = Arc::clone(object.metadata());
        self.leave_group(&before, &place);
        Some(News {
            place,
            before: Some(before),
            after: None,
        })
    }

    fn leave_group(&mut self, live: &Live, place: &Place) {
        let Some(group) = T::group(live) else { return };
        if let Some(places) = self.groups.get_mut(group) {
            places.remove(place);
            if places.is_empty() {
                self.groups.remove(group);
            }
        }
    }
}

fn place_of(live: &Live) -> Place {
    (live.namespace.clone(), live.name.clone())
}

/// Tells whether a version comes after a known one.
///
/// Officially versions are opaque; those of every API server are etcd's revisions, and KEP-5504 makes it official that
/// they compare as integers. One that is no integer counts as later when it is another one.
fn is_later(version: &str, known: &str) -> bool {
    match (version.parse::<u64>(), known.parse::<u64>()) {
        (Ok(version), Ok(known)) => version > known,
        _ => version != known,
    }
}
