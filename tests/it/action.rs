//! `deploy/action`: its script, with a real repository, and a server in GitHub's place.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{Method, StatusCode, Uri};
use axum::response::IntoResponse;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::git::Work;
use crate::support::manifest::{config_map, secret};
use crate::support::site::Site;
use crate::support::source::documents;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// What GitHub knows of the pull request.
#[derive(Default)]
struct Issue {
    comments: Vec<Value>,
    /// The answer to whatever would change something, if that is not allowed.
    refusal: Option<u16>,
    asked: Vec<String>,
    logins: Vec<String>,
}

type Shared = Arc<Mutex<Issue>>;

async fn answer(
    State(issue): State<Shared>,
    method: Method,
    uri: Uri,
    headers: axum::http::HeaderMap,
    body: Bytes,
) -> axum::response::Response {
    let mut issue = issue.lock().unwrap();
    issue.asked.push(format!("{method} {uri}"));
    let login = headers
        .get("authorization")
        .map_or("", |it| it.to_str().unwrap());
    issue.logins.push(login.to_owned());
    if let Some(status) = issue.refusal.filter(|_| method != Method::GET) {
        return StatusCode::from_u16(status).unwrap().into_response();
    }
    if method == Method::GET {
        let page: usize = uri
            .query()
            .unwrap()
            .rsplit('=')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        let comments: Vec<_> = issue
            .comments
            .iter()
            .skip((page - 1) * 100)
            .take(100)
            .collect();
        return json!(comments).to_string().into_response();
    }
    let body: Value = serde_json::from_slice(&body).unwrap();
    // As GitHub does.
    assert!(body["body"].as_str().unwrap().chars().count() <= 65_536);
    match method.as_str() {
        "POST" => {
            assert_eq!(uri.path(), "/repos/shop/shop/issues/7/comments");
            let id = issue.comments.len() + 1;
            issue.comments.push(comment(
                id,
                "github-actions[bot]",
                body["body"].as_str().unwrap(),
            ));
            StatusCode::CREATED.into_response()
        }
        "PATCH" => {
            let id: usize = uri
                .path()
                .strip_prefix("/repos/shop/shop/issues/comments/")
                .unwrap()
                .parse()
                .unwrap();
            issue.comments[id - 1]["body"] = body["body"].clone();
            StatusCode::OK.into_response()
        }
        other => panic!("{other}"),
    }
}

fn comment(id: usize, author: &str, body: &str) -> Value {
    json!({ "id": id, "user": { "login": author }, "body": body })
}

/// A job on a pull request: a repository that is checked out, and GitHub.
struct Job {
    work: Work,
    issue: Shared,
    site: Site,
    files: TempDir,
    inputs: BTreeMap<&'static str, String>,
}

/// What became of a job.
struct Ended {
    code: i32,
    stdout: String,
    summary: String,
    result: String,
}

impl Job {
    fn new() -> Self {
        let issue = Shared::default();
        let site = Site::start(
            Router::new()
                .fallback(answer)
                .with_state(Arc::clone(&issue)),
        );
        let inputs = [
            ("INPUT_PATH", "deploy"),
            ("INPUT_NAME", "shop"),
            ("INPUT_NAMESPACE", "shop"),
            ("INPUT_TOKEN", "s3cret"),
        ];
        let job = Self {
            work: Work::new(),
            issue,
            site,
            files: tempfile::tempdir().unwrap(),
            inputs: inputs.map(|(name, value)| (name, value.to_owned())).into(),
        };
        job.work.commit("begin");
        job.commit(&[config_map("a", "1"), secret("s", "correct-horse-battery")]);
        job
    }

    fn commit(&self, objects: &[Value]) -> String {
        self.work.write("deploy/all.yaml", &documents(objects));
        self.work.commit("next")
    }

    fn with(mut self, name: &'static str, value: &str) -> Self {
        self.inputs.insert(name, value.to_owned());
        self
    }

    /// Runs the step on a checkout.
    fn run_in(&self, checkout: &Path, head: &str) -> Ended {
        let file = |name: &str| self.files.path().join(name);
        for name in ["summary", "output"] {
            fs::write(file(name), "").unwrap();
        }
        let binary = PathBuf::from(env!("CARGO_BIN_EXE_covergence"));
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", binary.parent().unwrap().display());
        let base = self.work.git(&["rev-parse", "HEAD~1"]);
        let output = Command::new("bash")
            .arg(format!("{ROOT}/deploy/action/comment"))
            .current_dir(checkout)
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.files.path())
            .env("GITHUB_API_URL", format!("http://{}", self.site.address))
            .env("GITHUB_REPOSITORY", "shop/shop")
            .env("GITHUB_SHA", head)
            .env("GITHUB_STEP_SUMMARY", file("summary"))
            .env("GITHUB_OUTPUT", file("output"))
            .env("PULL_REQUEST", "7")
            .env("PULL_REQUEST_BASE", base)
            .envs(&self.inputs)
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let ended = Ended {
            code: output.status.code().unwrap(),
            stdout: text(output.stdout),
            summary: fs::read_to_string(file("summary")).unwrap(),
            result: fs::read_to_string(file("output")).unwrap(),
        };
        println!(
            "{}\n{}\n{}",
            ended.stdout,
            text(output.stderr),
            ended.summary
        );
        ended
    }

    fn run(&self) -> Ended {
        let head = self.work.git(&["rev-parse", "HEAD"]);
        self.run_in(self.work.path(), &head)
    }

    fn comments(&self) -> Vec<String> {
        let issue = self.issue.lock().unwrap();
        issue
            .comments
            .iter()
            .map(|it| it["body"].as_str().unwrap().to_owned())
            .collect()
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.issue.lock().unwrap().asked)
    }
}

#[test]
fn a_comment_is_made_and_kept_up_to_date() {
    let job = Job::new();
    // Anybody can write the line that ours begins with, and many have written before.
    let marker = "<!-- covergence diff  -->\n";
    for id in 1..=120 {
        let theirs = comment(id, "mallory", &format!("{marker}all is well"));
        job.issue.lock().unwrap().comments.push(theirs);
    }
    job.commit(&[config_map("a", "2"), secret("s", "staple-of-the-trade")]);
    let ended = job.run();
    assert_eq!(
        (ended.code, ended.result.as_str()),
        (0, "result=different\n")
    );
    assert!(
        ended
            .summary
            .starts_with("### Covergence: 2 to configure\n"),
        "{}",
        ended.summary
    );
    let comments = job.comments();
    assert_eq!(comments.len(), 121);
    assert_eq!(comments[120], format!("{marker}{}", ended.summary));
    for value in ["correct-horse-battery", "staple-of-the-trade"] {
        assert!(!comments[120].contains(value));
    }
    assert!(
        job.issue
            .lock()
            .unwrap()
            .logins
            .iter()
            .all(|login| login == "Bearer s3cret")
    );

    job.commit(&[
        config_map("a", "2"),
        config_map("b", "1"),
        secret("s", "staple-of-the-trade"),
    ]);
    let ended = job.run();
    let comments = job.comments();
    assert_eq!(comments.len(), 121, "the same comment");
    assert!(
        comments[120].contains("### Covergence: 1 to create, 2 unchanged\n"),
        "{}",
        comments[120]
    );
    assert!(comments[..120].iter().all(|it| it.ends_with("all is well")));
    assert_eq!(ended.code, 0);
}

#[test]
fn where_nothing_changes_nobody_is_told_unless_something_did_before() {
    let job = Job::new();
    job.work.write("README.md", "words\n");
    job.work.commit("words");
    let ended = job.run();
    assert_eq!((ended.code, ended.result.as_str()), (0, "result=same\n"));
    assert!(ended.summary.contains("2 unchanged"), "{}", ended.summary);
    assert!(job.comments().is_empty());
    job.issue.lock().unwrap().comments.push(comment(
        1,
        "github-actions[bot]",
        "<!-- covergence diff  -->\nold",
    ));
    job.run();
    assert!(job.comments()[0].contains("2 unchanged"));
}

#[test]
fn without_permission_to_write_there_is_the_summary() {
    for status in [403, 404] {
        let job = Job::new();
        job.issue.lock().unwrap().refusal = Some(status);
        job.commit(&[config_map("a", "2")]);
        let ended = job.run();
        assert_eq!(ended.code, 0);
        assert!(
            ended.summary.contains("1 to configure"),
            "{}",
            ended.summary
        );
        let warning = format!(
            "::warning::no comment: it cannot be written (HTTP {status}); it takes the permission pull-requests: write\n"
        );
        assert_eq!(ended.stdout, warning);
    }
    let job = Job::new().with("INPUT_TOKEN", "");
    job.commit(&[config_map("a", "2")]);
    assert_eq!(job.run().code, 0);
    assert!(job.asked().is_empty());
}

#[test]
fn what_cannot_be_compared_fails_and_says_why() {
    let job = Job::new();
    job.work
        .write("deploy/all.yaml", "a: [\n```\n</details> @everyone");
    job.work.commit("broken");
    let ended = job.run();
    assert_eq!((ended.code, ended.result.as_str()), (1, "result=failed\n"));
    assert!(
        job.comments()[0].contains("**error** in <code>all.yaml"),
        "{}",
        job.comments()[0]
    );
    // Not even begun.
    let job = Job::new().with("INPUT_PATH", "nowhere");
    let ended = job.run();
    assert_eq!(ended.code, 1);
    let page = "### Covergence: there is no diff\n\n    error: ";
    assert!(ended.summary.starts_with(page), "{}", ended.summary);
}

#[test]
fn inputs_are_words_and_never_commands() {
    for (name, value) in [
        ("INPUT_PATH", "--kubeconfig=/etc/passwd"),
        ("INPUT_PATH", "$(touch pwned)"),
        ("INPUT_NAME", "x; touch pwned"),
        ("INPUT_NAMESPACE", "`touch pwned`"),
        ("INPUT_BASE", "--upload-pack=touch pwned"),
        ("INPUT_HEAD", "$(touch pwned)"),
        ("INPUT_SNAPSHOT", "a b\n--git"),
    ] {
        let job = Job::new().with(name, value);
        let ended = job.run();
        assert_eq!(ended.code, 1, "{name}={value}");
        assert!(!job.work.path().join("pwned").exists(), "{name}={value}");
    }
    let job = Job::new().with("INPUT_ID", "--> @everyone <!--");
    job.commit(&[config_map("a", "2")]);
    job.run();
    assert!(
        job.comments()[0].starts_with("<!-- covergence diff --___everyone___-- -->\n"),
        "{}",
        job.comments()[0]
    );
}

/// As `actions/checkout` leaves it: a merge commit without what it was made from.
#[test]
fn a_shallow_checkout_of_the_merge_is_enough() {
    let job = Job::new();
    job.work.git(&["checkout", "-q", "-b", "change"]);
    job.commit(&[config_map("a", "2"), secret("s", "correct-horse-battery")]);
    job.work.git(&["checkout", "-q", "main"]);
    // The base goes on: that is not the pull request's.
    job.work
        .write("deploy/more.yaml", &documents(&[config_map("more", "1")]));
    let base = job.work.commit("meanwhile");
    job.work
        .git(&["merge", "-q", "--no-ff", "-m", "merge", "change"]);
    let merge = job.work.git(&["rev-parse", "HEAD"]);
    job.work
        .git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    for depth in ["1", "2"] {
        let clone = tempfile::tempdir().unwrap();
        let url = format!("file://{}", job.work.path().display());
        job.work.git(&[
            "clone",
            "-q",
            "--depth",
            depth,
            &url,
            clone.path().to_str().unwrap(),
        ]);
        assert_eq!(job.work.git(&["rev-parse", "HEAD~1"]), base);
        let ended = job.run_in(clone.path(), &merge);
        assert_eq!(ended.code, 0);
        assert!(
            ended
                .summary
                .starts_with("### Covergence: 1 to configure, 2 unchanged\n"),
            "{}",
            ended.summary
        );
    }
}

#[test]
fn the_script_is_told_everything_in_variables() {
    let text = fs::read_to_string(format!("{ROOT}/deploy/action/action.yml")).unwrap();
    let script = text
        .lines()
        .filter(|line| line.trim_start().starts_with("run:"));
    let script: Vec<_> = script.map(str::trim).collect();
    assert_eq!(script, ["run: bash \"$GITHUB_ACTION_PATH/comment\""]);
    let script = fs::read_to_string(format!("{ROOT}/deploy/action/comment")).unwrap();
    let given = text
        .lines()
        .filter_map(|line| line.trim().split_once(": ${{"));
    for (name, _) in given.filter(|(name, _)| name.starts_with("INPUT_")) {
        assert!(script.contains(&format!("${{{name}")), "{name}");
    }
}
