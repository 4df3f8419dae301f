//! Which Campaigns refer to which Target.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::name::Name;

/// Which Campaigns refer to which Target.
#[derive(Debug, Default)]
pub struct Referring {
    /// Each Campaign's Target.
    targets: HashMap<Name, Name>,
    /// The same, the other way round.
    campaigns: HashMap<Name, BTreeSet<Name>>,
}

impl Referring {
    /// Notes what a Campaign refers to.
    pub fn note(&mut self, campaign: &Value) {
        let target = campaign.pointer("/spec/targetRef/name");
        let (Some(name), Some(target)) =
            (Name::of_object(campaign), target.and_then(Value::as_str))
        else {
            return;
        };
        let target = Name {
            namespace: name.namespace.clone(),
            name: target.to_owned(),
        };
        self.forget(&name);
        let campaigns = self.campaigns.entry(target.clone()).or_default();
        campaigns.insert(name.clone());
        self.targets.insert(name, target);
    }

    /// Forgets a Campaign.
    pub fn forget(&mut self, campaign: &Name) {
        let Some(target) = self.targets.remove(campaign) else {
            return;
        };
        if let Some(campaigns) = self.campaigns.get_mut(&target) {
            campaigns.remove(campaign);
            if campaigns.is_empty() {
                self.campaigns.remove(&target);
            }
        }
    }

    /// The Campaigns that refer to a Target.
    pub fn to(&self, target: &Name) -> impl Iterator<Item = &Name> {
        self.campaigns.get(target).into_iter().flatten()
    }
}
