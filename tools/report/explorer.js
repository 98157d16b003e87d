// The page of a compilation: a graph that moves under the mouse, and a panel that shows what was clicked.
"use strict";

const results = JSON.parse(document.getElementById("data").textContent);

function make(tag, text, ...children) {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  made.append(...children);
  return made;
}

// ---- Pan, zoom, search ----------------------------------------------------------------------------------------------

function movable(svg) {
  const view = svg.viewBox.baseVal;
  const whole = [view.x, view.y, view.width, view.height];
  const show = (x, y, width, height) => svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
  const scale = () => Math.max(view.width / svg.clientWidth, view.height / svg.clientHeight);
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const factor = Math.exp(event.deltaY / 500);
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    show(place.x + (view.x - place.x) * factor, place.y + (view.y - place.y) * factor,
      view.width * factor, view.height * factor);
  }, { passive: false });
  let held = null;
  svg.addEventListener("pointerdown", (event) => { held = [event.clientX, event.clientY]; });
  window.addEventListener("pointerup", () => { held = null; });
  svg.addEventListener("pointermove", (event) => {
    if (held === null) return;
    show(view.x - (event.clientX - held[0]) * scale(), view.y - (event.clientY - held[1]) * scale(),
      view.width, view.height);
    held = [event.clientX, event.clientY];
  });
  svg.addEventListener("dblclick", () => show(...whole));
  return (node) => {
    const box = node.getBBox();
    show(box.x + box.width / 2 - 450, box.y + box.height / 2 - 300, 900, 600);
  };
}

function searchable(input, nodes, centre) {
  const matches = (node) => node.textContent.toLowerCase().includes(input.value.toLowerCase());
  input.addEventListener("input", () => nodes.forEach((node) => node.classList.toggle("dimmed", !matches(node))));
  input.addEventListener("keydown", (event) => {
    const found = nodes.find(matches);
    if (event.key === "Enter" && found) {
      centre(found);
      found.dispatchEvent(new Event("click"));
    }
  });
}

// ---- The panel ------------------------------------------------------------------------------------------------------

function levels(texts) {
  const shown = make("pre");
  const buttons = Object.entries(texts).map(([level, text]) => {
    const button = make("button", level);
    button.addEventListener("click", () => {
      shown.textContent = text;
      buttons.forEach((each) => each.setAttribute("aria-pressed", each === button));
    });
    return button;
  });
  if (buttons.length) buttons[0].click();
  return [make("p", "", ...buttons.flatMap((button) => [button, " "])), shown];
}

function list(title, lines) {
  return lines.length ? [make("h4", title), make("ul", "", ...lines.map((line) => make("li", line)))] : [];
}

function describe(result, node) {
  const apart = result.apart.filter((each) => each.nodes.includes(node.id)).map((each) => each.text);
  const content = [make("h3", node.label), ...list("Operators", node.operators), ...list("Not fused", apart)];
  for (const name of node.kernels) {
    content.push(make("h4", `Kernel ${name}`), make("p", result.facts[name]), ...levels(result.texts[name]));
  }
  return content;
}

function explore(section, result) {
  const svg = section.querySelector("svg.graph");
  const panel = section.querySelector(".panel");
  const nodes = [...svg.querySelectorAll(".node")];
  const circles = [...section.querySelectorAll("circle[data-kernel]")];
  const choose = (id) => {
    const node = result.nodes[id];
    panel.replaceChildren(...describe(result, node));
    nodes.forEach((each) => each.classList.toggle("chosen", Number(each.dataset.node) === id));
    circles.forEach((each) => each.classList.toggle("chosen", node.kernels.includes(each.dataset.kernel)));
  };
  const centre = movable(svg);
  searchable(section.querySelector("input"), nodes, centre);
  nodes.forEach((each) => each.addEventListener("click", () => choose(Number(each.dataset.node))));
  circles.forEach((circle) => circle.addEventListener("click", () => {
    const node = result.nodes.find((each) => each.kernels.includes(circle.dataset.kernel));
    choose(node.id);
    centre(nodes.find((each) => Number(each.dataset.node) === node.id));
  }));
}

document.querySelectorAll(".result").forEach((section, i) => explore(section, results[i]));

document.querySelector(".theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
