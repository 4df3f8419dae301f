//! How control planes are reached.

use std::path::Path;

use kube::config::Kubeconfig;
use serde_json::Value;

/// The kubeconfig of a lab.
pub struct Access(Value);

impl Access {
    /// Reads it.
    pub fn of(lab: &Path) -> Self {
        let config = Kubeconfig::read_from(lab.join("kubeconfig")).unwrap();
        Self(serde_json::to_value(config).unwrap())
    }

    /// At another address.
    pub fn at(mut self, server: &str) -> Self {
        for cluster in self.0["clusters"].as_array_mut().unwrap() {
            cluster["cluster"]["server"] = server.into();
        }
        self
    }

    /// As whoever has a token.
    pub fn with_token(mut self, token: &str) -> Self {
        self.user()["token"] = token.into();
        self
    }

    pub fn token(&mut self) -> String {
        self.user()["token"].as_str().unwrap().to_owned()
    }

    pub fn server(&self) -> String {
        let server = &self.0["clusters"][0]["cluster"]["server"];
        server.as_str().unwrap().to_owned()
    }

    /// Puts it into a folder, which then stands for a lab's.
    pub fn write(&self, folder: &Path) {
        std::fs::write(folder.join("kubeconfig"), self.0.to_string()).unwrap();
    }

    /// The current context's.
    fn user(&mut self) -> &mut Value {
        let named = |list: &Value, name: &Value| {
            let list = list.as_array().unwrap().iter();
            list.map(|it| &it["name"])
                .position(|it| it == name)
                .unwrap()
        };
        let context = named(&self.0["contexts"], &self.0["current-context"]);
        let user = self.0["contexts"][context]["context"]["user"].clone();
        let user = named(&self.0["users"], &user);
        &mut self.0["users"][user]["user"]
    }
}
