// Rows of the board that contain a text; the address keeps it.
const find = document.getElementById("find");
const show = () => {
  const wanted = find.value.trim().toLowerCase();
  for (const row of document.getElementById("submissions").tBodies[0].rows) {
    row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
  }
};
find.value = new URLSearchParams(location.search).get("find") || "";
find.addEventListener("input", () => {
  const address = new URL(location.href);
  if (find.value) address.searchParams.set("find", find.value);
  else address.searchParams.delete("find");
  history.replaceState(null, "", address);
  show();
});
show();
