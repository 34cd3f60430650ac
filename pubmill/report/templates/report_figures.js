// A figure is saved as SVG with its light colours, or printed alone on a page of its size, as PDF.
const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight", "text-anchor", "marker-end"];
const MIXED = /color\(srgb ([\d.]+) ([\d.]+) ([\d.]+)(?: \/ [\d.]+)?\)/;
const inBytes = (_, ...shares) => `rgb(${shares.slice(0, 3).map((share) => Math.round(255 * share)).join(", ")})`;
const withOwnSigns = (svg) => {
  for (const use of svg.querySelectorAll("use")) use.replaceWith(document.querySelector(use.getAttribute("href")).cloneNode());
};
const svgText = (svg) => {
  withOwnSigns(svg);
  const copy = svg.cloneNode(true);
  const scheme = root.style.colorScheme;
  root.style.colorScheme = "light";
  const styled = [...copy.querySelectorAll("*")];
  [...svg.querySelectorAll("*")].forEach((one, i) => {
    const style = getComputedStyle(one);
    for (const name of STYLES) styled[i].style.setProperty(name, style.getPropertyValue(name).replace(MIXED, inBytes));
  });
  root.style.colorScheme = scheme;
  for (const one of [copy, ...styled]) one.removeAttribute("class");
  const [left, top, width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const margin = 8;
  const size = { viewBox: `${left - margin} ${top - margin} ${width + 2 * margin} ${height + 2 * margin}`, width: 2 * (width + 2 * margin), height: 2 * (height + 2 * margin) };
  for (const [name, value] of Object.entries(size)) copy.setAttribute(name, value);
  copy.style.background = "#fff";
  return `${new XMLSerializer().serializeToString(copy)}\n`;
};
const printAlone = (figure) => {
  const sheet = make("div", { className: "sheet" }, figure.cloneNode(true));
  const page = make("style", { textContent: `@page { size: ${figure.offsetWidth + 40}px ${figure.offsetHeight + 40}px; margin: 20px; }` });
  document.body.append(sheet, page);
  addEventListener("afterprint", () => [sheet, page].forEach((one) => one.remove()), { once: true });
  print();
};
for (const figure of document.querySelectorAll("figure")) {
  const caption = figure.querySelector("figcaption");
  const name = plain(caption.textContent.trim()).replace(/\W+/g, "-");
  const tools = make("span", { className: "save" });
  for (const [form, save] of [["SVG", () => saveText(svgText(figure.querySelector("svg")), `${name}.svg`)], ["PDF", () => printAlone(figure)]]) {
    const made = button(form, save);
    made.setAttribute("aria-label", `Save ${caption.textContent.trim()} as ${form}`);
    tools.append(made);
  }
  caption.append(tools);
}

// Paper gets the summary and the tables, unless all is wanted.
const all = button("Print all", () => {
  root.classList.add("all");
  print();
});
all.className = "theme";
addEventListener("afterprint", () => root.classList.remove("all"));
document.querySelector("header.top").prepend(all);
