//! What stands for pods where there is no node: JVMs under the real agent, in a network of the test's own. An EndpointSlice may name
//! their addresses, which it may not do with those of the loopback interface.

use std::process::Command;

use serde_json::{Value, json};

use super::jacoco::Programs;
use super::jvm::Pets;
use super::namespace::{Namespace, unique};

/// The port that Targets of tests name.
pub const PORT: u16 = 6300;

/// A network of addresses that only this machine reaches: a namespace, and a cable to it.
pub struct Network {
    name: String,
    /// All but the last number.
    prefix: String,
}

impl Network {
    /// Makes one; that takes root.
    pub fn new() -> Self {
        let name = unique("cv");
        let bits = u32::from_str_radix(name.trim_start_matches("cv-"), 16).unwrap();
        let (a, b) = (bits >> 8 & 0xff, bits & 0xff);
        let network = Self {
            prefix: format!("10.{}.{b}", 100 + a % 100),
            name,
        };
        let (outer, inner) = (network.outer(), format!("{}i", network.name));
        ip(&["netns", "add", &network.name]);
        ip(&[
            "link",
            "add",
            &outer,
            "type",
            "veth",
            "peer",
            "name",
            &inner,
            "netns",
            &network.name,
        ]);
        ip(&["addr", "add", &network.cidr(1), "dev", &outer]);
        ip(&["link", "set", &outer, "up"]);
        for last in 2..6 {
            let address = network.cidr(last);
            ip(&["-n", &network.name, "addr", "add", &address, "dev", &inner]);
        }
        ip(&["-n", &network.name, "link", "set", &inner, "up"]);
        network
    }

    /// An address: 1 is ours, and 2 to 5 are those of pods.
    pub fn address(&self, last: u8) -> String {
        format!("{}.{last}", self.prefix)
    }

    fn cidr(&self, last: u8) -> String {
        format!("{}/29", self.address(last))
    }

    fn outer(&self) -> String {
        format!("{}o", self.name)
    }

    /// Starts a JVM that runs `Pets` at an address, as a pod of this name, and waits until its agent listens.
    pub fn start(&self, programs: &Programs, last: u8, name: &str) -> Pod {
        let address = self.address(last);
        let agent = programs.agent();
        let option = format!(
            "-javaagent:{}=output=tcpserver,address={address},port={PORT},includes=Pets*,sessionid={name}",
            agent.display()
        );
        let java = programs.java(&[&option], "Pets");
        let pets = Pets::start(
            Command::new("ip")
                .args(["netns", "exec", &self.name])
                .arg(java.get_program())
                .args(java.get_args())
                .current_dir(java.get_current_dir().unwrap()),
        );
        Pod {
            pets,
            name: name.to_owned(),
            address,
        }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // The cable goes with one of its ends.
        let _ = Command::new("ip")
            .args(["netns", "del", &self.name])
            .status();
        let _ = Command::new("ip")
            .args(["link", "del", &self.outer()])
            .output();
    }
}

fn ip(args: &[&str]) {
    let output = Command::new("ip").args(args).output().unwrap();
    assert!(output.status.success(), "ip {args:?}: {output:?}");
}

/// A JVM at work. It ends with the test.
pub struct Pod {
    pets: Pets,
    pub name: String,
    pub address: String,
}

impl Pod {
    /// Has it do something, and waits until it has.
    pub fn does(&mut self, what: &str) {
        self.pets.does(what);
    }

    pub fn kill(self) {
        self.pets.kill();
    }
}

/// Says which pods stand behind the Service of a Target, as the EndpointSlice controller would.
pub fn publish(ns: &Namespace, service: &str, pods: &[(&str, &str)]) {
    let endpoints = pods.iter().map(|(name, address)| {
        json!({
            "addresses": [address], "conditions": { "ready": true },
            "targetRef": { "kind": "Pod", "namespace": ns.name, "name": name, "uid": format!("uid-of-{name}") },
        })
    });
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1beta1", "kind": "EndpointSlice",
        "metadata": { "name": format!("{service}-of-the-test"), "labels": {
            "kubernetes.io/service-name": service,
            "app.kubernetes.io/managed-by": "covergence",
            "endpointslice.kubernetes.io/managed-by": "the-test",
        } },
        "addressType": "IPv4",
        "endpoints": endpoints.collect::<Vec<Value>>(),
        "ports": [{ "name": "coverage", "port": PORT, "protocol": "TCP" }],
    });
    let name = slice["metadata"]["name"].as_str().unwrap();
    let path = ns.path("endpointslices", name);
    super::lab::api().apply(&path, "the-test", &slice);
}
