//! What is synced: a folder with one object a file, and the edits that are made to it.

use std::fs;
use std::path::PathBuf;

use crate::Res;

/// How many objects of each kind.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub namespaces: usize,
    pub config_maps: usize,
    pub services: usize,
    pub targets: usize,
}

impl Size {
    /// 10 Namespaces, 500 ConfigMaps, 500 headless Services.
    pub const PLAIN: Self = Self {
        namespaces: 10,
        config_maps: 500,
        services: 500,
        targets: 0,
    };

    pub const QUICK: Self = Self {
        namespaces: 4,
        config_maps: 48,
        services: 48,
        targets: 0,
    };

    /// The same with Targets, and one Deployment a namespace for them.
    pub fn with_targets(self, targets: usize) -> Self {
        Self { targets, ..self }
    }

    pub fn deployments(self) -> usize {
        if self.targets > 0 { self.namespaces } else { 0 }
    }

    pub fn objects(self) -> usize {
        self.namespaces + self.config_maps + self.services + self.targets + self.deployments()
    }
}

/// A folder of manifests.
pub struct Source {
    path: PathBuf,
    pub size: Size,
}

impl Source {
    pub fn write(path: PathBuf, size: Size) -> Res<Self> {
        let source = Self { path, size };
        for n in 0..size.namespaces {
            let name = namespace(n);
            source.file(
                &name,
                // kubectl applies in the order of the names.
                "00-namespace",
                &format!("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n"),
            )?;
            if size.targets > 0 {
                source.file(&name, "deployment", &deployment(&name))?;
            }
        }
        for i in 0..size.config_maps {
            source.config_map(i, 0)?;
        }
        for i in 0..size.services {
            let name = source.namespace_of(i);
            source.file(&name, &format!("service-{i:04}"), &service(&name, i))?;
        }
        for i in 0..size.targets {
            source.target(i, 0)?;
        }
        Ok(source)
    }

    /// Writes a ConfigMap; another edit is another value.
    pub fn config_map(&self, i: usize, edit: usize) -> Res<()> {
        let namespace = self.namespace_of(i);
        let text = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config-{i:04}\n  namespace: {namespace}\n  labels:\n    app: app-{i}\ndata:\n  \
             mode: \"{edit}\"\n  application.properties: |\n    server.port=8080\n    server.shutdown=graceful\n    spring.application.name=app-{i}\n    \
             logging.level.root=INFO\n"
        );
        self.file(&namespace, &format!("config-{i:04}"), &text)
    }

    /// Writes a Target; another edit is another port.
    pub fn target(&self, i: usize, edit: usize) -> Res<()> {
        let namespace = self.namespace_of(i);
        let text = format!(
            "apiVersion: closurejvm.io/v1alpha1\nkind: ClosureJVMTarget\nmetadata:\n  name: target-{i:04}\n  namespace: {namespace}\nspec:\n  \
             deploymentRef:\n    name: app\n  coverageService: true\n  agents:\n    coverage:\n      enabled: true\n      port: {}\n      injection: None\n",
            6300 + edit
        );
        self.file(&namespace, &format!("target-{i:04}"), &text)
    }

    pub fn path(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// The namespace of the i-th object of a kind.
    pub fn namespace_of(&self, i: usize) -> String {
        namespace(i % self.size.namespaces)
    }

    pub fn namespaces(&self) -> Vec<String> {
        (0..self.size.namespaces).map(namespace).collect()
    }

    fn file(&self, folder: &str, name: &str, text: &str) -> Res<()> {
        let folder = self.path.join(folder);
        fs::create_dir_all(&folder)?;
        Ok(fs::write(folder.join(format!("{name}.yaml")), text)?)
    }
}

fn namespace(n: usize) -> String {
    format!("bench-{n:02}")
}

fn service(namespace: &str, i: usize) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: service-{i:04}\n  namespace: {namespace}\n  labels:\n    app: app-{i}\nspec:\n  \
         clusterIP: None\n  selector:\n    app: app-{i}\n  ports:\n  - name: http\n    port: 8080\n    protocol: TCP\n    targetPort: 8080\n"
    )
}

/// Without replicas: what the controllers do with pods is not what is measured.
fn deployment(namespace: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app\n  namespace: {namespace}\nspec:\n  replicas: 0\n  selector:\n    matchLabels:\n      \
         app: app\n  template:\n    metadata:\n      labels:\n        app: app\n    spec:\n      containers:\n      - name: app\n        image: example.org/app:1\n"
    )
}
