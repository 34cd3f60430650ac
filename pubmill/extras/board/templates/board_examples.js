// Two submissions, compared by the examples that each has right.
const { examples, submissions } = JSON.parse(document.getElementById("data").textContent);
const MOST = 200;
const by = (id) => document.getElementById(id);
for (const name of ["one", "other"]) {
  submissions.forEach((submission, number) => by(name).append(new Option(submission.label, number)));
}
by("other").selectedIndex = Math.min(1, submissions.length - 1);
const compare = () => {
  const [one, other] = ["one", "other"].map((name) => submissions[by(name).value]);
  const groups = { 10: [], "01": [], "00": [], 11: [] };
  examples.forEach((example, i) => groups[`${one.answers[i][0]}${other.answers[i][0]}`].push(i));
  by("counts").textContent =
    `Both right: ${groups[11].length}; only ${one.label}: ${groups[10].length}; ` +
    `only ${other.label}: ${groups["01"].length}; both wrong: ${groups["00"].length}.`;
  by("head-one").textContent = one.label;
  by("head-other").textContent = other.label;
  const wanted = groups[by("which").value];
  by("examples").tBodies[0].replaceChildren(
    ...wanted.slice(0, MOST).map((i) => {
      const row = document.createElement("tr");
      for (const text of [...examples[i], one.answers[i][1], other.answers[i][1]]) {
        row.insertCell().textContent = text;
      }
      return row;
    }),
  );
  by("more").textContent = wanted.length > MOST ? `The first ${MOST} of ${wanted.length} are shown.` : "";
};
for (const name of ["one", "other", "which"]) by(name).addEventListener("change", compare);
compare();
