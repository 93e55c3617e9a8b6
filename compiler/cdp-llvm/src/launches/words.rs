//! What is said of a launch site, in words. An analysis' own words are part of it.

use cdp_ir::Aggregate;

use super::Plan;
use super::gather;
use super::independent::Dependence;
use super::parent::{LaunchSite, Parent};
use super::recording;
use super::remark::LaunchOutcome;
use super::site::Mode;
use crate::raw::view::View;

/// Who runs children where lanes do not come to a launch together.
const LONE: &str = "the launching thread alone (threads of a warp may be in different turns of the loop around it)";

/// Whose launches become one, where some do.
fn together(plan: &Plan<'_>) -> Option<&'static str> {
    plan.gather.map(|_| match (plan.queued, plan.site.said.aggregate) {
        (true, Some(Aggregate::Block)) => "a block",
        (true, _) => "a grid",
        (false, _) => "a warp",
    })
}

/// What is said of a site that was changed.
pub(super) fn done(
    plan: &Plan<'_>,
    why: Option<&Dependence>,
) -> (LaunchOutcome, String, Option<String>) {
    let small = match plan.site.said.threshold {
        Some(threshold) => format!("children of at most {threshold} threads are"),
        None => "small children are".to_string(),
    };
    match plan.mode {
        Mode::InOrder => {
            let others = match plan.sequence {
                Some(_) => "; others by one grid, which is launched when the block ends",
                None => "",
            };
            let reason = why.map_or(String::new(), |why| format!(": {}", why.reason));
            let who = if plan.lone { LONE } else { "the launching warp" };
            let message =
                format!("{small} run by {who}, one child of a block after another{others}{reason}");
            (LaunchOutcome::InOrder, message, why.map(|why| why.advice.clone()))
        }
        Mode::Independent { .. } | Mode::AsWritten => {
            let place = if plan.late { " at its end" } else { "" };
            let message = format!("{small} run by the launching warp{place}, without a launch");
            let message = match together(plan) {
                Some(whose) => format!("{message}; others of {whose} are launched together"),
                None => message,
            };
            (LaunchOutcome::Independent, message + &narrower(plan), None)
        }
    }
}

/// What is said of a site whose children the launching thread runs itself.
pub(super) fn stacked(plan: &Plan<'_>, own: bool) -> (LaunchOutcome, String, Option<String>) {
    if plan.site.said.behind {
        let message = match own {
            true => {
                "children are run by the launching thread in their order, when it has come to its end; what it has no room for is launched"
            }
            false => {
                "small children are run by the launching thread, if it launched no others before; others are launched, and what comes behind them"
            }
        };
        return (LaunchOutcome::InOrder, message.into(), None);
    }
    let others = together(plan)
        .map_or("launched".to_string(), |whose| format!("launched, those of {whose} together"));
    let message = format!(
        "short children are run by the launching thread, when it has come to its end; others are {others}"
    );
    (LaunchOutcome::Independent, message, None)
}

/// What is said of a site whose children are not run by the launching warp, and why.
pub(super) fn kept(
    relaxed: Option<&str>,
    plan: &Plan<'_>,
    reason: String,
    advice: Option<String>,
) -> (LaunchOutcome, String, Option<String>) {
    let not = "children are not run by the launching warp";
    if let Some(whose) = together(plan) {
        let message = format!("children of {whose} are launched together; {not}: {reason}");
        return (LaunchOutcome::Aggregated, message + &narrower(plan), None);
    }
    if plan.unordered.is_some() {
        let message = format!(
            "children of a block are launched together when it ends, and run in any order with all that they launch; {not}: {reason}"
        );
        return (LaunchOutcome::Aggregated, message + &narrower(plan), None);
    }
    if plan.sequence.is_some() {
        let nests = recording::nests(&plan.site);
        let inner = if nests { ", with all that they launch," } else { "" };
        let message = format!(
            "children of a block are run one after another{inner} by one grid, which is launched when the block ends; {not}: {reason}"
        );
        return (LaunchOutcome::InOrder, message + &narrower(plan), advice);
    }
    // Not twice the same reason.
    let left = plan.left.as_ref().filter(|left| !left.ends_with(&reason));
    let left = left.map_or(String::new(), |left| format!("; {left}"));
    if let Some(why) = relaxed {
        let message =
            format!("launched into `cudaStreamFireAndForget`, since {why}; {not}: {reason}{left}");
        return (LaunchOutcome::Relaxed, message + &narrower(plan), None);
    }
    (LaunchOutcome::Kept, reason + &left + &narrower(plan), advice)
}

/// Why children that keep their order are not run by the launching warp, when those that are launched cannot be
/// recorded.
pub(super) fn not_mixed(reason: &str) -> String {
    format!("its launches keep their order and cannot be recorded, since {reason}")
}

/// That a pragma asks for more than was done.
fn narrower(plan: &Plan<'_>) -> String {
    let (said, queued) = (&plan.site.said, plan.gather.is_some() && plan.queued);
    match said.aggregate {
        Some(wanted) if plan.gather.is_none() => {
            format!("; `aggregate({})` is not possible", wanted.word())
        }
        Some(wanted @ (Aggregate::Block | Aggregate::Grid)) if !queued => {
            format!(
                "; `aggregate({})` is not possible in a stream that orders launches",
                wanted.word()
            )
        }
        _ if said.coarsen.is_some() && !queued => {
            "; `coarsen` is for launches that are made together for a block or a grid".into()
        }
        _ if said.coarsen.is_some() && !plan.repeatable => {
            "; `coarsen` is not possible: a thread of the child may have ended, or wait, when its block's next work begins"
                .into()
        }
        _ => String::new(),
    }
}

/// What a user could do about a site that was left alone.
pub(super) fn advice(
    site: &LaunchSite<'_>,
    facts: &Parent,
    fast: bool,
    order: Option<&Dependence>,
) -> Option<String> {
    if site.said.keep {
        return None;
    }
    if site.stream.is_none() {
        return Some("launch into stream 0, or into `cudaStreamFireAndForget`".into());
    }
    if facts.looks_at_errors.is_some() && !fast {
        return Some("-flaunch-opt=fast runs small children all the same".into());
    }
    let kernel = site.kernel()?;
    let Dependence { reason, advice } = order?;
    gather::gatherable(View::function(kernel)).ok()?;
    Some(format!(
        "those of a warp could be launched together, but they keep their order: {reason}; {advice}"
    ))
}
