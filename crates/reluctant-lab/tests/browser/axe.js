// Lets axe-core audit the page and writes down its findings.
axe.run(document, { resultTypes: ["violations"] }).then((results) => {
  const pre = document.createElement("pre");
  pre.id = "found";
  const where = (nodes) => nodes.slice(0, 3).map((node) => node.html);
  const short = ({ id, impact, help, nodes }) => ({ id, impact, help, where: where(nodes) });
  pre.textContent = JSON.stringify(results.violations.map(short));
  document.body.append(pre);
});
