#!/usr/bin/env python3
"""Writes builtin.json: fields, types and scopes of the kinds that Kubernetes itself serves.

    python3 src/load/schema/generate.py --swagger api/openapi-spec/swagger.json

Two sources, united, so that manifests for an old cluster and for a new one are both known:

1. The crate k8s-openapi, which is generated from the API description of each Kubernetes release. All the releases
   in the version that Cargo.lock names are read. Its source is found through `cargo metadata`.
2. An old release's own description, for the API versions that have been removed since (policy/v1beta1,
   batch/v1beta1, extensions/v1beta1, ...). Debian's source package `kubernetes` of version 1.20 has it
   (`apt-get source kubernetes`, the file api/openapi-spec/swagger.json).

Format of builtin.json, chosen to be small and to need no work when it is loaded:
  types: a list of objects; each maps a field to the code of its type, with `!` before it where it is required.
  kinds: GROUP/KIND (`/KIND` for core) -> {"scope": "N" or "C", "plural": the resource's name, left out where objects
    are never addressed by themselves, "versions": {VERSION: index of a type}}
  metadata: the index of ObjectMeta.
Codes: s string, y base64, t time, b boolean, i int32, l int64, n number, q quantity, I int or string, * anything,
  [X list of X, {X map of X, and a number for the index of a type.
"""

import argparse
import json
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
RUST_STRING = r'"(?:[^"\\]|\\.)*"'
# What the crates' modules are called in the API description.
MODULES = {"apiextensions_apiserver": "apiextensions-apiserver", "kube_aggregator": "kube-aggregator"}
CODES = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "q",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "I",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "t",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "t",
}

# What the description says is required and no API server asks for (tried on v1.20.2): type's last part -> fields.
NOT_ASKED_FOR = {
    "LimitRangeSpec": {"limits"},
    "EndpointSlice": {"endpoints"},
    "CustomResourceDefinitionVersion": {"served"},
}


def crate_sources():
    """The source folders of k8s-openapi's releases, the newest first."""
    command = ["cargo", "metadata", "--format-version", "1", "--offline", "--locked"]
    metadata = json.loads(subprocess.check_output(command, cwd=HERE, text=True))
    (package,) = [p for p in metadata["packages"] if p["name"] == "k8s-openapi"]
    source = pathlib.Path(package["manifest_path"]).parent / "src"
    return sorted(source.glob("v1_*"), key=lambda p: int(p.name[3:]), reverse=True)


def definition_name(rust_path):
    """crate::api::core::v1::Pod -> io.k8s.api.core.v1.Pod"""
    parts = rust_path.split("::")[1:]
    return "io.k8s." + ".".join(MODULES.get(p, p) for p in parts)


def is_object(definition):
    """Whether a definition is of objects with metadata, and not of lists, reviews of the API or parts of others."""
    return definition.get("properties", {}).get("metadata", {}).get("$ref", "").endswith(".ObjectMeta")


def read_rust(folder):
    """Definitions and kinds of one release of k8s-openapi."""
    definitions, kinds = {}, {}
    for path in sorted(folder.rglob("*.rs")):
        text = path.read_text()
        schema = re.search(r"schema_name\(\)[^\"]*(" + RUST_STRING + r")\.into\(\)", text)
        body = re.search(r"json_schema!\((\{.*?\n        \})\)\n    \}", text, re.S)
        if not schema or not body:
            continue
        name = json.loads(schema.group(1))
        source = re.sub(r'^\s*"description": ' + RUST_STRING + r",\n", "", body.group(1), flags=re.M)
        source = re.sub(r"\n.*?ensure_object\(\)\.insert\(.*\);(?=\n)", "", source)
        source = re.sub(
            r"\(\{\s*let mut schema_obj = __gen\.subschema_for::<([\w:]+)>\(\);\s*schema_obj\s*\}\)",
            lambda m: json.dumps({"$ref": definition_name(m.group(1))}),
            source,
        )
        source = re.sub(
            r"(?:\((?=__gen\S+\)\)))?__gen\.subschema_for::<([\w:]+)>\(\)(?:(?<=\(\))\))?",
            lambda m: json.dumps({"$ref": definition_name(m.group(1))}),
            source,
        )
        source = re.sub(r",(\s*[}\]])", r"\1", source)
        definitions[name] = json.loads(source)
        resource = re.search(r"impl crate::Resource for .*?\n\}", text, re.S)
        if resource:
            constant = lambda c: re.search("const " + c + r": &'static str = \"(.*?)\"", resource.group(0)).group(1)
            key = (constant("GROUP"), constant("VERSION"), constant("KIND"))
            scope = "C" if "ClusterResourceScope" in resource.group(0) else "N"
            if is_object(definitions[name]) and not key[2].endswith("List"):
                # Evictions and the like are sent to an object of another kind.
                plural = None if "SubResourceScope" in resource.group(0) else constant("URL_PATH_SEGMENT")
                kinds[key] = (name, scope, plural)
    return definitions, kinds


def read_swagger(path):
    """Definitions and kinds of a swagger.json."""
    swagger = json.loads(pathlib.Path(path).read_text())
    namespaced, plurals = {}, {}
    for url, item in swagger["paths"].items():
        for operation in item.values():
            if isinstance(operation, dict) and "x-kubernetes-group-version-kind" in operation:
                gvk = operation["x-kubernetes-group-version-kind"]
                key = (gvk["group"], gvk["version"], gvk["kind"])
                namespaced[key] = namespaced.get(key, False) or "{namespace}" in url
                if url.endswith("/{name}"):
                    plurals[key] = url.split("/")[-2]
    kinds = {}
    for name, definition in swagger["definitions"].items():
        gvks = definition.get("x-kubernetes-group-version-kind", [])
        if len(gvks) == 1 and is_object(definition) and not gvks[0]["kind"].endswith("List"):
            key = (gvks[0]["group"], gvks[0]["version"], gvks[0]["kind"])
            if key in namespaced:
                kinds[key] = (name, "N" if namespaced[key] else "C", plurals.get(key))
    return swagger["definitions"], kinds


def code(schema, visit):
    """The code of a type; `visit` gives the index of a definition."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/definitions/")
        return CODES.get(name) or visit(name)
    if schema.get("x-kubernetes-int-or-string") or schema.get("format") == "int-or-string":
        return "I"
    match schema.get("type"):
        case "string":
            return {"byte": "y", "date-time": "t"}.get(schema.get("format"), "s")
        case "boolean":
            return "b"
        case "integer":
            return "l" if schema.get("format") == "int64" else "i"
        case "number":
            return "n"
        case "array":
            return "[" + code(schema["items"], visit)
        case "object" if "additionalProperties" in schema:
            return "{" + code(schema["additionalProperties"], visit)
    return "*"


def fields(name, definition, visit):
    optional = NOT_ASKED_FOR.get(name.split(".")[-1], set())
    required = set(definition.get("required", [])) - optional
    return {
        field: ("!" if field in required else "") + code(schema, visit)
        for field, schema in sorted(definition["properties"].items())
    }


def unite(into, definitions):
    """Adds fields that only an older release has; what not every release requires is not required."""
    for name, definition in definitions.items():
        known = into.setdefault(name, definition)
        if known is definition or "properties" not in known or "properties" not in definition:
            continue
        known["required"] = [f for f in known.get("required", []) if f in definition.get("required", [])]
        for field, schema in definition["properties"].items():
            known["properties"].setdefault(field, schema)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--swagger", help="swagger.json of an old release", required=True)
    parser.add_argument("--check", action="store_true", help="only tell whether builtin.json is current")
    arguments = parser.parse_args()
    definitions, kinds = {}, {}
    sources = [read_rust(folder) for folder in crate_sources()] + [read_swagger(arguments.swagger)]
    for more, more_kinds in sources:
        unite(definitions, more)
        for key, kind in more_kinds.items():
            kinds.setdefault(key, kind)

    types, indices = [], {}

    def visit(name):
        definition = definitions.get(name, {})
        if "properties" not in definition:
            return code(definition, visit) if "$ref" not in definition else "*"
        if name not in indices:
            indices[name] = len(types)
            types.append(None)
            types[indices[name]] = fields(name, definition, visit)
        return str(indices[name])

    table = {}
    for (group, version, kind), (name, scope, plural) in sorted(kinds.items()):
        named = {"plural": plural} if plural else {}
        entry = table.setdefault(f"{group}/{kind}", {"scope": scope, **named, "versions": {}})
        entry["versions"][version] = int(visit(name))
    metadata = int(visit("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"))
    lines = ",\n".join(json.dumps(t, separators=(",", ":")) for t in types)
    kind_lines = ",\n".join(f"{json.dumps(k)}:{json.dumps(v, separators=(',', ':'))}" for k, v in table.items())
    text = f'{{"metadata":{metadata},"types":[\n{lines}\n],"kinds":{{\n{kind_lines}\n}}}}\n'
    json.loads(text)
    if arguments.check:
        raise SystemExit((HERE / "builtin.json").read_text() != text)
    (HERE / "builtin.json").write_text(text)
    print(f"{len(types)} types, {sum(len(v['versions']) for v in table.values())} kinds, {len(text)} bytes")


main()
