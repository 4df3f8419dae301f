//! What was typed. What it means is in `settings`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::agent::AgentArgs;
use super::collect::CollectArgs;
use super::logging::LogFormat;
use super::sandbox::SandboxArgs;

const EXAMPLES: &str = "\
Examples:
  covergence diff manifests/               what would change, as the API server says; changes nothing
  covergence sync manifests/ --prune       make it so, and delete what has left the folder
  covergence diff --git https://git.example/shop.git --ref v1.2 --path deploy
  covergence validate manifests/           everything that can be known without a cluster

Exit codes: 0 done or nothing to do, 1 differences (diff), violations (validate) or problems (status, tree), 2 errors.";

const DIFF_EXAMPLES: &str = "\
Examples:
  covergence diff shop                             against the cluster
  covergence diff shop --snapshot shop.snapshot    against what was saved of it; needs no cluster
  covergence diff shop --from main --to HEAD       what a branch changes; needs no cluster
  covergence diff shop --from main -o markdown     the same of the folder, for a pull request

Exit codes: 0 no differences, 1 differences, 2 errors.";

const SNAPSHOT_EXAMPLES: &str = "\
Examples:
  covergence snapshot manifests/ -o shop.snapshot         then, wherever: covergence diff manifests/ --snapshot shop.snapshot

The file holds the objects of the set as they are in the cluster. Values of Secrets are not in it, but digests by which a
guess can be tried: keep it from others.

Exit codes: 0 saved, 2 errors.";

const STATUS_EXAMPLES: &str = "\
Examples:
  covergence status -A                 every Sync, Target and Campaign of the cluster
  covergence status shop               the Sync `shop`, and the Targets and Campaigns among its members
  covergence status -w                 and then each change, as it comes
  covergence status -A -o json | jq '.targets[].coverageEndpoint'

Exit codes: 0 all that is shown is ready (or suspended), 1 something is not, 2 errors.";

const TREE_EXAMPLES: &str = "\
Examples:
  covergence tree                      all Syncs of the namespace, and what they have brought about
  covergence tree shop --all           every member of the Sync `shop`, healthy or not
  covergence tree shop -w              and then each change, as it comes

Exit codes: 0 everything is as its spec wants it, 1 something is not, 2 errors.";

const DEMO_EXAMPLES: &str = "\
Examples:
  covergence demo                      on a small Kubernetes API in memory, which ends with it
  covergence demo --keep               and leave that running, to try kubectl on it
  covergence demo --cluster            on the current cluster, in a namespace of its own

On a cluster the definitions of our kinds are installed if they are not there, and stay.";

/// GitOps for JVM coverage: makes a cluster look like a directory or a git ref, and shows what that changes first.
#[derive(Debug, Parser)]
#[command(name = "covergence", version, after_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print what would be sent to the API server; needs no cluster.
    Render(RenderArgs),
    /// Check everything that can be known without a cluster.
    Validate(ValidateArgs),
    /// Show what a sync would change; changes nothing.
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(DiffArgs),
    /// Save what diff needs of a cluster, so that it can do without the cluster later.
    #[command(after_help = SNAPSHOT_EXAMPLES)]
    Snapshot(SnapshotArgs),
    /// Make the cluster look like the source.
    Sync(SyncArgs),
    /// Show how Syncs, Targets and Campaigns are, and why some are not ready.
    #[command(after_help = STATUS_EXAMPLES)]
    Status(StatusArgs),
    /// Show what Syncs have brought about: members, what those own, and what is not healthy.
    #[command(after_help = TREE_EXAMPLES)]
    Tree(TreeArgs),
    /// Run as a service: follow sources and the cluster, and keep them alike.
    Run(RunArgs),
    /// Collect the coverage of JVMs, and put it together.
    Collect(CollectArgs),
    /// Put the coverage agent where a JVM finds it.
    Agent(AgentArgs),
    /// See all of it at work: a repository, a diff, a sync, coverage by a commit, drift, a prune. Needs no cluster.
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(DemoArgs),
    /// Run a small Kubernetes API in memory, to try things on and to test against.
    #[command(after_help = super::sandbox::EXAMPLES)]
    Sandbox(SandboxArgs),
    /// Print the CustomResourceDefinitions of ClosureJVMTarget, Sync and ClosureJVMCampaign.
    Crd(CrdArgs),
    /// Print the least rights that syncing the source takes; needs no cluster.
    Rbac(RbacArgs),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

impl Command {
    /// Tells whether a program reads the result.
    pub fn prints_json(&self) -> bool {
        match self {
            Self::Render(args) => args.output == Format::Json,
            Self::Validate(args) => args.output == Output::Json,
            Self::Diff(args) => args.output == DiffOutput::Json,
            Self::Sync(args) => args.output == Output::Json,
            Self::Status(args) => args.output == Output::Json,
            Self::Tree(args) => args.output == Output::Json,
            Self::Crd(args) => args.output == Format::Json,
            Self::Rbac(args) => args.output == Format::Json,
            Self::Collect(args) => args.prints_json(),
            Self::Snapshot(_)
            | Self::Run(_)
            | Self::Agent(_)
            | Self::Demo(_)
            | Self::Sandbox(_)
            | Self::Completions { .. } => false,
        }
    }
}

/// Where the manifests are.
#[derive(Debug, Args)]
pub struct SourceArgs {
    /// Directory or file with manifests (YAML or JSON), or the directory of a kustomization or a Helm chart, which is built.
    #[arg(value_name = "PATH", required_unless_present = "git", conflicts_with_all = ["git", "reference"])]
    pub source: Option<PathBuf>,
    /// Git repository instead: https, ssh, file or a path.
    #[arg(long, value_name = "URL")]
    pub git: Option<String>,
    /// Branch, tag, full ref name or commit; the default branch when not given.
    #[arg(long = "ref", value_name = "REF", requires = "git")]
    pub reference: Option<String>,
    /// Folder of the repository or directory that holds the manifests; what an overlay refers to may be anywhere in it.
    #[arg(long, value_name = "SUB")]
    pub path: Option<String>,
    /// File of values for the chart (repeatable; later ones win).
    #[arg(long, value_name = "FILE")]
    pub values: Vec<PathBuf>,
    /// Name of the chart's release; the Sync's name when not given.
    #[arg(long, value_name = "NAME")]
    pub release_name: Option<String>,
    /// Let a kustomization refer to places in the network, which are then fetched.
    #[arg(long)]
    pub allow_remote_bases: bool,
}

/// Definitions of kinds that are not in the source.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// File or folder with CustomResourceDefinitions that are not in the source (repeatable).
    #[arg(long = "schema", value_name = "PATH")]
    pub schemas: Vec<PathBuf>,
}

/// Which apply set, and where objects without a namespace go.
#[derive(Debug, Args)]
pub struct SetArgs {
    /// Name of the Sync that remembers what belongs together; made from the folder's or repository's name and path when not given.
    #[arg(long)]
    pub name: Option<String>,
    /// Namespace of the Sync, and of objects that name none; the context's when not given.
    #[arg(short, long, value_parser = super::settings::namespace)]
    pub namespace: Option<String>,
    /// Domain of the cluster's Services.
    #[arg(
        long,
        default_value = "cluster.local",
        env = "COVERGENCE_CLUSTER_DOMAIN",
        value_parser = super::settings::domain
    )]
    pub cluster_domain: String,
    /// Image that carries the agent, where a Target names none; covergence of this version when not given.
    #[arg(
        long,
        value_name = "IMAGE",
        env = "COVERGENCE_AGENT_IMAGE",
        value_parser = super::settings::image
    )]
    pub agent_image: Option<String>,
}

/// Which cluster, and as whom.
#[derive(Debug, Args)]
pub struct ClusterArgs {
    /// Path of the kubeconfig.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig.
    #[arg(long)]
    pub context: Option<String>,
    /// User to impersonate.
    #[arg(long = "as", value_name = "USER", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub as_user: Option<String>,
    /// Group to impersonate (repeatable).
    #[arg(long = "as-group", value_name = "GROUP", requires = "as_user")]
    pub as_groups: Vec<String>,
    /// The most requests in flight; 32 when not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub concurrency: Option<u16>,
}

impl ClusterArgs {
    /// The most requests in flight; `else_` is what the Config says, if anything.
    pub fn requests_in_flight(&self, else_: Option<u32>) -> usize {
        let given = self.concurrency.map(u32::from).or(else_);
        given.unwrap_or(CONCURRENCY) as usize
    }
}

/// Enough to use what an API server of a small cluster can do, and not so many that others wait.
const CONCURRENCY: u32 = 32;

/// What is done about objects that have left the source, and about other managers' fields.
#[derive(Debug, Default, Args)]
pub struct PolicyArgs {
    /// Delete what has left the source.
    #[arg(long)]
    pub prune: bool,
    /// Let a source without any object prune everything.
    #[arg(long, requires = "prune")]
    pub allow_empty: bool,
    /// The most that may be pruned at once: a count or a percentage of the members, or of those of a kind, such as Deployment.apps=2; more means none (repeatable).
    #[arg(long, value_name = "[KIND=]N|P%", requires = "prune", value_parser = super::settings::prune_limit)]
    pub prune_limit: Vec<crate::plan::Limit>,
    /// The revision whose prunes are approved: Namespaces, definitions, PersistentVolumeClaims and what says so go only then, and more than the limits.
    #[arg(long, value_name = "REVISION", requires = "prune", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub approve_prune: Option<String>,
    /// Take fields that other managers own.
    #[arg(long)]
    pub force_conflicts: bool,
}

/// Which policies objects must pass.
#[derive(Debug, Args)]
pub struct AdmissionArgs {
    /// File or folder of ValidatingAdmissionPolicies that every object must pass (repeatable).
    #[arg(long = "policy", value_name = "PATH")]
    pub policies: Vec<PathBuf>,
    /// Tell also what policies only note: the action Audit, and audit annotations.
    #[arg(short, long)]
    pub verbose: bool,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// How differences are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiffOutput {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For comments on pull requests.
    Markdown,
}

impl From<Output> for DiffOutput {
    fn from(output: Output) -> Self {
        match output {
            Output::Text => Self::Text,
            Output::Json => Self::Json,
        }
    }
}

/// How objects are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// YAML that kubectl reads back identically.
    Yaml,
    /// A JSON list.
    Json,
}

#[derive(Debug, Args)]
pub struct RenderArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub schema: SchemaArgs,
    #[command(flatten)]
    pub set: SetArgs,
    /// How objects are printed.
    #[arg(short, long, value_enum, default_value_t = Format::Yaml)]
    pub output: Format,
}

#[derive(Debug, Args)]
pub struct ValidateArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub schema: SchemaArgs,
    #[command(flatten)]
    pub set: SetArgs,
    #[command(flatten)]
    pub admission: AdmissionArgs,
    /// How results are printed.
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct DiffArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub set: SetArgs,
    #[command(flatten)]
    pub admission: AdmissionArgs,
    #[command(flatten)]
    pub policy: PolicyArgs,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub against: AgainstArgs,
    /// Dry-run every object, also those that nothing has changed since they were applied.
    #[arg(long)]
    pub full: bool,
    /// List unchanged objects too.
    #[arg(long)]
    pub all: bool,
    /// How results are printed.
    #[arg(short, long, value_enum, default_value_t = DiffOutput::Text)]
    pub output: DiffOutput,
}

/// What to compare with, if not with the cluster.
#[derive(Debug, Args)]
pub struct AgainstArgs {
    /// Compare with what `covergence snapshot` has saved, instead of with a cluster.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kubeconfig", "context", "as_user"])]
    pub snapshot: Option<PathBuf>,
    /// Compare with another revision, as if that were deployed: branch, tag or commit of the repository that PATH is in, or of --git.
    #[arg(long, value_name = "REF", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub from: Option<String>,
    /// The revision that is compared; what PATH or --ref says when not given.
    #[arg(
        long,
        value_name = "REF",
        requires = "from",
        conflicts_with = "reference",
        value_parser = clap::builder::NonEmptyStringValueParser::new()
    )]
    pub to: Option<String>,
}

#[derive(Debug, Args)]
pub struct SnapshotArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub set: SetArgs,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// The file to write; one that is there is replaced.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
pub struct SyncArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub set: SetArgs,
    #[command(flatten)]
    pub admission: AdmissionArgs,
    #[command(flatten)]
    pub policy: PolicyArgs,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// Show what would be done, as diff does, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Wait until everything that was applied is healthy.
    #[arg(long)]
    pub wait: bool,
    /// How long to wait, for instance 90s or 5m.
    #[arg(long, value_name = "TIME", default_value = "5m", requires = "wait", value_parser = crate::api::parse_duration)]
    pub timeout: std::time::Duration,
    /// List unchanged objects too.
    #[arg(long)]
    pub all: bool,
    /// How results are printed.
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Just these Syncs, and the Targets and Campaigns among their members.
    #[arg(value_name = "SYNC", conflicts_with = "all_namespaces")]
    pub syncs: Vec<String>,
    /// Namespace to look at; the context's when not given.
    #[arg(short, long, value_parser = super::settings::namespace)]
    pub namespace: Option<String>,
    /// Look at all namespaces.
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    pub all_namespaces: bool,
    /// Go on, and print each change.
    #[arg(short, long)]
    pub watch: bool,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// How results are printed.
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct TreeArgs {
    /// Just this Sync; all of the namespace when not given.
    #[arg(value_name = "SYNC")]
    pub sync: Option<String>,
    /// Namespace of the Sync; the context's when not given.
    #[arg(short, long, value_parser = super::settings::namespace)]
    pub namespace: Option<String>,
    /// List every object, also where many of a kind are healthy.
    #[arg(long)]
    pub all: bool,
    /// Go on, and print each change.
    #[arg(short, long)]
    pub watch: bool,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// How results are printed.
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Leave the controller and the API running at the end, until Ctrl-C.
    #[arg(long)]
    pub keep: bool,
    /// Play on the current cluster, in a namespace of the demo's own.
    #[arg(long)]
    pub cluster: bool,
    /// Path of the kubeconfig.
    #[arg(long, value_name = "FILE", requires = "cluster")]
    pub kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig.
    #[arg(long, requires = "cluster")]
    pub context: Option<String>,
}

#[derive(Debug, Args)]
pub struct CrdArgs {
    /// How objects are printed.
    #[arg(short, long, value_enum, default_value_t = Format::Yaml)]
    pub output: Format,
}

/// A ServiceAccount, as `NAME` or `NAMESPACE/NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountRef {
    pub namespace: Option<String>,
    pub name: String,
}

#[derive(Debug, Args)]
pub struct RbacArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub schema: SchemaArgs,
    #[command(flatten)]
    pub set: SetArgs,
    /// Who gets the rights: in the Sync's namespace, unless another is named. If not given, what the Sync names, when it is in the source, or one of the Sync's name.
    #[arg(long, value_name = "[NS/]NAME", value_parser = super::settings::account)]
    pub service_account: Option<AccountRef>,
    /// Include what deleting takes, for objects that leave the source. Implied by a Sync in the source that deletes.
    #[arg(long)]
    pub prune: bool,
    /// Let the account write objects of any name, for sources whose objects come and go. Objects without a namespace stay limited to their names.
    #[arg(long)]
    pub any_name: bool,
    /// Include what `covergence sync` does as this account, and the controller as itself: keep the Sync, serve Targets.
    #[arg(long)]
    pub one_shot: bool,
    /// Secret beside the Sync that its `secretRef` or `verify` names (repeatable). Those of a Sync in the source are known.
    #[arg(long = "secret", value_name = "NAME", value_parser = super::settings::object_name)]
    pub secrets: Vec<String>,
    /// How objects are printed.
    #[arg(short, long, value_enum, default_value_t = Format::Yaml)]
    pub output: Format,
}

const RUN_HELP: &str = "\
The configuration is a file or a folder with one document of the kind Config and any number of Syncs. It is followed:
what changes there is in force at once.

  apiVersion: closurejvm.io/v1alpha1
  kind: Sync
  metadata: { namespace: shop, name: shop }
  spec:
    source: { git: { url: https://git.example/shop.git, ref: main, path: deploy } }
    prune: true

Syncs and ClosureJVMTargets that are in the cluster are served as well, whoever made them.";

#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub struct RunArgs {
    /// File or folder of Config and Sync documents.
    #[arg(long, value_name = "PATH", env = "COVERGENCE_CONFIG")]
    pub config: PathBuf,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// Address for health, readiness and metrics; the Config's when not given, else none.
    #[arg(long, value_name = "ADDRESS", env = "COVERGENCE_LISTEN")]
    pub listen: Option<std::net::SocketAddr>,
    /// Image that carries the agent, where a Target names none; the Config's when not given, else covergence of this version.
    #[arg(
        long,
        value_name = "IMAGE",
        env = "COVERGENCE_AGENT_IMAGE",
        value_parser = super::settings::image
    )]
    pub agent_image: Option<String>,
    /// How the log is written; the Config's when not given, else text.
    #[arg(long, value_enum, env = "COVERGENCE_LOG_FORMAT")]
    pub log_format: Option<LogFormat>,
    /// What is logged, such as info or info,covergence::source=debug; the Config's when not given, else info.
    #[arg(long, value_name = "LEVEL", env = "COVERGENCE_LOG_LEVEL", value_parser = super::logging::log_filter)]
    pub log_level: Option<super::logging::LogFilter>,
}
