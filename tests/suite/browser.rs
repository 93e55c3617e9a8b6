//! The page of `cdpc run --report` and the drawing of `cdpc graph` in a real browser: no text lies on another, nothing is
//! wider than the window or than its box, every link leads to what it names, and a picture of it can be taken.
//!
//! What the boxes of the timeline are is seen without a browser, in `cdp-runtime`. Where there is no browser these
//! tests are skipped; `CDP_BROWSER` names one of the Chromium family that is in no folder of `PATH`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};

use crate::cli::{contains, expect, folder, path, text, write};
use crate::support::{Outcome, cases, cdpc, read, root, run_limited, trial};

const TIME_LIMIT: Duration = Duration::from_secs(120);
const NONE: &str = "no browser of the Chromium family in PATH or CDP_BROWSER";
const NAMES: &[&str] =
    &["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome"];

/// Measures the page that it stands in, and leaves its complaints as an element of it.
const MEASURE: &str = r##"<script>
const wrong = [], texts = [], name = text => text.textContent.trim().slice(0, 40);
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node; (node = walk.nextNode()); ) {
  if (!node.textContent.trim() || ['SCRIPT', 'STYLE', 'title'].includes(node.parentNode.nodeName)) continue;
  const range = document.createRange();
  range.selectNodeContents(node);
  for (const box of range.getClientRects()) texts.push({box, node});
}
const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
texts.sort((a, b) => a.box.top - b.box.top);
texts.forEach((one, at) => {
  for (let next = at + 1; next < texts.length && texts[next].box.top < one.box.bottom; next++)
    if (!apart(one.box, texts[next].box)) wrong.push(`"${name(one.node)}" lies on "${name(texts[next].node)}"`);
  const cell = one.node.parentNode.closest('td, th, p, li, pre, h1, h2');
  const home = one.node.parentNode.closest('svg a') ? one.node.parentNode.closest('a').querySelector('rect') : cell;
  const place = home && home.getBoundingClientRect();
  if (place && (one.box.left < place.left - 1 || one.box.right > place.right + 1) && home.nodeName != 'PRE')
    wrong.push(`"${name(one.node)}" is wider than its box`);
});
const rects = [...document.querySelectorAll('svg rect')].map(rect => rect.getBoundingClientRect());
rects.forEach((one, at) => rects.slice(at + 1).forEach(other => {
  if (Math.min(one.right, other.right) - Math.max(one.left, other.left) > 0.01 && one.top < other.bottom && other.top < one.bottom)
    wrong.push(`boxes at ${one.left},${one.top} and ${other.left},${other.top} lie on each other`);
}));
if (document.documentElement.scrollWidth > innerWidth) wrong.push('the page is wider than the window');
const links = [...document.querySelectorAll('a')];
// Once each: a browser follows only some hundred links in a row.
for (const to of new Set(links.map(link => link.getAttribute('href')))) {
  location.hash = to;
  const target = document.querySelector(':target'), top = target && target.getBoundingClientRect().top;
  if (!target || '#' + target.id != to || top < -1 || top > innerHeight) wrong.push(`${to} leads nowhere`);
}
const said = document.createElement('pre');
said.id = 'measured';
said.textContent = [`${texts.length} texts ${rects.length} boxes ${links.length} links`, ...wrong].join('\n');
document.body.append(said);
</script>"##;

pub fn trials() -> Vec<Trial> {
    let browser = browser();
    // One program with findings and a deep tree, one with many grids.
    let programs = [
        ("findings", cases("races").join("grandchildren.cdp"), 1),
        ("timeline", root().join("samples/quicksort.cdp"), 0),
    ];
    let of = |(name, program, code): (&str, PathBuf, i32)| {
        let found = browser.clone();
        let test = move || page(found.as_deref(), &program, code);
        trial(format!("browser::report_of_{name}"), test).with_ignored_flag(browser.is_none())
    };
    let found = browser.clone();
    let drawing = trial("browser::graph".to_owned(), move || graph(found.as_deref()));
    let drawing = drawing.with_ignored_flag(browser.is_none());
    programs.into_iter().map(of).chain([drawing]).collect()
}

fn browser() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CDP_BROWSER") {
        return Some(named.into());
    }
    let folders = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
    let places = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.into_iter().find(|place| place.is_file())
}

/// The drawing of `cdpc graph`: every text inside its box, no label on another or on a box.
fn graph(browser: Option<&Path>) -> Outcome {
    let browser = browser.ok_or(NONE)?;
    let folder = folder()?;
    let kernels: String = (0..60)
        .map(|n| format!("__global__ void the_kernel_with_number_{n}(int *p) {{ *p = {n}; }}\n"))
        .collect();
    let launches: String = (0..60)
        .map(|n| format!("  the_kernel_with_number_{n}<<<{n} + 1, dim3(16, 16), 0, cudaStreamTailLaunch>>>(p);\n"))
        .collect();
    let program = format!(
        "{kernels}__global__ void hub(int *p) {{ if (threadIdx.x == 0) {{ hub<<<1, 1>>>(p); }}\n{launches}}}\n\
         int main() {{ hub<<<1, 1>>>(nullptr); the_kernel_with_number_7<<<1, 2>>>(nullptr); return 0; }}\n"
    );
    let file = write(&folder, "hub.cdp", &program)?;
    let (svg, _) = expect(&["graph", &file, "--format", "svg"], 0)?;
    let script = "<script>const wrong = []; const shown = e => e.getBoundingClientRect();\
        const boxes = [...document.querySelectorAll('rect.box, rect.label')];\
        for (const g of document.querySelectorAll('g')) { const r = shown(g.querySelector('rect')), t = \
        shown(g.querySelector('text')); if (t.left < r.left || t.right > r.right || t.top < r.top - 2 || t.bottom > \
        r.bottom + 2) wrong.push('text ' + g.textContent); }\
        boxes.forEach((a, i) => boxes.slice(0, i).forEach(b => { const r = shown(a), s = shown(b); if (r.left < s.right \
        && s.left < r.right && r.top < s.bottom && s.top < r.bottom) wrong.push('overlap'); }));\
        document.body.setAttribute('data-found', boxes.length + ' boxes, wrong: ' + wrong.join('; ') + '.');</script>";
    let page = write(&folder, "a.html", &format!("<html><body>{svg}{script}</body></html>"))?;
    let profile = format!("--user-data-dir={}", path(&folder, "profile"));
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", &profile, "--dump-dom", &page]);
    let done = run_limited(&mut command, TIME_LIMIT)?;
    let dom = text(&done.stdout);
    // 62 boxes, 62 launches and one of `hub` by itself.
    contains(&dom, &["data-found=\"125 boxes, wrong: .\""]).map_err(|_| {
        let said = dom.split("data-found=").nth(1).unwrap_or(&dom);
        said[..said.len().min(500)].to_string().into()
    })
}

fn page(browser: Option<&Path>, program: &Path, code: i32) -> Outcome {
    let browser = browser.ok_or(NONE)?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let report = folder.path().join("report.html");
    let mut command = cdpc();
    command.args(["run", "--device", "cpu", "--check", "race", "--report"]);
    let output = run_limited(command.arg(&report).arg(program), TIME_LIMIT)?;
    if output.status.code() != Some(code) {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let html = read(&report)?;
    let measured = folder.path().join("measured.html");
    std::fs::write(&measured, html.replace("</body>", &format!("{MEASURE}</body>")))
        .map_err(|error| error.to_string())?;
    for width in [1500, 700] {
        let seen = String::from_utf8_lossy(&shown(browser, &measured, width, None)?).into_owned();
        let said =
            seen.split("<pre id=\"measured\">").nth(1).and_then(|rest| rest.split("</pre>").next());
        let said = said.ok_or_else(|| format!("the page was not measured:\n{seen}"))?;
        let (counts, wrong) = said.split_once('\n').unwrap_or((said, ""));
        if !wrong.is_empty() {
            return Err(format!("{width} pixels wide, {counts}:\n{wrong}").into());
        }
        // It was the page that was measured, and not an empty one.
        if counts.split(' ').step_by(2).any(|count| count.parse::<u32>().unwrap_or(0) < 3) {
            return Err(format!("too little on the page: {counts}").into());
        }
    }
    picture(browser, folder.path(), &report)
}

/// A picture of the page has more in it than one of an empty page.
fn picture(browser: &Path, folder: &Path, report: &Path) -> Outcome {
    let empty = folder.join("empty.html");
    std::fs::write(&empty, "<!DOCTYPE html><title>empty</title>").map_err(|e| e.to_string())?;
    let mut sizes = Vec::new();
    for (page, name) in [(empty.as_path(), "empty.png"), (report, "report.png")] {
        let png = folder.join(name);
        shown(browser, page, 1500, Some(&png))?;
        let bytes = std::fs::read(&png).map_err(|error| format!("no picture: {error}"))?;
        if !bytes.starts_with(b"\x89PNG") {
            return Err(format!("{name} is no picture").into());
        }
        sizes.push(bytes.len());
    }
    if sizes[1] < 4 * sizes[0] {
        return Err(format!("the picture is nearly empty: {sizes:?} bytes").into());
    }
    Ok(())
}

/// Opens a page in a window; its document as text, or a picture of it.
fn shown(browser: &Path, page: &Path, width: u32, png: Option<&Path>) -> Result<Vec<u8>, Failed> {
    let mut command = Command::new(browser);
    // The sandbox wants rights that build machines do not give; the page is our own.
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]);
    command.arg(format!("--window-size={width},900"));
    match png {
        Some(png) => command.arg(format!("--screenshot={}", png.display())),
        None => command.arg("--dump-dom"),
    };
    command.arg(format!("file://{}", page.display()));
    let output = run_limited(&mut command, TIME_LIMIT)?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(output.stdout)
}
