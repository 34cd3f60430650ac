/* Names and roles that the theme's own elements lack: the search, buttons on code, and wide tables. */
const mended = {
  ".md-search[role=dialog]": () => ({ "aria-label": "Search" }),
  ".md-code__nav": (number) => ({ "aria-label": `Code ${number}` }),
  ".md-typeset__scrollwrap": (number) => ({ tabindex: "0", role: "region", "aria-label": `Table ${number}` }),
};

function mend() {
  for (const [selector, attributes] of Object.entries(mended))
    document.querySelectorAll(selector).forEach((one, place) => {
      for (const [name, value] of Object.entries(attributes(place + 1))) one.setAttribute(name, value);
    });
  // Browsers break lines after hyphens, also in names.
  for (const code of document.querySelectorAll(":is(td, th) code"))
    if (/^\S{1,48}$/.test(code.textContent)) code.style.whiteSpace = "nowrap";
}

new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
mend();
if (location.protocol === "file:") document.documentElement.classList.add("from-disk");
