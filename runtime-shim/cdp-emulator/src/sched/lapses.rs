//! Rules that lanes broke without a conflict of accesses, as reports: exchanges between lanes of a warp that PTX leaves
//! open, what came of them, and shared memory of blocks that may not have begun.

use super::Core;
use crate::check::findings::{Absent, Lapse, Whereabouts};
use crate::exec::collective::NAMES_ITSELF;
use crate::memory::SiteRef;
use crate::report::{Related, Report, ReportKind};
use crate::services::Unset;

impl Core {
    /// Broken rules, as reports.
    pub(super) fn lapses(&mut self) -> Vec<Report> {
        let found = self.watch_mut().map(|w| w.findings.take_lapses()).unwrap_or_default();
        let report = |(lapse, site, count): (Lapse, SiteRef, u64)| {
            let (kind, message, help) = match lapse {
                Lapse::NotBegun { writes } => (
                    ReportKind::Race,
                    format!(
                        "shared memory of another block of the cluster is {} here, and nothing tells that the block has \
                         begun",
                        if writes { "written" } else { "read" }
                    ),
                    "cluster.sync(), or barrier.cluster.arrive.relaxed and barrier.cluster.wait, comes before the first \
                     access to another block's shared memory",
                ),
                Lapse::Unlike => (
                    ReportKind::UndefinedExchange,
                    "lanes come here with masks that name different lanes, though these have ended"
                        .to_owned(),
                    "all lanes that meet give one and the same mask, which __ballot_sync() or __activemask() of before \
                     the branch gives: what happens else is left open",
                ),
                Lapse::Incomplete => (
                    ReportKind::UndefinedExchange,
                    "an instruction on matrices is executed by a warp of which lanes are missing"
                        .to_owned(),
                    "all 32 lanes of a warp execute instructions on matrices together: blocks have a multiple of 32 \
                     threads, and none returns before",
                ),
                Lapse::Unnamed => (
                    ReportKind::InvalidInstruction,
                    "a lane comes here that its own mask of lanes does not name".to_owned(),
                    NAMES_ITSELF,
                ),
            };
            Report { help: Some(help.into()), count, ..self.note(kind, message, Some(site)) }
        };
        found.into_iter().map(report).collect()
    }

    /// What came of values of lanes that did not take part, as reports: one for each pair of source places.
    pub(super) fn absent(&mut self) -> Vec<Report> {
        let found = self.watch_mut().map(|w| w.findings.take_absent()).unwrap_or_default();
        let mut reports: Vec<Report> = Vec::new();
        let places = |report: &Report| {
            let lines = report.related.iter().take(1).filter_map(|other| other.site.as_ref());
            let lines = lines.chain(&report.site).map(|site| site.source.clone());
            lines.collect::<Option<Vec<_>>>()
        };
        for found in &found {
            let new = self.absence(found);
            match reports.iter_mut().find(|r| places(r).is_some() && places(r) == places(&new)) {
                Some(known) => known.count += new.count,
                None => reports.push(new),
            }
        }
        reports
    }

    fn absence(&self, found: &Absent) -> Report {
        let (lane, source) = (found.taken.thread & 31, found.source);
        let (why, elsewhere) = match found.whereabouts {
            Whereabouts::NoThread => ("the block has no such thread", None),
            Whereabouts::Ended => ("it has ended", None),
            Whereabouts::At(site) => ("the mask does not name it", Some(site)),
        };
        let what = match found.effect {
            Unset::Decides => "what is done here depends on that value",
            Unset::Address => "an address is used here that comes from that value",
            Unset::Stored => "that value, or one computed from it, is stored here",
        };
        let other = |what: String, site: SiteRef| Related {
            what,
            site: Some(self.site(&site)),
            host: None,
            grid_path: self.grid_path(site.grid),
        };
        let mut related = vec![other(what.to_owned(), found.at)];
        related.extend(elsewhere.map(|site| other(format!("lane {source} was here"), site)));
        let message = format!(
            "lane {lane} takes the value of lane {source} here, which does not take part ({why}): what it gets is anything"
        );
        Report {
            help: Some(
                "shuffle from lanes that the mask names and that come to the same shuffle, or use the value only where \
                 the source is one of them (a GPU gives 0, the lane's own value or some other)"
                    .into(),
            ),
            related,
            count: found.count,
            ..self.note(ReportKind::AbsentLane, message, Some(found.taken))
        }
    }
}
