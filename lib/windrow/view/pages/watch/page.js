"use strict";
const every = 1000 * Number(document.body.dataset.every);
const button = document.getElementById("pause");
const gone = document.getElementById("gone");
let isPaused = false;
let isAsking = false;
let timer;

/* What differs is changed where it stands, so that a screen reader, a selection and the focus stay where they are. */
function change(shown, found) {
  if (shown.isEqualNode(found)) return;
  if (shown.nodeType !== Node.ELEMENT_NODE || shown.nodeName !== found.nodeName) {
    shown.replaceWith(document.importNode(found, true));
    return;
  }
  for (const { name } of [...shown.attributes]) if (!found.hasAttribute(name)) shown.removeAttribute(name);
  for (const { name, value } of found.attributes) if (shown.getAttribute(name) !== value) shown.setAttribute(name, value);
  const before = [...shown.childNodes];
  const after = [...found.childNodes];
  after.forEach((node, n) => (n < before.length ? change(before[n], node) : shown.append(document.importNode(node, true))));
  before.slice(after.length).forEach((node) => node.remove());
}

function show(found) {
  document.title = found.title;
  change(document.getElementById("look"), found.getElementById("look"));
  gone.hidden = true;
}

function ask() {
  clearTimeout(timer);
  if (isPaused || isAsking || document.hidden) return;
  isAsking = true;
  const request = new XMLHttpRequest();
  request.open("GET", location.pathname);
  request.responseType = "document";
  request.timeout = 120000;
  request.onloadend = () => {
    const found = request.status === 200 ? request.response : null;
    if (found !== null && found.getElementById("look") !== null) show(found);
    else gone.hidden = false;
    isAsking = false;
    timer = setTimeout(ask, every);
  };
  request.send();
}

button.hidden = false;
button.addEventListener("click", () => {
  isPaused = !isPaused;
  button.textContent = isPaused ? "Go on" : "Pause";
  ask();
});
document.addEventListener("visibilitychange", ask);
timer = setTimeout(ask, every);
