"""Verbs that instructions begin with, in the form they have there."""

from vigil_lang.documents.words import listed

IMPERATIVES = listed(
    """
    abort accept access acknowledge activate adapt add adhere adjust aggregate align allow analyse analyze
    announce answer append apply approve archive ask assert assign assume attach audit authenticate authorize
    avoid await back backup base batch begin bind block break build bump cache calculate call cancel capture
    change check choose cite clean clear clone close collect combine commit compare compile complete compute
    configure confirm connect consider consult contain continue convert copy count cover create cross-check
    deactivate debug decide declare deduplicate define delegate delete deliver deny deploy describe detect
    determine disable discard disclose dismiss display document double-check download draft drop dump edit
    eliminate emit enable encrypt end enforce ensure enter escalate escape establish estimate evaluate
    examine exclude execute exit expand explain export expose extract fail fetch fill filter find finish fix
    flag flush follow force format forward gather generate get give grant group guard halt hand handle hash
    highlight hold honor honour identify ignore implement import include increase index infer inform
    initialize insert inspect install invoke isolate iterate join keep kill label launch leave let limit link
    lint list listen load locate lock log look loop lower maintain make map mark mask match measure mention
    merge migrate minimize mock modify monitor mount move name normalise normalize note notify number obtain
    offer omit open optimize order organize output override overwrite parse pass paste patch pause perform
    persist pick pin ping place plan poll post prefer prefix prepare present preserve prevent preview print
    prioritize proceed process produce prompt propose protect provide prune publish pull push put query quit
    quote raise read rebuild recalculate recompute reconcile record redact redirect reduce refer reformat
    refresh refuse register reinstall reject release reload remember remove rename render repeat replace
    reply report reproduce request require reread rerun reserve reset resolve respect respond restart restore
    restrict resume retain retrieve retry return reuse revert review revoke rewrite roll rotate round route
    run sanitise sanitize save scan schedule scope scrub search secure see select send separate serve set
    share ship show shut sign simulate skip sleep snapshot sort spawn specify split squash stage start state
    stay stick stop store stream strip study submit substitute suggest summarize surface swap switch sync
    synchronize tag tailor take tell terminate test throttle touch trace track transfer transform translate
    treat trigger trim truncate trust try turn uninstall update upgrade upload use validate vary verify view
    visit wait walk warn watch wrap write
    """
)
"""Base forms; a sentence that begins with one most often tells the reader to do it."""
