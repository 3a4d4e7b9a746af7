"use strict";
// The pages work without this file; it adds what only a script can: the sign that the page is live, keys, notices.
(() => {
  const root = "/ui";
  const sign = (isOn) => {
    const line = document.getElementById("connection");
    if (!line) return;
    line.textContent = isOn ? line.dataset.on : line.dataset.off;
    line.classList.toggle("off", !isOn);
  };
  document.addEventListener("htmx:sseOpen", () => sign(true));
  document.addEventListener("htmx:sseError", () => sign(false));
  document.addEventListener("htmx:sendError", () => sign(false));
  // Whoever reads, opened a thread or writes must not have the page change under their hands.
  document.addEventListener("htmx:beforeRequest", (event) => {
    const live = document.getElementById("live");
    const isLook = event.detail.elt === live;
    const isReading = live && live.querySelector("details[open]");
    const isSelecting = !document.getSelection().isCollapsed && live && live.contains(document.getSelection().anchorNode);
    if (isLook && (isReading || isSelecting || document.hidden)) event.preventDefault();
  });
  document.addEventListener("visibilitychange", () => {
    const live = document.getElementById("live");
    if (live && !document.hidden && window.htmx) window.htmx.trigger(live, "sse:changed");
  });
  document.addEventListener("keydown", (event) => {
    const form = event.target.closest && event.target.closest("#compose");
    if (form && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit(form.querySelector("button:not(.danger)"));
    }
  });
  if ("serviceWorker" in navigator && window.isSecureContext) {
    navigator.serviceWorker.getRegistrations().then((all) => all.forEach((one) => one.scope.endsWith(root) && one.update()));
  }
})();
