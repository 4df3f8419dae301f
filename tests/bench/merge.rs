//! Merging execution data: the command, from its start to its end, against JaCoCo's own merge in a JVM that is warm.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use covergence::coverage::{
    ClassId, ExecutionData, JavaString, Limits, SessionInfo, encode, read_exec,
};
use fastrand::Rng;

use crate::Res;
use crate::child::{self, Run};
use crate::report::{Section, mark, median, time};

/// How much faster than JaCoCo.
const BUDGET: f64 = 10.0;

/// Debian's libjacoco-java.
const JACOCO: &str = "/usr/share/java/org.jacoco.core.jar";

/// Merges by JaCoCo before the first that counts: its compiler has seen all by then.
const WARM_UP: usize = 3;

/// What was measured.
pub struct MergeReport {
    dumps: usize,
    classes: usize,
    bytes: u64,
    ours: Vec<Run>,
    jacocos: Vec<Duration>,
    problems: Vec<String>,
}

/// A service's classes: names as long as people make them, and mostly small.
fn classes(count: usize, rng: &mut Rng) -> Res<Vec<ExecutionData>> {
    let mut classes = (0..count)
        .map(|n| {
            let name = format!(
                "com/example/shop/module{}/service/ClassOfTheShop{n}",
                n % 97
            );
            let len = match rng.u8(..20) {
                0 => rng.usize(100..400),
                1..6 => rng.usize(30..100),
                _ => rng.usize(2..30),
            };
            Ok(ExecutionData {
                id: ClassId(rng.u64(..)),
                name: JavaString::try_from(name.as_str())?,
                probes: (0..len).map(|_| false).collect(),
            })
        })
        .collect::<Res<Vec<_>>>()?;
    // As they lie in the map of an agent, which writes them in that order.
    classes.sort_by_key(|class| {
        let hash = (class.id.0 ^ class.id.0 >> 32) as u32;
        (hash ^ hash >> 16) & 0xFFFF
    });
    Ok(classes)
}

/// What one replica has run: of each class something, and of one in eleven nothing.
fn dump(n: usize, classes: &[ExecutionData], rng: &mut Rng) -> Res<Vec<u8>> {
    let mut bytes = encode::header().to_vec();
    let session = SessionInfo {
        id: JavaString::try_from(format!("shop-{n}").as_str())?,
        start: n as i64,
        dump: n as i64 + 1,
    };
    encode::session(&mut bytes, &session);
    for class in classes {
        if rng.u8(..11) == 0 {
            continue;
        }
        let len = class.probes.as_ref().len();
        let sure = rng.usize(..len);
        let probes = (0..len)
            .map(|probe| probe == sure || rng.u8(..4) == 0)
            .collect();
        let class = ExecutionData {
            probes,
            ..class.clone()
        };
        encode::execution(&mut bytes, class.as_ref());
    }
    Ok(bytes)
}

/// JaCoCo, ready to be asked.
struct Jacoco {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Jacoco {
    fn start(folder: &Path, files: &Path, output: &Path) -> Res<Self> {
        let source =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/java/JacocoMerge.java");
        let compiled = Command::new("javac")
            .args(["-cp", JACOCO, "-d"])
            .arg(folder)
            .arg(source)
            .status()?;
        if !compiled.success() {
            return Err("JacocoMerge cannot be compiled".into());
        }
        let mut child = Command::new("java")
            .arg("-cp")
            .arg(format!("{}:{JACOCO}", folder.display()))
            .arg("JacocoMerge")
            .args([files, output])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let requests = child.stdin.take().ok_or("no input")?;
        let answers = BufReader::new(child.stdout.take().ok_or("no output")?);
        Ok(Self {
            child,
            requests,
            answers,
        })
    }

    /// Merges once; says how long it took, how many classes there are and how many probes were hit.
    fn merge(&mut self) -> Res<(Duration, u64, u64)> {
        writeln!(self.requests)?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let numbers: Vec<u64> = line
            .split_whitespace()
            .map_while(|word| word.parse().ok())
            .collect();
        match numbers.as_slice() {
            [nanoseconds, classes, hit] => Ok((Duration::from_nanos(*nanoseconds), *classes, *hit)),
            _ => Err(format!("JaCoCo says {line:?}").into()),
        }
    }

    fn end(mut self) -> Res<()> {
        drop(self.requests);
        self.child.wait()?;
        Ok(())
    }
}

/// Measures both in turn.
pub fn measure(folder: &Path, quick: bool) -> Res<MergeReport> {
    let (dumps, count, repetitions) = if quick {
        (10, 1000, 1)
    } else {
        (200, 20_000, 7)
    };
    let files = folder.join("dumps");
    fs::create_dir_all(&files)?;
    let mut rng = Rng::with_seed(1);
    let classes = classes(count * 11 / 10, &mut rng)?;
    let mut bytes = 0;
    for n in 0..dumps {
        let dump = dump(n, &classes, &mut rng)?;
        bytes += dump.len() as u64;
        fs::write(files.join(format!("shop-{n:03}.exec")), dump)?;
    }
    let [theirs, union] = ["theirs.exec", "union.exec"].map(|name| folder.join(name));
    let mut command = Command::new(PathBuf::from(env!("CARGO_BIN_EXE_covergence")));
    command.args(["collect", "merge", "-o"]).arg(&union);
    let mut names: Vec<PathBuf> = fs::read_dir(&files)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    names.sort();
    command.args(names);
    let mut jacoco = Jacoco::start(folder, &files, &theirs)?;
    for _ in 0..WARM_UP {
        jacoco.merge()?;
    }
    let (mut ours, mut jacocos, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..repetitions {
        let run = child::run(&command, folder)?;
        if run.code != 0 {
            return Err(format!("{command:?} ended with {}", run.code).into());
        }
        ours.push(run);
        let (wall, classes, hit) = jacoco.merge()?;
        jacocos.push(wall);
        let union = read_exec(&fs::read(&union)?, &Limits::default())?;
        let theirs = read_exec(&fs::read(&theirs)?, &Limits::default())?;
        let summary = union.summary();
        if union != theirs || (summary.classes, summary.hit) != (classes, hit) {
            problems.push(format!(
                "the unions differ: {summary:?} here, {:?} there",
                theirs.summary()
            ));
        }
    }
    jacoco.end()?;
    fs::remove_dir_all(&files)?;
    Ok(MergeReport {
        dumps,
        classes: count,
        bytes,
        ours,
        jacocos,
        problems,
    })
}

impl MergeReport {
    /// What must not be.
    pub fn problems(&self) -> Vec<String> {
        self.problems.clone()
    }

    /// The section, and the budget if it is missed.
    pub fn text(&self) -> Section {
        let Self {
            dumps,
            classes,
            bytes,
            ours,
            jacocos,
            problems: _,
        } = self;
        let walls: Vec<Duration> = ours.iter().map(|run| run.wall).collect();
        let (own, other) = (median(&walls), median(jacocos));
        let ratio = other.as_secs_f64() / own.as_secs_f64();
        let met = ratio >= BUDGET;
        let peak = ours
            .iter()
            .map(|run| run.peak_kib)
            .max()
            .unwrap_or_default()
            / 1024;
        let megabytes = bytes / 1_000_000;
        let mut text = format!(
            "\n## Merging\n\n\
            {dumps} dumps of about {classes} classes, {megabytes} MB, into one union (`cargo bench --locked --bench side_by_side -- --merge`). \
            JaCoCo 0.8.6 does it\nin a JVM that has done it {WARM_UP} times before (`ExecFileLoader`), ours is the whole command, from the start of \
            the process to its end, with\nthe union synced to the disk; they take turns, and the unions are the same.\n\n\
            | work | median | range | peak memory | compared |\n| --- | ---: | ---: | ---: | --- |\n"
        );
        text += &row("JaCoCo, warm", jacocos, "-", "");
        let compared = format!(
            "{ratio:.1}x faster than JaCoCo (budget {BUDGET:.0}x {})",
            mark(met)
        );
        text += &row(
            "`covergence collect merge`",
            &walls,
            &format!("{peak} MiB"),
            &compared,
        );
        let missed = (!met).then(|| {
            format!("Merging: {ratio:.1}x faster than JaCoCo, the budget is {BUDGET:.0}x")
        });
        (text, missed.into_iter().collect())
    }
}

fn row(label: &str, walls: &[Duration], peak: &str, compared: &str) -> String {
    let (least, most) = (walls.iter().min(), walls.iter().max());
    let [least, most] = [least, most].map(|wall| wall.copied().unwrap_or_default());
    let (median, least, most) = (time(median(walls)), time(least), time(most));
    format!("| {label} | {median} | {least} to {most} | {peak} | {compared} |\n")
}
