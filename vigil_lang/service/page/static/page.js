"use strict";
// What the page does by script: time that is left, news, and passkeys. All else works without.
(() => {
  const ahead = Number(document.body.dataset.now) - Date.now() / 1000;

  // --- the time that is left, in the words of the server
  function words(seconds) {
    const parts = [[Math.floor(seconds / 3600), "h"], [Math.floor(seconds / 60) % 60, "min"], [seconds % 60, "s"]];
    return parts.filter(([n]) => n).slice(0, 2).map(([n, unit]) => `${n} ${unit}`).join(" ") || "0 s";
  }
  const ending = [...document.querySelectorAll("[data-ends]")];
  function count() {
    const now = Math.floor(Date.now() / 1000 + ahead);
    for (const each of ending) each.textContent = words(Math.max(0, Number(each.dataset.ends) - now));
  }
  if (ending.length) setInterval(count, 1000);

  // --- something changed: said once, politely; nothing moves until it is asked for
  const news = document.getElementById("news");
  const { watch, hold } = document.body.dataset;
  const kinds = {
    hold: ["approval", "denial", "expiry", "cancellation", "escalation", "decision"],
    runs: ["run_start", "run_end", "halt", "resume"],
    run: ["decision", "outcome", "unasked", "message", "halt", "resume", "run_end"],
  };
  kinds.holds = kinds.hold;
  kinds.log = [...kinds.hold, ...kinds.run, "run_start", "refusal", "fault", "revocation", "policy"];
  function concerns(entry) {
    const opened = entry.hold && entry.hold.id;
    if (watch === "hold") return entry.hold === hold || entry.joined === hold || (entry.approvals || []).includes(hold);
    if (watch === "holds") return entry.kind !== "decision" || Boolean(opened);
    return watch !== "run" || entry.run === decodeURIComponent(document.body.dataset.run);
  }
  // One stream, and only while the page is looked at: a browser has few connections to a server for all its tabs.
  let source = null;
  function listen() {
    if (source) source.close();
    source = null;
    if (document.hidden || news.textContent) return;
    source = new EventSource("/v1/log/events");
    for (const kind of new Set(kinds[watch])) source.addEventListener(kind, heard);
  }
  function heard(event) {
    let entry;
    try { entry = JSON.parse(event.data); } catch { return; }
    if (!concerns(entry)) return;
    const again = document.createElement("a");
    again.href = location.href;
    again.textContent = "Show it";
    news.append("Something changed since this page was made. ", again);
    listen();
  }
  if (kinds[watch] && window.EventSource) {
    listen();
    document.addEventListener("visibilitychange", listen);
    addEventListener("pagehide", () => source && source.close());
  }

  // --- passkeys
  const fromBase64 = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  function told(credential) {
    const { id, type, rawId, response, authenticatorAttachment } = credential;
    const found = {};
    for (const name of ["clientDataJSON", "authenticatorData", "signature", "userHandle", "attestationObject"]) {
      if (response[name]) found[name] = base64(response[name]);
    }
    if (response.getTransports) found.transports = response.getTransports();
    return { id, type, rawId: base64(rawId), response: found, authenticatorAttachment, clientExtensionResults: {} };
  }
  function readied(options) {
    const found = { ...options, challenge: fromBase64(options.challenge) };
    for (const name of ["allowCredentials", "excludeCredentials"]) {
      if (options[name]) found[name] = options[name].map((each) => ({ ...each, id: fromBase64(each.id) }));
    }
    if (options.user) found.user = { ...options.user, id: fromBase64(options.user.id) };
    return found;
  }
  async function asked(address, body) {
    const response = await fetch(address, { method: "POST", body, redirect: "error" });
    const found = await response.json();
    if (!response.ok) throw new Error((found.error && found.error.message) || "it was refused");
    return found;
  }
  // A form with data-passkey asks for a challenge (data-challenge, else that of holds), has it signed, and goes on.
  async function sign(form, submitter) {
    const body = new URLSearchParams(new FormData(form, submitter));
    body.delete("answer");
    const { publicKey, ticket } = await asked(form.dataset.challenge || "/holds/challenge", body);
    const options = { publicKey: readied(publicKey) };
    const credential = form.dataset.passkey === "create"
      ? await navigator.credentials.create(options) : await navigator.credentials.get(options);
    const field = form.elements.namedItem("answer");
    field.value = JSON.stringify({ ticket, credential: told(credential) });
  }
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    const error = form.querySelector("[role=alert]");
    let signed = false;
    form.addEventListener("submit", async (event) => {
      if (signed) return;
      event.preventDefault();
      if (form.dataset.busy) return;
      form.dataset.busy = "yes";
      error.textContent = "";
      try {
        if (!window.PublicKeyCredential) throw new Error("This browser knows no passkeys, or the page is not on https or localhost.");
        await sign(form, event.submitter);
        signed = true;
        form.requestSubmit(event.submitter);
      } catch (problem) {
        error.textContent = problem.name === "NotAllowedError" ? "No passkey was used: nothing was done." : problem.message;
      }
      delete form.dataset.busy;
    });
  }
})();
