//! The rules of definitions.

use serde_json::Value;

use super::super::fields::{flag, items, text, texts};
use super::super::{cause, forbidden, invalid, names, required, show, unsupported};
use super::versions;
use crate::error::Cause;

/// Groups of Kubernetes' own, whose definitions say who approved them.
const PROTECTED: [&str; 2] = ["k8s.io", "kubernetes.io"];
const APPROVAL: &str = "api-approved.kubernetes.io";

/// What is wrong with a definition; `old` is absent for a new one.
pub fn validate(definition: &Value, old: Option<&Value>) -> Vec<Cause> {
    let nothing = Value::Null;
    let spec = definition.get("spec").unwrap_or(&nothing);
    let mut causes = Vec::new();
    if old.is_none() {
        name(definition, spec, &mut causes);
        approval(definition, spec, &mut causes);
    }
    group(spec, &mut causes);
    scope(spec, &mut causes);
    versions::check_names(spec, &mut causes);
    all_names(spec, &mut causes);
    versions::check_contents(spec, &mut causes);
    conversion(spec, &mut causes);
    if let Some(old) = old {
        unchanged(spec, old, &mut causes);
        stored(definition, spec, &mut causes);
    }
    causes
}

fn name(definition: &Value, spec: &Value, causes: &mut Vec<Cause>) {
    let name = definition
        .get("metadata")
        .map_or("", |metadata| text(metadata, "name"));
    let field = "metadata.name";
    if let Some(wrong) = names::subdomain(name) {
        causes.push(invalid(field, &show::quoted(name), &wrong));
    }
    let plural = spec.get("names").map_or("", |names| text(names, "plural"));
    if name != format!("{plural}.{}", text(spec, "group")) {
        let why = r#"must be spec.names.plural+"."+spec.group"#;
        causes.push(invalid(field, &show::quoted(name), why));
    }
}

fn approval(definition: &Value, spec: &Value, causes: &mut Vec<Cause>) {
    let group = text(spec, "group");
    let protected = PROTECTED.iter().any(|own| {
        group
            .strip_suffix(own)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    });
    if !protected {
        return;
    }
    let field = format!("metadata.annotations[{APPROVAL}]");
    let told = definition
        .pointer("/metadata/annotations")
        .map_or("", |annotations| text(annotations, APPROVAL));
    let see = "see https://github.com/kubernetes/enhancements/pull/1111";
    let must = format!("protected groups must have approval annotation \"{APPROVAL}\"");
    if told.is_empty() {
        causes.push(required(field, &format!("{must}, {see}")));
    } else if !told.starts_with("unapproved") && !told.contains("://") {
        let why =
            format!("{must} with either a URL or a reason starting with \"unapproved\", {see}");
        causes.push(invalid(field, &show::quoted(told), &why));
    }
}

fn group(spec: &Value, causes: &mut Vec<Cause>) {
    let group = text(spec, "group");
    if group.is_empty() {
        causes.push(required("spec.group", ""));
    } else if let Some(wrong) = names::subdomain(group) {
        causes.push(invalid("spec.group", &show::quoted(group), &wrong));
    } else if !group.contains('.') {
        let why = "should be a domain with at least one dot";
        causes.push(invalid("spec.group", &show::quoted(group), why));
    }
}

fn scope(spec: &Value, causes: &mut Vec<Cause>) {
    match text(spec, "scope") {
        "" => causes.push(required("spec.scope", "")),
        "Cluster" | "Namespaced" => {}
        scope => {
            let all = ["Cluster", "Namespaced"];
            causes.push(unsupported("spec.scope", &show::quoted(scope), &all));
        }
    }
}

fn all_names(spec: &Value, causes: &mut Vec<Cause>) {
    let nothing = Value::Null;
    let names = spec.get("names").unwrap_or(&nothing);
    let single = ["plural", "singular", "kind", "listKind"];
    for field in single {
        if text(names, field).is_empty() {
            causes.push(required(format!("spec.names.{field}"), ""));
        }
    }
    for field in single {
        let name = text(names, field);
        let mixed = field.ends_with("ind");
        let judged = if mixed {
            names::label(&name.to_lowercase())
        } else {
            names::label(name)
        };
        if let Some(wrong) = judged.filter(|_| !name.is_empty()) {
            let but = if mixed {
                "may have mixed case, but should otherwise match: "
            } else {
                ""
            };
            let why = format!("{but}{wrong}");
            causes.push(invalid(
                format!("spec.names.{field}"),
                &show::quoted(name),
                &why,
            ));
        }
    }
    labels(names, "shortNames", causes);
    let (kind, list) = (text(names, "kind"), text(names, "listKind"));
    if !kind.is_empty() && kind == list {
        let why = "kind and listKind may not be the same";
        causes.push(invalid("spec.names.listKind", &show::quoted(list), why));
    }
    labels(names, "categories", causes);
}

fn labels(names: &Value, field: &str, causes: &mut Vec<Cause>) {
    for (index, name) in texts(names, field).into_iter().enumerate() {
        if let Some(wrong) = names::label(name) {
            let field = format!("spec.names.{field}[{index}]");
            causes.push(invalid(field, &show::quoted(name), &wrong));
        }
    }
}

fn conversion(spec: &Value, causes: &mut Vec<Cause>) {
    let Some(conversion) = spec.get("conversion") else {
        return;
    };
    let webhook = conversion.get("webhook").unwrap_or(&Value::Null);
    let versions = texts(webhook, "conversionReviewVersions");
    let client = "spec.conversion.webhookClientConfig";
    let reviews = "spec.conversion.conversionReviewVersions";
    match text(conversion, "strategy") {
        "Webhook" => {
            match webhook.get("clientConfig") {
                None => causes.push(required(client, "required when strategy is set to Webhook")),
                Some(config) if config.get("url").is_some() == config.get("service").is_some() => {
                    causes.push(required(
                        client,
                        "exactly one of url or service is required",
                    ));
                }
                Some(_) => {}
            }
            if versions.is_empty() {
                causes.push(required(reviews, ""));
            } else if !versions.iter().any(|v| ["v1", "v1beta1"].contains(v)) {
                let why = "must include at least one of v1, v1beta1";
                causes.push(invalid(reviews, &show::texts(&versions), why));
            }
        }
        "None" => {
            let why = "should not be set when strategy is not set to Webhook";
            if webhook.get("clientConfig").is_some() {
                causes.push(forbidden(client, why));
            }
            if !versions.is_empty() {
                causes.push(forbidden(reviews, why));
            }
        }
        "" => causes.push(required("spec.conversion.strategy", "")),
        strategy => causes.push(unsupported(
            "spec.conversion.strategy",
            &show::quoted(strategy),
            &["None", "Webhook"],
        )),
    }
    if flag(spec, "preserveUnknownFields") {
        let why = "cannot set to true, set x-preserve-unknown-fields to true in spec.versions[*].schema instead";
        causes.push(invalid("spec.preserveUnknownFields", "true", why));
    }
}

fn unchanged(spec: &Value, old: &Value, causes: &mut Vec<Cause>) {
    let established = old
        .get("status")
        .into_iter()
        .flat_map(|status| items(status, "conditions"))
        .any(|c| text(c, "type") == "Established" && text(c, "status") == "True");
    let (storage, always) = (["/scope", "/names/kind"], ["/group", "/names/plural"]);
    let fields = storage.iter().filter(|_| established).chain(&always);
    for field in fields {
        let before = old.get("spec").and_then(|spec| spec.pointer(field));
        let now = spec.pointer(field);
        if before != now {
            let value = show::shown(now.unwrap_or(&Value::Null));
            let path = format!("spec{}", field.replace('/', "."));
            causes.push(invalid(path, &value, "field is immutable"));
        }
    }
}

fn stored(definition: &Value, spec: &Value, causes: &mut Vec<Cause>) {
    let Some(status) = definition.get("status") else {
        return;
    };
    for (index, stored) in texts(status, "storedVersions").into_iter().enumerate() {
        if !items(spec, "versions").any(|version| text(version, "name") == stored) {
            let field = format!("status.storedVersions[{index}]");
            let why = format!(
                "Invalid value: {}: must appear in spec.versions",
                show::quoted(stored)
            );
            causes.push(cause("FieldValueInvalid", field, why));
        }
    }
}
