//! Rows of what runs.

use jiff::Timestamp;
use serde_json::Value;

use super::age;
use super::text::{self, at, containers, items, name, number, or, scalar, selector};

const CONTAINERS: &str = "/spec/template/spec/containers";

pub fn pod(object: &Value, now: Timestamp) -> Vec<Value> {
    let state = PodState::of(object);
    let total = items(object, "/spec/containers").len();
    let gates = items(object, "/spec/readinessGates");
    let is_open = |gate: &&Value| has_condition(object, at(gate, "/conditionType"));
    let gates = match gates.len() {
        0 => "<none>".to_owned(),
        all => format!("{}/{all}", gates.iter().filter(is_open).count()),
    };
    vec![
        name(object),
        format!("{}/{total}", state.ready).into(),
        state.reason.into(),
        state.restarts.into(),
        age::of(object, now),
        or(at(object, "/status/podIPs/0/ip"), "<none>").into(),
        or(at(object, "/spec/nodeName"), "<none>").into(),
        or(at(object, "/status/nominatedNodeName"), "<none>").into(),
        gates.into(),
    ]
}

/// What is said of a pod in one word.
struct PodState {
    ready: usize,
    restarts: i64,
    reason: String,
}

impl PodState {
    fn of(pod: &Value) -> Self {
        let phase = at(pod, "/status/phase");
        let mut state = Self {
            ready: 0,
            restarts: 0,
            reason: or(at(pod, "/status/reason"), phase).to_owned(),
        };
        if !state.initializes(pod) {
            state.runs(pod);
        }
        if pod.pointer("/metadata/deletionTimestamp").is_some() {
            let is_lost = at(pod, "/status/reason") == "NodeLost";
            state.reason = if is_lost { "Unknown" } else { "Terminating" }.to_owned();
        }
        state
    }

    /// Whether its init containers are not through.
    fn initializes(&mut self, pod: &Value) -> bool {
        let total = items(pod, "/spec/initContainers").len();
        for (index, container) in items(pod, "/status/initContainerStatuses")
            .iter()
            .enumerate()
        {
            self.restarts += number(container, "/restartCount");
            let ended = container.pointer("/state/terminated");
            if ended.is_some_and(|it| number(it, "/exitCode") == 0) {
                continue;
            }
            let waits = at(container, "/state/waiting/reason");
            self.reason = match ended {
                Some(ended) => format!("Init:{}", end_of(ended)),
                None if !matches!(waits, "" | "PodInitializing") => format!("Init:{waits}"),
                None => format!("Init:{index}/{total}"),
            };
            return true;
        }
        false
    }

    fn runs(&mut self, pod: &Value) {
        self.restarts = 0;
        let mut some_run = false;
        for container in items(pod, "/status/containerStatuses").iter().rev() {
            self.restarts += number(container, "/restartCount");
            let waits = at(container, "/state/waiting/reason");
            if !waits.is_empty() {
                waits.clone_into(&mut self.reason);
            } else if let Some(ended) = container.pointer("/state/terminated") {
                self.reason = end_of(ended);
            } else if container.pointer("/ready") == Some(&Value::Bool(true))
                && container.pointer("/state/running").is_some()
            {
                some_run = true;
                self.ready += 1;
            }
        }
        if self.reason == "Completed" && some_run {
            let is_ready = has_condition(pod, "Ready");
            self.reason = if is_ready { "Running" } else { "NotReady" }.to_owned();
        }
    }
}

fn end_of(terminated: &Value) -> String {
    match (at(terminated, "/reason"), number(terminated, "/signal")) {
        ("", 0) => format!("ExitCode:{}", number(terminated, "/exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

fn has_condition(object: &Value, wanted: &str) -> bool {
    items(object, "/status/conditions")
        .iter()
        .any(|it| at(it, "/type") == wanted && at(it, "/status") == "True")
}

fn of_wanted(object: &Value) -> Value {
    let (ready, wanted) = (
        number(object, "/status/readyReplicas"),
        number(object, "/spec/replicas"),
    );
    format!("{ready}/{wanted}").into()
}

pub fn deployment(object: &Value, now: Timestamp) -> Vec<Value> {
    let [names, images] = containers(object, CONTAINERS);
    vec![
        name(object),
        of_wanted(object),
        number(object, "/status/updatedReplicas").into(),
        number(object, "/status/availableReplicas").into(),
        age::of(object, now),
        names,
        images,
        selector(object.pointer("/spec/selector")).into(),
    ]
}

pub fn replica_set(object: &Value, now: Timestamp) -> Vec<Value> {
    let [names, images] = containers(object, CONTAINERS);
    // A ReplicationController's selector is no more than labels.
    let selector = match object.pointer("/spec/selector") {
        Some(labels) if at(object, "/apiVersion") == "v1" => text::labels(labels.as_object()),
        other => selector(other),
    };
    vec![
        name(object),
        number(object, "/spec/replicas").into(),
        number(object, "/status/replicas").into(),
        number(object, "/status/readyReplicas").into(),
        age::of(object, now),
        names,
        images,
        selector.into(),
    ]
}

pub fn stateful_set(object: &Value, now: Timestamp) -> Vec<Value> {
    let [names, images] = containers(object, CONTAINERS);
    vec![
        name(object),
        of_wanted(object),
        age::of(object, now),
        names,
        images,
    ]
}

pub fn daemon_set(object: &Value, now: Timestamp) -> Vec<Value> {
    let [names, images] = containers(object, CONTAINERS);
    let count = |field: &str| Value::from(number(object, &format!("/status/{field}")));
    vec![
        name(object),
        count("desiredNumberScheduled"),
        count("currentNumberScheduled"),
        count("numberReady"),
        count("updatedNumberScheduled"),
        count("numberAvailable"),
        text::labels(text::map(object, "/spec/template/spec/nodeSelector")).into(),
        age::of(object, now),
        names,
        images,
        selector(object.pointer("/spec/selector")).into(),
    ]
}

pub fn job(object: &Value, now: Timestamp) -> Vec<Value> {
    let [names, images] = containers(object, CONTAINERS);
    let succeeded = number(object, "/status/succeeded");
    let completions = match (
        object.pointer("/spec/completions").and_then(Value::as_i64),
        number(object, "/spec/parallelism"),
    ) {
        (Some(wanted), _) => format!("{succeeded}/{wanted}"),
        (None, many @ 2..) => format!("{succeeded}/1 of {many}"),
        (None, _) => format!("{succeeded}/1"),
    };
    let (start, end) = (
        at(object, "/status/startTime"),
        at(object, "/status/completionTime"),
    );
    let duration = match (start, end) {
        ("", _) => String::new(),
        (start, "") => age::since(start, now),
        (start, end) => age::between(start, end),
    };
    vec![
        name(object),
        completions.into(),
        duration.into(),
        age::of(object, now),
        names,
        images,
        selector(object.pointer("/spec/selector")).into(),
    ]
}

pub fn cron_job(object: &Value, now: Timestamp) -> Vec<Value> {
    let [names, images] = containers(object, "/spec/jobTemplate/spec/template/spec/containers");
    let suspend = match object.pointer("/spec/suspend") {
        Some(Value::Bool(true)) => "True",
        Some(Value::Bool(false)) => "False",
        _ => "<unset>",
    };
    let last = match at(object, "/status/lastScheduleTime") {
        "" => "<none>".to_owned(),
        time => age::since(time, now),
    };
    vec![
        name(object),
        at(object, "/spec/schedule").into(),
        suspend.into(),
        items(object, "/status/active").len().into(),
        last.into(),
        age::of(object, now),
        names,
        images,
        selector(object.pointer("/spec/jobTemplate/spec/selector")).into(),
    ]
}

pub fn controller_revision(object: &Value, now: Timestamp) -> Vec<Value> {
    let owners = items(object, "/metadata/ownerReferences");
    let is_controller = |it: &&Value| it.get("controller") == Some(&Value::Bool(true));
    let controller = owners.iter().find(is_controller).map(|owner| {
        let group = at(owner, "/apiVersion")
            .split_once('/')
            .map(|(group, _)| format!(".{group}"));
        let kind = at(owner, "/kind").to_lowercase();
        format!("{kind}{}/{}", group.unwrap_or_default(), at(owner, "/name"))
    });
    vec![
        name(object),
        controller.unwrap_or_else(|| "<none>".to_owned()).into(),
        number(object, "/revision").into(),
        age::of(object, now),
    ]
}

pub fn autoscaler(object: &Value, now: Timestamp) -> Vec<Value> {
    let target = "/spec/scaleTargetRef";
    let (kind, of) = (
        at(object, &format!("{target}/kind")),
        at(object, &format!("{target}/name")),
    );
    let metrics: Vec<String> = items(object, "/spec/metrics")
        .iter()
        .enumerate()
        .map(|(index, metric)| metric_of(metric, object, index))
        .collect();
    let shown = metrics
        .iter()
        .take(2)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    let metrics = match metrics.len() {
        0 => "<none>".to_owned(),
        1 | 2 => shown,
        all => format!("{shown} + {} more...", all - 2),
    };
    vec![
        name(object),
        format!("{kind}/{of}").into(),
        metrics.into(),
        scalar(object.pointer("/spec/minReplicas"), "<unset>").into(),
        number(object, "/spec/maxReplicas").into(),
        number(object, "/status/currentReplicas").into(),
        age::of(object, now),
    ]
}

/// `current/wanted` of a metric: an average where one is wanted.
fn metric_of(metric: &Value, object: &Value, index: usize) -> String {
    let r#type = at(metric, "/type");
    let mut letters = r#type.chars();
    let field: String = letters
        .next()
        .into_iter()
        .flat_map(char::to_lowercase)
        .chain(letters)
        .collect();
    let target = |name: &str| metric.pointer(&format!("/{field}/target/{name}"));
    let current = |name: &str| {
        object.pointer(&format!(
            "/status/currentMetrics/{index}/{field}/current/{name}"
        ))
    };
    let said = |name: &str| {
        let (now, then) = (scalar(current(name), "<unknown>"), scalar(target(name), ""));
        format!("{now}/{then}")
    };
    match field.as_str() {
        "pods" => said("averageValue"),
        "external" | "object" => match target("averageValue") {
            Some(_) => format!("{} (avg)", said("averageValue")),
            None => said("value"),
        },
        "resource" | "containerResource" => match target("averageValue") {
            Some(_) => said("averageValue"),
            None => {
                let share = |value: Option<&Value>, none: &str| match value.and_then(Value::as_i64)
                {
                    Some(share) => format!("{share}%"),
                    None => none.to_owned(),
                };
                let name = "averageUtilization";
                format!(
                    "{}/{}",
                    share(current(name), "<unknown>"),
                    share(target(name), "<auto>")
                )
            }
        },
        _ => "<unknown type>".to_owned(),
    }
}

pub fn disruption_budget(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        name(object),
        scalar(object.pointer("/spec/minAvailable"), "N/A").into(),
        scalar(object.pointer("/spec/maxUnavailable"), "N/A").into(),
        number(object, "/status/disruptionsAllowed").into(),
        age::of(object, now),
    ]
}
