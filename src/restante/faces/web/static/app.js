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
  // What fails is said where it was asked for, and goes with the next answer there.
  const troubles = new Map();
  const clear = (elt) => {
    troubles.get(elt)?.remove();
    troubles.delete(elt);
  };
  const say = ({ elt, target, xhr }) => {
    const found = new DOMParser().parseFromString(xhr.responseText || "", "text/html").body.textContent.trim();
    const line = document.createElement("p");
    line.className = "error";
    line.setAttribute("role", "alert");
    line.textContent = found || document.body.dataset.off;
    clear(elt);
    troubles.set(elt, line);
    if (elt.tagName === "BUTTON") elt.after(line);
    else target.before(line);
  };
  document.addEventListener("htmx:responseError", (event) => say(event.detail));
  document.addEventListener("htmx:sendError", (event) => say(event.detail));
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.status < 400) clear(event.detail.requestConfig.elt);
  });
  // Whoever reads, opened a thread or writes must not have the page change under their hands.
  document.addEventListener("htmx:beforeRequest", (event) => {
    const live = document.getElementById("live");
    const isLook = event.detail.elt === live;
    const isReading = live && live.querySelector("details[open], .why:not(:has(button))");
    const isGrowing = live && (live.dataset.grown || live.querySelector(".htmx-request"));
    const isSelecting = !document.getSelection().isCollapsed && live && live.contains(document.getSelection().anchorNode);
    // Nobody sees a page in the background, but whoever wants notices is to hear of what came.
    const isIdle = document.hidden && !kept();
    if (isLook && (isReading || isGrowing || isSelecting || isIdle)) event.preventDefault();
  });
  // Whoever went back to older messages keeps them; the first window is there again with the next load.
  document.addEventListener("htmx:beforeRequest", (event) => {
    const live = document.getElementById("live");
    if (live && event.detail.elt.classList.contains("older")) live.dataset.grown = "1";
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
  // How times are shown is this browser's own matter.
  const times = document.getElementById("times");
  const shown = () => window.localStorage.getItem("times") || "ago";
  document.documentElement.dataset.times = shown();
  if (times) times.value = shown();
  if (times) times.addEventListener("change", () => {
    window.localStorage.setItem("times", times.value);
    document.documentElement.dataset.times = times.value;
  });
  // The title begins with how many messages are unseen; a notice says no more than that.
  const ask = document.getElementById("notices");
  const kept = () => window.localStorage.getItem("notices") === "on";
  const answer = (text) => { ask.textContent = text; };
  if (ask && kept()) answer(ask.dataset.on);
  if (ask) ask.addEventListener("click", async () => {
    if (!("Notification" in window) || (await Notification.requestPermission()) !== "granted") return answer(ask.dataset.no);
    window.localStorage.setItem("notices", "on");
    answer(ask.dataset.on);
  });
  let before = null;
  document.addEventListener("htmx:afterSettle", () => {
    const line = document.querySelector("[data-unseen]");
    if (!line) return;
    const unseen = Number(line.dataset.unseen);
    document.title = document.title.replace(/^\(\d+\) /, "");
    if (unseen) document.title = `(${unseen}) ${document.title}`;
    const isMore = before !== null && unseen > before;
    before = unseen;
    if (isMore && document.hidden && kept() && "Notification" in window && Notification.permission === "granted") {
      new Notification("Restante", { body: line.dataset.notice, tag: "restante" });
    }
  });
})();
