//! Policies and bindings, as they are read from `admissionregistration.k8s.io`.

use super::cel::{Expression, Variable};
use super::selector::Selector;
use crate::api::GroupKind;
use crate::load::Origin;

/// The group of the policy kinds.
pub const GROUP: &str = "admissionregistration.k8s.io";

/// The versions that are read; they differ in nothing that matters here.
pub const VERSIONS: [&str; 3] = ["v1", "v1beta1", "v1alpha1"];

/// The kind of a policy.
pub const POLICY: &str = "ValidatingAdmissionPolicy";

/// The kind of a binding.
pub const BINDING: &str = "ValidatingAdmissionPolicyBinding";

/// What is demanded of which objects.
#[derive(Debug)]
pub struct Policy {
    /// Its name.
    pub name: String,
    /// Where it begins.
    pub origin: Origin,
    /// The kind of its parameters, if it has any.
    pub param_kind: Option<GroupKind>,
    /// The objects that it is about.
    pub constraints: Match,
    /// All of them must hold for an object, or it is left alone.
    pub conditions: Vec<Formula>,
    /// Named expressions that the others may use.
    pub variables: Vec<Variable>,
    /// What must hold.
    pub validations: Vec<Validation>,
    /// What is told of each object, by key.
    pub annotations: Vec<(String, Formula)>,
    /// Whether an expression that cannot be evaluated counts as one that does not hold.
    pub fails_closed: bool,
}

/// An expression and where it stands.
#[derive(Debug)]
pub struct Formula {
    /// The text.
    pub source: String,
    /// Where its value begins.
    pub origin: Origin,
    /// What it means, or why it means nothing.
    pub parsed: Result<Expression, String>,
}

/// One demand.
#[derive(Debug)]
pub struct Validation {
    /// What must hold.
    pub formula: Formula,
    /// What to say when it does not.
    pub message: Option<String>,
    /// The same, made by an expression; it comes first.
    pub message_expression: Option<Formula>,
    /// One word for programs.
    pub reason: Option<String>,
}

/// Which policy holds for which objects, with which parameters, and what comes of it.
#[derive(Debug)]
pub struct Binding {
    /// Its name; none stands for the binding of a policy that has no other.
    pub name: Option<String>,
    /// Where it begins.
    pub origin: Origin,
    /// The policy's name.
    pub policy: String,
    /// The parameters.
    pub params: Option<ParamRef>,
    /// The objects, of those that the policy is about.
    pub resources: Option<Match>,
    /// What comes of a demand that is not met.
    pub actions: Vec<Enforcement>,
}

/// What comes of a demand that is not met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Enforcement {
    /// The object is held back.
    Deny,
    /// It is told as a warning.
    Warn,
    /// It is noted.
    Audit,
}

/// Which parameters a binding means.
#[derive(Debug)]
pub struct ParamRef {
    /// By name.
    pub name: Option<String>,
    /// Namespace; that of the object when absent.
    pub namespace: Option<String>,
    /// By labels.
    pub selector: Option<Selector>,
    /// Whether it is an error that there are none.
    pub wanted: bool,
}

/// Which objects are meant.
#[derive(Debug, Default)]
pub struct Match {
    /// Any of these rules; without any, all objects.
    pub rules: Vec<Rule>,
    /// None of these.
    pub excluded: Vec<Rule>,
    /// By the labels of their namespace.
    pub namespaces: Selector,
    /// By their own labels.
    pub objects: Selector,
    /// Whether other versions of a resource are others.
    pub exact: bool,
}

/// Which resources and operations are meant.
#[derive(Debug, Default)]
pub struct Rule {
    /// API groups, or `*`.
    pub groups: Vec<String>,
    /// Versions, or `*`.
    pub versions: Vec<String>,
    /// `CREATE`, `UPDATE`, …, or `*`.
    pub operations: Vec<String>,
    /// Resources such as `pods`, with their subresources as `pods/*`.
    pub resources: Vec<String>,
    /// Names; all when there are none.
    pub names: Vec<String>,
    /// `Cluster`, `Namespaced` or `*`.
    pub scope: Option<String>,
}

impl Policy {
    /// All its expressions that could be read.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let validations = self.validations.iter().flat_map(|validation| {
            let message = validation.message_expression.iter();
            std::iter::once(&validation.formula).chain(message)
        });
        let formulas = self.conditions.iter().chain(validations);
        let formulas = formulas.chain(self.annotations.iter().map(|(_, formula)| formula));
        let variables = self.variables.iter().map(|(_, parsed)| parsed);
        formulas
            .map(|formula| &formula.parsed)
            .chain(variables)
            .filter_map(|parsed| parsed.as_ref().ok())
    }

    /// Tells whether any of its expressions names a value.
    pub fn mentions(&self, value: &str) -> bool {
        self.expressions().any(|it| it.mentions.contains(value))
    }
}
