// Contents: a search, the part that is being read, and closed at first where the screen is narrow.
const menu = document.querySelector(".menu");
const links = [...menu.querySelectorAll("nav a")];
const targets = links.map((link) => document.getElementById(link.hash.slice(1)));
const narrow = matchMedia("(max-width: 900px)");
const fit = () => (menu.open = !narrow.matches);
narrow.addEventListener("change", fit);
fit();
menu.addEventListener("click", (event) => {
  if (narrow.matches && event.target.closest("nav a")) menu.open = false;
});

const search = make("input", { type: "search", placeholder: "Dataset, model or table" });
search.setAttribute("aria-label", "Search the contents for a dataset, model or table");
const nothing = make("p", { className: "small", role: "status" });
let words;
const wordsOf = (target, link) => {
  const parts = [link, target];
  const section = target.closest("section");
  if (section) parts.push(...section.querySelectorAll("th"));
  else for (let next = target.nextElementSibling; next && !targets.includes(next); next = next.nextElementSibling) {
    parts.push(...next.querySelectorAll("th"));
  }
  return parts.map((one) => one.textContent.toLowerCase()).join("\n");
};
search.addEventListener("input", () => {
  words ??= links.map((link, i) => wordsOf(targets[i], link));
  const wanted = search.value.trim().toLowerCase();
  links.forEach((link, i) => (link.parentElement.hidden = !words[i].includes(wanted)));
  for (const list of menu.querySelectorAll("nav ul")) {
    const empty = [...list.children].every((item) => item.hidden);
    list.hidden = empty;
    if (list.previousElementSibling?.matches("nav > p")) list.previousElementSibling.hidden = empty;
  }
  nothing.textContent = links.every((link) => link.parentElement.hidden) ? "Nothing matches." : "";
});
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") links.find((link) => !link.parentElement.hidden)?.click();
});
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, dialog, [contenteditable]")) return;
  event.preventDefault();
  menu.open = true;
  search.focus();
});
menu.querySelector("nav").prepend(search, nothing);

let waiting = false;
const mark = () => {
  waiting = false;
  const tops = targets.map((target) => target.getBoundingClientRect().top);
  const past = tops.filter((top) => top < 140);
  const current = past.length ? tops.indexOf(Math.max(...past)) : 0;
  links.forEach((link, i) => (i === current ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")));
};
addEventListener("scroll", () => {
  if (!waiting) requestAnimationFrame(mark);
  waiting = true;
}, { passive: true });
mark();

// Dark or light: as the system has it, until the button is pressed.
const root = document.documentElement;
const isDark = () => (root.style.colorScheme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
const stored = (value) => {
  try {
    return value ? localStorage.setItem("pubmill-theme", value) : localStorage.getItem("pubmill-theme");
  } catch {
    return null;
  }
};
const theme = button("", () => setTheme(isDark() ? "light" : "dark"));
theme.className = "theme";
const setTheme = (name) => {
  if (name) {
    root.style.colorScheme = name;
    stored(name);
  }
  theme.textContent = isDark() ? "Light" : "Dark";
  theme.setAttribute("aria-label", isDark() ? "Light colours" : "Dark colours");
};
setTheme(stored());
document.querySelector("header.top").prepend(theme);

const day = new Date(document.lastModified);
document.querySelector(".written").textContent = `; written ${day.toLocaleDateString("en-CA")}`;

// Paper gets the summary and the tables, unless all is wanted.
const all = button("Print all", () => {
  root.classList.add("all");
  print();
});
all.className = "theme";
addEventListener("afterprint", () => root.classList.remove("all"));
document.querySelector("header.top").prepend(all);
